"""Text analysis: settings, choice of the vocabulary, and encoding of texts as word ids."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from topoi.corpus.characters import without_surrogates
from topoi.corpus.phrases import DEFAULT_THRESHOLD, join_pairs, learn_pairs_in
from topoi.corpus.report import CorpusReport
from topoi.corpus.scan import Scan
from topoi.corpus.sources import column_values, is_table
from topoi.corpus.tokenize import Analyzer
from topoi.corpus.vocabulary import EncodedTexts, Vocabulary, renumber
from topoi.errors import CorpusError
from topoi.kernels.jit import lean

# Settings that differ if function words are kept, unless the user has set them: (default, value instead).
_WITH_FUNCTION_WORDS: dict[str, tuple[Any, Any]] = {
    "stop_words": ("english", None),
    "max_df": (0.8, 1.0),
    "min_length": (2, 1),
}


@dataclass(frozen=True)
class Analysis:
    """Settings of text analysis: the ``**analysis`` arguments of the constructors.

    Parameters
    ----------
    lowercase, stop_words, pattern, hyphens, min_length, keep_numbers
        As in :class:`~topoi.corpus.tokenize.Analyzer`.
    min_df, max_df : int or float
        Smallest and largest document frequency of a word; a float is a share of all documents.
    max_words : int or None
        Keep the most frequent words only.
    phrases : bool, float or sequence of pairs
        Join frequent word pairs: True, a smallest score (see :func:`~topoi.corpus.phrases.learn_pairs`), or the pairs.
    phrase_min_count : int
        Smallest number of occurrences of a learned pair.
    function_words : bool
        Keep function words ("upon", "while", "a"), which distinguish authors rather than subjects: no stop list, no
        ``max_df``, and words of one letter, unless these are set explicitly.

    Examples
    --------
    >>> from topoi.corpus.analysis import Analysis
    >>> Analysis(min_df=5).analyzer().lowercase
    True
    >>> Analysis(function_words=True).max_df
    1.0
    """

    lowercase: bool = True
    stop_words: Any = "english"
    pattern: str | None = None
    hyphens: str = "join"
    min_length: int = 2
    keep_numbers: bool = False
    min_df: int | float = 2
    max_df: int | float = 0.8
    max_words: int | None = None
    phrases: Any = False
    phrase_min_count: int = 10
    function_words: bool = False

    def __post_init__(self) -> None:
        if not isinstance(self.function_words, bool):
            raise CorpusError(f"function_words is {self.function_words!r}; it must be True or False")
        if self.function_words:
            for name, (usual, instead) in _WITH_FUNCTION_WORDS.items():
                if isinstance(getattr(self, name), type(usual)) and getattr(self, name) == usual:
                    object.__setattr__(self, name, instead)
        for name in ("min_df", "max_df"):
            _check_df(name, getattr(self, name))
        if self.max_words is not None and (isinstance(self.max_words, bool) or int(self.max_words) < 1):
            raise CorpusError(f"max_words is {self.max_words!r}; it must be None or at least 1")

    def analyzer(self) -> Analyzer:
        """Return the analyser for these settings; it includes given phrases, but not learned ones.

        Examples
        --------
        >>> from topoi.corpus.analysis import Analysis
        >>> Analysis(stop_words=None, phrases=[("new", "york")]).analyzer()
        Analyzer(0 stop words, 1 phrases)
        """
        given = () if isinstance(self.phrases, (bool, int, float, np.number)) or self.phrases is None else self.phrases
        return Analyzer(
            self.lowercase, self.stop_words, self.pattern, self.hyphens, self.min_length, self.keep_numbers, given
        )

    @property
    def phrase_threshold(self) -> float | None:
        """Smallest score of a learned pair, or None if no pairs are learned."""
        if self.phrases is True:
            return DEFAULT_THRESHOLD
        if isinstance(self.phrases, (int, float, np.number)) and self.phrases is not False:
            return float(self.phrases)
        return None


def _check_df(name: str, value: object) -> None:
    if isinstance(value, (bool, np.bool_)) or not isinstance(value, (int, float, np.number)):
        raise CorpusError(f"{name} is {value!r}; it must be a number of documents or a share between 0 and 1")
    if value < 0 or (isinstance(value, float) and value > 1):
        raise CorpusError(f"{name} is {value!r}; a whole number counts documents, a float is a share between 0 and 1")


def checked_texts(texts: Iterable[Any]) -> list[str]:
    """Return texts as a list of strings; None is an empty text, anything else is an error.

    Examples
    --------
    >>> from topoi.corpus.analysis import checked_texts
    >>> checked_texts(["a", None])
    ['a', '']
    """
    if isinstance(texts, (str, bytes)):
        raise CorpusError("texts is one string; give a list of texts")
    if is_table(texts):
        raise CorpusError(f"texts is a table ({type(texts).__name__}); pass one of its columns, or use from_dataframe")
    checked = []
    for d, text in enumerate(column_values(texts)):
        if isinstance(text, str):
            checked.append(without_surrogates(text))
        elif text is None or text is pd.NA or (isinstance(text, float) and np.isnan(text)):
            checked.append("")
        else:
            raise CorpusError(f"text {d} is of type {type(text).__name__}, not a string")
    return checked


def build_vocabulary(
    texts: Sequence[str], analysis: Analysis, report: CorpusReport, scan: Scan | None = None
) -> tuple[Vocabulary, EncodedTexts]:
    """Find the words of all texts, choose the vocabulary, and encode the texts with it.

    The vocabulary is in alphabetical order. Dropped words are counted in the report. If the texts have already been
    scanned with these settings, pass the scan.

    Examples
    --------
    >>> from topoi.corpus.analysis import Analysis, build_vocabulary
    >>> from topoi.corpus.report import CorpusReport
    >>> texts = ["Cats and dogs", "cats and mice", "mice only"]
    >>> vocabulary, encoded = build_vocabulary(texts, Analysis(), CorpusReport())
    >>> vocabulary.words.tolist(), encoded.tokens.tolist()
    (['cats', 'mice'], [0, 0, 1, 1])
    """
    found = analysis.analyzer().scan(texts) if scan is None else scan
    analyzer = learned_analyzer(analysis, lambda: iter([found]), found, report)
    joined = join_pairs(found, analyzer.phrases)
    vocabulary, new_id = choose_vocabulary([joined], joined.words, analysis, analyzer, report)
    return vocabulary, renumber(joined, new_id)


def learned_analyzer(
    analysis: Analysis, blocks: Callable[[], Iterator[Scan]], scan: Scan, report: CorpusReport
) -> Analyzer:
    """Return the analyser with its phrases, learned from blocks of scanned texts where that is asked for.

    ``scan`` has the words and the counts of what was skipped.

    Examples
    --------
    >>> from topoi.corpus.analysis import Analysis, learned_analyzer
    >>> from topoi.corpus.report import CorpusReport
    >>> from topoi.corpus.scan import scan_texts
    >>> scan = scan_texts(["new york"] * 9 + ["rome"])
    >>> learned_analyzer(Analysis(phrases=True, phrase_min_count=2), lambda: iter([scan]), scan, CorpusReport()).phrases
    (('new', 'york'),)
    """
    analyzer = analysis.analyzer()
    names = ("bare numbers", "words that are too short", "web and mail addresses")
    report.skipped_tokens = {name: int(n) for name, n in zip(names, scan.skipped, strict=True) if n}
    if analysis.phrase_threshold is not None:
        how = analyzer.stop_words, analysis.phrase_threshold, analysis.phrase_min_count
        analyzer = analyzer.with_phrases(learn_pairs_in(blocks(), scan.words, *how))
    report.n_phrases = len(analyzer.phrases)
    return analyzer


def choose_vocabulary(
    blocks: Iterable[Scan], words: Sequence[str], analysis: Analysis, analyzer: Analyzer, report: CorpusReport
) -> tuple[Vocabulary, np.ndarray]:
    """Choose the words of texts scanned in blocks, phrases joined: the vocabulary, and the new id of each word or -1.

    Blocks may have more words than ``words``, behind these, if phrases were joined in them.

    Examples
    --------
    >>> from topoi.corpus.analysis import Analysis, choose_vocabulary
    >>> from topoi.corpus.report import CorpusReport
    >>> from topoi.corpus.scan import scan_texts
    >>> scan = scan_texts(["old fish", "fish"])
    >>> rules = Analysis(max_df=1.0)
    >>> vocabulary, new_id = choose_vocabulary([scan], scan.words, rules, rules.analyzer(), CorpusReport())
    >>> vocabulary.words.tolist(), new_id.tolist()
    (['fish'], [-1, 0])
    """
    count, df, n_docs = np.zeros(len(words), np.int64), np.zeros(len(words), np.int64), 0
    for scan in blocks:
        if len(scan.words) > len(words):
            more = np.zeros(len(scan.words) - len(words), np.int64)
            words, count, df = scan.words, np.append(count, more), np.append(df, more)
        count += np.bincount(scan.tokens, minlength=len(words))
        _count_documents(scan.tokens, scan.doc_start, np.full(len(df), -1, np.int64), df)
        n_docs += len(scan.doc_start) - 1
    kept = _choose_words(words, count, df, n_docs, analysis, analyzer.stop_words, report)
    if not len(kept) and count.any():
        raise CorpusError(
            f"no words are left: {'; '.join(str(report).splitlines()[1:]).strip()}. "
            f"With {n_docs} documents, try min_df=1, max_df=1.0 or stop_words=None"
        )
    new_id = np.full(len(words), -1, np.int32)
    new_id[kept] = np.arange(len(kept), dtype=np.int32)
    return Vocabulary([words[w] for w in kept], analyzer), new_id


def _choose_words(
    words: Sequence[str],
    count: np.ndarray,
    df: np.ndarray,
    n_docs: int,
    analysis: Analysis,
    stop: frozenset[str],
    report: CorpusReport,
) -> np.ndarray:
    """Return the ids of the words to keep, in alphabetical order."""
    keep = count > 0  # a word seen only inside a mail address has no token
    low = analysis.min_df * n_docs if isinstance(analysis.min_df, float) else analysis.min_df
    high = analysis.max_df * n_docs if isinstance(analysis.max_df, float) else analysis.max_df
    rules = {
        "the stop list": np.array([word in stop for word in words], bool),
        f"min_df={analysis.min_df}": df < low,
        f"max_df={analysis.max_df}": df > high,
    }
    for name, hit in rules.items():
        _drop(keep, keep & hit, name, count, report)
    kept = np.array(sorted(np.flatnonzero(keep).tolist(), key=words.__getitem__), np.int64)
    if analysis.max_words is not None and len(kept) > analysis.max_words:
        rare = kept[np.argsort(-count[kept], kind="stable")[analysis.max_words :]]
        hit = np.zeros(len(keep), bool)
        hit[rare] = True
        _drop(keep, hit, f"max_words={analysis.max_words}", count, report)
        kept = kept[keep[kept]]
    return kept


def _drop(keep: np.ndarray, hit: np.ndarray, name: str, count: np.ndarray, report: CorpusReport) -> None:
    if hit.any():
        report.dropped_words[name] = int(hit.sum())
        report.dropped_tokens[name] = int(count[hit].sum())
        keep[hit] = False


def document_frequencies(tokens: np.ndarray, doc_start: np.ndarray, n_words: int) -> np.ndarray:
    """Number of documents that have each word.

    Examples
    --------
    >>> import numpy as np
    >>> from topoi.corpus.analysis import document_frequencies
    >>> document_frequencies(np.array([0, 1, 1, 1], np.int32), np.array([0, 3, 4]), 3).tolist()
    [1, 2, 0]
    """
    df = np.zeros(n_words, np.int64)
    _count_documents(tokens, doc_start, np.full(n_words, -1, np.int64), df)
    return df


@lean
def _count_documents(tokens: np.ndarray, doc_start: np.ndarray, last: np.ndarray, df: np.ndarray) -> None:
    """Add document frequencies to ``df``; ``last``, all -1 at first, holds the last document of each word."""
    for d in range(len(doc_start) - 1):
        for i in range(doc_start[d], doc_start[d + 1]):
            w = tokens[i]
            if last[w] != d:
                last[w] = d
                df[w] += 1
