"""How a label is written: as its words most often stand in the texts, or the words of the vocabulary."""

from __future__ import annotations

import unicodedata
from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from topoi.corpus.corpus import Corpus
from topoi.models.labels.choice import stem
from topoi.models.labels.phrases import is_gap, token_blocks

# Occurrences that are looked up, evenly spread over the collection.
_LOOKED_UP = 25
# A pair is completed by the word that stands beside it this often, of at least so many occurrences.
_NEARLY_ALWAYS, _FEWEST = 0.6, 4
# Words of a label; in scripts without spaces, where every character is a token, characters.
_MOST_WORDS, _MOST_CHARACTERS = 3, 8
BETWEEN = " -–—'’"


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
        most = _MOST_CHARACTERS if all(len(str(corpus.words[w])) == 1 for w in words) else _MOST_WORDS
        while 2 <= len(words) < most and len(at) >= _FEWEST:
            n = len(words)
            after = [int(corpus.tokens[i + n]) if _follows(corpus, i + n) else -1 for i in at]
            before = [int(corpus.tokens[i - 1]) if _follows(corpus, i) else -1 for i in at]
            start, word = _completion(corpus, (after, before), words, allowed, len(at))
            if word < 0:
                break
            words = (word, *words) if start else (*words, word)
            at = [i + start for i, w in zip(at, before if start else after, strict=True) if w == word]
            labels[k], starts[k] = words, np.array(at, np.int64)
    return labels, starts


def _completion(
    corpus: Corpus, beside: tuple[list[int], list[int]], words: tuple[int, ...], allowed: NDArray[np.bool_], n: int
) -> tuple[int, int]:
    """0 (after the pair) or -1 (before it) and the word that nearly always stands there; -1 if there is none.

    Singular and plural count together, as in "support vector machine" and "support vector machines".
    """
    times = Counter((start, w) for start, found in zip((0, -1), beside, strict=True) for w in found)
    forms: Counter[tuple[int, str]] = Counter()
    for (start, w), number in times.items():
        if w >= 0 and allowed[w] and w not in words:
            forms[start, stem(str(corpus.words[w]))] += number
    start, form = min(forms, key=lambda each: (-forms[each], each), default=(0, ""))
    if not forms or forms[start, form] < _NEARLY_ALWAYS * n:
        return 0, -1
    fit = [(-number, w) for (at, w), number in times.items() if at == start and w >= 0 and allowed[w]]
    return start, min((number, w) for number, w in fit if stem(str(corpus.words[w])) == form and w not in words)[1]


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
    for block in token_blocks(corpus, topic, table.shape[1] - 1):
        tokens, own = block.word, block.topic
        at = np.flatnonzero(tokens[: block.n] == table[own[: block.n], 0])
        for i in range(1, table.shape[1]):
            wanted, there = table[own[at], i], np.minimum(at + i, len(tokens) - 1)
            fits = (at + i < len(tokens)) & (tokens[there] == wanted) & block.linked[there] & (own[there] == own[at])
            at = at[fits | (wanted < 0)]
        for k in np.unique(own[at]).tolist():
            found[k].append(at[own[at] == k] + block.first)
    return [np.concatenate(parts) if parts else np.zeros(0, np.int64) for parts in found]


def _usual(corpus: Corpus, at: Sequence[int], n: int, plain: str) -> str:
    """The form that most of some occurrences have; ``plain`` if none is fit to be shown."""
    assert corpus.texts is not None and corpus.token_start is not None and corpus.token_end is not None
    forms: Counter[str] = Counter()
    for i in at:
        d = int(np.searchsorted(corpus.doc_start, i, side="right")) - 1
        text, ends = corpus.texts[d], corpus.token_end[i : i + n - 1].tolist()
        gaps = [text[end:start] for end, start in zip(ends, corpus.token_start[i + 1 : i + n].tolist(), strict=True)]
        if all(not gap or gap.isspace() or gap in BETWEEN for gap in gaps):
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
