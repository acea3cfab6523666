"""Classification by likelihood: one model per class; a document goes to the class that predicts it best."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.base import clone

from topoi.corpus.corpus import Corpus
from topoi.errors import ModelError
from topoi.evaluation.heldout import log_likelihoods
from topoi.evaluation.inputs import checked_model, shared_words
from topoi.models.catalogue import CorpusCatalogue
from topoi.models.contract import LoadedModel

PREFIX = "log_likelihood_"


def fit_classes(model: LoadedModel, corpus: Corpus, labels: object) -> dict[Any, Any]:
    """Fit a copy of a model for each class, all with the corpus's vocabulary.

    Parameters
    ----------
    model
        An unfitted model of any family; it is not modified.
    corpus : Corpus
        Training documents of all classes.
    labels : sequence or str
        The class of each document, or the name of a column of ``corpus.documents``.

    Returns
    -------
    dict
        From classes, in sorted order, to fitted models.

    Examples
    --------
    >>> import topoi
    >>> corpus = topoi.Corpus.from_tokens([["a", "b"], ["c", "d"]] * 5, metadata={"side": ["left", "right"] * 5})
    >>> models = topoi.evaluation.fit_classes(topoi.LDA(2, n_iter=5, random_state=0), corpus, "side")
    >>> list(models)
    ['left', 'right']
    """
    given = _labels(corpus, labels)
    return {c: clone(model).fit(corpus.subset(given == c)) for c in sorted(set(given.tolist()))}


def classify(
    models: Mapping[Any, Any],
    corpus: Corpus,
    estimator: str = "filter",
    priors: Mapping[Any, float] | None = None,
    labels: object = None,
    **options: object,
) -> pd.DataFrame:
    """Classify each document: its class is the one whose model gives it the highest probability.

    All classes are scored on the same words. If the models have different vocabularies, only words that all of them
    know are used, with a warning: fit the classes on subsets of one corpus, as ``fit_classes`` does, to lose none.

    Parameters
    ----------
    models : dict
        From classes to fitted models, of any families.
    corpus : Corpus
        The documents.
    estimator : {"filter", "left-to-right", "empirical"}
        As in ``heldout``, with the same ``options``.
    priors : dict, optional
        Prior probabilities of the classes, or numbers proportional to them; uniform by default.
    labels : sequence or str, optional
        The true class of each document, or the name of a column of ``corpus.documents``.
    **options
        Options of the estimator: ``n_particles``, ``n_samples``, ``random_state``.

    Returns
    -------
    DataFrame
        The columns that name a document; n_words, the number of words scored; predicted; margin, the difference of the
        best log probability, priors included, from the second best; with ``labels`` label and correct; and for each
        class ``log_likelihood_…``. In a tie, as for a document without known words, the first class wins.

    Examples
    --------
    >>> import topoi
    >>> corpus = topoi.Corpus.from_tokens([["a", "b"], ["c", "d"]] * 5, metadata={"side": ["left", "right"] * 5})
    >>> models = topoi.evaluation.fit_classes(topoi.LDA(2, n_iter=5, random_state=0), corpus, "side")
    >>> topoi.evaluation.classify(models, corpus.encode([["d", "d"], ["a", "c", "b"]]))["predicted"].tolist()
    ['right', 'left']
    """
    if not isinstance(models, Mapping) or len(models) < 2:
        raise ModelError("models must be a dict from at least two classes to fitted models; see fit_classes")
    if not isinstance(corpus, Corpus):
        raise ModelError(f"pass a topoi.Corpus, not {type(corpus).__name__}")
    names, weight = list(models), _log_priors(models, priors)
    truth = None if labels is None else _labels(corpus, labels)
    if truth is not None and (unknown := sorted({str(c) for c in truth.tolist() if c not in models})):
        raise ModelError(f"there is no model for the class {unknown[0]!r}; the classes are {_listed(names)}")
    same = shared_words([checked_model(model) for model in models.values()], corpus)
    scores = np.stack([log_likelihoods(model, same, estimator, **options) for model in models.values()])
    posterior = scores + weight[:, None]
    best = posterior.argmax(axis=0)
    ordered = np.sort(posterior, axis=0)
    columns = CorpusCatalogue(corpus).document_columns(np.arange(corpus.n_docs))
    columns |= {"n_words": same.doc_lengths, "predicted": [names[c] for c in best], "margin": ordered[-1] - ordered[-2]}
    if truth is not None:
        columns |= {"label": truth, "correct": [names[c] == t for c, t in zip(best, truth.tolist(), strict=True)]}
    return pd.DataFrame(columns | {f"{PREFIX}{name}": row for name, row in zip(names, scores, strict=True)})


def accuracy(frame: pd.DataFrame) -> pd.DataFrame:
    """Accuracy of a classification, for each class and for all documents.

    Parameters
    ----------
    frame : DataFrame
        What ``classify(…, labels=…)`` returned.

    Returns
    -------
    DataFrame
        label, n_docs, n_correct, accuracy; the last row, "all", is the total.

    Examples
    --------
    >>> import pandas as pd, topoi
    >>> frame = pd.DataFrame({"label": ["x", "x", "y", "y"], "predicted": ["x", "x", "x", "y"]})
    >>> topoi.evaluation.accuracy(frame)["accuracy"].tolist()
    [1.0, 0.5, 0.75]
    """
    right = _with_labels(frame)["predicted"] == frame["label"]
    rows = [(c, int((frame["label"] == c).sum()), int(right[frame["label"] == c].sum())) for c in _classes(frame)]
    table = pd.DataFrame([*rows, ("all", len(frame), int(right.sum()))], columns=["label", "n_docs", "n_correct"])
    return table.assign(accuracy=table["n_correct"] / table["n_docs"])


def confusion_table(frame: pd.DataFrame) -> pd.DataFrame:
    """Confusion matrix: numbers of documents of each class (rows) that were given to each class (columns).

    Parameters
    ----------
    frame : DataFrame
        What ``classify(…, labels=…)`` returned.

    Examples
    --------
    >>> import pandas as pd, topoi
    >>> frame = pd.DataFrame({"label": ["x", "x", "y", "y"], "predicted": ["x", "x", "x", "y"]})
    >>> topoi.evaluation.confusion_table(frame).to_numpy().tolist()
    [[2, 0], [1, 1]]
    """
    _with_labels(frame)
    classes = sorted(set(_classes(frame)) | set(frame["predicted"].tolist()))
    table = pd.crosstab(frame["label"], frame["predicted"])
    return table.reindex(index=classes, columns=classes, fill_value=0)


def _with_labels(frame: pd.DataFrame) -> pd.DataFrame:
    if not {"label", "predicted"} <= set(frame.columns):
        raise ModelError("there are no true classes here; call classify with labels=…")
    return frame


def _classes(frame: pd.DataFrame) -> list[Any]:
    return sorted(set(frame["label"].tolist()))


def _labels(corpus: Corpus, labels: Any) -> NDArray[Any]:
    """Class of each document, as an object array."""
    if isinstance(labels, str):
        if labels not in corpus.documents:
            raise ModelError(f"the documents have no column {labels!r}; they have {_listed(list(corpus.documents))}")
        labels = corpus.documents[labels]
    values = list(labels)
    if len(values) != corpus.n_docs:
        raise ModelError(f"there are {len(values)} labels for {corpus.n_docs} documents; pass one for each")
    missing = np.asarray(pd.isna(np.array(values, object)))
    if missing.any():
        raise ModelError(f"{int(missing.sum())} documents have no label; leave them out with corpus.subset")
    result = np.empty(len(values), object)
    result[:] = [v.item() if isinstance(v, np.generic) else v for v in values]
    return result


def _listed(names: list[Any]) -> str:
    return ", ".join(map(repr, names))


def _log_priors(models: Mapping[Any, Any], priors: Mapping[Any, float] | None) -> NDArray[np.float64]:
    if priors is None:
        return np.zeros(len(models))
    if not isinstance(priors, Mapping) or set(priors) != set(models):
        raise ModelError(f"priors must be a dict with one number for each class: {_listed(list(models))}")
    values = np.array([float(priors[c]) for c in models])
    if not (np.isfinite(values).all() and (values > 0).all()):
        raise ModelError(f"priors are {dict(priors)!r}; they must be positive and finite")
    return np.log(values / values.sum())
