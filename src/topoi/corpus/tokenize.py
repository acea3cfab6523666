"""The analyser: tokenisation and folding of words."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from functools import lru_cache
from typing import Any

import numpy as np

from topoi.corpus import characters
from topoi.corpus.characters import KIND_SHIFT, character_table, fold
from topoi.corpus.scan import Scan, Scanner, Sink
from topoi.corpus.stopwords import resolve_stop_words
from topoi.errors import CorpusError


@dataclass(frozen=True)
class Analyzer:
    """Settings of tokenisation; stored with the vocabulary, so that new texts are treated as the old ones were.

    Parameters
    ----------
    lowercase : bool
        Whether words are written in lower case.
    stop_words : str, path, iterable of str or None
        ``"english"``, None, the words themselves, or a file with one word per line (``#`` begins a comment). They are
        compared after case folding. The attribute is a frozenset.
    pattern : str or None
        A regular expression whose matches (or whose first group) are the words. It replaces all of the built-in
        rules below; only folding and the stop list still apply.
    hyphens : {"join", "split"}
        Whether ``state-of-the-art`` is one word or four.
    min_length : int
        Shorter words are left out. Ideographs are words of one character and exempt.
    keep_numbers : bool
        Whether numbers without a letter are words.
    phrases : sequence of pairs of str
        Pairs of adjacent words that are joined into one, such as ``("topic", "model")`` into ``topic_model``.

    Examples
    --------
    >>> from topoi.corpus.tokenize import Analyzer
    >>> [word for word, start, end in Analyzer().words("The poet’s well-known lines don't scan, see www.poet.org")]
    ['poet', 'well-known', 'lines', 'scan']
    """

    lowercase: bool = True
    stop_words: Any = "english"
    pattern: str | None = None
    hyphens: str = "join"
    min_length: int = 2
    keep_numbers: bool = False
    phrases: tuple[tuple[str, str], ...] = ()

    def __post_init__(self) -> None:
        if self.hyphens not in ("join", "split"):
            raise CorpusError(f'hyphens is {self.hyphens!r}; it can be "join" or "split"')
        if not isinstance(self.min_length, int) or self.min_length < 1:
            raise CorpusError(f"min_length is {self.min_length!r}; it must be a whole number of at least 1")
        if self.pattern is not None:
            _compiled(self.pattern)
        stop = frozenset(fold(word, self.lowercase) for word in resolve_stop_words(self.stop_words))
        object.__setattr__(self, "stop_words", stop)
        object.__setattr__(self, "phrases", _checked_pairs(self.phrases))

    def __repr__(self) -> str:
        settings = [
            f"{f.name}={getattr(self, f.name)!r}"
            for f in fields(self)
            if f.name not in ("stop_words", "phrases") and getattr(self, f.name) != f.default
        ]
        settings.append(f"{len(self.stop_words)} stop words")
        if self.phrases:
            settings.append(f"{len(self.phrases)} phrases")
        return f"Analyzer({', '.join(settings)})"

    def scan(self, texts: Sequence[str]) -> Scan:
        """Find the words of many texts, stop words included, before phrases are joined.

        Examples
        --------
        >>> from topoi.corpus.tokenize import Analyzer
        >>> Analyzer().scan(["One more time"]).words
        ['one', 'more', 'time']
        """
        scanner = self.scanner()
        if scanner is None:
            return self.scan_plainly(texts)
        scanner.feed(texts)
        return scanner.finish()

    def scanner(self, sink: Sink | None = None) -> Scanner | None:
        """Return a compiled scanner with these settings, or None if there is a user's pattern.

        Examples
        --------
        >>> from topoi.corpus.tokenize import Analyzer
        >>> Analyzer(pattern=r"[a-z]+").scanner() is None
        True
        """
        if self.pattern is not None:
            return None
        return Scanner(self.lowercase, self.hyphens == "join", self.min_length, self.keep_numbers, sink)

    def scan_plainly(self, texts: Sequence[str], known: dict[str, int] | None = None) -> Scan:
        """Scan with a regular expression instead of the compiled scanner: slow, easy to check, used for ``pattern``.

        Words get the ids of ``known``, to which new ones are added.

        Examples
        --------
        >>> from topoi.corpus.tokenize import Analyzer
        >>> Analyzer(pattern=r"[a-z]+").scan_plainly(["abc def"]).words
        ['abc', 'def']
        """
        ids = {} if known is None else known
        tokens, starts, ends, linked, doc_start = [], [], [], [], [0]
        for text in texts:
            end = None
            for word, start, stop in self._spans(text):
                linked.append(end is not None and not text[end:start].strip())
                tokens.append(ids.setdefault(word, len(ids)))
                starts.append(start)
                ends.append(stop)
                end = stop
            doc_start.append(len(tokens))
        int32 = [np.array(column, np.int32) for column in (tokens, starts, ends)]
        skipped = np.zeros(3, np.int64)
        return Scan(int32[0], np.array(doc_start), int32[1], int32[2], np.array(linked, bool), list(ids), skipped)

    def words(self, text: str) -> list[tuple[str, int, int]]:
        """Return the words of one text with their offsets, without stop words and with phrases joined.

        Examples
        --------
        >>> from topoi.corpus.tokenize import Analyzer
        >>> Analyzer(phrases=[("topic", "models")]).words("All topic models")
        [('topic_models', 4, 16)]
        """
        from topoi.corpus.phrases import join_pairs

        scan = join_pairs(self.scan([text]), self.phrases)
        rows = zip(scan.tokens.tolist(), scan.token_start.tolist(), scan.token_end.tolist(), strict=True)
        return [(scan.words[w], a, b) for w, a, b in rows if scan.words[w] not in self.stop_words]

    def _spans(self, text: str) -> Iterable[tuple[str, int, int]]:
        if self.pattern is not None:
            expression = _compiled(self.pattern)
            group = min(expression.groups, 1)
            for match in expression.finditer(text):
                word = fold(match.group(group) or "", self.lowercase)
                if word:
                    yield word, match.start(group), match.end(group)
            return
        table = character_table(self.lowercase, self.hyphens == "join")
        for match in _word_expression(self.hyphens == "join").finditer(text):
            if match["word"] is None:
                continue
            word = fold(match["word"], self.lowercase)
            kinds = {int(table[ord(c)]) >> KIND_SHIFT for c in match["word"]}
            if characters.IDEOGRAPH not in kinds:
                if characters.LETTER not in kinds and not self.keep_numbers:
                    continue
                if len(word) < self.min_length:
                    continue
            yield word, match.start("word"), match.end("word")

    def with_phrases(self, pairs: Iterable[tuple[str, str]]) -> Analyzer:
        """Return the same analyser with other phrases.

        Examples
        --------
        >>> from topoi.corpus.tokenize import Analyzer
        >>> Analyzer(stop_words=None).with_phrases([("new", "york")])
        Analyzer(0 stop words, 1 phrases)
        """
        return replace(self, phrases=tuple(pairs))

    def to_dict(self) -> dict[str, Any]:
        """Return the settings as a JSON-able dictionary, with all words of the stop list.

        Examples
        --------
        >>> from topoi.corpus.tokenize import Analyzer
        >>> Analyzer(stop_words=["x"]).to_dict()["stop_words"]
        ['x']
        """
        settings = {f.name: getattr(self, f.name) for f in fields(self)}
        settings["stop_words"] = sorted(self.stop_words)
        settings["phrases"] = [list(pair) for pair in self.phrases]
        return settings

    @classmethod
    def from_dict(cls, settings: Mapping[str, Any]) -> Analyzer:
        """Rebuild the analyser from the result of ``to_dict``.

        Examples
        --------
        >>> from topoi.corpus.tokenize import Analyzer
        >>> Analyzer.from_dict(Analyzer().to_dict()) == Analyzer()
        True
        """
        known = {f.name for f in fields(cls)}
        if unknown := set(settings) - known:
            raise CorpusError(f"unknown analyser settings: {', '.join(sorted(unknown))}")
        for each in fields(cls):
            value = settings.get(each.name, each.default)
            if isinstance(each.default, bool) and not (isinstance(value, int) and value in (0, 1)):
                raise CorpusError(f"{each.name} in a saved analyser must be true or false, not {value!r:.40}")
        stop = settings.get("stop_words", [])
        if isinstance(stop, str):
            # An untrusted file must not be able to name other files to read.
            raise CorpusError("stop_words in a saved analyser must be a list of words")
        return cls(**{**settings, "stop_words": stop})


def _checked_pairs(pairs: Iterable[Sequence[str]]) -> tuple[tuple[str, str], ...]:
    checked = []
    for pair in pairs:
        if isinstance(pair, str) or len(pair) != 2 or not all(isinstance(word, str) for word in pair):
            raise CorpusError(f"a phrase is a pair of words, not {pair!r}")
        checked.append((pair[0], pair[1]))
    return tuple(checked)


@lru_cache(maxsize=32)
def _compiled(pattern: str) -> re.Pattern[str]:
    try:
        expression = re.compile(pattern)
    except (re.error, TypeError, RecursionError) as problem:
        raise CorpusError(f"pattern {pattern!r} is not a regular expression: {problem}") from None
    return expression


def _character_class(kinds: Iterable[int], join_hyphens: bool, also: str = "") -> str:
    """Write the characters of the given kinds as the inside of a regular expression's brackets."""
    member = np.isin(character_table(True, join_hyphens) >> KIND_SHIFT, list(kinds))
    edges = np.flatnonzero(np.diff(np.concatenate([[False], member, [False]]).astype(np.int8)))
    ranges = [f"\\U{low:08x}-\\U{high - 1:08x}" for low, high in edges.reshape(-1, 2).tolist()]
    return "".join(ranges) + re.escape(also)


@lru_cache(maxsize=2)
def _word_expression(join_hyphens: bool) -> re.Pattern[str]:
    """Build the tokeniser's rules as one regular expression; only matches with a ``word`` group are words."""
    c = characters
    start = _character_class([c.LETTER, c.DIGIT], join_hyphens)
    more = _character_class([c.LETTER, c.DIGIT, c.MARK], join_hyphens)
    apostrophe = _character_class([c.APOSTROPHE], join_hyphens)
    connector = _character_class([c.APOSTROPHE, c.HYPHEN, c.JOINER], join_hyphens)
    ideograph = _character_class([c.IDEOGRAPH], join_hyphens)
    local = more + connector + re.escape(".%+-")
    possessive = f"[{apostrophe}][sS](?![{more}])"
    web = r"(?:(?:[hH][tT][tT][pP][sS]?|[fF][tT][pP])://|[wW][wW][wW]\.)[!#-;=?-~]+"
    return re.compile(
        f"(?<![{local}]){web}"
        f"|[{local}]+@[{start}][{start}.\\-]*"
        f"|(?P<word>[{ideograph}]"
        f"|[{start}][{more}]*(?:(?!{possessive})[{connector}][{start}][{more}]*)*)(?:(?<![{ideograph}]){possessive})?"
    )
