"""Effects of feature values on a topic."""

from __future__ import annotations

from statistics import NormalDist
from typing import Any

import numpy as np
import pandas as pd

from topoi.analysis.features import axis, feature_columns, find_feature
from topoi.analysis.given import class_name, need_topic
from topoi.analysis.shares import share_curve
from topoi.errors import ModelError
from topoi.models.contract import HasCoefficients, ModelLike
from topoi.models.features.columns import Column, Links, Names
from topoi.models.validation import checked_tail, choice, whole_number

_NUMBERS = 5  # values of a number or date
_VALUES_AT_ONCE = 2000


def topic_effects(
    model: ModelLike, topic: int, feature: str | None = None, n: int = 20, level: float = 0.8, measure: str = "auto"
) -> pd.DataFrame:
    """Values of features that raise or lower a topic most.

    Parameters
    ----------
    model : KernelTopicModel or DirichletMultinomialRegression
        A fitted model.
    topic : int
        The topic's number.
    feature : str, optional
        One feature; by default all, except links of a kernel topic model.
    n : int
        Number of values, those with the largest effect.
    level : float
        Each band holds this much probability.
    measure : {"auto", "coefficient", "share"}
        "coefficient": a regression's coefficients, which are added to the logarithm of the topic's alpha. "share": the
        difference of the topic's share from that of a typical document, with all other features at typical values; the
        band is that of the share. "auto": coefficients if the model has them, else shares.

    Returns
    -------
    DataFrame
        topic, rank, feature, value, effect, lower, upper; ``attrs["measure"]`` is the measure used.

    Examples
    --------
    >>> import topoi
    >>> corpus = topoi.Corpus.from_tokens([["sun"] * 9, ["gene"] * 9] * 10, metadata={"venue": ["A", "B"] * 10})
    >>> model = topoi.DirichletMultinomialRegression(2, features=["venue"], n_iter=60, random_state=0).fit(corpus)
    >>> sorted(topoi.topic_effects(model, 0)["value"])
    ['A', 'B']
    """
    columns = feature_columns(model)
    k = need_topic(model, topic)
    tail, wanted = checked_tail(level), whole_number("n", n)
    has_coefficients = isinstance(model, HasCoefficients)
    if choice("measure", measure, ("auto", "coefficient", "share")) == "coefficient" and not has_coefficients:
        raise ModelError(f"{class_name(model)} has no coefficients; use measure='share'")
    chosen = list(columns.values()) if feature is None else [find_feature(columns, feature)]
    if measure == "share" or not has_coefficients:
        frame, measure = _shares(model, k, chosen, level), "share"
    else:
        frame, measure = _coefficients(model, k, [column.name for column in chosen], tail), "coefficient"
    order = np.argsort(-frame["effect"].abs().to_numpy(), kind="stable")[:wanted]
    frame = frame.iloc[order].reset_index(drop=True)
    frame.insert(0, "topic", k)
    frame.insert(1, "rank", np.arange(1, len(frame) + 1))
    frame.attrs["measure"] = measure
    return frame


def _coefficients(model: Any, topic: int, chosen: list[str], tail: float) -> pd.DataFrame:
    table = model.coefficients()
    table = table[table["topic"] == topic]
    width = NormalDist().inv_cdf(1.0 - tail)
    named = [(term.name, label) for term in model.design_.terms for label in term.labels]
    rows = []
    for (name, label), effect, error in zip(
        named, table["coefficient"][1:], table["standard_error"][1:], strict=True
    ):  # without the intercept
        if name in chosen:
            value = label[len(name) + 1 :] or "one standard deviation more"
            rows.append((name, value, effect, effect - width * error, effect + width * error))
    return _frame(rows)


def _shares(model: ModelLike, topic: int, chosen: list[Column], level: float) -> pd.DataFrame:
    """Differences from the share of a typical document."""
    rows: list[tuple[Any, ...]] = []
    usable = [column for column in chosen if not isinstance(column, Links)]
    if not usable:
        raise ModelError("the features are links, of which there is no list of values; see topoi.link_neighbourhood")
    for column in usable:
        usual = share_curve(model, column.name, topics=[topic], values=[None])["mean"].item()
        values: list[Any] = axis(model, column, n=_NUMBERS)
        if isinstance(column, Names):
            values = list(column.levels) if column.single else [[name] for name in column.levels]
        for first in range(0, len(values), _VALUES_AT_ONCE):
            some = values[first : first + _VALUES_AT_ONCE]
            curve = share_curve(model, column.name, topics=[topic], values=some, level=level)
            names = curve[column.name] if isinstance(column, Names) else [f"{value:g}" for value in curve[column.name]]
            parts = (curve[name] - usual for name in ("mean", "lower", "upper"))
            rows += zip([column.name] * len(curve), names, *parts, strict=True)
    return _frame(rows)


def _frame(rows: list[tuple[Any, ...]]) -> pd.DataFrame:
    return pd.DataFrame(rows, columns=["feature", "value", "effect", "lower", "upper"])
