"""``topoi.edit``: edits of a fitted model, or of one in a store."""

from __future__ import annotations

from typing import Any

from topoi.models.editing.editor import Editor


def edit(model: Any, who: str = "") -> Editor:
    """Steer a fitted model by hand."""
    return Editor(model, who)
