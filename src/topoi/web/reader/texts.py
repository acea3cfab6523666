"""Labelled texts of a data file, as one string each and columns of numbers for all of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from topoi.corpus.vocabulary import Vocabulary

PROBABILITY_STEPS = 100  # probabilities of words are in per cent, as pages show them


class LabelledTexts:
    """Texts whose words have topics and perhaps authors: where they stand, and how sure the labels are.

    The word of the vocabulary follows from how it is written, unless texts of the same file disagree about that; so the
    column of words has one number for each spelling, in the order in which they are met: 0 if the word is the spelling
    in small letters, else the word's number and one.

    Parameters
    ----------
    vocabulary : Vocabulary, optional
        The words; without it none follows from its spelling.

    Attributes
    ----------
    texts : list of str
        The texts.

    Examples
    --------
    >>> from topoi.web.reader.texts import LabelledTexts
    >>> made = LabelledTexts()
    >>> made.add([{"text": "A "}, {"text": "star", "word_id": 7, "topic": 2, "p": 0.5}, {"text": " and a "},
    ...           {"text": "star", "word_id": 7, "topic": 1, "p": 0.25}])
    >>> made.texts, made.head()
    (['A star and a star'], {'n_labels': [2], 'has_authors': False, 'by_spelling': True, 'steps': 100})
    >>> made.columns()
    [[2, 7], [4, 4], [2, 1], [50, 25], [8], [], []]
    """

    def __init__(self, vocabulary: Vocabulary | None = None) -> None:
        self._vocabulary = vocabulary
        self.texts: list[str] = []
        self._n: list[int] = []
        self._gaps: list[int] = []
        self._labels: list[Mapping[str, Any]] = []

    def add(self, pieces: Sequence[Mapping[str, Any]]) -> None:
        """Add a text by its pieces, as a document's JSON view has them."""
        before, gap = len(self._labels), 0
        for piece in pieces:
            if "topic" in piece:
                self._gaps.append(gap)
                self._labels.append(piece)
                gap = 0
            else:
                gap += len(piece["text"])
        self.texts.append("".join(piece["text"] for piece in pieces))
        self._n.append(len(self._labels) - before)

    def _has_authors(self) -> bool:
        return bool(self._labels) and all(piece.get("author") is not None for piece in self._labels)

    def _spellings(self) -> list[int] | None:
        """The word of each spelling, 0 if it follows, else from 1; None if a spelling has several."""
        found: dict[str, int] = {}
        for piece in self._labels:
            if found.setdefault(piece["text"], piece["word_id"]) != piece["word_id"]:
                return None
        return [0 if self._follows(spelling, word) else word + 1 for spelling, word in found.items()]

    def _follows(self, spelling: str, word: int) -> bool:
        """Whether a word is its spelling in small letters, which scripts and Python agree about within ASCII."""
        small = spelling.lower()
        known = self._vocabulary is not None and spelling.isascii() and small in self._vocabulary
        return known and self._vocabulary is not None and self._vocabulary.index(small) == word

    def head(self) -> dict[str, Any]:
        """The JSON beside the columns."""
        return {
            "n_labels": self._n,
            "has_authors": self._has_authors(),
            "by_spelling": self._spellings() is not None,
            "steps": PROBABILITY_STEPS,
        }

    def columns(self) -> list[list[int]]:
        """Gaps before labelled words, their lengths, topics, probabilities; words; authors and their probabilities."""
        made = [
            self._gaps,
            [len(piece["text"]) for piece in self._labels],
            [piece["topic"] for piece in self._labels],
            [_step(piece["p"]) for piece in self._labels],
        ]
        words = self._spellings()
        made.append([piece["word_id"] + 1 for piece in self._labels] if words is None else words)
        if not self._has_authors():
            return [*made, [], []]
        return [*made, [piece["author"] for piece in self._labels], [_step(piece["q"]) for piece in self._labels]]


def _step(probability: float) -> int:
    return round(PROBABILITY_STEPS * probability)
