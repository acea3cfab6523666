"""Recognition of training documents by their content, so that they get the counts of the fit."""

from __future__ import annotations

import hashlib
from collections import defaultdict, deque
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from topoi.corpus.corpus import Corpus


def author_bytes(corpus: Corpus) -> list[bytes]:
    """Each document's author numbers, sorted, as bytes."""
    return _sorted_rows(corpus.doc_author, corpus.doc_author_start)


def content_keys(corpus: Corpus, beside: Sequence[bytes]) -> list[bytes]:
    """Digest of each document's bag of words and of the bytes in ``beside``.

    Examples
    --------
    >>> import topoi
    >>> from topoi.models.recognition import content_keys
    >>> one, other, third = content_keys(topoi.Corpus.from_tokens([["a", "b"], ["b", "a"], ["b", "b"]]), [b""] * 3)
    >>> one == other, one == third
    (True, False)
    """
    words = _sorted_rows(corpus.tokens, corpus.doc_start)
    lengths = (len(each).to_bytes(8, "little") for each in words)
    parts = zip(lengths, words, beside, strict=True)
    return [hashlib.blake2b(b"".join(part), digest_size=16).digest() for part in parts]


def matching_rows(
    keys: Sequence[bytes], names: Sequence[str], known_keys: Sequence[bytes], known_names: Sequence[str]
) -> NDArray[np.int64]:
    """For each document, the known one with the same key; -1 if there is none.

    Of several with the same key, the one with the same name is taken; without such a name they are taken in order.

    Examples
    --------
    >>> from topoi.models.recognition import matching_rows
    >>> matching_rows([b"x", b"y", b"x"], ["2", "9", "1"], [b"x", b"x"], ["1", "2"]).tolist()
    [1, -1, 0]
    """
    named: dict[tuple[bytes, str], deque[int]] = defaultdict(deque)
    first: dict[bytes, int] = {}
    for row, (key, name) in enumerate(zip(known_keys, known_names, strict=True)):
        named[key, name].append(row)
        first.setdefault(key, row)
    found = np.full(len(keys), -1, np.int64)
    for d, place in enumerate(zip(keys, names, strict=True)):
        if named.get(place):
            found[d] = named[place].popleft()
    rest: dict[bytes, deque[int]] = defaultdict(deque)
    for row in sorted(row for rows in named.values() for row in rows):
        rest[known_keys[row]].append(row)
    for d in np.flatnonzero(found < 0).tolist():
        if keys[d] in first:
            found[d] = rest[keys[d]].popleft() if rest.get(keys[d]) else first[keys[d]]
    return found


def names_of(corpus: Corpus) -> list[str]:
    """Ids of the documents; empty strings if the corpus has none."""
    return [str(each) for each in corpus.documents["id"]] if "id" in corpus.documents else [""] * corpus.n_docs


def _sorted_rows(values: NDArray[np.int32], start: NDArray[np.int64]) -> list[bytes]:
    edges = start.tolist()
    return [np.sort(values[a:b]).tobytes() for a, b in zip(edges, edges[1:], strict=False)]
