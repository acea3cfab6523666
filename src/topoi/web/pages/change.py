"""A change of topics that was asked for: what it would change, how far it has come, what it has made."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal, cast

from typing_extensions import TypedDict

from topoi.drawing.topic_layout import most_free_hue
from topoi.drawing.words import clip
from topoi.errors import ModelError, NotFoundError
from topoi.web.edits import Wish
from topoi.web.pages import parameters
from topoi.web.pages.context import PageContext
from topoi.web.pages.overview import MapSummary, map_summaries
from topoi.web.pages.page import Page
from topoi.web.pages.shapes import TopicSummary
from topoi.web.pages.text import one_line, short
from topoi.web.tables import Tables

if TYPE_CHECKING:
    from topoi.models.editing.glance import Glance

N_WORDS, N_DOCUMENTS = 10, 20
_LONGEST_WORD, _LONGEST_TITLE, _LONGEST_NUMBER = 100, 300, 10
_KINDS = ("merge", "split", "freeze", "ban", "pin", "send")
# How far a new topic's disc is moved from where its words come from, lest it lies on the one that it came from.
_BESIDE = 0.03
# The button of a list has no value of its own: the list has.
_AS_CHOSEN = "chosen"


class ChangedWord(TypedDict):
    """A word and its place among the most telling ones, from 1; null where it is not among them."""

    word: str
    before: int | None
    after: int | None


class ChangedTopic(TypedDict):
    """A topic that a change concerns; ``face`` is null if the file does not have it yet."""

    topic: int
    state: Literal["kept", "new", "retired"]
    face: TopicSummary | None
    n_tokens_before: int
    n_tokens_after: int
    words: list[ChangedWord]


class SettlingTopic(MapSummary):
    """A topic on the map; ``is_new`` if the file does not have it yet."""

    is_new: bool


class MovedDocument(TypedDict):
    """A document of which words change topics: how many, and from and to which topics most of them.

    Words that change topics without the change are not counted.
    """

    document_id: int
    title: str
    year: int | None
    n_tokens: int
    n_moved: int
    source: int
    source_label: str
    target: int
    target_label: str


class ChangePage(TypedDict):
    """A change; the likelihood is that of a word in the documents concerned, as a logarithm.

    ``state`` is "trying", "proposed", "settling", "saving", "kept", "left" or "failed". Words and sizes after the
    change are those of a try over the documents concerned, then, while it settles, those of the last look at the chain,
    and once it is kept those of the file. ``map`` has all topics from then on; while it settles, a topic concerned is
    where its words come from.
    """

    kind: Literal["change"]
    change: int
    title: str
    edit: Literal["merge", "split", "freeze", "ban", "pin", "send", "undo"]
    state: Literal["trying", "proposed", "settling", "saving", "kept", "left", "failed"]
    n_done: int
    n_sweeps: int
    error: str | None
    topics: list[ChangedTopic]
    documents: list[MovedDocument]
    log_likelihood_before: float | None
    log_likelihood_after: float | None
    map: list[SettlingTopic]
    back: str


def change_page(context: PageContext, change: parameters.ChangeNumber) -> ChangePage:
    """A change of topics by hand: what it would change, how far it has come, or what it has made."""
    desk = context.watcher.desk
    if desk is None:
        raise NotFoundError("nothing is changed here: topoi was started with --read-only")
    found = desk.find(context.model["slug"], change)
    # Read once: the change goes on meanwhile.
    state, preview, glance = found.state, found.preview or {}, found.glance
    glance = glance if state in ("settling", "saving") else None
    return ChangePage(
        kind="change",
        change=found.number,
        title=found.title,
        edit=found.wish.kind,
        state=state,
        n_done=found.n_done,
        n_sweeps=found.n_sweeps,
        error=found.error,
        topics=[_topic(context, row, state == "kept", glance) for row in preview.get("topics", ())],
        documents=_documents(context, preview),
        log_likelihood_before=preview.get("log_likelihood_before"),
        log_likelihood_after=preview.get("log_likelihood_after"),
        map=settling_map(context, glance) if state in ("settling", "saving", "kept") else [],
        back=found.back,
    )


def settling_map(context: PageContext, glance: Glance | None) -> list[SettlingTopic]:
    """All topics with their places; at a glance, those concerned are at the mean place of their words' old topics."""
    known = [SettlingTopic(**each, is_new=False) for each in map_summaries(context)]
    if glance is None:
        return known
    total = max(sum(glance.sizes), 1)
    hues = [topic["summary"]["hue"] for topic in context.cache.topics]
    for k in sorted(glance.words):
        if k not in context.topics:
            hue = hues[k] if k < len(hues) else most_free_hue(hues)
            hues += [hue] if k >= len(hues) else []
            known.append(_new_topic(k, hue, glance.words[k]))
    for each in known:
        k = each["topic"]
        each["share"] = glance.sizes[k] / total
        if (place := _place(context, glance.sources.get(k, {}))) is not None:
            each["x"], each["y"] = place[0] + (_BESIDE if each["is_new"] else 0.0), place[1]
    return [each for each in known if glance.sizes[each["topic"]]]


def _new_topic(topic: int, hue: int, words: Sequence[str]) -> SettlingTopic:
    return SettlingTopic(
        topic=topic,
        label=None,
        auto_label=f"new ({topic})",
        words=[short(word, _LONGEST_WORD) for word in words],
        share=0.0,
        hue=hue,
        glue=False,
        trend=None,
        x=None,
        y=None,
        lower=None,
        upper=None,
        is_new=True,
    )


def _place(context: PageContext, sources: Mapping[int, int]) -> tuple[float, float] | None:
    """Mean place of topics on the file's map, weighted; None if none of them has one."""
    topics = context.cache.topics
    found = [(topics[k]["x"], topics[k]["y"], n) for k, n in sources.items() if k < len(topics)]
    placed = [(x, y, n) for x, y, n in found if x is not None and y is not None]
    total = sum(n for _, _, n in placed)
    if not total:
        return None
    return sum(x * n for x, _, n in placed) / total, sum(y * n for _, y, n in placed) / total


def _topic(context: PageContext, row: Mapping[str, Any], is_kept: bool, glance: Glance | None) -> ChangedTopic:
    """A topic with its words before and after: those of the try, of a glance at it, or, once it is kept, the file's."""
    k, after, n_after = row["topic"], row["words_after"], row["n_tokens_after"]
    if glance is not None and k in glance.words:
        after, n_after = glance.words[k], glance.sizes[k]
    state = row["state"]
    known = k < context.view.n_topics
    if is_kept:
        gone = not known or k in context.cache.retired
        state = "retired" if gone else "new" if state == "new" else "kept"
        topic = None if gone else context.cache.topics[k]
        after, n_after = ([], 0) if topic is None else (topic["all_words"][:N_WORDS], topic["n_tokens"])
    return ChangedTopic(
        topic=k,
        state=state,
        face=context.badge(k) if known and (is_kept or state != "new") else None,
        n_tokens_before=row["n_tokens_before"],
        n_tokens_after=n_after,
        words=_words(row["words_before"][:N_WORDS], after[:N_WORDS]),
    )


def _words(before: Sequence[str], after: Sequence[str]) -> list[ChangedWord]:
    """Words of both lists: those that stay or come in their new order, then those that go."""
    then, now = ({word: place for place, word in enumerate(words, 1)} for words in (before, after))
    return [
        ChangedWord(word=short(word, _LONGEST_WORD), before=then.get(word), after=now.get(word))
        for word in dict.fromkeys([*after, *before])
    ]


def _documents(context: PageContext, preview: Mapping[str, Any]) -> list[MovedDocument]:
    """Documents whose words come to, or go from, the topics concerned."""
    concerned = {row["topic"] for row in preview.get("topics", ())}
    rows = [row for row in preview.get("documents", ()) if row["source"] != row["target"]]
    return [_document(context, row) for row in rows if concerned & {row["source"], row["target"]}][:N_DOCUMENTS]


def _document(context: PageContext, row: Mapping[str, Any]) -> MovedDocument:
    title = one_line(str(row.get("title") or "")) or one_line(str(row["id"]))
    return MovedDocument(
        document_id=int(row["document"]),
        title=short(title, _LONGEST_TITLE),
        year=None if row.get("year") is None else int(row["year"]),
        n_tokens=int(row["n_tokens"]),
        n_moved=int(row["n_moved"]),
        source=int(row["source"]),
        source_label=_label(context, int(row["source"])),
        target=int(row["target"]),
        target_label=_label(context, int(row["target"])),
    )


def _label(context: PageContext, topic: int) -> str:
    """Name of a topic that may be new."""
    if topic >= context.view.n_topics or topic in context.cache.retired:
        return f"topic {topic}"
    summary = context.badge(topic)
    return summary["label"] or summary["auto_label"]


def undone(context: PageContext) -> dict[str, Any]:
    """What an undo of the last step concerns, in the form of a preview: topics and their words before."""
    touched = sorted({k for edit in context.last_step for k in edit.topics if k < context.view.n_topics})
    rows = []
    for k in touched:
        topic, is_gone = context.cache.topics[k], k in context.cache.retired
        words = [] if is_gone else topic["all_words"][:N_WORDS]
        row = {"topic": k, "state": "new" if is_gone else "kept", "words_before": words, "words_after": words}
        size = 0 if is_gone else topic["n_tokens"]
        rows.append(row | {"n_tokens_before": size, "n_tokens_after": size})
    return {"topics": rows}


def wish_of(context: PageContext, form: Mapping[str, Sequence[str]]) -> tuple[Wish, str]:
    """What a form asks for, checked, and the path of the page that it was on."""
    kind = next((name for name in _KINDS if name in form), None)
    if kind is None:
        raise ModelError(f"say what is to be changed: one of {', '.join(_KINDS)}")
    topic = _chosen_topic(context, form, "topic")
    if kind == "merge":
        other = _chosen_topic(context, form, "other" if form["merge"][-1] == _AS_CHOSEN else "merge")
        if other == topic:
            raise ModelError("choose another topic to merge with: this is the same one")
        return Wish("merge", (topic, other)), f"topic/{topic}"
    if kind in ("ban", "pin"):
        words, number = context.view.vocabulary_.words, _number(form, kind)
        if number >= len(words):
            raise NotFoundError(f"there is no word {number}; words are numbered 0 to {len(words) - 1}")
        return Wish(cast(Any, kind), (topic,), (str(words[number]),)), f"topic/{topic}"
    if kind == "send":
        document, n_documents = _number(form, "send"), context.collection["n_documents"]
        if document >= n_documents:
            raise NotFoundError(f"there is no document {document}; documents are numbered 0 to {n_documents - 1}")
        target = (_chosen_topic(context, form, "other"),) if "other" in form else ()
        if topic in target:
            raise ModelError("choose another topic to send it to: this is the same one")
        return Wish("send", (topic, *target), document=document), f"document/{document}"
    return Wish(cast(Any, kind), (topic,)), f"topic/{topic}"


def _chosen_topic(context: PageContext, form: Mapping[str, Sequence[str]], name: str) -> int:
    topic = _number(form, name)
    context.check_topic(topic)
    return topic


def _number(form: Mapping[str, Sequence[str]], name: str) -> int:
    text = form.get(name, [""])[-1].strip()
    if not text.isascii() or not text.isdigit() or len(text) > _LONGEST_NUMBER:
        raise ModelError(f"{name} is {short(text, 40)!r}; it is to be a number from 0" if text else f"choose {name}")
    return int(text)


def title_of(context: PageContext, wish: Wish) -> str:
    """What is asked for in words, with the names of topics."""
    names = [_named(context, k) for k in wish.topics]
    words = ", ".join(f"“{clip(word, 40)}”" for word in wish.words)
    first, *rest = names
    to = f" to {rest[0]}" if rest else " elsewhere"
    return {
        "merge": f"Merge {' and '.join(rest)} into {first}",
        "split": f"Split {first} in two",
        "freeze": f"Hold {first} at its present words",
        "ban": f"Ban {words} from {first}",
        "pin": f"Pin {words} to {first}",
        "send": f"Send a document away from {first}{to}",
    }[wish.kind]


def _named(context: PageContext, topic: int) -> str:
    return f"“{clip(_label(context, topic), 40)}” ({topic})"


def _tables(view: Mapping[str, Any]) -> Tables:
    words = [{"topic": topic["topic"], **word} for topic in view["topics"] for word in topic["words"]]
    sizes = ("topic", "state", "n_tokens_before", "n_tokens_after")
    topics = [{name: topic[name] for name in sizes} for topic in view["topics"]]
    return {"words": words, "topics": topics, "documents": list(view["documents"])}


PAGE = Page(
    "change",
    "Change",
    "change/{change}",
    change_page,
    ChangePage,
    place=25,
    in_menu=False,
    below="overview",
    needs_server=True,
    tables=_tables,
)
