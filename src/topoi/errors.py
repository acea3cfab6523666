"""The errors topoi raises on purpose. Each message says what was given, what was needed and what to do."""

from __future__ import annotations

from pathlib import Path


class TopoiError(Exception):
    """Anything topoi refuses or cannot do; the command line prints it as one line."""


class CorpusError(TopoiError, ValueError):
    """Input that cannot become a corpus, with the file and the line where it was found.

    Examples
    --------
    >>> from topoi.errors import CorpusError
    >>> str(CorpusError("no field 'text'", path="papers.jsonl", line=3))
    "papers.jsonl, line 3: no field 'text'"
    """

    def __init__(self, message: str, path: str | Path | None = None, line: int | None = None):
        self.path = None if path is None else str(path)
        self.line = line
        where = [] if path is None else [str(path)]
        if line is not None:
            where.append(f"line {line}")
        super().__init__(f"{', '.join(where)}: {message}" if where else message)


class ModelError(TopoiError, ValueError):
    """Settings or data that a model cannot use."""


class StoreError(TopoiError):
    """A file that is not a topoi file, is damaged, or is newer than this version."""


class NotFoundError(StoreError, KeyError):
    """A name that does not exist; the message lists what does."""

    def __str__(self) -> str:
        return str(self.args[0]) if self.args else ""
