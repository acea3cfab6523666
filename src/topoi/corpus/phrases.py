"""Frequent word pairs (collocations), found by normalised pointwise mutual information and joined to one word."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from topoi.corpus.scan import Scan
from topoi.kernels.jit import compiled

DEFAULT_THRESHOLD = 0.5


def _pair_keys(scan: Scan, allowed: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the positions of the second words of linked pairs, and each pair as one integer."""
    second = np.flatnonzero(scan.linked)
    first_word, second_word = scan.tokens[second - 1], scan.tokens[second]
    use = allowed[first_word] & allowed[second_word]
    keys = first_word[use].astype(np.int64) * len(scan.words) + second_word[use]
    return second[use], keys


def learn_pairs(
    scan: Scan, stop_words: frozenset[str], threshold: float = DEFAULT_THRESHOLD, min_count: int = 10
) -> list[tuple[str, str]]:
    """Find the pairs of neighbouring words that occur together far more often than by chance.

    The score is normalised pointwise mutual information, ``ln(p(ab) / (p(a) p(b))) / -ln p(ab)``: 0 for
    independent words, 1 for words that only occur together (Bouma 2009). Neither word may be a stop word, and only
    white space may stand between them.

    Parameters
    ----------
    scan : Scan
        The scanned texts.
    stop_words : frozenset of str
        Words excluded from pairs.
    threshold : float
        Smallest score.
    min_count : int
        Smallest number of occurrences of the pair.

    Returns
    -------
    list of pairs of str
        Best first.

    Examples
    --------
    >>> from topoi.corpus.phrases import learn_pairs
    >>> from topoi.corpus.scan import scan_texts
    >>> learn_pairs(scan_texts(["new york is big", "new york is old", "big old rome"]), frozenset(["is"]), min_count=2)
    [('new', 'york')]
    """
    return learn_pairs_in([scan], scan.words, stop_words, threshold, min_count)


def learn_pairs_in(
    blocks: Iterable[Scan], words: list[str], stop_words: frozenset[str], threshold: float, min_count: int
) -> list[tuple[str, str]]:
    """``learn_pairs`` of texts scanned in blocks with common word ids; memory grows with the distinct pairs.

    Examples
    --------
    >>> from topoi.corpus.phrases import learn_pairs_in
    >>> from topoi.corpus.scan import scan_texts
    >>> scan = scan_texts(["new york is big", "new york is old", "big old rome"])
    >>> learn_pairs_in([scan], scan.words, frozenset(["is"]), 0.5, 2)
    [('new', 'york')]
    """
    allowed = np.array([word not in stop_words for word in words], bool)
    times = np.zeros(len(words), np.int64)
    pairs = counts = np.zeros(0, np.int64)
    for scan in blocks:
        times += np.bincount(scan.tokens, minlength=len(words))
        _, keys = _pair_keys(scan, allowed)
        new, number = np.unique(keys, return_counts=True)
        pairs, counts = _summed(np.concatenate([pairs, new]), np.concatenate([counts, number]))
    pairs, counts = pairs[counts >= min_count], counts[counts >= min_count]
    total = int(times.sum())
    if not total:
        return []
    frequency = times / total
    first, second = np.divmod(pairs, len(words))
    joint = counts / total
    with np.errstate(divide="ignore", invalid="ignore"):
        score = np.log(joint / (frequency[first] * frequency[second])) / -np.log(joint)
    chosen = np.flatnonzero(score >= threshold)
    named = sorted((-score[p], words[first[p]], words[second[p]]) for p in chosen)
    return [(a, b) for _, a, b in named]


def _summed(keys: np.ndarray, numbers: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Distinct keys in order, each with the sum of its numbers."""
    order = np.argsort(keys, kind="stable")
    keys = keys[order]
    first = np.flatnonzero(np.diff(keys, prepend=-1))
    return keys[first], np.add.reduceat(numbers[order], first) if len(first) else numbers[:0]


@compiled
def _choose(positions: np.ndarray, pair: np.ndarray, n_tokens: int) -> np.ndarray:
    """Choose pairs from left to right, each token in at most one; return the pair that ends at each token, or -1."""
    second_of = np.full(n_tokens, -1, np.int32)
    for p in range(len(positions)):
        i = positions[p]
        if pair[p] >= 0 and second_of[i - 1] < 0:
            second_of[i] = pair[p]
    return second_of


def join_pairs(scan: Scan, pairs: Iterable[tuple[str, str]]) -> Scan:
    """Join the given pairs wherever they are adjacent; the offsets of the new word span both.

    Examples
    --------
    >>> from topoi.corpus.phrases import join_pairs
    >>> from topoi.corpus.scan import scan_texts
    >>> joined = join_pairs(scan_texts(["in new york"]), [("new", "york")])
    >>> [joined.words[w] for w in joined.tokens], joined.token_end.tolist()
    (['in', 'new_york'], [2, 11])
    """
    pairs = list(pairs)
    if not pairs or not len(scan.tokens):
        return scan
    index = {word: w for w, word in enumerate(scan.words)}
    known = [(index[a], index[b], f"{a}_{b}") for a, b in pairs if a in index and b in index]
    if not known:
        return scan
    words = list(scan.words)
    for _, _, name in known:
        # A text may already contain the joined form; both are then the same word.
        if name not in index:
            index[name] = len(words)
            words.append(name)
    known_keys = np.array([a * len(scan.words) + b for a, b, _ in known], np.int64)
    new_words = np.array([index[name] for _, _, name in known], np.int32)
    order = np.argsort(known_keys, kind="stable")
    known_keys, new_words = known_keys[order], new_words[order]
    positions, keys = _pair_keys(scan, np.ones(len(scan.words), bool))
    at = np.minimum(np.searchsorted(known_keys, keys), len(known_keys) - 1)
    word = np.where(known_keys[at] == keys, new_words[at], np.int32(-1))
    second_of = _choose(positions, word, len(scan.tokens))
    return _joined(scan, second_of, words)


def _joined(scan: Scan, second_of: np.ndarray, words: list[str]) -> Scan:
    second = np.flatnonzero(second_of >= 0)
    tokens, ends, linked = scan.tokens.copy(), scan.token_end.copy(), scan.linked
    tokens[second - 1] = second_of[second]
    ends[second - 1] = ends[second]
    keep = second_of < 0
    before = np.concatenate([[0], np.cumsum(keep)])
    doc_start = before[scan.doc_start]
    return Scan(tokens[keep], doc_start, scan.token_start[keep], ends[keep], linked[keep], words, scan.skipped)
