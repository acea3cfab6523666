"""The vocabulary: words with their ids, and the analyser that found them."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from topoi.corpus.phrases import join_pairs
from topoi.corpus.scan import Scan
from topoi.corpus.tokenize import Analyzer
from topoi.errors import CorpusError, NotFoundError
from topoi.kernels.jit import lean


class EncodedTexts(NamedTuple):
    """Texts as word ids in reading order; ``n_unknown`` counts the words that the vocabulary does not have.

    Examples
    --------
    >>> from topoi.corpus.vocabulary import Vocabulary
    >>> Vocabulary(["apple", "pear"]).encode(["An apple, a plum and a pear"]).tokens.tolist()
    [0, 1]
    """

    tokens: np.ndarray
    doc_start: np.ndarray
    token_start: np.ndarray
    token_end: np.ndarray
    n_unknown: int


class Vocabulary:
    """Distinct words of a corpus in the order of their ids, with the analyser's settings.

    Parameters
    ----------
    words : iterable of str
        Distinct words.
    analyzer : Analyzer, optional
        Analyser of new texts. By default: the default rules, no stop list, numbers and single letters kept, lower case
        only if all words are.

    Examples
    --------
    >>> from topoi.corpus.vocabulary import Vocabulary
    >>> vocabulary = Vocabulary(["apple", "pear"])
    >>> vocabulary.index("pear"), "plum" in vocabulary, len(vocabulary)
    (1, False, 2)
    """

    def __init__(self, words: Iterable[str], analyzer: Analyzer | None = None) -> None:
        listed = [str(word) for word in words]
        self.words = object_array(listed)
        self._index = {word: w for w, word in enumerate(listed)}
        if len(self._index) != len(listed):
            twice = next(word for w, word in enumerate(listed) if self._index[word] != w)
            raise CorpusError(f"the word {twice!r} is in the vocabulary twice")
        if analyzer is None:
            lowercase = all(word == word.lower() for word in listed)
            analyzer = Analyzer(lowercase=lowercase, stop_words=None, min_length=1, keep_numbers=True)
        self.analyzer = analyzer

    def __len__(self) -> int:
        return len(self.words)

    def __iter__(self) -> Iterator[str]:
        return iter(self.words)

    def __contains__(self, word: object) -> bool:
        return word in self._index

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Vocabulary):
            return NotImplemented
        return self.analyzer == other.analyzer and np.array_equal(self.words, other.words)

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        shown = ", ".join(repr(word) for word in self.words[:3])
        return f"Vocabulary({len(self):,} words: {shown}{', …' if len(self) > 3 else ''}; {self.analyzer!r})"

    def index(self, word: str) -> int:
        """Return a word's id.

        Examples
        --------
        >>> from topoi.corpus.vocabulary import Vocabulary
        >>> Vocabulary(["apple", "pear"]).index("apple")
        0
        """
        try:
            return self._index[word]
        except KeyError:
            raise NotFoundError(f"no word {word!r} in the vocabulary{close_matches(word, self._index)}") from None

    def encode(self, texts: Sequence[str]) -> EncodedTexts:
        """Encode new texts as word ids, with the vocabulary's analyser.

        Examples
        --------
        >>> from topoi.corpus.vocabulary import Vocabulary
        >>> encoded = Vocabulary(["apple", "pear"]).encode(["Pear or peach"])
        >>> encoded.tokens.tolist(), encoded.token_end.tolist(), encoded.n_unknown
        ([1], [4], 2)
        """
        if isinstance(texts, str):
            raise CorpusError("texts is one string; give a list of texts")
        scan = join_pairs(self.analyzer.scan(texts), self.analyzer.phrases)
        new_id = np.array([self._index.get(word, -1) for word in scan.words], np.int32)
        stop = np.array([word in self.analyzer.stop_words for word in scan.words], bool)
        n_unknown = int(np.count_nonzero((new_id < 0)[scan.tokens] & ~stop[scan.tokens])) if len(scan.words) else 0
        return renumber(scan, new_id, n_unknown)

    def encode_tokens(self, token_lists: Sequence[Sequence[str]]) -> EncodedTexts:
        """Encode lists of words as ids, without analysis and offsets; unknown words are left out and counted.

        Examples
        --------
        >>> from topoi.corpus.vocabulary import Vocabulary
        >>> Vocabulary(["apple", "pear"]).encode_tokens([["pear", "plum"], ["apple"]]).doc_start.tolist()
        [0, 1, 2]
        """
        known = [[self._index[word] for word in row if word in self._index] for row in token_lists]
        starts = np.zeros(len(known) + 1, np.int64)
        np.cumsum([len(row) for row in known], out=starts[1:])
        tokens = np.array([w for row in known for w in row], np.int32)
        n_unknown = sum(map(len, token_lists)) - len(tokens)
        return EncodedTexts(tokens, starts, np.empty(0, np.int32), np.empty(0, np.int32), n_unknown)

    def to_dict(self) -> dict[str, Any]:
        """Return words and settings as a JSON-able dictionary.

        Examples
        --------
        >>> from topoi.corpus.vocabulary import Vocabulary
        >>> Vocabulary(["apple"]).to_dict()["words"]
        ['apple']
        """
        return {"words": self.words.tolist(), "analyzer": self.analyzer.to_dict()}

    @classmethod
    def from_dict(cls, settings: Mapping[str, Any]) -> Vocabulary:
        """Rebuild the vocabulary from the result of ``to_dict``.

        Examples
        --------
        >>> from topoi.corpus.vocabulary import Vocabulary
        >>> Vocabulary.from_dict(Vocabulary(["apple"]).to_dict()) == Vocabulary(["apple"])
        True
        """
        return cls(settings["words"], Analyzer.from_dict(settings["analyzer"]))


def object_array(values: Sequence[Any]) -> np.ndarray:
    """Return an array of Python objects, one per value, even if the values are sequences.

    Examples
    --------
    >>> from topoi.corpus.vocabulary import object_array
    >>> object_array(["a", "bc"]).dtype
    dtype('O')
    """
    array = np.empty(len(values), object)
    array[:] = values
    return array


def close_matches(name: str, names: Iterable[str], n: int = 3) -> str:
    """Return the end of an error message that suggests similar names, or an empty string.

    Examples
    --------
    >>> from topoi.corpus.vocabulary import close_matches
    >>> close_matches("Jordon", ["Jordan", "Smith"])
    "; did you mean 'Jordan'?"
    """
    found = difflib.get_close_matches(str(name), names, n)
    return f"; did you mean {' or '.join(map(repr, found))}?" if found else ""


def renumber(scan: Scan, new_id: np.ndarray, n_unknown: int = 0) -> EncodedTexts:
    """Map a scan's words to new ids, and drop those whose new id is negative.

    Examples
    --------
    >>> import numpy as np
    >>> from topoi.corpus.scan import scan_texts
    >>> from topoi.corpus.vocabulary import renumber
    >>> renumber(scan_texts(["red fish blue fish"]), np.array([1, -1, 0], np.int32)).tokens.tolist()
    [1, 0]
    """
    n_kept = int(np.count_nonzero(new_id[scan.tokens] >= 0)) if len(scan.tokens) else 0
    tokens, token_start, token_end = (np.empty(n_kept, np.int32) for _ in range(3))
    doc_start = np.zeros_like(scan.doc_start)
    new = EncodedTexts(tokens, doc_start, token_start, token_end, n_unknown)
    _keep_known(EncodedTexts(scan.tokens, scan.doc_start, scan.token_start, scan.token_end, 0), new_id, new)
    return new


@lean
def _keep_known(old: EncodedTexts, new_id: np.ndarray, new: EncodedTexts) -> None:
    """Copy the tokens whose new id is not negative into the arrays of ``new``."""
    n = 0
    for d in range(len(old.doc_start) - 1):
        for i in range(old.doc_start[d], old.doc_start[d + 1]):
            w = new_id[old.tokens[i]]
            if w >= 0:
                new.tokens[n] = w
                new.token_start[n] = old.token_start[i]
                new.token_end[n] = old.token_end[i]
                n += 1
        new.doc_start[d + 1] = n
