"""Texts in a file, read one by one as they are asked for."""

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
