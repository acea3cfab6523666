"""Document completion: predicting the rest of a document after observing some of its words."""

from __future__ import annotations

import zlib
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from topoi.corpus.corpus import Corpus
from topoi.evaluation.inputs import known_part
from topoi.models.contract import SeedLike
from topoi.models.scores import perplexities
from topoi.models.validation import resolve_seed, whole_number

# Sweeps of sampled mixtures: with ten samples, which are the default, perplexities are 1 to 4 % above those of the mean
# that other families compute without sampling; with so many they are the same.
_SCHEDULE = {"burn_in": 50, "n_samples": 200, "lag": 2}
OBSERVED = (0, 1, 2, 4, 8, 16, 32, 64, 128, 256, 512)


def completion_curve(
    model: Any,
    corpus: Corpus,
    observed: Sequence[int] = OBSERVED,
    random_state: SeedLike = 0,
    average: str = "tokens",
    learn_topics: bool = True,
) -> pd.DataFrame:
    """Perplexity of the rest of each document against the number of its words observed (AT09, figure 11).

    The observed words are drawn at random among those the model knows. They are the same for every model with the same
    vocabulary, and each larger set contains the smaller ones.

    Parameters
    ----------
    model
        A fitted model of any family that has ``log_completion``.
    corpus : Corpus
        Test documents.
    observed : sequence of int
        Numbers of observed words.
    random_state : int
        Seed of the choice of observed words.
    average : {"tokens", "documents"}
        As in ``perplexity``; the paper's figure has ``"documents"``.
    learn_topics : bool
        Whether topics of LDA, author-topic, pachinko and HDP models go on learning from the observed words, as in the
        paper's figure. Those of other families are always held fixed: pass False to compare them with each other.

    Returns
    -------
    DataFrame
        observed, perplexity, n_docs. Documents with no rest to predict are left out, so n_docs may fall.

    Examples
    --------
    >>> import topoi
    >>> corpus = topoi.Corpus.from_tokens([["a", "b"]] * 4)
    >>> model = topoi.LDA(1, n_iter=2, random_state=0).fit(corpus)
    >>> topoi.evaluation.completion_curve(model, corpus, observed=(0, 1, 2))["n_docs"].tolist()
    [4, 4, 0]
    """
    check_is_fitted(model, "n_iter_")
    corpus = known_part(model, corpus)
    rank = _random_ranks(corpus, resolve_seed(random_state))
    rows = []
    for n in observed:
        seen = rank < whole_number("observed", n, 0)
        rest = np.maximum(corpus.doc_lengths - n, 0)
        used = np.flatnonzero(rest > 0)
        value = float("nan")
        if len(used):
            doc = np.repeat(np.arange(corpus.n_docs), corpus.doc_lengths)
            part = corpus.subset(used)
            log_p = model.log_completion(part, seen[np.isin(doc, used)], learn_topics=learn_topics)
            value = perplexities(log_p, rest[used], average)
        rows.append((int(n), value, len(used)))
    return pd.DataFrame(rows, columns=["observed", "perplexity", "n_docs"])


class Completed(NamedTuple):
    """Log probability of the unobserved words of each document, and their number."""

    log_likelihood: NDArray[np.float64]
    n_words: NDArray[np.int64]


def half_completed(model: Any, corpus: Corpus, random_state: SeedLike = 0) -> Completed:
    """Score half of each document's words, the larger half, given the other half, chosen at random.

    It is the same quantity for every family: topics are what training made them, the observed half gives the document's
    mean mixture, and each word of the other half is scored by it.

    Examples
    --------
    >>> import topoi
    >>> from topoi.evaluation.completion import half_completed
    >>> corpus = topoi.Corpus.from_tokens([["a", "b"], ["a", "b", "a"], []])
    >>> model = topoi.LDA(1, n_iter=2, random_state=0).fit(corpus)
    >>> half_completed(model, corpus).n_words.tolist()
    [1, 2, 0]
    """
    known = known_part(model, corpus)
    observed = known.doc_lengths // 2
    rank = _random_ranks(known, resolve_seed(random_state))
    seen = rank < np.repeat(observed, known.doc_lengths)
    return Completed(fixed_completion(model, known, seen), known.doc_lengths - observed)


def fixed_completion(model: Any, corpus: Corpus, observed: NDArray[np.bool_]) -> NDArray[np.float64]:
    """Log probability of each document's unobserved tokens, with topics held fixed and a mixture that has settled.

    Examples
    --------
    >>> import numpy as np, topoi
    >>> from topoi.evaluation.completion import fixed_completion
    >>> corpus = topoi.Corpus.from_tokens([["a", "b"]] * 4)
    >>> model = topoi.LDA(1, n_iter=2, random_state=0).fit(corpus)
    >>> fixed_completion(model, corpus, np.arange(8) % 2 == 0).round(3).tolist()
    [-0.693, -0.693, -0.693, -0.693]
    """
    return np.asarray(model.log_completion(corpus, observed, learn_topics=False, **_SCHEDULE))


def _random_ranks(corpus: Corpus, seed: int) -> NDArray[np.int64]:
    """Rank of each token in a random order of its document's tokens; it does not depend on other documents."""
    rank = np.empty(corpus.n_tokens, np.int64)
    for a, b in zip(corpus.doc_start[:-1], corpus.doc_start[1:], strict=True):
        rng = np.random.default_rng([seed, zlib.crc32(corpus.tokens[a:b].astype("<i4").tobytes())])
        rank[a:b] = rng.permutation(b - a)
    return rank
