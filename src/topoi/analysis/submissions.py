"""Tables of submissions: many texts that want reviewers, as CSV."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator
from typing import NamedTuple

from topoi.errors import ModelError

MOST_SUBMISSIONS = 10_000
_TEXTS = ("text", "abstract", "title")
# Spreadsheets of some languages write semicolons; a comma in the header decides for commas.
_SEPARATORS = (",", ";", "\t")


class Submission(NamedTuple):
    """A text that wants reviewers; ``line`` is where it begins in its table."""

    line: int
    identifier: str
    title: str
    text: str
    authors: str


def decoded(table: bytes) -> str:
    r"""The text of a table in UTF-8; a ``ModelError`` names the line that is not.

    Examples
    --------
    >>> from topoi.analysis.submissions import decoded
    >>> decoded(b"\xef\xbb\xbftext\nA star\n")
    'text\nA star\n'
    >>> decoded(b"text\nA star\nNa\xefve\n")
    Traceback (most recent call last):
    topoi.errors.ModelError: line 3 is not written in UTF-8; save the table as "CSV UTF-8"
    """
    try:
        return table.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = table.count(b"\n", 0, error.start) + 1
        raise ModelError(f'line {line:,} is not written in UTF-8; save the table as "CSV UTF-8"') from None


def read_submissions(table: str, most: int = MOST_SUBMISSIONS) -> list[Submission]:
    r"""Submissions in a CSV table.

    Parameters
    ----------
    table : str
        Lines with commas, semicolons or tabs between cells; the first names the columns, in any letter case: ``text``,
        ``abstract`` or ``title``, and perhaps ``authors`` (semicolons between names) and ``id``.
    most : int
        The most submissions that are taken.

    Returns
    -------
    list of Submission
        One for each row that is not empty. A ``text`` is the title and the text or abstract; it may be empty.

    Examples
    --------
    >>> from topoi.analysis.submissions import read_submissions
    >>> read_submissions("Title,Abstract,Authors\nOn stars,The sun is a star.,Kepler; Brahe\n")
    [Submission(line=2, identifier='1', title='On stars', text='On stars The sun is a star.', authors='Kepler; Brahe')]
    >>> read_submissions("text\nA star\nA star, and a planet\n")
    Traceback (most recent call last):
    topoi.errors.ModelError: line 3 has 2 cells, but there is 1 column: put quotation marks around texts with commas
    """
    separator = max(_SEPARATORS, key=table.partition("\n")[0].count)
    rows = _rows(table, separator)
    _, header = next(rows, (1, []))
    columns = [name.strip().lower() for name in header]
    if not set(_TEXTS) & set(columns):
        there = f"line 1 names {', '.join(filter(None, columns))}" if any(columns) else "line 1 names none"
        raise ModelError(f"the table needs a column text, abstract or title; {there}")
    found: list[Submission] = []
    for line, cells in rows:
        if len(cells) > len(columns):
            there = f"there {'is 1 column' if len(columns) == 1 else f'are {len(columns)} columns'}"
            mark = {",": "commas", ";": "semicolons", "\t": "tabs"}[separator]
            raise ModelError(
                f"line {line:,} has {len(cells)} cells, but {there}: put quotation marks around texts with {mark}"
            )
        if len(found) == most:
            raise ModelError(f"line {line:,}: a table has at most {most:,} submissions; cut it into parts")
        found.append(_submission(line, len(found) + 1, dict(zip(columns, map(str.strip, cells), strict=False))))
    if not found:
        raise ModelError("the table has no rows below the names of its columns")
    return found


def _submission(line: int, number: int, row: dict[str, str]) -> Submission:
    title = row.get("title", "")
    parts = (title, row.get("text") or row.get("abstract", ""))
    return Submission(line, row.get("id") or str(number), title, " ".join(filter(None, parts)), row.get("authors", ""))


def _rows(table: str, separator: str) -> Iterator[tuple[int, list[str]]]:
    """Rows that are not empty, each with the line it begins in."""
    reader = csv.reader(io.StringIO(table, newline=""), delimiter=separator, strict=True)
    while True:
        line = reader.line_num + 1
        try:
            cells = next(reader)
        except StopIteration:
            return
        except csv.Error as error:
            raise ModelError(f"the row that begins in line {line:,} cannot be read: {_plain(error)}") from error
        if any(cell.strip() for cell in cells):
            yield line, cells


def _plain(error: csv.Error) -> str:
    """What is wrong, in words that do not suppose knowledge of the parser."""
    words = str(error)
    if "unexpected end" in words:
        return "its quotation mark is never closed"
    if "expected after" in words:
        return "a quotation mark stands in a text; write it twice"
    if "field larger" in words:
        return f"a cell has more than {csv.field_size_limit():,} characters"
    return words
