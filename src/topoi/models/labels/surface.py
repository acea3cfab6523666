"""How a label is written: as its words most often stand in the texts, or the words of the vocabulary."""

from __future__ import annotations

import unicodedata
from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from topoi.corpus.corpus import Corpus
from topoi.models.labels.phrases import is_gap, token_blocks

# Occurrences that are looked up, evenly spread over the collection.
_LOOKED_UP = 25
# A pair is completed by the word that stands beside it this often, of at least so many occurrences.
_NEARLY_ALWAYS, _FEWEST = 0.6, 4
_BETWEEN = " -–—'’"


def written(corpus: Corpus, chosen: Sequence[tuple[int, ...]], places: Sequence[NDArray[np.int64]]) -> list[str]:
    """Each topic's words, as the texts mostly have them: with capitals and hyphens, on one line.

    Parameters
    ----------
    corpus : Corpus
        The documents.
    chosen : sequence of tuples of int
        Words of each topic's label.
    places : sequence of arrays
        Where the labels begin, as ``occurrences`` finds them.

    Examples
    --------
    >>> import numpy as np, topoi
    >>> from topoi.models.labels.surface import written
    >>> corpus = topoi.Corpus.from_texts(["the Gold Coast", "a Gold Coast"], min_df=1, max_df=1.0)
    >>> written(corpus, [(1, 0)], [np.array([0, 2])])
    ['Gold Coast']
    """
    plain = [" ".join(_shown(corpus, w) for w in words) for words in chosen]
    if corpus.texts is None or corpus.token_start is None or corpus.token_end is None:
        return plain
    return [_usual(corpus, some(at), len(words), one) for at, words, one in zip(places, chosen, plain, strict=True)]


def some(at: NDArray[np.int64]) -> list[int]:
    """At most 25 of many positions, evenly spread."""
    return [int(i) for i in at[:: max(1, -(-len(at) // _LOOKED_UP))]]


def completed(
    corpus: Corpus,
    chosen: Sequence[tuple[int, ...]],
    places: Sequence[NDArray[np.int64]],
    allowed: NDArray[np.bool_],
) -> tuple[list[tuple[int, ...]], list[NDArray[np.int64]]]:
    """Labels and their places, with the third word of pairs that nearly always stand beside the same one.

    "Large language" is no phrase where "models" follows it everywhere, even if the model draws that word from another
    topic.

    Examples
    --------
    >>> import numpy as np, topoi
    >>> from topoi.models.labels.surface import completed
    >>> corpus = topoi.Corpus.from_tokens([["big", "red", "fish"]] * 4)
    >>> completed(corpus, [(0, 1)], [np.array([0, 3, 6, 9])], np.ones(3, bool))[0]
    [(0, 1, 2)]
    """
    labels, starts = list(chosen), list(places)
    for k, words in enumerate(chosen):
        at = some(places[k])
        if len(words) != 2 or len(at) < _FEWEST:
            continue
        after = [int(corpus.tokens[i + 2]) if _follows(corpus, i + 2) else -1 for i in at]
        before = [int(corpus.tokens[i - 1]) if _follows(corpus, i) else -1 for i in at]
        times = Counter((start, w) for start, found in ((0, after), (-1, before)) for w in found)
        fit = [(-n, start, w) for (start, w), n in times.items() if w >= 0 and allowed[w] and w not in words]
        number, start, word = min(fit, default=(0, 0, -1))
        if -number >= _NEARLY_ALWAYS * len(at):
            labels[k] = (word, *words) if start else (*words, word)
            found = before if start else after
            starts[k] = np.array([i for i, w in zip(at, found, strict=True) if w == word], np.int64) + start
    return labels, starts


def _follows(corpus: Corpus, i: int) -> bool:
    """Whether the word at position ``i`` stands side by side with the one before it."""
    if not 0 < i < corpus.n_tokens or corpus.doc_start[np.searchsorted(corpus.doc_start, i)] == i:
        return False
    return (
        corpus.token_start is None or corpus.token_end is None or is_gap(corpus.token_start[i], corpus.token_end[i - 1])
    )


def _shown(corpus: Corpus, word: int) -> str:
    """A word of the vocabulary; two words that were joined to one stand apart again."""
    text = str(corpus.words[word])
    joined = {f"{a}_{b}": f"{a} {b}" for a, b in corpus.vocabulary.analyzer.phrases} if "_" in text else {}
    return one_line(joined.get(text, text))


def occurrences(corpus: Corpus, topic: NDArray[Any], chosen: Sequence[tuple[int, ...]]) -> list[NDArray[np.int64]]:
    """Positions at which each topic's label begins, in the topic."""
    longest = max((len(words) for words in chosen), default=0)
    table = np.full((len(chosen), max(longest, 1)), -1)
    for k, words in enumerate(chosen):
        table[k, : len(words)] = words
    found: list[list[NDArray[np.int64]]] = [[] for _ in chosen]
    before = 0
    for tokens, own, linked in token_blocks(corpus, topic):
        at = np.flatnonzero(tokens == table[own, 0])
        for i in range(1, table.shape[1]):
            wanted, there = table[own[at], i], np.minimum(at + i, len(tokens) - 1)
            fits = (at + i < len(tokens)) & (tokens[there] == wanted) & linked[there] & (own[there] == own[at])
            at = at[fits | (wanted < 0)]
        for k in np.unique(own[at]).tolist():
            found[k].append(at[own[at] == k] + before)
        before += len(tokens)
    return [np.concatenate(parts) if parts else np.zeros(0, np.int64) for parts in found]


def _usual(corpus: Corpus, at: Sequence[int], n: int, plain: str) -> str:
    """The form that most of some occurrences have; ``plain`` if none is fit to be shown."""
    assert corpus.texts is not None and corpus.token_start is not None and corpus.token_end is not None
    forms: Counter[str] = Counter()
    for i in at:
        d = int(np.searchsorted(corpus.doc_start, i, side="right")) - 1
        text, ends = corpus.texts[d], [int(end) for end in corpus.token_end[i : i + n - 1]]
        if all(text[end : end + 1].isspace() or text[end : end + 1] in _BETWEEN for end in ends):
            forms[one_line(text[int(corpus.token_start[i]) : int(corpus.token_end[i + n - 1])])] += 1
    usual = min(forms, key=lambda form: (-forms[form], form.swapcase()), default=plain)
    return usual or plain


def one_line(text: str) -> str:
    r"""A text on one line, without characters that print nothing or change the direction of others.

    Examples
    --------
    >>> from topoi.models.labels.surface import one_line
    >>> one_line("gold\n\u202e mine")
    'gold mine'
    """
    kept = (c if not unicodedata.category(c).startswith(("C", "Z")) else " " if c.isspace() else "" for c in text)
    return " ".join("".join(kept).split())
