"""Texts in files, read one by one as they are asked for."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import overload

import numpy as np
from numpy.typing import NDArray

from topoi.corpus.mapped import release
from topoi.errors import CorpusError


class StoredTexts(Sequence[str]):
    """Texts in one file of UTF-8, each decoded when it is read.

    Parameters
    ----------
    path : path
        The file, for messages.
    data : array
        Its bytes.
    first, last : array
        Offsets of each text's first byte, and of the byte after its last.

    Examples
    --------
    >>> import numpy as np
    >>> from topoi.corpus.stored_texts import StoredTexts
    >>> texts = StoredTexts("texts.utf8", np.frombuffer(b"On dustOn sand", "u1"), np.array([0, 7]), np.array([7, 14]))
    >>> texts[1], len(texts), texts.subset(np.array([1, 0]))[:]
    ('On sand', 2, ['On sand', 'On dust'])
    """

    def __init__(
        self, path: str | Path, data: NDArray[np.uint8], first: NDArray[np.int64], last: NDArray[np.int64]
    ) -> None:
        self._path, self._data, self._first, self._last = path, data, first, last

    def __len__(self) -> int:
        return len(self._first)

    @overload
    def __getitem__(self, at: int) -> str: ...
    @overload
    def __getitem__(self, at: slice) -> list[str]: ...
    def __getitem__(self, at: int | slice) -> str | list[str]:
        if isinstance(at, slice):
            return [self[d] for d in range(len(self))[at]]
        here = self._data[self._first[at] : self._last[at]]
        try:
            text = here.tobytes().decode()
        except UnicodeDecodeError as error:
            raise CorpusError(f"the text of document {at} is damaged ({error.reason})", self._path) from None
        release(here)
        return text

    def subset(self, rows: NDArray[np.int64]) -> StoredTexts:
        """Return some of the texts, in the order of ``rows``.

        Examples
        --------
        >>> import numpy as np
        >>> from topoi.corpus.stored_texts import StoredTexts
        >>> texts = StoredTexts("texts.utf8", np.frombuffer(b"On dust", "u1"), np.array([0]), np.array([7]))
        >>> len(texts.subset(np.array([0, 0])))
        2
        """
        return StoredTexts(self._path, self._data, self._first[rows], self._last[rows])


class JoinedTexts(Sequence[str]):
    """Texts of several sequences as one: number ``d`` is text ``row[d]`` of ``parts[part[d]]``.

    Examples
    --------
    >>> from topoi.corpus.stored_texts import joined_texts
    >>> joined_texts(("On dust",), ["On sand"])[-1]
    'On sand'
    """

    def __init__(self, parts: list[Sequence[str]], part: NDArray[np.int64], row: NDArray[np.int64]) -> None:
        self.parts, self.part, self.row = parts, part, row

    def __len__(self) -> int:
        return len(self.row)

    @overload
    def __getitem__(self, at: int) -> str: ...
    @overload
    def __getitem__(self, at: slice) -> list[str]: ...
    def __getitem__(self, at: int | slice) -> str | list[str]:
        if isinstance(at, slice):
            return [self[d] for d in range(len(self))[at]]
        return self.parts[self.part[at]][int(self.row[at])]

    def subset(self, rows: NDArray[np.int64]) -> JoinedTexts:
        """Return some of the texts, in the order of ``rows``.

        Examples
        --------
        >>> import numpy as np
        >>> from topoi.corpus.stored_texts import joined_texts
        >>> joined_texts(("On dust",), ["On sand"]).subset(np.array([1]))[:]
        ['On sand']
        """
        return JoinedTexts(self.parts, self.part[rows], self.row[rows])


def joined_texts(first: Sequence[str], second: Sequence[str]) -> Sequence[str]:
    """Texts of both; those in files stay there.

    Examples
    --------
    >>> from topoi.corpus.stored_texts import joined_texts
    >>> joined_texts(["On dust"], ["On sand"])
    ['On dust', 'On sand']
    """
    if isinstance(first, list):
        return [*first, *second]
    if isinstance(first, JoinedTexts):
        parts, part, row = first.parts, first.part, first.row
    else:
        parts, part, row = [first], np.zeros(len(first), np.int64), np.arange(len(first))
    more = np.full(len(second), len(parts), np.int64)
    return JoinedTexts([*parts, second], np.concatenate([part, more]), np.concatenate([row, np.arange(len(second))]))
