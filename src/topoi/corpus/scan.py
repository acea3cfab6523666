"""Scanning of texts into word ids with character offsets, without a Python object per token."""

from __future__ import annotations

import secrets
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from typing import NamedTuple, Protocol

import numpy as np

from topoi.corpus.characters import character_table, code_points
from topoi.corpus.scan_kernel import Out, Words, fill_slots, scan_block

_BLOCK = 1 << 18
# Blocks of texts that may wait for the second thread: a slow one must not make memory grow.
_MOST_WAITING = 8
# Takes over scanned documents: their numbers of words, then word ids, starts, ends and ``linked`` of the words.
Sink = Callable[[np.ndarray, np.ndarray, np.ndarray, np.ndarray, np.ndarray], None]


class Scan(NamedTuple):
    """Texts as ids of their distinct words, before anything is dropped.

    ``linked[i]`` is true if only white space (or nothing) lies between words ``i - 1`` and ``i`` of the same text.
    ``skipped`` counts bare numbers, words that are too short, and web or mail addresses.
    """

    tokens: np.ndarray
    doc_start: np.ndarray
    token_start: np.ndarray
    token_end: np.ndarray
    linked: np.ndarray
    words: list[str]
    skipped: np.ndarray


class Scanning(Protocol):
    """Incremental scanner of texts: ``feed`` texts, then ``finish``."""

    def feed(self, texts: Sequence[str]) -> None:
        """Scan more texts."""
        ...

    def finish(self) -> Scan:
        """Return everything that was scanned."""
        ...


class Scanner:
    """Incremental scanner of texts, with word ids common to all of them.

    With a ``sink`` the documents of each block go there, and ``finish`` returns words and ``skipped`` alone.

    Examples
    --------
    >>> from topoi.corpus.scan import Scanner
    >>> scanner = Scanner()
    >>> scanner.feed(["to be"])
    >>> scanner.feed(["or not to be"])
    >>> scanner.finish().tokens.tolist()
    [0, 1, 2, 3, 0, 1]
    """

    def __init__(
        self,
        lowercase: bool = True,
        join_hyphens: bool = True,
        min_length: int = 2,
        keep_numbers: bool = False,
        sink: Sink | None = None,
    ) -> None:
        self._sink = sink
        self._table = character_table(lowercase, join_hyphens)
        self._settings = (min_length, keep_numbers)
        # Random hash seed against files whose words all collide. Word ids do not depend on it.
        self._seed = np.uint64(secrets.randbits(64))
        self._words = _empty_words()
        self._skipped = np.zeros(3, np.int64)
        self._out = Out(*(np.empty(0, kind) for kind in (np.int32, np.int32, np.int32, np.bool_)))
        self._parts: list[list[np.ndarray]] = [[], [], [], []]
        self._doc_ends: list[np.ndarray] = [np.zeros(1, np.int64)]
        self._n_tokens = 0

    def feed(self, texts: Sequence[str]) -> None:
        """Scan more texts.

        Examples
        --------
        >>> from topoi.corpus.scan import Scanner
        >>> Scanner().feed(["to be"])
        """
        for begin, end in _blocks(texts):
            self._feed_block(texts[begin:end])

    def _feed_block(self, texts: Sequence[str]) -> None:
        codes = code_points("".join(texts))
        bounds = np.zeros(len(texts) + 1, np.int64)
        np.cumsum([len(text) for text in texts], out=bounds[1:])
        if len(self._out.token) < len(codes):
            self._out = Out(*(np.empty(len(codes), column.dtype) for column in self._out))
        self._words = _grow(self._words, len(codes))
        doc_end = np.empty(len(texts), np.int64)
        n = scan_block(
            codes, bounds, self._table, self._seed, *self._settings, self._words, self._out, doc_end, self._skipped
        )
        if self._sink is not None:
            token, start, end, linked = (column[:n] for column in self._out)
            self._sink(np.diff(doc_end, prepend=0), token, start, end, linked)
            return
        self._doc_ends.append(doc_end + self._n_tokens)
        self._n_tokens += n
        for part, column in zip(self._parts, self._out, strict=True):
            part.append(column[:n].copy())

    def finish(self) -> Scan:
        """Return everything that was scanned.

        Examples
        --------
        >>> from topoi.corpus.scan import Scanner
        >>> Scanner().finish().words
        []
        """
        columns = []
        for part, column in zip(self._parts, self._out, strict=True):
            columns.append(np.concatenate(part) if part else column[:0])
            part.clear()  # column by column, so that only one is in memory twice
        out = Out(*columns)
        doc_start = np.concatenate(self._doc_ends)
        return Scan(out.token, doc_start, out.start, out.end, out.linked, _strings(self._words), self._skipped)


class BackgroundScanner:
    """Scanner in a second thread, while the caller reads on; the compiled loop releases the GIL.

    Examples
    --------
    >>> from topoi.corpus.scan import BackgroundScanner, Scanner
    >>> with BackgroundScanner(Scanner()) as scanner:
    ...     scanner.add("to be")
    ...     scan = scanner.finish()
    >>> scan.words
    ['to', 'be']
    """

    def __init__(self, scanner: Scanning) -> None:
        self._scanner = scanner
        self._pool = ThreadPoolExecutor(1, thread_name_prefix="topoi-scan")
        self._waiting: list[str] = []
        self._size = 0
        self._work: deque[Future[None]] = deque()

    def __enter__(self) -> BackgroundScanner:
        return self

    def __exit__(self, *exception: object) -> None:
        self._pool.shutdown(cancel_futures=True)

    def add(self, text: str) -> None:
        """Add one more text.

        Examples
        --------
        >>> from topoi.corpus.scan import BackgroundScanner, Scanner
        >>> with BackgroundScanner(Scanner()) as scanner:
        ...     scanner.add("to be")
        """
        self._waiting.append(text)
        self._size += len(text)
        if self._size >= _BLOCK:
            self._submit()

    def _submit(self) -> None:
        self._work.append(self._pool.submit(self._scanner.feed, self._waiting))
        self._waiting, self._size = [], 0
        while len(self._work) > _MOST_WAITING:
            self._work.popleft().result()

    def finish(self) -> Scan:
        """Wait for the thread and return the whole scan.

        Examples
        --------
        >>> from topoi.corpus.scan import BackgroundScanner, Scanner
        >>> with BackgroundScanner(Scanner()) as scanner:
        ...     scanner.finish().words
        []
        """
        self._submit()
        for work in self._work:
            work.result()
        return self._scanner.finish()


def scan_texts(
    texts: Sequence[str],
    lowercase: bool = True,
    join_hyphens: bool = True,
    min_length: int = 2,
    keep_numbers: bool = False,
) -> Scan:
    """Find the words of all texts.

    Examples
    --------
    >>> from topoi.corpus.scan import scan_texts
    >>> scan = scan_texts(["To be, or not to be."])
    >>> scan.words, scan.tokens.tolist(), scan.token_start.tolist()
    (['to', 'be', 'or', 'not'], [0, 1, 2, 3, 0, 1], [0, 3, 7, 10, 14, 17])
    """
    scanner = Scanner(lowercase, join_hyphens, min_length, keep_numbers)
    scanner.feed(texts)
    return scanner.finish()


def _grow(words: Words, n_new: int) -> Words:
    """Return a table with capacity for ``n_new`` more characters, hence for as many more words."""
    n_words, n_pool = words.used.tolist()
    pool, ends, hashes, slots = words.pool, words.ends, words.hashes, words.slots
    if n_pool + n_new > len(pool):
        pool = np.resize(pool, 2 * (n_pool + n_new))
    if n_words + n_new > len(ends):
        size = 2 * (n_words + n_new)
        ends, hashes = np.resize(ends, size), np.resize(hashes, size)
        slots = np.full(1 << (2 * size - 1).bit_length(), -1, np.int32)
        fill_slots(slots, hashes, n_words)
    return Words(slots, hashes, ends, pool, words.used)


def _empty_words() -> Words:
    return Words(
        np.full(16, -1, np.int32), np.zeros(8, np.uint64), np.zeros(8, np.int64), np.zeros(8, np.uint32),
        np.zeros(2, np.int64),
    )  # fmt: skip


def _blocks(texts: Sequence[str]) -> Iterator[tuple[int, int]]:
    """Yield ranges of texts of about ``_BLOCK`` characters, so that temporary arrays stay in the processor's cache."""
    begin = size = 0
    for d, text in enumerate(texts):
        size += len(text)
        if size >= _BLOCK:
            yield begin, d + 1
            begin, size = d + 1, 0
    if begin < len(texts):
        yield begin, len(texts)


def _strings(words: Words) -> list[str]:
    n_words, n_pool = words.used.tolist()
    text = words.pool[:n_pool].tobytes().decode("utf-32-le", "surrogatepass")
    ends = words.ends[:n_words].tolist()
    return [text[a:b] for a, b in zip([0, *ends], ends, strict=False)]
