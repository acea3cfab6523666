"""Dependence of topics on metadata: shares along a feature, for some authors, with bands."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import partial
from typing import Any, Literal, NamedTuple, cast

import pandas as pd
from typing_extensions import TypedDict

from topoi.analysis.features import (
    checked_value,
    common_names,
    feature_columns,
    find_feature,
    name_counts,
    typical,
    value_name,
)
from topoi.analysis.links import link_features, link_neighbourhood
from topoi.analysis.shares import document_points, share_curve
from topoi.drawing import charts
from topoi.drawing.colours import author_hue
from topoi.drawing.words import clip
from topoi.errors import ModelError, NotFoundError, StoreError, TopoiError
from topoi.models.features.columns import Column, Links, Names, Number
from topoi.models.ranking import reading_order
from topoi.web.pages import parameters
from topoi.web.pages.context import Answers, PageContext
from topoi.web.pages.page import Kept, Page, PageFile, Picture
from topoi.web.pages.parts import documents_by_id
from topoi.web.pages.shapes import Doc, TopicSummary
from topoi.web.pages.text import one_line, short
from topoi.web.pages.timespan import YearSpan, collection_span
from topoi.web.tables import Tables

N_POINTS = 80
N_NAMES = 20  # along a category or names
LEVEL = 0.8
MOST_CHOICES = 300
MOST_LINES = 24
N_LINKED = 12
_MOST_POINTS = 300  # documents drawn as dots, for each line
_LONGEST_NAME = 200


class Feature(TypedDict):
    """Something known of documents that the model reads."""

    name: str
    kind: Literal["number", "date", "category", "names", "links"]
    low: float | None
    high: float | None
    n_values: int | None


class Choice(TypedDict):
    """A value of a feature, and how many documents have it."""

    value: str
    n_documents: int
    chosen: bool


class Curve(TypedDict):
    """A topic's share at every place along a feature, with the ends of its band."""

    topic: TopicSummary
    mean: list[float]
    lower: list[float]
    upper: list[float]


class CurvePoint(TypedDict):
    """A document, its place along a feature, and its own shares of the chosen topics."""

    document_id: int
    at: float
    share: list[float]


class CurveGroup(TypedDict):
    """The curves for one value of another feature; null is no value in particular."""

    name: str
    value: str | None
    author_id: int | None
    hue: int
    curves: list[Curve]
    points: list[CurvePoint]


class LinkedDocument(TypedDict):
    """A document that is linked with another, and its strongest topic."""

    document: Doc
    relation: Literal["itself", "links here", "linked", "both"]
    similarity: float
    topic: TopicSummary
    share: float


class MetadataPage(TypedDict):
    """Predicted shares of topics along a feature: a group for each value of another feature.

    ``at`` are the places along it; ``without`` is what is shown if no values are chosen; ``held_feature`` is a number
    that stays at ``held``; ``left_alone`` says what is taken for all others. ``linked`` are the documents around
    ``document``, where the model reads links.
    """

    kind: Literal["metadata"]
    features: list[Feature]
    along: str | None
    is_number: bool
    by: str | None
    values: list[str]
    without: str
    choices: list[Choice]
    held_feature: str | None
    held: float | None
    left_alone: list[str]
    bands: Literal["curve", "document"]
    level: float
    chosen: list[int]
    topics: list[TopicSummary]
    at: list[float | str]
    groups: list[CurveGroup]
    document: int | None
    linked: list[LinkedDocument]
    n_left_out: int
    span: YearSpan | None


class Reader(NamedTuple):
    """A model loaded for predictions, its features, and a cache of its latest answers."""

    model: Any
    columns: dict[str, Column]
    links: list[str]
    author_ids: dict[str, int]
    answers: Answers


def metadata_page(
    context: PageContext,
    along: parameters.FeatureName = None,
    topic: parameters.Topics = (),  # type: ignore[assignment]
    by: parameters.FeatureName = None,
    value: parameters.Values = (),  # type: ignore[assignment]
    held: parameters.Held = None,
    bands: parameters.Bands = "curve",
    document: parameters.DocumentOrNone = None,
    from_: parameters.FirstYear = None,
    to: parameters.LastYear = None,
) -> MetadataPage:
    """Predicted shares of topics along a feature, for chosen authors or other values, and a document's links."""
    for k in topic:
        context.check_topic(k)
    reader = reader_of(context)
    column = _along(reader, along)
    other = _by(reader, column, by)
    fixed = _fixed(reader, column)
    at_number = None if fixed is None else _round_mean(fixed) if held is None else held
    chosen = list(dict.fromkeys(topic))
    values = _values(reader, other, value)
    if max(len(values), 1) * len(chosen) > MOST_LINES:
        raise ModelError(f"{len(values)} × {len(chosen)} lines are too many; choose at most {MOST_LINES} in all")
    at: list[Any] = []
    groups: list[CurveGroup] = []
    if column is not None:
        given = _given(other, values, fixed, at_number)
        at, groups = _groups(context, reader, column, other, values, given, chosen, bands)
    span = collection_span(context, from_, to) if isinstance(column, Number) and column.name == "year" else None
    if span is not None:
        at, groups = _between(at, groups, span)
    linked, n_left_out = _linked(context, reader, document)
    return MetadataPage(
        kind="metadata",
        features=[_feature(reader, name) for name in reader.columns],
        along=None if column is None else column.name,
        is_number=isinstance(column, Number),
        by=None if other is None else other.name,
        values=[name for name in values if name is not None],
        without=_name(reader, other, None),
        choices=[] if other is None else _choices(reader, other, values),
        held_feature=None if fixed is None else fixed.name,
        held=at_number,
        left_alone=_left_alone(reader, column, other, fixed),
        bands=bands,
        level=LEVEL,
        chosen=chosen,
        topics=context.badges(summary["topic"] for summary in context.topics_in_order()),
        at=at,
        groups=groups,
        document=document,
        linked=linked,
        n_left_out=n_left_out,
        span=span,
    )


def _between(at: list[Any], groups: list[CurveGroup], span: YearSpan) -> tuple[list[Any], list[CurveGroup]]:
    """Curves from the first to the last year that are shown."""
    inside = [i for i, year in enumerate(at) if span["first"] - 0.5 <= year <= span["last"] + 0.5]
    if len(inside) < 2 or len(inside) == len(at):
        return at, groups
    part = slice(inside[0], inside[-1] + 1)
    cut: list[CurveGroup] = []
    for group in groups:
        curves = [{**curve, **{name: curve[name][part] for name in _LINES}} for curve in group["curves"]]  # type: ignore[literal-required]
        cut.append(cast(CurveGroup, {**group, "curves": curves}))
    return at[part], cut


_LINES = ("mean", "lower", "upper")


def reader_of(context: PageContext) -> Reader:
    """The model, loaded once while its contents do not change; one without features is a ``NotFoundError``."""
    if not context.features:
        raise NotFoundError("this model reads no metadata; a kernel topic model or a Dirichlet regression does")
    return context.cache.keep("reader", lambda: _read(context))


def _read(context: PageContext) -> Reader:
    model = context.view.load()
    ids = {str(name): a for a, name in enumerate(model.corpus_.authors)}
    return Reader(model, feature_columns(model), link_features(model), ids, Answers())


# Parameters of the request.


def _along(reader: Reader, name: str | None) -> Column | None:
    """The feature of the horizontal axis; None if there are only links."""
    usable = {key: column for key, column in reader.columns.items() if not isinstance(column, Links)}
    if name is None and not usable:
        return None
    column = find_feature(reader.columns if name is not None else usable, name)
    if isinstance(column, Links):
        raise ModelError(f"{name!r} are links, which have no order; choose a document to see its links")
    return column


def _by(reader: Reader, along: Column | None, name: str | None) -> Names | None:
    """The feature whose values are compared: names, preferably authors."""
    usable = [
        column
        for key, column in reader.columns.items()
        if isinstance(column, Names) and column is not along and key not in reader.links
    ]
    if name is None:
        usable.sort(key=lambda column: column.name != "authors")
        return usable[0] if usable and along is not None else None
    column = find_feature(reader.columns, name)
    if column not in usable:
        raise ModelError(
            f"{name!r} cannot be set side by side here; choose a category or names, not what is gone along"
        )
    return column


def _fixed(reader: Reader, along: Column | None) -> Number | None:
    """The number or date that is held at one value."""
    for column in reader.columns.values():
        if isinstance(column, Number) and column is not along:
            return column
    return None


def _round_mean(column: Number) -> float:
    """The mean, rounded to a usual number of digits."""
    span = column.high - column.low
    return float(f"{column.mean:.0f}") if span >= 20 else float(f"{column.mean:.4g}")


def _values(reader: Reader, column: Names | None, given: list[str]) -> list[str | None]:
    """Requested values in the model's spelling; None, alone, stands for no value in particular."""
    if column is None:
        return [None]
    found: list[str] = []
    for text in given:
        parts = [text] if text in column.levels else [part.strip() for part in text.split(";")]
        for part in parts:
            if part:
                known = checked_value(reader.model, column, part)
                found.append(known if column.single else known[0])
    unique: list[str | None] = list(dict.fromkeys(found))
    if len(unique) > parameters.MOST_VALUES:
        raise ModelError(f"{len(unique)} values were given; at most {parameters.MOST_VALUES} can be")
    return unique or [None]


def _given(
    column: Names | None, values: list[str | None], fixed: Number | None, held: float | None
) -> dict[str, list[Any]] | None:
    given: dict[str, list[Any]] = {}
    if column is not None:
        given[column.name] = [value if value is None or column.single else [value] for value in values]
    if fixed is not None and held is not None:
        given[fixed.name] = [held]
    return given or None


# Contents of the answer.


def _groups(
    context: PageContext,
    reader: Reader,
    column: Column,
    other: Names | None,
    values: list[str | None],
    given: dict[str, list[Any]] | None,
    chosen: list[int],
    bands: Literal["curve", "document"],
) -> tuple[list[Any], list[CurveGroup]]:
    noise = bands == "document"
    key = (column.name, None if other is None else other.name, tuple(values), str(given), noise)
    n = N_POINTS if isinstance(column, Number) else N_NAMES

    def curves() -> pd.DataFrame:
        try:
            return share_curve(reader.model, column.name, given, n=n, level=LEVEL, noise=noise)
        except TopoiError:
            raise
        except (ValueError, ArithmeticError) as error:  # anything that a foreign file's numbers can lead to
            raise StoreError(f"{context.view.store.path}: the model's numbers lead nowhere ({error})") from error

    frame = reader.answers.get(key, curves)
    n_topics, n_groups = context.view.n_topics, len(values)
    at = frame[column.name].to_list()[: len(frame) // n_groups : n_topics]
    shape = (n_groups, len(at), n_topics)
    parts = {name: frame[name].to_numpy().reshape(shape).round(6) for name in ("mean", "lower", "upper")}
    points = _points(reader, column, other, values, chosen)
    groups = []
    for i, value in enumerate(values):
        shown = [
            Curve(topic=context.badge(k), **{name: part[i, :, k].tolist() for name, part in parts.items()})  # type: ignore[typeddict-item]
            for k in (chosen or context.topics)
        ]
        groups.append(
            CurveGroup(
                name=_name(reader, other, value),
                value=value,
                author_id=reader.author_ids.get(value)
                if other is not None and other.name == "authors" and value
                else None,
                hue=author_hue(i),
                curves=shown if chosen else sorted(shown, key=lambda curve: _order(curve["topic"])),
                points=points[i],
            )
        )
    return [value if isinstance(column, Number) else short(one_line(str(value)), _LONGEST_NAME) for value in at], groups


def _name(reader: Reader, column: Names | None, value: str | None) -> str:
    if column is None:
        return ""
    known = typical(reader.model, column) if value is None else value if column.single else [value]
    return short(one_line(value_name(column, known)), _LONGEST_NAME) or "(no name)"


def _points(
    reader: Reader, column: Column, other: Names | None, values: list[str | None], chosen: list[int]
) -> list[list[CurvePoint]]:
    """Training documents of each line, and their shares of the chosen topics."""
    if not chosen or not isinstance(column, Number):
        return [[] for _ in values]
    found = []
    for value in values:
        given = None if other is None or value is None else {other.name: [value if other.single else [value]]}
        try:
            frame = reader.answers.get(
                ("points", column.name, None if other is None else other.name, value),
                lambda given=given: document_points(reader.model, column.name, given),  # type: ignore[misc]
            )
        except ModelError:  # the file has no metadata
            return [[] for _ in values]
        step = max(1, -(-len(frame) // _MOST_POINTS))
        some = frame.iloc[::step]
        columns = (some["document"].tolist(), some[column.name].tolist(), some[chosen].to_numpy().round(6).tolist())
        found.append([CurvePoint(document_id=d, at=x, share=y) for d, x, y in zip(*columns, strict=True)])
    return found


def _linked(context: PageContext, reader: Reader, document: int | None) -> tuple[list[LinkedDocument], int]:
    """A document and its links."""
    if document is None:
        return [], 0
    if not reader.links:
        raise ModelError("none of this model's features are links between documents")
    frame = link_neighbourhood(reader.model, document, n=N_LINKED)
    documents = documents_by_id(context, frame["document"])
    rows = zip(frame["document"], frame["relation"], frame["similarity"], frame["topic"], frame["share"], strict=True)
    linked = [
        LinkedDocument(
            document=documents[int(d)],
            relation=relation,
            similarity=float(similarity),
            topic=context.badge(int(k)),
            share=float(share),
        )
        for d, relation, similarity, k, share in rows
    ]
    return linked, int(frame.attrs["n_left_out"])


# Choices of the form.


def _feature(reader: Reader, name: str) -> Feature:
    column = reader.columns[name]
    if isinstance(column, Number):
        return Feature(
            name=name, kind="date" if column.date else "number", low=column.low, high=column.high, n_values=None
        )
    if name in reader.links:
        return Feature(name=name, kind="links", low=None, high=None, n_values=None)
    kind: Literal["category", "names"] = "category" if getattr(column, "single", False) else "names"
    return Feature(name=name, kind=kind, low=None, high=None, n_values=len(getattr(column, "levels", ())))


def _choices(reader: Reader, column: Names, values: list[str | None]) -> list[Choice]:
    """The names with most documents, those chosen first."""
    counts = name_counts(reader.model, column)
    names = list(dict.fromkeys([*(v for v in values if v is not None), *common_names(reader.model, column)]))
    return [Choice(value=name, n_documents=counts.get(name, 0), chosen=name in values) for name in names[:MOST_CHOICES]]


def _left_alone(reader: Reader, *used: Column | None) -> list[str]:
    """Values assumed for features that are neither on the axis, nor chosen, nor held at a number."""
    names = {column.name for column in used if column is not None}
    return [f"{name}: {_nothing(reader, column)}" for name, column in reader.columns.items() if name not in names]


def _nothing(reader: Reader, column: Column) -> str:
    if isinstance(column, Number):
        return f"{column.mean:.6g}, the mean"
    return "no links" if column.name in reader.links else value_name(column, typical(reader.model, column))


def _order(summary: TopicSummary) -> tuple[bool, float, int]:
    return reading_order(summary["glue"], summary["share"], summary["topic"])


def _chart(view: Mapping[str, Any], site: Mapping[str, Any]) -> Picture | None:
    if view["groups"]:
        return Picture(charts.shares_chart(view), f"Predicted shares of topics by {clip(view['along'], 80)}")
    if view["linked"]:
        return Picture(charts.link_graph(view["linked"]), clip(view["linked"][0]["document"]["title"], 100))
    return None


def _tables(view: Mapping[str, Any]) -> Tables:
    """A row for every position along the feature, group and topic; linked documents; values to choose from."""
    rows = [
        {"feature": view["along"], "at": at, "given": group["name"], "topic": curve["topic"]["topic"]}
        | {name: curve[name][i] for name in ("mean", "lower", "upper")}
        for group in view["groups"]
        for curve in group["curves"]
        for i, at in enumerate(view["at"])
    ]
    return {"curves": rows, "linked": view["linked"], "choices": view["choices"]}


def _files(context: PageContext, kept: Kept) -> Iterator[PageFile]:
    yield PageFile("metadata", metadata_page)
    for k in context.topics:
        yield PageFile(f"metadata/{k}", partial(metadata_page, topic=[k]))


def _file_of(query: Mapping[str, Any]) -> str:
    """File of the page in a static copy: each topic has its own."""
    topic = query.get("topic")
    return "metadata" if topic is None or isinstance(topic, list | tuple) else f"metadata/{int(topic)}"


def _predicts(parameters: dict[str, Any]) -> bool:
    return True


def _has_features(context: PageContext) -> bool:
    return bool(context.features)


def _python(view: Mapping[str, Any], site: Mapping[str, Any]) -> str | None:
    if view["along"] is None:
        return None
    kinds = {feature["name"]: feature["kind"] for feature in view["features"]}
    given: dict[str, list[Any]] = {}
    if view["by"] is not None:
        given[view["by"]] = [one if kinds[view["by"]] == "category" else [one] for one in view["values"]] or [None]
    if view["held_feature"] is not None:
        given[view["held_feature"]] = [view["held"]]
    n = N_POINTS if view["is_number"] else N_NAMES
    asked = f"{view['along']!r}, {given or None!r}, n={n}, level={LEVEL}, noise={view['bands'] == 'document'}"
    return f"topoi.share_curve(model.load(), {asked})"


PAGE = Page(
    "metadata",
    "Metadata",
    "metadata",
    metadata_page,
    MetadataPage,
    place=50,
    needs=_has_features,
    costly=_predicts,
    chart=_chart,
    tables=_tables,
    files=_files,
    file_of=_file_of,
    python=_python,
)
