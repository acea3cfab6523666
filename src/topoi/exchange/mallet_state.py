"""MALLET's state: every word of every document with its topic, as ``mallet train-topics --output-state`` writes it."""

from __future__ import annotations

import gzip
import math
from array import array
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from topoi.corpus.corpus import Corpus
from topoi.corpus.lines import MAX_LINE_BYTES, LineReader
from topoi.corpus.metadata import document_frame
from topoi.corpus.vocabulary import Vocabulary
from topoi.corpus.writing import whole_file
from topoi.errors import CorpusError, ModelError
from topoi.exchange.contents import identifiers, priors, tokens_and_topics, words_of
from topoi.exchange.mallet_tables import read_mallet_doc_topics
from topoi.models.registry import assigned_model

_TITLE = "#doc source pos typeindex type topic"
_FIELDS = "doc source pos typeindex type topic"
_NO_SOURCE = "NA"
_SEPARATORS = " \t\r\n"
_MOST_TOPICS = 2**16 - 1
# Documents without words, and words without a token, leave gaps in the numbers of a state. A file may name any number;
# each gap takes memory, so that there may not be more than these.
_MOST_GAPS = 1_000_000
_LARGEST_NUMBER = 2**31 - 1
_LONGEST_SHOWN = 60


def to_mallet_state(model: Any, path: str | Path) -> None:
    """Write the topics of all words, in the last sample, as MALLET's gzipped state.

    Words and topics keep their numbers. Where all words have the same beta, as in MALLET, the header has it; otherwise
    their mean. A document's source is its id, with ``_`` for spaces; ``NA`` if it has none but its number.

    Parameters
    ----------
    model : fitted model or view
        A model whose words have topics: of LDA, author-topic, pachinko, regression, hierarchical Dirichlet process and
        correlated topics. Others are a ``ModelError``.
    path : str or Path
        The file, replaced if it exists; MALLET's own end in ``.gz``.

    Examples
    --------
    >>> import gzip, pathlib, tempfile, topoi
    >>> corpus = topoi.Corpus.from_tokens([["sun", "star"], ["cell"]])
    >>> model = topoi.LDA.from_assignments(corpus, [0, 0, 1], n_topics=2, alpha=0.5)
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "state.gz"
    >>> topoi.exchange.to_mallet_state(model, path)
    >>> print(gzip.decompress(path.read_bytes()).decode())
    #doc source pos typeindex type topic
    #alpha : 0.5 0.5
    #beta : 0.01
    0 NA 0 0 sun 0
    0 NA 1 1 star 0
    1 NA 0 2 cell 1
    """
    lines = _state_lines(model)
    first = next(lines)  # refuses what cannot be written, before a file is begun
    with whole_file(path) as stream, gzip.GzipFile("", "wb", 6, stream, mtime=0) as packed:
        packed.write(first.encode())
        for some in lines:
            packed.write(some.encode())


def _state_lines(model: Any) -> Iterator[str]:
    """The header, then the lines of one document after the other."""
    documents = tokens_and_topics(model)
    alpha, beta = priors(model)
    words = [f"{w} {_checked_word(word)}" for w, word in enumerate(words_of(model))]
    sources = [_source(identifier, d) for d, identifier in enumerate(identifiers(model))]
    one_beta = float(beta[0]) if (beta == beta[0]).all() else float(beta.mean())
    # MALLET ends the line of alphas with a space; readers that compare files will find one here too.
    yield f"{_TITLE}\n#alpha : {''.join(f'{float(a)!r} ' for a in alpha)}\n#beta : {one_beta!r}\n"
    for d, (tokens, topics) in enumerate(documents):
        begin = f"{d} {sources[d]}"
        pairs = zip(tokens.tolist(), topics.tolist(), strict=True)
        yield "".join([f"{begin} {i} {words[w]} {k}\n" for i, (w, k) in enumerate(pairs)])


def _checked_word(word: str) -> str:
    if not word or any(separator in word for separator in _SEPARATORS):
        raise ModelError(f"the word {word!r} has a space, or is empty; in a MALLET state, spaces separate columns")
    return word


def _source(identifier: str, number: int) -> str:
    return _NO_SOURCE if identifier == str(number) else "_".join(identifier.split()) or _NO_SOURCE


def read_mallet_state(
    path: str | Path,
    doc_topics: str | Path | None = None,
    *,
    encoding: str = "utf-8",
    max_line_bytes: int = MAX_LINE_BYTES,
    **settings: Any,
) -> Any:
    r"""Read a state that MALLET wrote as a fitted model, which can be asked, saved, browsed and resumed.

    Topics, words and documents keep their numbers. The state has no texts: the words of a document are in the state's
    order, and no others. A document's id is its source, or its number where sources are ``NA`` or the same for several
    documents, which then have them in the column ``source``. Documents that are missing from the state are documents
    without words; words whose numbers are missing are named ``#17`` and never occur.

    Parameters
    ----------
    path : str or Path
        The state, gzipped or not. A file that is damaged or something else is a ``CorpusError`` that names the line.
    doc_topics : str or Path, optional
        The file of ``--output-doc-topics``. Documents get their names as ids, and those without words at the end of the
        collection, which a state leaves out, are known.
    encoding : str
        Encoding of the words; MALLET writes that of its machine.
    max_line_bytes : int
        Longer lines are an error.
    **settings
        Settings of the model, such as ``random_state``, or ``learn_alpha=True`` if ``resume`` shall learn alpha.

    Returns
    -------
    LDA
        After no sweeps of its own; the first value of ``trace_`` is the log joint of the state.

    Examples
    --------
    >>> import gzip, pathlib, tempfile, topoi
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "state.gz"
    >>> lines = ["#doc source pos typeindex type topic", "#alpha : 0.5 0.5 ", "#beta : 0.01"]
    >>> lines += ["0 NA 0 0 sun 0", "0 NA 1 1 star 0", "1 NA 0 2 cell 1"]
    >>> _ = path.write_bytes(gzip.compress("\n".join(lines).encode()))
    >>> model = topoi.exchange.read_mallet_state(path, random_state=0)
    >>> model.top_words(1)["word"].tolist(), model.resume(10).n_iter_
    (['sun', 'cell'], 10)
    """
    path = Path(path)
    state = _parse(path, encoding, max_line_bytes)
    names = None
    if doc_topics is not None:
        names = read_mallet_doc_topics(doc_topics, encoding=encoding, max_line_bytes=max_line_bytes).index.tolist()
        if len(names) < state.n_docs:
            raise CorpusError(f"there are {len(names):,} documents, but the state names {state.n_docs:,}", doc_topics)
    alpha: Any = state.alpha[0] if len(set(state.alpha)) == 1 else state.alpha
    return assigned_model().model_class.from_assignments(
        _corpus(state, names), state.topics, len(state.alpha), alpha=alpha, beta=state.beta, **settings
    )


class _State(NamedTuple):
    """A state as arrays; ``sources`` has those of the documents that have words, by number."""

    alpha: list[float]
    beta: float
    words: list[str]
    tokens: NDArray[np.int32]
    topics: NDArray[np.uint16]
    lengths: dict[int, int]
    sources: dict[int, str]

    @property
    def n_docs(self) -> int:
        return max(self.lengths) + 1


def _corpus(state: _State, names: list[str] | None) -> Corpus:
    n_docs = state.n_docs if names is None else len(names)
    lengths = np.zeros(n_docs, np.int64)
    lengths[list(state.lengths)] = list(state.lengths.values())
    if names is None:
        sources = (state.sources.get(d, _NO_SOURCE) for d in range(n_docs))
        names = [str(d) if source == _NO_SOURCE else source for d, source in enumerate(sources)]
    distinct = len(set(names)) == n_docs
    return Corpus(
        tokens=state.tokens,
        doc_start=np.concatenate(([0], np.cumsum(lengths))),
        vocabulary=Vocabulary(state.words),
        documents=document_frame(n_docs, names if distinct else None, metadata=None if distinct else {"source": names}),
    )


def _parse(path: Path, encoding: str, max_line_bytes: int) -> _State:
    def stop(problem: CorpusError) -> None:
        raise problem

    reader = LineReader(path, stop, encoding, max_line_bytes)
    lines = ((number, line.rstrip(b"\r")) for number, line in reader.byte_lines())
    alpha, beta = _header(lines, path)
    tokens = _Tokens(path, encoding, len(alpha))
    for number, line in lines:
        tokens.add(number, line)
    if not tokens.words:
        raise CorpusError("the state has no words: there are no lines after the header", path)
    return _State(alpha, beta, tokens.all_words(), *tokens.arrays(), tokens.lengths, tokens.sources)


def _header(lines: Iterator[tuple[int, bytes]], path: Path) -> tuple[list[float], float]:
    number, first = next(lines, (1, b""))
    first = first.removeprefix(b"\xef\xbb\xbf")
    if not first:
        raise CorpusError(f"the file begins with nothing; a MALLET state begins with {_TITLE!r}", path, number)
    if first.split() != _TITLE.encode().split():
        raise CorpusError(f"a MALLET state begins with {_TITLE!r}, not with {_shown(first)}", path, number)
    alpha = _header_numbers(lines, "#alpha", path)
    if len(alpha) > _MOST_TOPICS:
        raise CorpusError(f"there are {len(alpha):,} topics; at most {_MOST_TOPICS:,} are possible", path, 2)
    beta = _header_numbers(lines, "#beta", path)
    if len(beta) != 1:
        raise CorpusError(f"the line of beta has {len(beta)} numbers, not one", path, 3)
    return alpha, beta[0]


def _header_numbers(lines: Iterator[tuple[int, bytes]], name: str, path: Path) -> list[float]:
    number, line = next(lines, (2 if name == "#alpha" else 3, b""))
    begin, colon, rest = line.partition(b":")
    if begin.strip() != name.encode() or not colon or not rest.strip():
        raise CorpusError(f"here a MALLET state has '{name} : …', not {_shown(line)}", path, number)
    return [_positive(each, path, number) for each in rest.split()]


def _positive(text: bytes, path: Path, line: int) -> float:
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not 1e-30 <= value <= 1e30:
        raise CorpusError(f"{_shown(text)} is not a number above zero", path, line)
    return value


class _Tokens:
    """Words and topics of the lines after the header, checked as they come.

    A word, a number of a topic and the beginning of a document's lines are looked at once: a state has millions of
    lines and only thousands of these.
    """

    def __init__(self, path: Path, encoding: str, n_topics: int) -> None:
        self._path, self._encoding = path, encoding
        self.words: dict[int, str] = {}
        self._numbers: dict[str, int] = {}
        self._types: dict[tuple[bytes, bytes], int] = {}
        self._topics = {b"%d" % k: k for k in range(n_topics)}
        self._tokens, self._assigned = array("i"), array("H")
        self._begin, self._document, self._n = b"", -1, 0
        self.lengths: dict[int, int] = {}
        self.sources: dict[int, str] = {}

    def add(self, number: int, line: bytes) -> None:
        """Read a line."""
        fields = line.rsplit(b" ", 4)
        if len(fields) != 5 or b" " not in fields[0]:
            raise self._error(f"the line {_shown(line)} has not the six columns {_FIELDS!r}", number)
        begin, position, index, word, topic = fields
        if begin != self._begin or self._document < 0:
            self._begin_document(begin, number)
        if position != b"%d" % self._n:
            raise self._error(f"position {_shown(position)} follows {self._n - 1} in document {self._document}", number)
        w = self._types.get((index, word))
        k = self._topics.get(topic)
        if k is None:
            raise self._error(f"topic {_shown(topic)} is not one of 0 to {len(self._topics) - 1}", number)
        self._tokens.append(self._new_type(index, word, number) if w is None else w)
        self._assigned.append(k)
        self._n += 1
        self.lengths[self._document] = self._n

    def _begin_document(self, begin: bytes, number: int) -> None:
        text, _, source = begin.partition(b" ")
        document = self._whole(text, "document", number)
        if document <= self._document:
            raise self._error(f"document {document} comes after {self._document}, or has two sources", number)
        if document - len(self.lengths) > _MOST_GAPS:
            raise self._error(
                f"document {document:,} follows {len(self.lengths):,} others: too many have no words", number
            )
        self._begin, self._document, self._n = begin, document, 0
        self.sources[document] = self._text(source, number) or _NO_SOURCE

    def _new_type(self, index: bytes, word: bytes, number: int) -> int:
        w, text = self._whole(index, "typeindex", number), self._text(word, number)
        if not text:
            raise self._error("there is no word", number)
        if self.words.setdefault(w, text) != text:
            raise self._error(f"the typeindex {w} names {text!r}, and {self.words[w]!r} before", number)
        if self._numbers.setdefault(text, w) != w:
            raise self._error(f"the word {text!r} has the typeindex {w}, and {self._numbers[text]} before", number)
        self._types[index, word] = w
        return w

    def _whole(self, text: bytes, what: str, number: int) -> int:
        if not text.isdigit() or len(text) > len(str(_LARGEST_NUMBER)) or int(text) > _LARGEST_NUMBER:
            raise self._error(f"the {what} is {_shown(text)}, not a whole number from 0 to {_LARGEST_NUMBER}", number)
        return int(text)

    def _text(self, text: bytes, number: int) -> str:
        try:
            return text.decode(self._encoding)
        except UnicodeDecodeError:
            raise self._error(
                f'{_shown(text)} is not {self._encoding}; name another with encoding="…"', number
            ) from None

    def _error(self, message: str, line: int) -> CorpusError:
        return CorpusError(message, self._path, line)

    def all_words(self) -> list[str]:
        """The words by number, with stand-ins for numbers that no line has."""
        n_words = max(self.words) + 1
        if n_words - len(self.words) > _MOST_GAPS:
            raise CorpusError(f"there are {len(self.words):,} words, with numbers up to {n_words - 1:,}", self._path)
        found = []
        for w in range(n_words):
            word = self.words.get(w)
            if word is None:
                word = f"#{w}"
                while word in self._numbers:
                    word = f"#{word}"
            found.append(word)
        return found

    def arrays(self) -> tuple[NDArray[np.int32], NDArray[np.uint16]]:
        """Word numbers and topics of all tokens."""
        return np.array(self._tokens, np.int32), np.array(self._assigned, np.uint16)


def _shown(text: bytes) -> str:
    """The beginning of some bytes, for a message."""
    return repr(text[:_LONGEST_SHOWN].decode("utf-8", "replace"))
