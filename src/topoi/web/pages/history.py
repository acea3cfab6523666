"""Changes of topics by hand, in the order made."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

from typing_extensions import TypedDict

from topoi.web.pages.context import PageContext
from topoi.web.pages.page import Page
from topoi.web.pages.shapes import TopicSummary
from topoi.web.pages.text import short

MOST_SHOWN = 500
_LONGEST = 200


class EditLine(TypedDict):
    """An edit; ``faces`` are those of its topics that are still there, the first being the one it is about."""

    number: int
    step: int
    created: str
    who: str
    kind: Literal["merge", "split", "rename", "ban", "pin", "freeze", "send"]
    text: str
    topics: list[int]
    faces: list[TopicSummary]
    words: list[str]
    document: str | None
    label: str | None
    n_iter: int
    undone: bool


class HistoryPage(TypedDict):
    """Edits of the model by hand, the last one first; ``undoes`` is the step that an undo would take back, if any."""

    kind: Literal["history"]
    edits: list[EditLine]
    n_edits: int
    undoes: int | None


def history_page(context: PageContext) -> HistoryPage:
    """Changes of topics by hand, the last one first, and which of them can be undone."""
    edits = context.edits
    last, states = context.last_step, {step for (step,) in context.rows("steps_to_undo")}
    return HistoryPage(
        kind="history",
        edits=[
            EditLine(
                number=edit.number,
                step=edit.step,
                created=short(edit.created, 40),
                who=short(edit.who, _LONGEST),
                kind=edit.kind,  # type: ignore[typeddict-item]
                text=short(edit.text, 2 * _LONGEST),
                topics=list(edit.topics),
                faces=context.badges(k for k in edit.topics if k in context.topics),
                words=[short(word, _LONGEST) for word in edit.words],
                document=None if edit.document is None else short(edit.document, _LONGEST),
                label=None if edit.label is None else short(edit.label, _LONGEST),
                n_iter=edit.n_iter,
                undone=edit.undone,
            )
            for edit in edits[::-1][:MOST_SHOWN]
        ],
        n_edits=len(edits),
        undoes=last[0].step if last and last[0].step in states else None,
    )


def has_edits(context: PageContext) -> bool:
    """Only models that were changed by hand have the page."""
    return bool(context.edits)


def _python(view: Mapping[str, Any], site: Mapping[str, Any]) -> str:
    return "model.store.edits(model.name)"


PAGE = Page(
    "history",
    "History",
    "history",
    history_page,
    HistoryPage,
    place=26,
    needs=has_edits,
    in_menu=False,
    below="overview",
    python=_python,
)
