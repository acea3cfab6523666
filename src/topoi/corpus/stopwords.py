"""Stop lists: the built-in English one, a user's words, or a file with one word per line."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from topoi.errors import CorpusError

# scikit-learn's list has no contractions, because its tokeniser splits them; this package keeps them whole.
_NEGATED = "are can could did do does had has have is might must need ought shall should was were wo would".split()
_PRONOUNS = {
    "m": ["i"],
    "re": ["they", "we", "who", "you", "there", "what"],
    "ve": ["i", "they", "we", "who", "you", "could", "might", "must", "should", "would"],
    "ll": ["he", "i", "it", "she", "that", "there", "they", "we", "what", "who", "you"],
    "d": ["he", "how", "i", "it", "she", "that", "there", "they", "we", "what", "who", "you"],
}


def english_stop_words() -> frozenset[str]:
    """Return the built-in English stop list: scikit-learn's words and the usual contractions.

    Examples
    --------
    >>> from topoi.corpus.stopwords import english_stop_words
    >>> "don't" in english_stop_words(), "the" in english_stop_words()
    (True, True)
    """
    from sklearn.feature_extraction.text import ENGLISH_STOP_WORDS

    negated = {f"{verb}n't" for verb in _NEGATED} | {"can't", "shan't"}
    contracted = {f"{word}'{ending}" for ending, words in _PRONOUNS.items() for word in words}
    return frozenset(ENGLISH_STOP_WORDS) | negated | contracted


def resolve_stop_words(given: str | Path | Iterable[str] | None) -> frozenset[str]:
    """Return the words of a stop list given as ``"english"``, None, a file or the words themselves.

    Examples
    --------
    >>> from topoi.corpus.stopwords import resolve_stop_words
    >>> sorted(resolve_stop_words(["foo", "bar"]))
    ['bar', 'foo']
    """
    if given is None:
        return frozenset()
    if given == "english":
        return english_stop_words()
    if isinstance(given, (str, Path)):
        return _read_stop_words(Path(given))
    words = list(given)
    for word in words:
        if not isinstance(word, str):
            raise CorpusError(f"stop words are strings, but one is {word!r}")
    return frozenset(words)


def _read_stop_words(path: Path) -> frozenset[str]:
    try:
        lines = path.read_text(encoding="utf-8-sig").splitlines()
    except FileNotFoundError:
        message = "no such stop list: give 'english', None, a list of words, or a file with one word a line"
        raise CorpusError(message, path=path) from None
    except (OSError, UnicodeDecodeError) as problem:
        raise CorpusError(f"cannot read the stop list: {problem}", path=path) from problem
    words = (line.split("#", 1)[0].strip() for line in lines)
    return frozenset(word for word in words if word)
