"""Search for a number of topics by cross-validated held-out likelihood."""

from __future__ import annotations

import inspect
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.base import clone

from topoi.corpus.corpus import Corpus
from topoi.corpus.split import number_of_tests
from topoi.errors import ModelError
from topoi.evaluation.heldout import log_likelihoods
from topoi.evaluation.inputs import known_part
from topoi.evaluation.paired import Difference, best_of, paired_difference
from topoi.evaluation.resources import end_if_interrupted, measured
from topoi.models.base import FittedModel
from topoi.models.contract import LoadedModel, SeedLike
from topoi.models.registry import default_model, model_named
from topoi.models.validation import resolve_seed, whole_number

# Settings that hold a number of topics, by families' names for them.
SIZES = ("n_topics", "n_aspects", "n_sub")
# Clear falls after which larger numbers are not tried.
_FALLS = 2
# Share of the documents that is held out if there is one fold only, and how many at most.
_HELD_OUT, _MOST_HELD_OUT = 0.1, 500


@dataclass(frozen=True)
class TopicSearch:
    """Result of ``search_topics``.

    Attributes
    ----------
    frame : DataFrame
        A row per number of topics that was tried: n_topics; log_likelihood per word of held-out documents, in nats;
        perplexity; difference to the best, difference_error (paired, over documents); chosen; seconds, of all its fits.
    n_topics : int
        The recommended number.
    recommendation : str
        The reason, in words.

    Examples
    --------
    >>> import topoi
    >>> corpus = topoi.Corpus.from_tokens([["sun", "star"], ["cell", "gene"]] * 5)
    >>> topoi.evaluation.search_topics(corpus, [1], n_iter=2)
    <TopicSearch: 1 topic: the only number that was tried>
    """

    frame: pd.DataFrame
    n_topics: int
    recommendation: str

    def __repr__(self) -> str:
        return f"<TopicSearch: {self.recommendation}>"


@dataclass
class _Tried:
    """Held-out log probabilities of all documents under one number of topics."""

    n_topics: int
    log_likelihood: NDArray[np.float64]
    seconds: float


def search_topics(
    corpus: Corpus,
    numbers: Iterable[int] | None = None,
    model: Any = None,
    folds: int = 3,
    *,
    random_state: SeedLike = 0,
    **options: object,
) -> TopicSearch:
    """Find a number of topics by cross-validation: the smallest that predicts new documents about as well as the best.

    Documents are dealt into folds at random. For each number of topics, each fold is scored by a model that was fitted
    to the others. Recommended is the smallest number whose log likelihood per word is within one standard error of the
    best, where the error is that of the paired difference over documents. Numbers are tried in ascending order; after
    two that are clearly worse than the best so far (by more than two errors) larger ones are left out.

    Parameters
    ----------
    corpus : Corpus
        The documents.
    numbers : list of int, optional
        Numbers of topics to try; by default a few that suit the size of the corpus.
    model : model or class of models, optional
        What to fit: an unfitted model, whose other settings are kept, or a class. LDA if not given.
    folds : int
        Number of parts, each of which is held out once. With 1, a tenth of the documents, 500 at most, is held
        out, once.
    random_state : int, generator or None
        Seeds the dealing into folds, and models without a ``random_state`` of their own.
    **options
        Settings of the models, ``n_iter=200`` for one.

    Returns
    -------
    TopicSearch
        ``frame``, ``n_topics`` and ``recommendation``; ``topoi.plots.topic_numbers`` draws it.

    Examples
    --------
    >>> import topoi
    >>> corpus = topoi.Corpus.from_tokens([["sun", "star", "sky"] * 4, ["cell", "gene", "dna"] * 4] * 15)
    >>> found = topoi.evaluation.search_topics(corpus, [1, 2], topoi.LDA(1, alpha=0.1, n_iter=40), folds=2)
    >>> found.n_topics
    2
    >>> print(found.recommendation)
    2 topics: the best of 1 and 2
    """
    if not isinstance(corpus, Corpus):
        raise ModelError(f"corpus is {type(corpus).__name__}; pass a topoi.Corpus")
    sizes = _numbers(suited_numbers(corpus) if numbers is None else numbers)
    seed = resolve_seed(random_state)
    template = _template(model, options, seed)
    setting = size_setting(template)
    parts = list(_folds(corpus, whole_number("folds", folds), seed))
    lengths = np.concatenate([test.doc_lengths for _, test in parts])
    tried: list[_Tried] = []
    for size in sizes:
        tried.append(_try(template, setting, size, parts))
        if _is_enough(tried, lengths):
            break
    return _result(tried, lengths, sizes[len(tried) :])


def suited_numbers(corpus: Corpus) -> list[int]:
    """A few numbers of topics that suit the size of a corpus.

    Examples
    --------
    >>> import topoi
    >>> from topoi.evaluation.topic_search import suited_numbers
    >>> suited_numbers(topoi.Corpus.from_tokens([["a", "b"]] * 100))
    [2, 5, 10]
    """
    for tokens, numbers in ((10_000, [2, 5, 10]), (100_000, [5, 10, 20, 50]), (2_000_000, [20, 50, 100])):
        if corpus.n_tokens < tokens:
            return numbers
    return [50, 100, 200, 400]


def size_setting(model: LoadedModel) -> str:
    """Name of the setting of a model that is its number of topics.

    Examples
    --------
    >>> import topoi
    >>> from topoi.evaluation.topic_search import size_setting
    >>> size_setting(topoi.LDA(3)), size_setting(topoi.AspectModel(3))
    ('n_topics', 'n_aspects')
    """
    return _size_among(model.get_params(deep=False), type(model).__name__)


def _size_among(settings: Iterable[str], of: str) -> str:
    found = next((name for name in SIZES if name in settings), None)
    if found is None:
        raise ModelError(f"{of} has no number of topics to search for; pass another model")
    return found


def _numbers(numbers: object) -> list[int]:
    if isinstance(numbers, str) or not isinstance(numbers, Iterable):
        raise ModelError(f"numbers of topics are {numbers!r}; pass a list, as in [20, 50, 100]")
    found = sorted({whole_number("a number of topics", n) for n in numbers})
    if not found:
        raise ModelError("there are no numbers of topics to try; pass a list, as in [20, 50, 100]")
    return found


def _template(model: LoadedModel, options: dict[str, Any], seed: int) -> Any:
    """An unfitted model with the given settings, and a seed."""
    chosen = model_named(default_model().without_authors).model_class if model is None else model
    if isinstance(chosen, type):
        if not issubclass(chosen, FittedModel):
            raise ModelError(f"model is the class {chosen.__name__}; pass a class of models")
        chosen = chosen(**{_size_among(inspect.signature(chosen).parameters, chosen.__name__): 1})
    if not isinstance(chosen, FittedModel):
        raise ModelError(f"model is {chosen!r}; pass an unfitted model, or a class of models")
    template = clone(chosen)
    settings = template.get_params(deep=False)
    for name in options:
        if name not in settings:
            raise ModelError(f"{type(template).__name__} has no setting {name!r}; it has {', '.join(settings)}")
    if settings.get("random_state", 0) is None and "random_state" not in options:
        options = options | {"random_state": seed}
    if "checkpoint" in settings:
        options = options | {"checkpoint": None}  # one file cannot keep several fits
    return template.set_params(**options)


def _folds(corpus: Corpus, folds: int, seed: int) -> Iterator[tuple[Corpus, Corpus]]:
    """Training and test part of each fold."""
    if folds == 1:
        yield corpus.split(min(number_of_tests(_HELD_OUT, corpus.n_docs), _MOST_HELD_OUT), random_state=seed)
        return
    if folds > corpus.n_docs:
        raise ModelError(f"there are {corpus.n_docs} documents for {folds} folds; each needs one")
    fold = np.random.default_rng(seed).permutation(corpus.n_docs) % folds
    for k in range(folds):
        yield corpus.subset(fold != k), corpus.subset(fold == k)


def _try(template: object, setting: str, size: int, parts: list[tuple[Corpus, Corpus]]) -> _Tried:
    logs = []
    with measured() as usage:
        for train, test in parts:
            model = clone(template).set_params(**{setting: size}).fit(train)
            end_if_interrupted(model)
            logs.append(log_likelihoods(model, known_part(model, test)))
    return _Tried(size, np.concatenate(logs), usage.seconds)


def _to_best(tried: list[_Tried], lengths: NDArray[np.int64]) -> tuple[int, list[Difference]]:
    """Position of the best, and the paired difference of each to it."""
    best = best_of(np.array([each.log_likelihood.sum() for each in tried]))
    if best is None:
        raise ModelError("held-out documents have no likelihood under these models")
    reference = tried[best].log_likelihood
    return best, [paired_difference(each.log_likelihood, reference, lengths) for each in tried]


def _is_enough(tried: list[_Tried], lengths: NDArray[np.int64]) -> bool:
    """Whether the last numbers were clearly worse than a smaller one, each worse than the one before."""
    best, differences = _to_best(tried, lengths)
    last = differences[-_FALLS:]
    falling = all(a.mean > b.mean for a, b in zip(differences[-_FALLS - 1 :], last, strict=False))
    return len(tried) - 1 - best >= _FALLS and falling and all(each.is_clear for each in last)


def _result(tried: list[_Tried], lengths: NDArray[np.int64], left_out: list[int]) -> TopicSearch:
    best, differences = _to_best(tried, lengths)
    chosen = next(i for i, found in enumerate(differences) if i == best or found.mean >= -found.error)
    per_word = np.array([each.log_likelihood.sum() for each in tried]) / max(int(lengths.sum()), 1)
    frame = pd.DataFrame(
        {
            "n_topics": [each.n_topics for each in tried],
            "log_likelihood": per_word,
            "perplexity": np.exp(-per_word),
            "difference": [found.mean for found in differences],
            "difference_error": [found.error for found in differences],
            "chosen": [i == chosen for i in range(len(tried))],
            "seconds": [each.seconds for each in tried],
        }
    )
    return TopicSearch(frame, tried[chosen].n_topics, _words(frame, best, chosen, left_out))


def _words(frame: pd.DataFrame, best: int, chosen: int, left_out: list[int]) -> str:
    """Why this number, in a sentence."""
    numbers = [str(n) for n in frame["n_topics"]]
    tried = " and ".join(filter(None, [", ".join(numbers[:-1]), numbers[-1]]))
    if chosen == best:
        why = f"the best of {tried}" if len(numbers) > 1 else "the only number that was tried"
    else:
        row = frame.iloc[chosen]
        why = (
            f"the smallest of {tried} within one standard error of the best, {numbers[best]} "
            f"(perplexity {row['perplexity']:,.1f} against {frame['perplexity'].iloc[best]:,.1f})"
        )
    if left_out:
        why += f"; {', '.join(map(str, left_out))} not tried, since the last {_FALLS} were clearly worse"
    elif len(numbers) > 1 and best == len(numbers) - 1:
        why += "; larger numbers may be better still" if chosen == best and len(numbers) > 2 else ""
    return f"{numbers[chosen]} {'topic' if numbers[chosen] == '1' else 'topics'}: {why}"
