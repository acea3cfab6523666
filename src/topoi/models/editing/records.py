"""Edits as records: what was done to which topics, when and by whom, as JSON can hold it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from typing import Any

import pandas as pd

from topoi.errors import ModelError

KINDS = ("merge", "split", "rename", "ban", "pin", "freeze", "send")
COLUMNS = (
    *("number", "step", "created", "who", "kind", "text", "topics", "words", "document", "label", "n_iter", "undone"),
)
_SHOWN = 5


@dataclass(frozen=True)
class Edit:
    """One edit of a model.

    Attributes
    ----------
    kind : str
        One of ``KINDS``.
    topics : tuple of int
        The topics concerned: of a merge the one that stays, then those that go; of a split the old one, then the new
        ones; of ``send`` the one that the document may not use, then the one that its words there go to, if any.
    words : tuple of str
        Words that are banned or pinned.
    document : str, optional
        The id of the document that is sent.
    label : str, optional
        The new name.
    number, step : int
        The number of the edit, from 1, and of the commit that it was part of.
    n_iter, seed : int
        Sweeps over all documents, and the seed of the model.
    created, who : str
        The time, ISO 8601, UTC, and the person, if known.
    undone : bool
        Whether it has been undone.

    Examples
    --------
    >>> from topoi.models.editing.records import Edit
    >>> Edit("merge", (3, 7)).text, Edit("ban", (3,), words=("tariff",)).text
    ('merge 7 into 3', 'ban tariff from 3')
    """

    kind: str
    topics: tuple[int, ...]
    words: tuple[str, ...] = ()
    document: str | None = None
    label: str | None = None
    number: int = 0
    step: int = 0
    n_iter: int = 0
    seed: int = 0
    created: str = ""
    who: str = ""
    undone: bool = False

    @property
    def text(self) -> str:
        """The edit in words."""
        first, *rest = self.topics
        words = ", ".join(self.words[:_SHOWN]) + (f" and {len(self.words) - _SHOWN} more" * (len(self.words) > _SHOWN))
        others = " and ".join(map(str, rest))
        return {
            "merge": f"merge {others} into {first}",
            "split": f"split {first}: new {others}",
            "rename": f"call {first} {self.label!r}" if self.label else f"take the name from {first}",
            "ban": f"ban {words} from {first}",
            "pin": f"pin {words} to {first}",
            "freeze": f"freeze {first}",
            "send": f"send document {self.document!r} away from {first}{f' to {others}' if rest else ''}",
        }[self.kind]

    def to_dict(self) -> dict[str, Any]:
        """The record as JSON can hold it."""
        return asdict(self) | {"topics": list(self.topics), "words": list(self.words)}

    @classmethod
    def from_dict(cls, plain: Mapping[str, Any]) -> Edit:
        """Rebuild a record from the result of ``to_dict``; anything else is a ``ModelError``."""
        try:
            given = {field.name: plain[field.name] for field in fields(cls)}
            topics, words = tuple(int(k) for k in given["topics"]), tuple(str(word) for word in given["words"])
            found = cls(**given | {"topics": topics, "words": words})
            if found.kind not in KINDS or not topics or min(topics) < 0:
                raise ValueError(f"the kind {found.kind!r}")
            found.text  # noqa: B018  # a record of another version may lack what its kind needs
            return found
        except (KeyError, TypeError, ValueError) as error:
            raise ModelError(f"the saved record of an edit cannot be read: {error}") from None


def history_frame(edits: Sequence[Edit]) -> pd.DataFrame:
    """A row for each edit, the first one first."""
    rows = [{**edit.to_dict(), "text": edit.text} for edit in edits]
    frame = pd.DataFrame(rows, columns=list(COLUMNS))
    return frame.astype({"number": "int64", "step": "int64", "n_iter": "int64", "undone": "bool"})


def given_names(edits: Sequence[Edit], after: int = 0) -> dict[int, str | None]:
    """Names after edits that were not undone; None for topics that have lost theirs by being merged or split off.

    The first edits, as many as ``after``, are left out.
    """
    names: dict[int, str | None] = {}
    for edit in edits[after:]:
        if edit.undone:
            continue
        if edit.kind == "rename":
            names[edit.topics[0]] = edit.label or None
        elif edit.kind in ("merge", "split"):
            names |= dict.fromkeys(edit.topics[1:])
    return names


def retired_topics(edits: Sequence[Edit]) -> list[int]:
    """Topics that were merged into others and whose numbers no split has taken since.

    Examples
    --------
    >>> from topoi.models.editing.records import Edit, retired_topics
    >>> retired_topics([Edit("merge", (3, 7)), Edit("merge", (3, 5)), Edit("split", (2, 5))])
    [7]
    """
    found: set[int] = set()
    for edit in edits:
        if not edit.undone and edit.kind == "merge":
            found |= set(edit.topics[1:])
        elif not edit.undone and edit.kind == "split":
            found -= set(edit.topics[1:])
    return sorted(found)
