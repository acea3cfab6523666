"""Attribution of texts to authors: authors' likelihoods, and held-out training documents to calibrate them.

A calibration is learned from held-out documents. Taking their words out of the counts is not enough, since the last
sample assigned the other documents' words to authors and topics in their presence. So the chain continues for a few
sweeps without them, one fold of documents after the other.
"""

from __future__ import annotations

import math
from typing import Any, Generic, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.optimize import minimize_scalar
from sklearn.utils.validation import check_is_fitted

from topoi.corpus.corpus import Corpus
from topoi.engine.gibbs import Chain
from topoi.kernels.random import new_stream
from topoi.models.calibration import (
    BY_WORDS,
    LONGEST,
    Calibration,
    LeftOut,
    authors_of,
    beginnings,
    documents_to_set_aside,
    joined,
    learn_calibration,
    log_loss,
    restored,
    tokens_of,
    with_documents,
    with_others,
)
from topoi.models.gibbs import SamplerT
from topoi.models.mixing import author_counts

# Largest share of documents in a fold, and number of sweeps that the chain continues without it. With at most 300
# held-out documents that is a hundred sweeps of a small corpus, and twenty of a large one.
_FOLD, _SWEEPS = 0.2, 20
# Number in the name of random streams; no chain has it.
_STREAM = 2**20
# Candidate prior weights, half a decade apart.
_WEIGHTS = tuple(float(f"{10 ** (j / 2):.3g}") for j in range(2, 12))
# Beta of the baseline (AT09), used when no document can be held out.
PLAIN_BETA = 0.01


class AuthorWords:
    """Authors' counts of words, smoothed: P(word | author) = (n + beta) / (N + Σ beta).

    Parameters
    ----------
    counts : sparse matrix
        Authors × words.
    beta : array
        The prior weight of each word.
    """

    def __init__(self, counts: sparse.csr_matrix, beta: NDArray[np.float64]) -> None:
        self.counts, self.beta = sparse.csr_matrix(counts, dtype=np.float64), beta
        self.totals = np.asarray(self.counts.sum(axis=1)).ravel()
        self.room = self.totals + beta.sum()

    def log_likelihoods(self, bags: sparse.csr_matrix) -> NDArray[np.float64]:
        """Log probability of bags of words (texts × words, sparse) under each author: texts × authors.

        Cost: O(number of authors with a word, summed over all distinct words of the texts).
        """
        lift = self.counts.copy()
        lift.data = np.log1p(lift.data / self.beta[lift.indices])
        length = np.asarray(bags.sum(axis=1)).ravel()
        beyond = (bags @ lift.T.tocsr()).toarray()
        return np.asarray(beyond + (bags @ np.log(self.beta))[:, None] - np.outer(length, np.log(self.room)))


def bags_of(texts: list[NDArray[Any]], n_words: int) -> sparse.csr_matrix:
    """Texts as a sparse matrix of counts, texts × words."""
    start = np.cumsum([0, *map(len, texts)])
    tokens = np.concatenate([*texts, np.zeros(0, np.int64)]).astype(np.int64)
    return sparse.csr_matrix((np.ones(len(tokens)), tokens, start), (len(texts), n_words))


class _Left(NamedTuple):
    """A held-out document: its authors, words and times, and its authors' counts and totals in other documents."""

    own: NDArray[np.int64]
    words: NDArray[np.int64]
    times: NDArray[np.int64]
    counts: NDArray[np.float64]
    totals: NDArray[np.float64]


def _left(counts: sparse.csr_matrix, totals: NDArray[np.float64], corpus: Corpus, document: int) -> _Left:
    own = authors_of(corpus, document)
    words, times = np.unique(tokens_of(corpus, document), return_counts=True)
    left = np.maximum(np.asarray(counts[own][:, words].toarray()) - times / len(own), 0.0)
    some = np.unique(tokens_of(corpus, document)[:LONGEST], return_counts=True)
    asked = np.zeros(len(words), np.int64)
    asked[np.searchsorted(words, some[0])] = some[1]
    return _Left(own, words, asked, left, np.maximum(totals[own] - times.sum() / len(own), 0.0))


def _left_out_evenly(model: AuthorWords, corpus: Corpus, lefts: list[_Left]) -> LeftOut:
    """Documents scored by authors' words in the others, for counts that divide a document evenly among its authors."""
    scores = model.log_likelihoods(bags_of([np.repeat(left.words, left.times) for left in lefts], corpus.n_words))
    elsewhere, right = with_others(corpus), np.zeros(scores.shape, bool)
    for row, (own, words, times, counts, totals) in enumerate(lefts):
        mine = np.log((counts + model.beta[words]) / (totals + model.beta.sum())[:, None]) @ times
        scores[row, own] = np.where(elsewhere[own], mine, -np.inf)
        right[row, own] = elsewhere[own]
    return LeftOut(scores, right, np.array([left.times.sum() for left in lefts], np.int64))


def learn_beta(corpus: Corpus) -> tuple[NDArray[np.float64], float | None]:
    """Beta per word (a weight times the word's share of the corpus) and the weight; None if it cannot be learned.

    The weight is the one, of a few candidates, with the least log loss of attributing held-out documents to their own
    authors, each candidate with its best calibration.

    Examples
    --------
    >>> import topoi
    >>> from topoi.models.author_topic.attribution import learn_beta
    >>> corpus = topoi.Corpus.from_tokens([["a", "b"], ["c"]], authors=["Ann", "Bob"])
    >>> learn_beta(corpus)[0].tolist(), learn_beta(corpus)[1]
    ([0.01, 0.01, 0.01], None)
    """
    documents = documents_to_set_aside(corpus, 1)
    if not len(documents):
        return np.full(corpus.n_words, PLAIN_BETA), None
    counts = author_counts(corpus, evenly=True)
    totals = np.asarray(counts.sum(axis=1), np.float64).ravel()
    lefts = [_left(counts, totals, corpus, d) for d in documents.tolist()]
    losses = [_best_loss(AuthorWords(counts, word_weights(corpus, weight)), corpus, lefts) for weight in _WEIGHTS]
    weight = _WEIGHTS[int(np.argmin(np.round(losses, 4)))]
    return word_weights(corpus, weight), weight


def word_weights(corpus: Corpus, weight: float) -> NDArray[np.float64]:
    """A weight divided among words by their frequency; a word that does not occur counts as half an occurrence."""
    times = np.bincount(corpus.tokens, minlength=corpus.n_words) + 0.5
    return np.asarray(weight * times / times.sum())


def _best_loss(model: AuthorWords, corpus: Corpus, lefts: list[_Left]) -> float:
    left_out = _left_out_evenly(model, corpus, lefts)

    def loss(log_per_word: float) -> float:
        return log_loss(left_out, Calibration(1.0, float(np.exp(log_per_word))))

    bounds = math.log(1e-4), math.log(10.0)
    return float(minimize_scalar(loss, bounds=bounds, method="bounded", options={"xatol": 0.1}).fun)


class CalibratedAuthors(Generic[SamplerT]):
    """Mixin of models with authors: the calibration of ``topoi.likely_authors``, learned when it is first needed.

    It is learned from the first chain and saved with the model. Cost: see ``_FOLD`` and ``_SWEEPS``, plus the scores of
    at most 300 documents at up to five lengths.
    """

    corpus_: Corpus
    chains_: list[Any]
    authors_: NDArray[Any]
    n_iter_: int
    _sampler: SamplerT
    _chains: list[Chain]
    _seed: int
    _settings: dict[str, Any]
    fit_info_: dict[str, Any]
    # What the calibrated scores are; a calibration of others would be wrong.
    _calibrates = BY_WORDS
    _calibrated: tuple[list[Any], Calibration] | None = None

    def _sampler_for(self, corpus: Corpus) -> SamplerT:
        """A sampler with the settings and priors of this fit for some of its documents."""
        return type(self)(**self._settings)._make_sampler(corpus, 1)  # type: ignore[attr-defined]

    def _text_scores(
        self, sampler: SamplerT, chain: Chain, corpus: Corpus, texts: list[NDArray[Any]]
    ) -> NDArray[np.float64]:
        """Log-likelihoods of texts under each author by the counts of a chain of a corpus: texts × authors.

        What a text has in common for all authors may be left out.
        """
        raise NotImplementedError  # abstract: by words or by topics

    @property
    def author_calibration_(self) -> Calibration:
        """Calibration of authors' probabilities; see ``topoi.models.calibration``."""
        check_is_fitted(self, "n_iter_")
        if self._calibrated is None or not self._is_calibrated():
            documents = documents_to_set_aside(self.corpus_) if len(self.authors_) else np.zeros(0, np.int64)
            n_folds = math.ceil(len(documents) / max(1, int(_FOLD * self.corpus_.n_docs)))
            parts = [self._set_aside(documents[fold::n_folds]) for fold in range(n_folds)]
            learned = learn_calibration(joined(parts), len(documents)) if parts else Calibration()
            self._calibrated = (self.chains_, learned)
        return self._calibrated[1]

    def _is_calibrated(self) -> bool:
        return self._calibrated is not None and self._calibrated[0] is self.chains_

    def _set_aside(self, documents: NDArray[np.int64]) -> LeftOut:
        """Held-out documents, scored by a chain that has continued without them."""
        corpus = self.corpus_
        kept = np.ones(corpus.n_docs, bool)
        kept[documents] = False
        rest = corpus.subset(np.flatnonzero(kept))
        known = with_documents(rest) > 0
        cuts = [(d, n) for d in documents.tolist() for n in beginnings(int(corpus.doc_lengths[d]))]
        right = np.zeros((len(cuts), corpus.n_authors), bool)
        for row, (d, _) in enumerate(cuts):
            right[row, authors_of(corpus, d)] = True
        right &= known
        asked = np.flatnonzero(right.any(axis=1))
        texts = [tokens_of(corpus, cuts[row][0])[: cuts[row][1]] for row in asked]
        scores = np.zeros((0, corpus.n_authors))
        if len(texts):
            sampler = self._sampler_for(rest)
            scores = self._text_scores(sampler, self._gone_on(sampler, kept), rest, texts)
            scores[:, ~known] = -np.inf
        return LeftOut(scores, right[asked], np.array([len(text) for text in texts], np.int64))

    def _gone_on(self, sampler: SamplerT, kept: NDArray[np.bool_]) -> Chain:
        """The first chain after a few sweeps with only the kept documents."""
        token = np.repeat(kept, self.corpus_.doc_lengths)
        arrays = self._sampler.to_arrays(self._chains[0])
        arrays |= {name: arrays[name][token] for name in ("topic", "slot") if name in arrays}
        chain = sampler.restore(0, arrays, [])
        for sweep in range(min(_SWEEPS, self.n_iter_)):
            sampler.sample(chain, 0, chain.counts, new_stream(self._seed, _STREAM, sweep, 0))
        return chain

    def _more_meta(self) -> dict[str, Any]:
        """The calibration for a bundle and for readers of a store; empty if there are no authors.

        Also empty after an interrupted fit, so that it is saved at once; it is then calibrated on demand.
        """
        if not len(self.authors_) or (self.fit_info_["interrupted"] and not self._is_calibrated()):
            return {}
        return {self._calibrates: self.author_calibration_.to_plain()}

    def _take_calibration(self, meta: dict[str, Any]) -> None:
        """Restore what ``_more_meta`` returned."""
        saved = restored(meta, self._calibrates)
        if saved is not None:
            self._calibrated = (self.chains_, saved)
