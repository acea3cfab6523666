"""The author model: authors without topics, the baseline of AT09 section 6.2."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Self, TypeAlias

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray
from scipy import sparse
from scipy.special import gammaln
from sklearn.utils.validation import check_is_fitted

from topoi.corpus.blocks import Table, position_blobs
from topoi.corpus.corpus import Corpus
from topoi.engine.gibbs import Chain, Sampler
from topoi.engine.loop import SweepInfo
from topoi.engine.samples import Sample, compact
from topoi.engine.shards import Shards, cut
from topoi.errors import ModelError
from topoi.kernels.folding import FIXED, SamplingPlan
from topoi.kernels.random import new_stream
from topoi.models.author_topic import author_words
from topoi.models.author_topic.attribution import (
    AuthorWords,
    CalibratedAuthors,
    bags_of,
    learn_beta,
    word_weights,
)
from topoi.models.author_topic.author_words import Choices, PairCounts
from topoi.models.author_topic.simulate import simulate_author_words
from topoi.models.author_topic.surprise import by_words, surprise_rows
from topoi.models.averages import average
from topoi.models.contract import DocumentsLike, SeedLike
from topoi.models.gibbs import GibbsModel
from topoi.models.inputs import align, checked_observed
from topoi.models.names import find_name
from topoi.models.notices import warn_user
from topoi.models.ranking import ranked
from topoi.models.scores import log_mean_exp, perplexities
from topoi.models.smoothed_counts import whole_tokens
from topoi.models.texts import corpus_with, need_documents
from topoi.models.validation import choice, positive_vector, resolve_seed, whole_number

# Shards are the tokens' authors, as positions in their documents' lists; beta is fixed, so there are no priors.
AuthorChain: TypeAlias = Chain[PairCounts, None, NDArray[np.int64]]


class AuthorModelSampler(Sampler[AuthorChain]):
    """Sampler of the author model."""

    beta_weight: float | None = None

    def __init__(self, corpus: Corpus, beta: NDArray[np.float64], n_shards: Shards):
        self.n_tokens = corpus.n_tokens
        self.beta, self.beta_sum = beta, math.fsum(beta.tolist())
        self.n_words = corpus.n_words
        lengths = np.diff(corpus.doc_author_start)
        most = np.iinfo(np.uint16).max
        if lengths.max(initial=0) > most:
            raise ModelError(f"a document has {lengths.max():,} authors; at most {most:,} are possible")
        # A document without authors has a private one, numbered after the known ones.
        extra = lengths == 0
        self.author_start = np.concatenate(([0], np.cumsum(lengths + extra))).astype(np.int64)
        self.author = np.empty(self.author_start[-1], np.int64)
        own = np.zeros(len(self.author), bool)
        own[self.author_start[:-1][extra]] = True
        self.author[~own] = corpus.doc_author
        self.author[own] = corpus.n_authors + np.flatnonzero(extra)
        self.n_rows = corpus.n_authors + corpus.n_docs
        self._corpus = corpus
        everything = pair_keys(corpus.tokens, corpus.doc_start, self.author, self.author_start, corpus.n_words)
        self.keys, pair = np.unique(everything, return_inverse=True)
        whole = make_choices(corpus.tokens, corpus.doc_start, self.author, self.author_start, pair)
        self.whole = whole
        self._parts = [_choice_range(whole, a, b) for a, b in cut(np.diff(corpus.doc_start), n_shards)]

    def start(self, seed: int, index: int) -> AuthorChain:
        """A chain with random authors, from the stream (seed, chain, sweep 0, shard)."""
        slots = [np.zeros(len(part.tokens), np.int64) for part in self._parts]
        for number, (part, slot) in enumerate(zip(self._parts, slots, strict=True)):
            author_words.random_slots(part, slot, new_stream(seed, index, 0, number))
        return self._chain(index, slots)

    def restore(self, index: int, arrays: dict[str, NDArray[Any]], trace: list[Any]) -> AuthorChain:
        """Restore a chain from the arrays of ``to_arrays``."""
        slot = arrays["slot"]
        if slot.dtype != np.uint16:
            raise ModelError("the saved assignments are not what a sampler writes")
        self.check_sample({"slot": slot})
        ends = np.cumsum([len(part.tokens) for part in self._parts])
        chain = self._chain(index, np.split(slot.astype(np.int64), ends[:-1]))
        chain.trace = [(int(s), float(v)) for s, v in trace]
        return chain

    sampled = ("slot",)

    def snapshot(self, chain: AuthorChain) -> Sample | None:
        """Every token's author, as a position in its document's list."""
        return {"slot": compact(np.concatenate(chain.shards), int(np.diff(self.author_start).max(initial=1)))}

    def check_sample(self, sample: Sample) -> None:
        """Raise an error for assignments that do not fit this corpus, since kernels do not check bounds."""
        limit = np.repeat(np.diff(self.author_start), np.diff(self._corpus.doc_start))
        if sample["slot"].shape != (self.n_tokens,) or (sample["slot"] >= limit).any():
            raise ModelError("the saved assignments do not fit this corpus")

    def _chain(self, index: int, slots: list[NDArray[np.int64]]) -> AuthorChain:
        counts = PairCounts(np.zeros(len(self.keys), np.int64), np.zeros(self.n_rows, np.int64))
        for part, slot in zip(self._parts, slots, strict=True):
            author_words.count_pairs(part, slot, counts, 1)
        return Chain(index, counts, None, [np.ascontiguousarray(slot) for slot in slots])

    def mean_counts(self, chain: AuthorChain) -> PairCounts:
        """Means of the counts of a chain's samples; authors have fixed identities, so no sample needs alignment."""
        samples = average(chain, self.to_arrays(chain)).samples
        total = PairCounts(np.zeros(len(self.keys), np.int64), np.zeros(self.n_rows, np.int64))
        for sample in samples:
            author_words.count_pairs(self.whole, sample["slot"].astype(np.int64), total, 1)
        return PairCounts(total.pair / len(samples), total.author / len(samples))

    def to_arrays(self, chain: AuthorChain) -> dict[str, NDArray[Any]]:
        """Every token's author, as a position in its document's list."""
        return {"slot": np.concatenate(chain.shards).astype(np.uint16)}

    def sample(self, chain: AuthorChain, shard: int, counts: PairCounts, stream: NDArray[np.uint64]) -> None:
        """Sample one shard once against the given counts."""
        part, slot = self._parts[shard], chain.shards[shard]
        author_words.sweep_authors(part, slot, counts, self.beta, self.beta_sum, stream)

    def learn(self, chain: AuthorChain, sweep: int) -> None:
        """Beta is fixed."""

    def log_joint(self, chain: AuthorChain) -> float:
        """log P(words, authors | author lists, beta), the authors' distributions integrated out."""
        prior = self.beta[self.keys % self.n_words]
        words = gammaln(chain.counts.pair + prior) - gammaln(prior)
        totals = gammaln(chain.counts.author + self.beta_sum) - gammaln(self.beta_sum)
        choices = np.diff(self._corpus.doc_start) * np.log(np.diff(self.author_start))
        return float(words.sum() - totals.sum() - choices.sum())


def pair_keys(
    tokens: NDArray[Any], doc_start: NDArray[Any], author: NDArray[Any], author_start: NDArray[Any], n_words: int
) -> NDArray[np.int64]:
    """For each token and each of its possible authors, the key author · W + word."""
    n_authors = np.repeat(np.diff(author_start), np.diff(doc_start))
    first = np.repeat(author_start[:-1], np.diff(doc_start))
    token = np.repeat(np.arange(len(tokens)), n_authors)
    slot = np.arange(len(token)) - np.repeat(np.cumsum(n_authors) - n_authors, n_authors)
    return np.asarray(author[first[token] + slot] * n_words + tokens[token])


def make_choices(
    tokens: NDArray[Any], doc_start: NDArray[Any], author: NDArray[Any], author_start: NDArray[Any], pair: NDArray[Any]
) -> Choices:
    """Documents with their numbered pairs."""
    sizes = np.diff(doc_start) * np.diff(author_start)
    starts = np.concatenate(([0], np.cumsum(sizes))).astype(np.int64)
    return Choices(tokens, doc_start, author, author_start, np.ascontiguousarray(pair, np.int64), starts)


def _choice_range(whole: Choices, first: int, last: int) -> Choices:
    tokens, doc_start, author, author_start, pair, pair_start = whole
    return Choices(
        tokens[doc_start[first] : doc_start[last]],
        doc_start[first : last + 1] - doc_start[first],
        author[author_start[first] : author_start[last]],
        author_start[first : last + 1] - author_start[first],
        pair[pair_start[first] : pair_start[last]],
        pair_start[first : last + 1] - pair_start[first],
    )


class AuthorModel(CalibratedAuthors[AuthorModelSampler], GibbsModel[AuthorModelSampler, PairCounts]):
    """Each author has one distribution over words and no topics.

    The defaults suit attribution of texts to authors (see ``docs/authorship.md`` and ``topoi.likely_authors``);
    ``beta=0.01`` gives the baseline of Rosen-Zvi et al. (2009, section 6.2).

    Parameters
    ----------
    beta : "auto", float or array
        Dirichlet parameter of authors' words, per word. "auto" smooths each author towards the whole corpus: a weight
        times each word's share of the corpus. The weight (``fit_info_["beta_weight"]``) is learned as the one that best
        attributes held-out documents to their own authors. If no author has two documents, beta is 0.01 per word.
    n_iter, no_authors, n_chains, n_jobs, n_shards, random_state, evaluate_every, average, checkpoint, \
checkpoint_every, progress
        As in ``AuthorTopicModel``.

    Attributes
    ----------
    authors_ : ndarray of str
        The authors' names.
    chains_, trace_, fit_info_
        As in ``AuthorTopicModel``.

    Examples
    --------
    >>> import topoi
    >>> corpus = topoi.Corpus.from_tokens([["a", "a"], ["b"]], authors=["Ann", "Bob"])
    >>> topoi.AuthorModel(n_iter=5, random_state=0).fit(corpus).author_words("Ann", 1)["word"].tolist()
    ['a']
    """

    # Documents have no hidden mixtures to integrate out: their probabilities are exact.
    has_mixtures = False
    _saved_weight: float | None = None

    def __init__(
        self,
        *,
        beta: ArrayLike = "auto",
        n_iter: int = 500,
        no_authors: str = "private",
        n_chains: int = 1,
        n_jobs: int | None = 1,
        n_shards: int | str = "auto",
        random_state: SeedLike = None,
        evaluate_every: int = 10,
        average: bool = True,
        checkpoint: str | Path | None = None,
        checkpoint_every: int | str = "1min",
        progress: bool | None = None,
    ):
        self.beta = beta
        self.n_iter = n_iter
        self.no_authors = no_authors
        self.n_chains = n_chains
        self.n_jobs = n_jobs
        self.n_shards = n_shards
        self.random_state = random_state
        self.evaluate_every = evaluate_every
        self.average = average
        self.checkpoint = checkpoint
        self.checkpoint_every = checkpoint_every
        self.progress = progress

    def fit(self, corpus: DocumentsLike, y: object = None, callback: Callable[[SweepInfo], Any] | None = None) -> Self:
        """Fit the model to a corpus with authors.

        Examples
        --------
        >>> import topoi
        >>> corpus = topoi.Corpus.from_tokens([["a", "b"]], authors=[["Ann", "Bob"]])
        >>> topoi.AuthorModel(n_iter=5, random_state=0).fit(corpus).n_iter_
        5
        """
        corpus = corpus_with("authors", corpus, "AuthorModel")
        check_authors(corpus, self.no_authors)
        return self._fit_corpus(corpus, callback)

    def _make_sampler(self, corpus: Corpus, n_shards: Shards) -> AuthorModelSampler:
        beta, weight = self._resolve_beta(corpus)
        sampler = AuthorModelSampler(corpus, beta, n_shards)
        sampler.beta_weight = weight
        return sampler

    def _resolve_beta(self, corpus: Corpus) -> tuple[NDArray[np.float64], float | None]:
        """Beta per word, and its learned weight."""
        if not isinstance(self.beta, str):
            return positive_vector("beta", self.beta, corpus.n_words, "the number of words"), None
        choice("beta", self.beta, ("auto",))
        if self._saved_weight is not None:
            return word_weights(corpus, self._saved_weight), self._saved_weight
        return learn_beta(corpus)

    def _freeze(self) -> None:
        self.authors_ = self.corpus_.authors
        self.chains_ = [self._sampler.mean_counts(chain) for chain in self._chains]
        self.fit_info_["beta_weight"] = self._sampler.beta_weight

    def restore_bundle(self, corpus: Corpus, meta: dict[str, Any], arrays: dict[str, NDArray[Any]]) -> Self:
        """Restore what ``save`` wrote."""
        weight = meta["fit_info"].get("beta_weight")
        self._saved_weight = None if weight is None else float(positive_vector("beta_weight", weight, 1, "it")[0])
        try:
            super().restore_bundle(corpus, meta, arrays)
        finally:
            del self._saved_weight
        self._take_calibration(meta)
        return self

    @property
    def beta_(self) -> NDArray[np.float64]:
        """Beta per word, as given or learned."""
        check_is_fitted(self, "n_iter_")
        return np.asarray(self._sampler.beta)

    def _sampler_for(self, corpus: Corpus) -> AuthorModelSampler:
        return AuthorModelSampler(corpus, self._sampler.beta, 1)

    def _author_words(self, sampler: AuthorModelSampler, counts: PairCounts) -> AuthorWords:
        """Counts of a chain, authors × words, without private authors."""
        n_authors = len(self.authors_)
        known = slice(0, int(np.searchsorted(sampler.keys, n_authors * sampler.n_words)))
        cells = np.divmod(sampler.keys[known], sampler.n_words)
        table = sparse.csr_matrix((counts.pair[known], cells), (n_authors, sampler.n_words), np.float64)
        table.eliminate_zeros()
        return AuthorWords(table, sampler.beta)

    def _text_scores(
        self, sampler: AuthorModelSampler, chain: AuthorChain, corpus: Corpus, texts: list[NDArray[Any]]
    ) -> NDArray[np.float64]:
        return self._author_words(sampler, chain.counts).log_likelihoods(bags_of(texts, sampler.n_words))

    def author_log_likelihoods(self, words: NDArray[Any], times: NDArray[Any]) -> NDArray[np.float64]:
        """Log probability of a bag of words under each author alone; the chains' probabilities are averaged.

        Examples
        --------
        >>> import numpy as np, topoi
        >>> corpus = topoi.Corpus.from_tokens([["a", "a"], ["b"]], authors=["Ann", "Bob"])
        >>> model = topoi.AuthorModel(n_iter=5, random_state=0).fit(corpus)
        >>> np.exp(model.author_log_likelihoods(np.array([0]), np.array([2]))).round(2).tolist()
        [0.99, 0.0]
        """
        check_is_fitted(self, "n_iter_")
        bag = bags_of([np.repeat(words, times)], self._sampler.n_words)
        each = [self._author_words(self._sampler, counts).log_likelihoods(bag)[0] for counts in self.chains_]
        return log_mean_exp(np.stack(each))

    def family_tables(self, corpus: Corpus) -> dict[str, Table]:
        """Authors' words, the perplexities of their documents, and the authors of words."""
        check_is_fitted(self, "n_iter_")
        sampler, counts = self._sampler, self.chains_[0]
        known = np.flatnonzero((counts.pair >= 0.5) & (sampler.keys // sampler.n_words < corpus.n_authors))
        a, w = np.divmod(sampler.keys[known], sampler.n_words)
        n = counts.pair[known]
        probability = (n + sampler.beta[w]) / (counts.author[a] + sampler.beta_sum)
        positions = sampler.to_arrays(self._chains[0])["slot"]
        each = [by_words(corpus, sampler.whole, counts, sampler.beta, sampler.beta_sum) for counts in self.chains_]
        return {
            "author_document": surprise_rows(corpus, each),
            "author_word": {"author_id": a, "word_id": w, "n_tokens": whole_tokens(n), "probability": probability},
            "document_assignment": {
                "document_id": range(corpus.n_docs),
                "topics": [None] * corpus.n_docs,
                "author_positions": position_blobs(positions, corpus.doc_start),
            },
        }

    def family_parameters(self) -> dict[str, Any]:
        """The sum of beta, and the calibration of authors."""
        check_is_fitted(self, "n_iter_")
        return {"beta_sum": self._sampler.beta_sum} | self._more_meta()

    def author_word(self, author: str) -> NDArray[np.float64]:
        """P(word | author) for one author, over the whole vocabulary (first chain).

        Examples
        --------
        >>> import topoi
        >>> corpus = topoi.Corpus.from_tokens([["a", "a"], ["b"]], authors=["Ann", "Bob"])
        >>> topoi.AuthorModel(n_iter=5, random_state=0).fit(corpus).author_word("Ann").round(2).tolist()
        [1.0, 0.0]
        """
        check_is_fitted(self, "n_iter_")
        a = find_name(author, self.authors_, "author")
        keys, n_words = self._sampler.keys, self._sampler.n_words
        here = slice(*np.searchsorted(keys, [a * n_words, (a + 1) * n_words]))
        probability = self._sampler.beta.copy()
        probability[keys[here] % n_words] += self.chains_[0].pair[here]
        return np.asarray(probability / (self.chains_[0].author[a] + self._sampler.beta_sum))

    def author_words(self, author: str, n: int = 10) -> pd.DataFrame:
        """An author's most probable words: author, rank, word, probability.

        Examples
        --------
        >>> import topoi
        >>> corpus = topoi.Corpus.from_tokens([["a", "a"], ["b"]], authors=["Ann", "Bob"])
        >>> topoi.AuthorModel(n_iter=5, random_state=0).fit(corpus).author_words("Bob", 1)["word"].tolist()
        ['b']
        """
        probability = self.author_word(author)
        best = np.argsort(-probability, kind="stable")[: whole_number("n", n)]
        name = self.authors_[find_name(author, self.authors_, "author")]
        frame = {"author": name, "word": self.vocabulary_.words[best], "probability": probability[best]}
        return ranked(pd.DataFrame(frame), "author")

    def log_likelihood(self, X: DocumentsLike) -> NDArray[np.float64]:
        """Log probability of each document given its authors, averaged over chains as in ``AuthorTopicModel``.

        Examples
        --------
        >>> import numpy as np, topoi
        >>> corpus = topoi.Corpus.from_tokens([["a"], ["b"]], authors=["Ann", "Bob"])
        >>> np.exp(topoi.AuthorModel(n_iter=5, random_state=0).fit(corpus).log_likelihood(corpus)).round(2).tolist()
        [0.99, 0.99]
        """
        check_is_fitted(self, "n_iter_")
        aligned = align(need_documents(X, self.corpus_), self.vocabulary_, self.authors_).corpus
        return self._complete(aligned, np.zeros(aligned.n_tokens, bool), 0, 1, 1)

    def log_completion(
        self,
        corpus: Corpus,
        observed: NDArray[np.bool_],
        burn_in: int = 20,
        n_samples: int = 10,
        lag: int = 2,
        learn_topics: bool = True,
    ) -> NDArray[np.float64]:
        """Log probability of each document's unobserved tokens, given the observed ones.

        Parameters and averages are those of ``AuthorTopicModel.log_completion``. Authors have words in place of
        topics: without ``learn_topics`` the observed tokens say nothing about the others, unless the author is new.

        Examples
        --------
        >>> import numpy as np, topoi
        >>> corpus = topoi.Corpus.from_tokens([["a", "b"]], authors=["Ann"])
        >>> len(topoi.AuthorModel(n_iter=5, random_state=0).fit(corpus).log_completion(corpus, np.array([True, False])))
        1
        """
        check_is_fitted(self, "n_iter_")
        aligned = align(corpus, self.vocabulary_, self.authors_)
        seen = checked_observed(observed, len(aligned.kept))[aligned.kept]
        plan = whole_number("burn_in", burn_in, 0), whole_number("n_samples", n_samples), whole_number("lag", lag)
        return self._complete(aligned.corpus, seen, *plan, 1.0 if learn_topics else FIXED)

    def _complete(
        self, corpus: Corpus, seen: NDArray[np.bool_], burn_in: int, n_samples: int, lag: int, weight: float = 1.0
    ) -> NDArray[np.float64]:
        choices = self._new_choices(corpus)
        sampler = self._sampler
        results = []
        for chain, counts in zip(self._chains, self.chains_, strict=True):
            plan = SamplingPlan(burn_in, n_samples, lag, self._seed, chain.index, weight)
            result = np.zeros(corpus.n_docs)
            author_words.complete(choices, seen, counts, sampler.beta, sampler.beta_sum, plan, result)
            results.append(result)
        return log_mean_exp(np.stack(results))

    def _new_choices(self, corpus: Corpus) -> Choices:
        """New documents with the numbers of training pairs; a document without known authors has author -1."""
        lengths = np.diff(corpus.doc_author_start)
        start = np.concatenate(([0], np.cumsum(np.maximum(lengths, 1)))).astype(np.int64)
        author = np.full(start[-1], -1, np.int64)
        author[np.repeat(lengths > 0, np.maximum(lengths, 1))] = corpus.doc_author
        keys = pair_keys(corpus.tokens, corpus.doc_start, author, start, corpus.n_words)
        at = np.minimum(np.searchsorted(self._sampler.keys, keys), max(len(self._sampler.keys) - 1, 0))
        pair = np.where(self._sampler.keys[at] == keys, at, -1) if len(self._sampler.keys) else np.full(len(keys), -1)
        return make_choices(corpus.tokens, corpus.doc_start, author, start, pair)

    def perplexity(self, X: DocumentsLike, average: str = "tokens", per_document: bool = False) -> Any:
        """Perplexity of documents given their authors; see ``AuthorTopicModel.perplexity``.

        Examples
        --------
        >>> import topoi
        >>> corpus = topoi.Corpus.from_tokens([["a", "b"]] * 4, authors=["Ann"] * 4)
        >>> round(topoi.AuthorModel(n_iter=5, random_state=0).fit(corpus).perplexity(corpus), 6)
        2.0
        """
        check_is_fitted(self, "n_iter_")
        aligned = align(need_documents(X, self.corpus_), self.vocabulary_, self.authors_).corpus
        return perplexities(self.log_likelihood(aligned), aligned.doc_lengths, average, per_document)

    def score(self, X: DocumentsLike, y: object = None) -> float:
        """Mean log-likelihood per token: the higher, the better.

        Examples
        --------
        >>> import topoi
        >>> corpus = topoi.Corpus.from_tokens([["a", "b"]] * 4, authors=["Ann"] * 4)
        >>> round(topoi.AuthorModel(n_iter=5, random_state=0).fit(corpus).score(corpus), 3)
        -0.693
        """
        check_is_fitted(self, "n_iter_")
        aligned = align(need_documents(X, self.corpus_), self.vocabulary_, self.authors_).corpus
        return float(self.log_likelihood(aligned).sum() / max(aligned.n_tokens, 1))

    def simulate(
        self,
        n_docs: int,
        doc_length: float = 100,
        authors: Sequence[Sequence[str]] | int | None = None,
        random_state: SeedLike = None,
    ) -> Corpus:
        """Draw a corpus from the model's generative process; see ``AuthorTopicModel.simulate``.

        Examples
        --------
        >>> import topoi
        >>> topoi.AuthorModel().simulate(5, doc_length=20, authors=[["Ann"]] * 5, random_state=0).n_authors
        1
        """
        return simulate_author_words(self, n_docs, doc_length, authors, resolve_seed(random_state))


def check_authors(corpus: Corpus, no_authors: str) -> None:
    """Refuse a corpus without authors; warn about documents without any, or refuse them too."""
    if no_authors not in ("private", "raise"):
        raise ModelError(f"no_authors is {no_authors!r}; it must be one of 'private', 'raise'")
    if corpus.n_authors == 0:
        raise ModelError("the corpus has no authors; use LDA, or choose some with corpus.with_authors(columns)")
    check_lacking(corpus, no_authors)


def check_lacking(corpus: Corpus, no_authors: str) -> None:
    """Warn about documents without authors, or refuse them."""
    lacking = int((np.diff(corpus.doc_author_start) == 0).sum())
    if lacking and no_authors == "raise":
        raise ModelError(f"{lacking:,} of {corpus.n_docs:,} documents have no authors (no_authors='raise')")
    if lacking:
        message = f"{lacking:,} of {corpus.n_docs:,} documents have no authors: each gets a private one"
        warn_user(message)
