"""Groups of documents side by side: topics and words in which they differ, and the documents behind a difference.

Groups are values of a column, or any two selections of documents, whose parameters begin with ``a.`` and ``b.``.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

import pandas as pd
from typing_extensions import TypedDict

from topoi.analysis.groupings import REST, Pair, find_pairs, make_pair
from topoi.drawing import charts
from topoi.errors import ModelError, NotFoundError
from topoi.web.pages import parameters
from topoi.web.pages.context import Answers, PageContext
from topoi.web.pages.facets import N_COLUMNS, ChosenFilter, author_names, chosen_filters
from topoi.web.pages.group_words import WordDifference, compare_vocabulary
from topoi.web.pages.page import Page, Picture, has_topics
from topoi.web.pages.parts import documents_by_id
from topoi.web.pages.selection import (
    COLUMN,
    PREFIXES,
    Pairs,
    Selection,
    choose,
    described,
    parameter_of,
    parse_selection,
    words_of,
)
from topoi.web.pages.shapes import Doc, TopicSummary
from topoi.web.pages.text import one_line, short

N_TOPICS, N_DOCUMENTS = 24, 15
MOST_VALUES_LISTED = 40
_LONGEST_VALUE = 100
_MOST_DISTINCT = 2000
_PERMUTATIONS = 499
AUTHORS = "authors"
TOLD = "the model itself read {!r}: its topics follow the groups, and p-values are too small"


class GroupColumn(TypedDict):
    """A column by which documents can be grouped, with its commonest values: in order if they are numbers."""

    name: str
    values: list[str]
    commonest: str | None
    n_values: int
    is_number: bool


class Difference(TypedDict):
    """A topic in two groups: shares and their difference with intervals (0.9), p-value and false-discovery rate.

    ``lower`` and ``upper`` are ends of the difference's interval.
    """

    topic: TopicSummary
    share: float
    share_lower: float
    share_upper: float
    other_share: float
    other_share_lower: float
    other_share_upper: float
    difference: float
    lower: float
    upper: float
    p_value: float
    q_value: float


class ColumnChoice(TypedDict):
    """A column that a side can be chosen by: its parameter and values."""

    name: str
    parameter: str
    values: list[str]


class GroupDocument(TypedDict):
    """A document that makes a difference: its group, its share of the topic, and the part that would go without it.

    The ends of the share's interval (0.9) are null if the model does not know them.
    """

    document: Doc
    group: str
    share: float
    lower: float | None
    upper: float | None
    effect: float
    part: float


class Side(TypedDict):
    """One of two selections: in words, its filters, and its parameters on the documents page."""

    title: str
    chosen: list[ChosenFilter]
    parameters: dict[str, Any]


class GroupsPage(TypedDict):
    """Two groups of documents: topics and words in which they differ most, and documents behind one of the differences.

    ``sides`` are two selections, or none if the groups are values of the column ``by``; ``words_read`` are the words of
    both groups that were counted, fewer than all for large groups.
    """

    kind: Literal["groups"]
    columns: list[GroupColumn]
    unit_columns: list[str]
    by: str | None
    group: str
    other: str
    units: str | None
    n_documents: list[int]
    sides: list[Side]
    choices: list[ColumnChoice]
    differences: list[Difference]
    words: list[WordDifference]
    words_read: list[int]
    n_clear: int
    n_topics: int
    topic: TopicSummary | None
    documents: list[GroupDocument]
    note: str | None
    error: str | None


def groups_page(
    context: PageContext,
    asked: Pairs = (),
    by: parameters.ColumnName = None,
    group: parameters.GroupValue = "",
    other: parameters.GroupValue = "",
    units: parameters.ColumnName = None,
    topic: parameters.TopicOrNone = None,
) -> GroupsPage:
    """Topics and words in which two groups of documents differ, or one group from all other documents."""
    if topic is not None:
        context.check_topic(topic)
    selections = [parse_selection(context, asked, prefix) for prefix in PREFIXES]
    columns = group_columns(context)
    page = GroupsPage(
        kind="groups",
        columns=columns,
        unit_columns=unit_columns(context),
        by=by,
        group=group.strip(),
        other=other.strip(),
        units=units or None,
        n_documents=[],
        sides=[],
        choices=_choices(context),
        differences=[],
        words=[],
        words_read=[],
        n_clear=0,
        n_topics=len(context.topics),
        topic=None,
        documents=[],
        note=None,
        error=None,
    )
    if by is None and not any(selections):
        return page
    try:
        if any(selections):
            _fill_sides(context, page, selections)
            _fill(context, page, _pair_of(context, page, selections), selections, topic)
        else:
            _name_groups(page)
            _fill(context, page, _pair_by(context, page), None, topic)
    except (ModelError, NotFoundError) as error:
        page["error"] = str(error)
    return page


def _fill_sides(context: PageContext, page: GroupsPage, selections: list[Selection]) -> None:
    """Describe the two selections; the empty one is all others."""
    if not selections[0]:
        selections.reverse()
    names = [author_names(context, each) for each in selections]
    titles = [words_of(context, each, own) for each, own in zip(selections, names, strict=True)]
    if not selections[1]:
        titles[1] = REST
    page["sides"] = [
        Side(title=title, chosen=chosen_filters(context, each, own), parameters=each.parameters())
        for title, each, own in zip(titles, selections, names, strict=True)
    ]
    page["group"], page["other"] = titles


def _pair_of(context: PageContext, page: GroupsPage, selections: list[Selection]) -> Pair:
    usable = context.snapshot.columns.lengths > 0
    ours = choose(context, selections[0]).passed & usable
    if not selections[1]:
        return make_pair(page["group"], ours, REST, usable & ~ours)
    theirs = choose(context, selections[1]).passed & usable
    # Equal names would make one group of two.
    other = page["other"] if page["other"] != page["group"] else f"{page['other']} (2)"
    return make_pair(page["group"], ours, other, theirs)


def _name_groups(page: GroupsPage) -> None:
    """Fill in the groups of a column that were left open."""
    known = {column["name"]: column for column in page["columns"]}
    by = page["by"]
    if by is None or by not in known:
        raise NotFoundError(f"documents cannot be grouped by {short(str(by), 60)!r}; choose one of the columns")
    values = known[by]["values"]
    if not page["group"]:
        if not values:
            raise ModelError("name a group: an author, a value, or a range of numbers such as 1990..1999")
        two = known[by]["n_values"] == 2 == len(values)
        page["group"] = values[0] if two else known[by]["commonest"] or values[0]
        if two:
            page["other"] = page["other"] or values[1]


def _pair_by(context: PageContext, page: GroupsPage) -> Pair:
    chosen = [page["group"], page["other"]] if page["other"] else [page["group"]]
    documents, lengths = context.view.catalogue_.documents, context.snapshot.columns.lengths
    return find_pairs(context.view, documents, lengths, str(page["by"]), chosen)[0]


def _fill(
    context: PageContext, page: GroupsPage, pair: Pair, selections: list[Selection] | None, topic: int | None
) -> None:
    key = (page["by"], pair.name, pair.other) if selections is None else tuple(selections)
    units, kept = page["units"], _answers(context)
    frame = kept.get(("compared", units, key), lambda: _compared(context, pair, page))
    page["other"] = pair.other
    page["n_documents"], page["note"] = [len(pair.ours), len(pair.theirs)], frame.attrs.get("note")
    page["n_clear"] = int((frame["q_value"] <= charts.CLEAR).sum())
    frame = frame[~frame["topic"].isin(context.cache.retired)]
    most = frame.loc[frame["difference"].abs().nlargest(N_TOPICS).index.sort_values()]
    page["differences"] = [
        Difference(topic=context.badge(int(row.pop("topic"))), **row)  # type: ignore[typeddict-item]
        for row in most.drop(columns=["group", "other"]).to_dict("records")
    ]
    page["words"], page["words_read"] = kept.get(("words", key), lambda: compare_vocabulary(context, pair))
    if topic is not None:
        page["topic"] = context.badge(topic)
        difference = frame.loc[frame["topic"] == topic, "difference"].abs().item()
        page["documents"] = _documents(context, pair, key, topic, difference)


def _compared(context: PageContext, pair: Pair, page: GroupsPage) -> pd.DataFrame:
    from topoi.analysis.groups import compare_pair, was_told

    frame = compare_pair(context.view, pair, units=page["units"], n_permutations=_PERMUTATIONS)
    if page["by"] is not None and not page["sides"] and was_told(context.view, page["by"]):
        frame.attrs["note"] = TOLD.format(page["by"])
    return frame


def _documents(context: PageContext, pair: Pair, key: Any, topic: int, difference: float) -> list[GroupDocument]:
    from topoi.analysis.groups import pair_documents

    frame = _answers(context).get(
        ("documents", topic, key), lambda: pair_documents(context.view, topic, pair, n=N_DOCUMENTS)
    )
    named = documents_by_id(context, frame["document"])
    ends = frame[["lower", "upper"]].astype(object).where(frame["lower"].notna(), None)
    frame = frame.assign(lower=ends["lower"], upper=ends["upper"])
    columns = ("document", "group", "share", "lower", "upper", "effect")
    rows = zip(*(frame[name].tolist() for name in columns), strict=True)
    return [
        GroupDocument(
            document=named[int(d)],
            group=short(one_line(group), _LONGEST_VALUE),
            share=share,
            lower=lower,
            upper=upper,
            effect=effect,
            part=effect / max(difference, effect, 1e-300),
        )
        for d, group, share, lower, upper, effect in rows
        if effect > 0
    ]


def _choices(context: PageContext) -> list[ColumnChoice]:
    """Columns and values that forms offer for each side."""
    return [
        ColumnChoice(name=column.name, parameter=parameter_of(column.name), values=column.values[:MOST_VALUES_LISTED])
        for column in context.snapshot.columns.facets[:N_COLUMNS]
    ]


def _answers(context: PageContext) -> Answers:
    return context.cache.keep("groups", Answers)


def group_columns(context: PageContext) -> list[GroupColumn]:
    """Columns by which documents can be grouped."""
    return context.cache.keep("group columns", lambda: _read_columns(context))


def _read_columns(context: PageContext) -> list[GroupColumn]:
    documents = context.view.catalogue_.documents
    found = []
    for name in documents:
        if name not in ("id", "title", "date"):
            column = _column(str(name), documents[name])
            found += [] if column is None else [column]
            if name == "year" and column is not None and "decade" not in documents:
                decades = _column("decade", documents["year"] // 10 * 10)
                found += [] if decades is None else [decades]
    if context.snapshot.corpus.n_authors > 1:
        n = context.snapshot.corpus.n_authors
        found.append(GroupColumn(name=AUTHORS, values=[], commonest=None, n_values=n, is_number=False))
    return found


def unit_columns(context: PageContext) -> list[str]:
    """Columns whose values several documents have: they may mark what belongs together."""
    return context.cache.keep("unit columns", lambda: _read_unit_columns(context))


def _read_unit_columns(context: PageContext) -> list[str]:
    documents = context.view.catalogue_.documents
    texts = {name: documents[name].map(str, na_action="ignore") for name in documents if name not in ("id", "date")}
    return [str(name) for name, column in texts.items() if 1 < column.nunique() < column.notna().sum()]


def _column(name: str, values: pd.Series) -> GroupColumn | None:
    """A column with at least two values, some of which several documents have; None otherwise."""
    is_number = pd.api.types.is_numeric_dtype(values)
    flat = values.explode().dropna()
    texts = flat.map(lambda value: f"{value:g}" if is_number else str(value))
    counts = texts.value_counts()
    if not 2 <= len(counts) <= _MOST_DISTINCT or counts.iloc[0] < 2:
        return None
    listed = [value for value in counts.index[:MOST_VALUES_LISTED] if len(value) <= _LONGEST_VALUE]
    commonest = listed[0] if listed else None
    if is_number:
        listed.sort(key=float)
    return GroupColumn(name=name, values=listed, commonest=commonest, n_values=len(counts), is_number=bool(is_number))


def _chart(view: Mapping[str, Any], site: Mapping[str, Any]) -> Picture | None:
    if not view["differences"]:
        return None
    title = f"{view['group']} and {view['other']}"
    return Picture(charts.differences(view["differences"], view["group"], view["other"]), short(title, 100))


def _asked(given: dict[str, Any]) -> bool:
    return given.get("by") is not None or any(name.startswith(PREFIXES) for name, _ in given.get("asked", ()))


def _python(view: Mapping[str, Any], site: Mapping[str, Any]) -> str | None:
    from topoi.analysis.groupings import REST

    if not view["differences"]:
        return None
    if view["sides"]:
        sides = [_documents_with(side["parameters"]) for side in view["sides"] if side["parameters"]]
        return f"topoi.compare_groups(model, None, [{', '.join(sides)}], {_settings(view)})"
    groups = [view["group"]] if view["other"] == REST else [view["group"], view["other"]]
    return f"topoi.compare_groups(model, {view['by']!r}, {groups!r}, {_settings(view)})"


def _settings(view: Mapping[str, Any]) -> str:
    return f"units={view['units']!r}, n_permutations={_PERMUTATIONS}"


_ARGUMENTS = {"q": ["words"], "topic": ["topics"], "author": ["authors"], "least": ["least"]}
_ARGUMENTS |= {"from": ["first"], "to": ["last"], "year": ["first", "last"]}


def _documents_with(parameters: Mapping[str, Any]) -> str:
    """The call that finds the documents of a side.

    Examples
    --------
    >>> from topoi.web.pages.groups import _documents_with
    >>> _documents_with({"topic": [3], "year": 1998, "in.topic": ["x"]})
    "model.documents_with(topics=[3], first=1998, last=1998, values={'topic': ['x']})"
    """
    own = {key: value for name, value in parameters.items() for key in _ARGUMENTS.get(name, ())}
    values = {name.removeprefix(COLUMN): value for name, value in parameters.items() if name not in _ARGUMENTS}
    arguments = own | ({"values": values} if values else {})
    return f"model.documents_with({', '.join(f'{key}={value!r}' for key, value in arguments.items())})"


PAGE = Page(
    "groups",
    "Groups",
    "groups",
    groups_page,
    GroupsPage,
    place=115,
    needs=has_topics,
    costly=_asked,
    filters=[*described("a.", "first documents"), *described("b.", "documents beside them")],
    needs_server=True,
    chart=_chart,
    python=_python,
)
