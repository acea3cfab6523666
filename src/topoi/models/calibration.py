"""Calibrated probabilities of authors, learned from documents left out in turn.

The words of a document are no independent draws: they come in bursts, and each document has a subject of its own. The
log-likelihood ratio of two authors therefore grows with the length of a text far faster than the evidence. If the mean
log ratio per word of a text has a variance ``v / n`` from its n words and ``u`` from its subject, the calibrated log
odds of two authors are the log ratio divided by a number that is linear in n. So the log-likelihoods are divided by
``base + per_word · n``. Some texts are like nothing their author wrote before, so a small share of the probability goes
to all authors evenly. All three numbers are learned where the answer is known: on training documents that are set
aside.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.optimize import minimize
from scipy.special import logsumexp

from topoi.corpus.corpus import Corpus
from topoi.errors import ModelError

# Largest number of documents to learn from, and of scores (documents × lengths × authors) held at once.
_MOST_DOCUMENTS, _FEWEST_DOCUMENTS, _MOST_SCORES = 300, 40, 10_000_000
# Each document is scored whole and cut after each of these numbers of words, as users ask about texts of all lengths.
_LENGTHS = (15, 45, 150, 500)
LONGEST = 1500
# Bounds of base, per_word and noise.
_LOWEST, _HIGHEST = np.log([0.05, 1e-6, 1e-4]), np.log([200.0, 100.0, 0.99])


# Names, in files, of calibrations: of an author's words alone, and of the mixture of words and topics.
BY_WORDS, BY_MIXTURE = "author_calibration", "mixture_calibration"


class LeftOut(NamedTuple):
    """Training documents, or their beginnings, scored by authors' words in the other documents.

    ``scores`` are log-likelihoods, texts × authors (minus infinity for authors without another document); ``right``
    marks the text's authors; ``n_words`` is its number of words.
    """

    scores: NDArray[np.float64]
    right: NDArray[np.bool_]
    n_words: NDArray[np.int64]


class Calibration(NamedTuple):
    """Strength of a text's evidence: its log-likelihoods are divided by ``base + per_word · n_words``.

    However long a text is, it proves no more than ``1 / per_word`` independent words would. A share ``noise`` of all
    texts is so unlike what its author wrote before that its words prove nothing; all authors then stay equally likely.
    ``n_documents`` is the number of documents learned from. If it is 0, none could be set aside, and probabilities
    treat words as independent.

    Examples
    --------
    >>> import numpy as np
    >>> from topoi.models.calibration import Calibration
    >>> np.exp(Calibration(2.0, 0.1).log_probabilities(np.log([[0.9, 0.1]]), np.array([20]))).round(2).tolist()
    [[0.63, 0.37]]
    """

    base: float = 1.0
    per_word: float = 0.0
    noise: float = 0.0
    n_documents: int = 0

    def log_probabilities(self, scores: NDArray[np.float64], n_words: ArrayLike) -> NDArray[np.float64]:
        """Log probabilities of authors, equally likely beforehand, from log-likelihoods (the last axis is authors)."""
        tempered = scores / np.expand_dims(self.base + self.per_word * np.asarray(n_words, np.float64), -1)
        log_p = tempered - logsumexp(tempered, axis=-1, keepdims=True)
        known = np.isfinite(scores)
        with np.errstate(divide="ignore"):
            even = np.where(known, np.log(self.noise / known.sum(axis=-1, keepdims=True)), -np.inf)
        return np.asarray(np.logaddexp(log_p + np.log1p(-self.noise), even))

    def to_plain(self) -> dict[str, float]:
        """The calibration as JSON-able numbers."""
        return self._asdict()

    @classmethod
    def from_plain(cls, given: Any) -> Calibration:
        """Rebuild from ``to_plain``; anything else is a ``ModelError``."""
        try:
            base, per_word, noise = (float(given[name]) for name in ("base", "per_word", "noise"))
            made = cls(base, per_word, noise, int(given["n_documents"]))
        except (KeyError, TypeError, ValueError, OverflowError):
            raise ModelError("the calibration of its authors is not a set of numbers") from None
        if not (
            0 < made.base < np.inf and 0 <= made.per_word < np.inf and 0 <= made.noise < 1 and made.n_documents >= 0
        ):
            raise ModelError("the calibration of its authors has impossible numbers")
        return made


def documents_to_set_aside(corpus: Corpus, lengths: int = len(_LENGTHS) + 1) -> NDArray[np.int64]:
    """Documents with words and an author of others, evenly spread over the corpus; each yields ``lengths`` texts.

    Examples
    --------
    >>> import topoi
    >>> from topoi.models.calibration import documents_to_set_aside
    >>> corpus = topoi.Corpus.from_tokens([["a"], ["b"], ["c"]], authors=["Ann", "Bob", "Ann"])
    >>> documents_to_set_aside(corpus).tolist()
    [0, 2]
    """
    if corpus.n_authors < 2:
        return np.zeros(0, np.int64)
    doc = np.repeat(np.arange(corpus.n_docs), np.diff(corpus.doc_author_start))
    full = np.flatnonzero(np.bincount(doc, with_others(corpus)[corpus.doc_author], corpus.n_docs) * corpus.doc_lengths)
    most = np.clip(_MOST_SCORES // (corpus.n_authors * lengths), _FEWEST_DOCUMENTS, _MOST_DOCUMENTS)
    chosen = np.linspace(0, len(full) - 1, int(min(most, len(full)))).round().astype(np.int64)
    return np.asarray(full[chosen], np.int64)


def with_documents(corpus: Corpus) -> NDArray[np.int64]:
    """Number of documents with words of each author."""
    doc = np.repeat(np.arange(corpus.n_docs), np.diff(corpus.doc_author_start))
    return np.bincount(corpus.doc_author[corpus.doc_lengths[doc] > 0], minlength=corpus.n_authors)


def with_others(corpus: Corpus) -> NDArray[np.bool_]:
    """Authors with at least two documents that have words."""
    return np.asarray(with_documents(corpus) > 1)


def authors_of(corpus: Corpus, document: int) -> NDArray[np.int64]:
    """Distinct authors of a document, in order."""
    named = corpus.doc_author[corpus.doc_author_start[document] : corpus.doc_author_start[document + 1]]
    return np.unique(named).astype(np.int64)


def tokens_of(corpus: Corpus, document: int) -> NDArray[Any]:
    """Words of a document."""
    return corpus.tokens[corpus.doc_start[document] : corpus.doc_start[document + 1]]


def beginnings(n_tokens: int) -> list[int]:
    """Numbers of words at which a document is cut for scoring.

    Examples
    --------
    >>> from topoi.models.calibration import beginnings
    >>> beginnings(10), beginnings(200), beginnings(10_000)
    ([10], [15, 45, 150, 200], [15, 45, 150, 500, 1500])
    """
    return [n for n in _LENGTHS if n < n_tokens] + [min(n_tokens, LONGEST)]


def joined(parts: list[LeftOut]) -> LeftOut:
    """Several parts as one."""
    return LeftOut(*(np.concatenate(arrays) for arrays in zip(*parts, strict=True)))


def learn_calibration(left_out: LeftOut, n_documents: int) -> Calibration:
    """Calibration with the least log loss of the stated probability that the leading author is right.

    The targets for right and wrong are a little short of certainty (Platt 1999), so that a few documents that are all
    right do not make the calibration certain.
    """
    scores, right, n_words = left_out
    if not len(scores) or scores.shape[1] < 2:
        return Calibration()
    leads = right[np.arange(len(right)), scores.argmax(axis=1)]
    target = np.where(leads, (leads.sum() + 1) / (leads.sum() + 2), 1 / ((~leads).sum() + 2))
    n_known = np.isfinite(scores).sum(axis=1)
    scores = scores - scores.max(axis=1, keepdims=True)

    def loss(logs: NDArray[np.float64]) -> float:
        base, per_word, noise = np.exp(np.clip(logs, _LOWEST, _HIGHEST))
        weight = np.exp(scores / (base + per_word * n_words)[:, None]).sum(axis=1)  # the leader's own is 1
        lead = (1.0 - noise) / weight + noise / n_known
        return -float(np.mean(target * np.log(lead) + (1.0 - target) * np.log(np.maximum(1.0 - lead, 1e-300))))

    start = np.log([2.0, 0.03, 0.1])
    found = minimize(loss, start, method="Nelder-Mead", options={"xatol": 0.01, "fatol": 1e-6, "maxfev": 300})
    # Three digits are more precise than the data, and the same on every machine.
    base, per_word, noise = (float(f"{x:.3g}") for x in np.exp(np.clip(found.x, _LOWEST, _HIGHEST)))
    return Calibration(base, per_word, noise, n_documents)


def log_loss(left_out: LeftOut, calibration: Calibration) -> float:
    """Mean of -log P(one of the text's authors)."""
    log_p = calibration.log_probabilities(left_out.scores, left_out.n_words)
    return -float(np.mean(logsumexp(np.where(left_out.right, log_p, -np.inf), axis=1)))


def restored(meta: Mapping[str, Any], of: str) -> Calibration | None:
    """The calibration of some scores in a bundle from ``to_bundle``, or None."""
    return Calibration.from_plain(meta[of]) if of in meta else None
