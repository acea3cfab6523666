"""Comparison of models, of any families, on the same held-out documents."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.exceptions import NotFittedError
from sklearn.utils.validation import check_is_fitted

from topoi.analysis.given import has_topics
from topoi.corpus.corpus import Corpus
from topoi.errors import ModelError, TopoiError
from topoi.evaluation.coherence_measures import coherence
from topoi.evaluation.completion import Completed, half_completed
from topoi.evaluation.empirical import empirical_likelihood_report
from topoi.evaluation.ep import importance_likelihood, is_dirichlet
from topoi.evaluation.heldout import heldout
from topoi.evaluation.inputs import shared_words
from topoi.evaluation.paired import best_of, paired_difference
from topoi.evaluation.quality import diversity, exclusivity, stability
from topoi.evaluation.resources import Usage, end_if_interrupted, measured, state_mb
from topoi.models.base import FittedModel
from topoi.models.contract import HasChains, InStore, LoadedModel, SeedLike
from topoi.models.validation import whole_number

BEST, WORSE, UNCLEAR, UNKNOWN = "best", "worse", "no clear difference", ""


class Estimate(NamedTuple):
    """Log probability of each document by one estimator, with its standard error; ``estimator`` is its name."""

    estimator: str
    log_likelihood: NDArray[np.float64]
    standard_error: NDArray[np.float64]


@dataclass
class Judged:
    """Findings about one model; ``notes`` say what could not be found."""

    name: str
    model: Any
    usage: Usage
    first: Estimate | None = None
    second: Estimate | None = None
    completed: Completed | None = None
    notes: list[str] = field(default_factory=list)

    def attempt(self, what: str, call: Callable[[], Any]) -> Any:
        """Result of a call; None, with a note, for what the family does not have."""
        try:
            return call()
        except (TopoiError, NotImplementedError) as error:
            self.notes.append(f"{what}: {error or type(error).__name__}")
        return None


def compare(
    models: object,
    train: Corpus | None = None,
    test: Corpus | None = None,
    *,
    reference: Corpus | None = None,
    n_words: int = 10,
    n_samples: int = 1000,
    random_state: SeedLike = 0,
) -> pd.DataFrame:
    """Compare models of any families: held-out likelihood, completion, quality of topics, time and memory.

    Likelihoods and completion are of the same words of the same documents for all models. Differences to the best model
    are paired by document and have standard errors over documents: they say which differences would survive other
    test documents. They say nothing of other seeds; fit several chains, or several models, for that.

    Parameters
    ----------
    models : model, list of models, or dict from names to models
        Unfitted ones are fitted to ``train``, in place; fitted ones are taken as they are.
    train : Corpus, optional
        Training documents; needed if a model is not fitted.
    test : Corpus
        Documents that no model has seen. Words that not all models know are left out, with a warning.
    reference : Corpus, optional
        Documents in which coherence is counted; ``train``, or what the first model was fitted to, if not given.
    n_words : int
        Number of leading words of each topic that coherence, exclusivity and stability look at.
    n_samples : int
        Samples per document of the second estimator of the likelihood.
    random_state : int, generator or None
        Seeds the choice of observed words, and the second estimator.

    Returns
    -------
    DataFrame
        A row per model, the best first; see ``docs/evaluation.md`` for what to make of it.

        * name, model, n_topics, n_docs, n_words (of test documents).
        * log_likelihood per word in nats, log_likelihood_error (of the estimator), perplexity: by the family's own
          estimator, of Gibbs families the left-to-right particle filter.
        * difference to the best model's log likelihood per word, difference_error (paired, over documents), verdict:
          "best", "worse" (by more than two errors), "no clear difference".
        * second_estimator, second_log_likelihood, second_error: the same quantity by another, independent estimator.
        * completion_perplexity of half of each document's words given the other half, with topics that are held fixed
          in all families, completion_difference, completion_difference_error.
        * npmi, c_v, exclusivity, diversity (of 25 words), stability (mean overlap of leading words between chains):
          means over topics.
        * seconds of the fit, peak_mb (rise of memory during it; NaN if the model came fitted), state_mb (what the
          fitted model keeps).
        * note: why a number is missing.

    Examples
    --------
    >>> import topoi
    >>> corpus = topoi.Corpus.from_tokens([["sun", "star", "sky"], ["cell", "gene", "dna"]] * 20)
    >>> train, test = corpus.split(test_size=10, random_state=0)
    >>> models = {k: topoi.LDA(k, alpha=0.1, n_iter=50, random_state=0) for k in (1, 2)}
    >>> topoi.evaluation.compare(models, train, test)[["name", "verdict"]].values.tolist()
    [['2', 'best'], ['1', 'worse']]
    """
    whole_number("n_words", n_words, 2)
    named = _named(models)
    if not isinstance(test, Corpus):
        raise ModelError(f"test is {type(test).__name__}; pass a topoi.Corpus of documents that no model has seen")
    judged = [_fitted(name, model, train) for name, model in named]
    _tell_apart(judged)
    same = shared_words([each.model for each in judged], test)
    if not same.n_tokens:
        raise ModelError("the test documents have no words")
    for each in judged:
        _score(each, same, n_samples, random_state)
    basis = reference or train or judged[0].model.corpus_
    rows = [_row(each, same) | _topics(each, basis, n_words) | _effort(each) for each in judged]
    frame = pd.DataFrame(rows)
    _differences(frame, "", [each.first and each.first.log_likelihood for each in judged], same.doc_lengths)
    scored = next((each.completed.n_words for each in judged if each.completed), same.doc_lengths)
    _differences(frame, "completion_", [each.completed and each.completed.log_likelihood for each in judged], scored)
    frame["note"] = ["; ".join(each.notes) for each in judged]
    return frame.sort_values("log_likelihood", ascending=False, kind="stable", ignore_index=True)[list(_COLUMNS)]


_COLUMNS = (
    *("name", "model", "n_topics", "n_docs", "n_words"),
    *("log_likelihood", "log_likelihood_error", "perplexity", "difference", "difference_error", "verdict"),
    *("second_estimator", "second_log_likelihood", "second_error"),
    *("completion_perplexity", "completion_difference", "completion_difference_error"),
    *("npmi", "c_v", "exclusivity", "diversity", "stability"),
    *("seconds", "peak_mb", "state_mb", "note"),
)


def _named(models: object) -> list[tuple[str, Any]]:
    if isinstance(models, Mapping):
        pairs = [(str(name), model) for name, model in models.items()]
    else:
        given = list(models) if isinstance(models, Sequence) and not isinstance(models, str) else [models]
        pairs = [("", model) for model in given]
    if not pairs:
        raise ModelError("there are no models to compare; pass a list of them, or a dict from names to models")
    return [(name, _model(name, model)) for name, model in pairs]


def _model(name: str, given: object) -> Any:
    if isinstance(given, InStore):
        return given.load()
    if isinstance(given, FittedModel):
        return given
    what = f"{given.__name__}, a class" if isinstance(given, type) else repr(given)[:80]
    which = f" {name!r}" if name else ""
    raise ModelError(f"the model{which} is {what}; pass an instance of a model, fitted or not")


def _fitted(name: str, model: Any, train: Corpus | None) -> Judged:
    try:
        check_is_fitted(model, "n_iter_")
    except NotFittedError:
        if not isinstance(train, Corpus):
            raise ModelError(
                f"{name or type(model).__name__} is not fitted, and train is {type(train).__name__}; "
                "pass the documents to fit it to, train=corpus"
            ) from None
        with measured() as usage:
            model.fit(train)
        end_if_interrupted(model)
        return Judged(name, model, usage)
    return Judged(name, model, Usage(float(model.fit_info_.get("seconds", np.nan))))


def _tell_apart(judged: list[Judged]) -> None:
    """Name models that came without names by their classes; of equal ones, also by their topics, or by numbers."""
    nameless = [each for each in judged if not each.name]
    for number, label in enumerate((lambda each: type(each.model).__name__, _with_topics, None)):
        times = Counter(each.name for each in judged)
        doubtful = [each for each in nameless if number == 0 or times[each.name] > 1]
        seen: Counter[str] = Counter()
        for each in doubtful:
            seen[each.name] += 1
            each.name = label(each) if label else f"{each.name}, {seen[each.name]}"


def _with_topics(each: Judged) -> str:
    n = _n_topics(each.model)
    return f"{type(each.model).__name__}, {n} topics" if n else type(each.model).__name__


def _n_topics(model: LoadedModel) -> int:
    return int(model.chains_[0].n_topics) if isinstance(model, HasChains) and has_topics(model) else 0


def _score(each: Judged, test: Corpus, n_samples: int, random_state: SeedLike) -> None:
    model = each.model

    def own() -> Estimate:
        rows = heldout(model, test)
        return Estimate("", rows["log_likelihood"].to_numpy(), rows["standard_error"].to_numpy())

    each.first = each.attempt("log_likelihood", own)
    if model.has_mixtures:
        each.second = _second(each, test, n_samples, random_state)
    else:
        each.notes.append("second_estimator: none is needed, since the likelihood is exact")
    each.completed = each.attempt("completion", lambda: half_completed(model, test, random_state))


def _second(each: Judged, test: Corpus, n_samples: int, random_state: SeedLike) -> Estimate | None:
    """Another estimator than the model's own: importance sampling if mixtures are Dirichlet, or draws from the prior.

    Importance sampling is for chains with Dirichlet mixtures; draws from the family's own prior estimate the right
    quantity for every family.
    """
    ways: dict[str, Callable[..., pd.DataFrame]] = {"empirical": empirical_likelihood_report}
    chains = each.model.documents_and_chains(test, None)[2] if isinstance(each.model, HasChains) else []
    if not each.model.has_graph and all(map(is_dirichlet, chains)):
        ways = {"importance": importance_likelihood} | ways
    before = list(each.notes)
    for name, way in ways.items():
        rows = each.attempt(f"second_estimator, {name}", partial(way, each.model, test, n_samples, random_state))
        if rows is not None:
            each.notes = before
            missing = int(rows["standard_error"].isna().sum())
            if missing:
                why = rows["note"][rows["standard_error"].isna()].iloc[0].partition(";")[0]
                each.notes.append(f"second_error: {missing:,} of {len(rows):,} documents have {why}")
            return Estimate(name, rows["log_likelihood"].to_numpy(), rows["standard_error"].to_numpy())
    return None


def _row(each: Judged, test: Corpus) -> dict[str, Any]:
    n, nan = test.n_tokens, float("nan")
    first, second, completed = each.first, each.second, each.completed
    per_word = first.log_likelihood.sum() / n if first else nan
    return {
        "name": each.name,
        "model": type(each.model).__name__,
        "n_topics": _n_topics(each.model),
        "n_docs": test.n_docs,
        "n_words": n,
        "log_likelihood": per_word,
        "log_likelihood_error": _error(first, n),
        "perplexity": np.exp(-per_word),
        "second_estimator": second.estimator if second else "",
        "second_log_likelihood": second.log_likelihood.sum() / n if second else nan,
        "second_error": _error(second, n),
        "completion_perplexity": (
            float(np.exp(-completed.log_likelihood.sum() / completed.n_words.sum())) if completed else nan
        ),
    }


def _error(estimate: Estimate | None, n_words: int) -> float:
    """Standard error of a log likelihood per word; NaN if a document has none."""
    return float(np.sqrt((estimate.standard_error**2).sum()) / n_words) if estimate else float("nan")


def _topics(each: Judged, reference: Corpus, n_words: int) -> dict[str, Any]:
    """Means over topics of the measures of their quality; NaN without topics."""
    names = ("npmi", "c_v", "exclusivity", "diversity", "stability")
    found = dict.fromkeys(names, float("nan"))
    model = each.model
    if not _n_topics(model):
        each.notes.append(f"{', '.join(names)}: {type(model).__name__} has no topics")
        return found
    calls: dict[str, Callable[[], float]] = {
        "npmi": lambda: coherence(model, reference, "npmi", n_words).attrs["mean"],
        "c_v": lambda: coherence(model, reference, "c_v", n_words).attrs["mean"],
        "exclusivity": lambda: exclusivity(model, n_words).attrs["mean"],
        "diversity": lambda: diversity(model),
    }
    if len(model.chains_) > 1:
        calls["stability"] = lambda: stability(model, n_words).attrs["overlap"]
    else:
        each.notes.append("stability: there is one chain")
    for name, call in calls.items():
        value = each.attempt(name, call)
        found[name] = float("nan") if value is None else value
    return found


def _effort(each: Judged) -> dict[str, Any]:
    state = each.attempt("state_mb", lambda: state_mb(each.model))
    return {
        "seconds": each.usage.seconds,
        "peak_mb": each.usage.peak_mb,
        "state_mb": np.nan if state is None else state,
    }


def _differences(frame: pd.DataFrame, prefix: str, logs: list[Any], lengths: NDArray[np.int64]) -> None:
    """Add columns with paired differences to the best model; ``logs`` has None where a model was not scored."""
    totals = np.array([np.nan if log_p is None else log_p.sum() for log_p in logs])
    best = best_of(totals)
    rows: list[tuple[float, float, str]] = []
    for k, log_p in enumerate(logs):
        if log_p is None or best is None:
            rows.append((np.nan, np.nan, UNKNOWN))
        elif k == best:
            rows.append((0.0, 0.0, BEST))
        else:
            found = paired_difference(log_p, logs[best], lengths)
            rows.append((*found, WORSE if found.is_clear else UNCLEAR))
    frame[f"{prefix}difference"], frame[f"{prefix}difference_error"], verdict = map(list, zip(*rows, strict=True))
    if not prefix:
        frame["verdict"] = verdict
