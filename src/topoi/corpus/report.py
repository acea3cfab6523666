"""Report of what was read, skipped and dropped."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields
from typing import Any

from topoi.corpus.checked_json import check_shape
from topoi.errors import safe_text

# JSON shapes of a saved report's fields by their types; for a dict, the shape of its values.
_SHAPES: dict[str, Any] = {"str": str, "int": int, "list[str]": [str], "dict[str, int]": [int]}
_SHOWN_REASONS = 5


@dataclass
class CorpusReport:
    """Account of reading and analysing the input of a corpus.

    Attributes
    ----------
    source : str
        Origin of the documents.
    n_read, n_skipped : int
        Records that became documents, and records that could not.
    reasons : list of str
        The first few reasons for skipping, with file and line.
    n_empty_texts, n_without_authors : int
        Valid documents without text, or without authors.
    n_bad_dates, n_replaced : int
        Dates that could not be parsed; texts with bytes that had to be replaced.
    n_unknown_tokens : int
        Words that the given vocabulary does not have (``encode`` only).
    skipped_tokens : dict
        Bare numbers, short words and addresses that the tokeniser left out.
    dropped_words, dropped_tokens : dict
        Distinct words and their occurrences, by reason of removal: stop list, min_df, max_df, max_words.
    n_phrases : int
        Word pairs that were joined.
    notes : list of str
        Anything else a user should know.

    Examples
    --------
    >>> from topoi.corpus.report import CorpusReport
    >>> print(CorpusReport(source="papers.jsonl", n_read=3, n_empty_texts=1))
    3 documents from papers.jsonl
      1 has no text
    """

    source: str = ""
    n_read: int = 0
    n_skipped: int = 0
    reasons: list[str] = field(default_factory=list)
    n_empty_texts: int = 0
    n_without_authors: int = 0
    n_bad_dates: int = 0
    n_replaced: int = 0
    n_unknown_tokens: int = 0
    skipped_tokens: dict[str, int] = field(default_factory=dict)
    dropped_words: dict[str, int] = field(default_factory=dict)
    dropped_tokens: dict[str, int] = field(default_factory=dict)
    n_phrases: int = 0
    notes: list[str] = field(default_factory=list)

    def skip(self, reason: str) -> None:
        """Count a record that could not be read, and keep the reason if it is among the first few.

        Examples
        --------
        >>> from topoi.corpus.report import CorpusReport
        >>> report = CorpusReport()
        >>> report.skip("papers.jsonl, line 3: broken JSON")
        >>> report.n_skipped, report.reasons
        (1, ['papers.jsonl, line 3: broken JSON'])
        """
        self.n_skipped += 1
        if len(self.reasons) < _SHOWN_REASONS:
            self.reasons.append(reason)

    def __str__(self) -> str:
        lines = [f"{_count(self.n_read, 'document')}{' from ' + self.source if self.source else ''}"]
        if self.n_skipped:
            lines.append(f"{_count(self.n_skipped, 'record')} skipped:")
            lines += [f"  {reason}" for reason in self.reasons]
            if self.n_skipped > len(self.reasons):
                lines.append(f"  and {self.n_skipped - len(self.reasons):,} more")
        for n, what in (
            (self.n_empty_texts, "no text"),
            (self.n_without_authors, "no author"),
            (self.n_bad_dates, "a date that could not be read"),
            (self.n_replaced, "characters that could not be decoded and were replaced"),
        ):
            if n:
                lines.append(f"{n:,} {'has' if n == 1 else 'have'} {what}")
        for what, n in self.skipped_tokens.items():
            if n:
                lines.append(f"{n:,} {what} left out")
        for what, n in self.dropped_words.items():
            lines.append(f"{_count(n, 'word')} ({_count(self.dropped_tokens[what], 'occurrence')}) dropped by {what}")
        if self.n_unknown_tokens:
            lines.append(f"{_count(self.n_unknown_tokens, 'occurrence')} of words that the vocabulary does not have")
        if self.n_phrases:
            lines.append(f"{_count(self.n_phrases, 'word pair')} joined")
        return safe_text("\n  ".join(lines + self.notes))

    def to_dict(self) -> dict[str, Any]:
        """Return the report as a JSON-able dictionary.

        Examples
        --------
        >>> from topoi.corpus.report import CorpusReport
        >>> CorpusReport(n_read=2).to_dict()["n_read"]
        2
        """
        return asdict(self)

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> CorpusReport:
        """Rebuild the report from the result of ``to_dict``; unknown fields are ignored.

        Examples
        --------
        >>> from topoi.corpus.report import CorpusReport
        >>> CorpusReport.from_dict({"n_read": 2}).n_read
        2
        """
        shapes = {f.name: _SHAPES[str(f.type)] for f in fields(cls)}
        given = {name: value for name, value in values.items() if name in shapes}
        for name, value in given.items():
            check_shape(list(value.values()) if isinstance(value, dict) else value, shapes[name], name)
        return cls(**given)


def _count(n: int, noun: str) -> str:
    return f"{n:,} {noun}{'' if n == 1 else 's'}"
