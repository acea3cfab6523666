"""The errors topoi raises on purpose. Each message says what was given, what was needed and what to do."""

from __future__ import annotations

import re
from pathlib import Path

# What a terminal obeys, or cannot write: control characters but for line ends and tabs, marks that turn the direction
# of writing around, and halves of characters, as which bytes of a file's name that are not UTF-8 appear.
_UNSAFE = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u2028\u2029\u202a-\u202e\u2066-\u2069\ufff9-\ufffb\ud800-\udfff]"
)


def safe_text(text: object) -> str:
    r"""A text that does nothing to a terminal: control characters and the like are shown as escapes.

    Examples
    --------
    >>> from topoi.errors import safe_text
    >>> print(safe_text("a\x1b[2Jb"))
    a\x1b[2Jb
    """
    return _UNSAFE.sub(lambda found: ascii(found.group())[1:-1], str(text))


class TopoiError(Exception):
    """Anything topoi refuses or cannot do; the command line prints it as one line.

    Examples
    --------
    >>> import topoi
    >>> topoi.load("no-such-file.topoi")
    Traceback (most recent call last):
    ...
    topoi.errors.StoreError: no-such-file.topoi does not exist
    """

    def __str__(self) -> str:
        return safe_text(super().__str__())


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
    """Settings or data that a model cannot use.

    Examples
    --------
    >>> import topoi
    >>> topoi.LDA(0).fit([[1, 2], [2, 1]])
    Traceback (most recent call last):
    ...
    topoi.errors.ModelError: n_topics is 0; it must be a whole number of at least 1
    """


class StoreError(TopoiError):
    """A file that is not a topoi file, is damaged, or is newer than this version.

    Examples
    --------
    >>> import topoi
    >>> topoi.open_store("no-such-file.topoi")
    Traceback (most recent call last):
    ...
    topoi.errors.StoreError: no-such-file.topoi does not exist
    """


class NotFoundError(StoreError, KeyError):
    """A name that does not exist; the message lists what does.

    Examples
    --------
    >>> import topoi
    >>> corpus = topoi.Corpus.from_tokens([["sun"], ["gene"]], authors=["Ann", "Bob"])
    >>> model = topoi.AuthorTopicModel(2, n_iter=5, random_state=0).fit(corpus)
    >>> model.author_topics("Anne")
    Traceback (most recent call last):
    ...
    topoi.errors.NotFoundError: there is no author 'Anne'; did you mean 'Ann'?
    """

    def __str__(self) -> str:
        return safe_text(self.args[0]) if self.args else ""
