"""Recognition of plain texts, lists of words and tables with texts as input, and their conversion to a corpus."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from topoi.corpus.corpus import Corpus
from topoi.corpus.records import FieldMap, RecordTable
from topoi.corpus.sources import Rows, column_values, is_table, records_of
from topoi.corpus.vocabulary import Vocabulary
from topoi.errors import CorpusError, ModelError
from topoi.models.contract import DocumentsLike
from topoi.models.notices import warn_user

_ROLES = frozenset({"authors", "author", "date", "year", "title", "id"})
_ROWS_LOOKED_AT = 100
_FEWEST_WORDS = 3
_LISTS = (list, tuple, np.ndarray, pd.Series)
_ACCEPTED = "pass a topoi.Corpus, a list of texts or of lists of words, or a table with a column of texts"
_NO_WORDS = (
    "the model was fitted on a matrix without words, so it cannot read texts; pass counts in the same columns, or fit "
    "it on Corpus.from_counts(matrix, words), with words from vectorizer.get_feature_names_out() for one"
)


class Found(NamedTuple):
    """Recognised documents: ``texts``, ``words`` (lists of them) or ``rows`` of a table, with the text in ``text``."""

    kind: str
    values: Any
    text: str = "text"

    def corpus(self) -> Corpus:
        """A new corpus, with the analyser's defaults."""
        try:
            if self.kind == "words":
                return Corpus.from_tokens(self.values)
            if self.kind == "texts":
                return Corpus.from_texts(self.values)
            return Corpus.from_records(self.values.records, text=self.text)
        except CorpusError as error:
            advice = "make a corpus with other settings, Corpus.from_texts(texts, min_df=1, max_df=1.0), and pass that"
            raise ModelError(f"{error}; {advice}" if "no words are left" in str(error) else str(error)) from None

    def encoded(self, like: Corpus) -> Corpus:
        """New documents in the words of a corpus; authors that it does not have are kept, with new numbers."""
        try:
            if self.kind != "rows":
                return like.encode(self.values)
            table = RecordTable(FieldMap(text=self.text))
            table.add_all(self.values)
            return like.encode_records(table, new_authors="add")
        except CorpusError as error:
            raise ModelError(str(error)) from None


def training_corpus(X: DocumentsLike) -> Corpus | None:
    """Documents to fit a model to, as a ``Corpus``; None if ``X`` is not documents but a matrix.

    Examples
    --------
    >>> from topoi.models.texts import training_corpus
    >>> training_corpus([["sun", "star"], ["gene", "cell"]]), training_corpus([[1, 0], [0, 1]])
    (<Corpus: 2 documents, 4 tokens, 4 words>, None)
    """
    if isinstance(X, Corpus):
        return X
    found = find_documents(X)
    return None if found is None else found.corpus()


def corpus_with(what: str, X: DocumentsLike, family: str) -> Corpus:
    """Documents for a model that needs ``"authors"`` or ``"metadata"``, which only a corpus or a table has.

    Examples
    --------
    >>> from topoi.models.texts import corpus_with
    >>> corpus_with("authors", {"text": ["red fish", "red bird"] * 2, "authors": ["Ann", "Bob"] * 2}, "AuthorModel")
    <Corpus: 4 documents, 4 tokens, 2 words, 2 authors>
    """
    if isinstance(X, Corpus):
        return X
    found = find_documents(X)
    example = "authors=[…]" if what == "authors" else "dates=[…], metadata={…}"
    instead = "or use LDA" if what == "authors" else "or pass a table that has them"
    if found is None:
        make = f"Corpus.from_texts(texts, {example}) or Corpus.from_counts(matrix, words, {example})"
        raise ModelError(f"{family} needs documents with {what}, but was given {_named(X)}; make {make}, {instead}")
    if found.kind != "rows":
        make = f"Corpus.from_{'texts(texts' if found.kind == 'texts' else 'tokens(lists'}, {example})"
        given = "texts" if found.kind == "texts" else "lists of words"
        raise ModelError(f"{family} needs documents with {what}, and {given} alone have none; make {make}, {instead}")
    return found.corpus()


def new_documents(X: DocumentsLike, like: Corpus) -> Corpus | None:
    """New documents in the words of a fitted model's corpus; None if ``X`` is not documents but a matrix.

    Texts without any word that the model knows are a ``ModelError``.

    Examples
    --------
    >>> import topoi
    >>> from topoi.models.texts import new_documents
    >>> new_documents(["one gene"], topoi.Corpus.from_tokens([["sun"], ["gene"]])).tokens.tolist()
    [1]
    """
    if isinstance(X, Corpus):
        return X
    found = find_documents(X)
    if found is None:
        return None
    new = found.encoded(like)
    check_known(like.vocabulary, new.n_tokens, new.report.n_unknown_tokens)
    without = new.n_docs - int(np.count_nonzero(new.doc_lengths)) - new.report.n_empty_texts
    if without > 0 and new.n_tokens:
        warn_user(f"{without:,} of {new.n_docs:,} texts have no word that the model knows: they tell it nothing")
    return new


def need_documents(X: DocumentsLike, like: Corpus) -> Corpus:
    """``new_documents`` for models that do not accept a matrix.

    Examples
    --------
    >>> import topoi
    >>> from topoi.models.texts import need_documents
    >>> need_documents([["gene"]], topoi.Corpus.from_tokens([["sun"], ["gene"]])).n_docs
    1
    """
    found = new_documents(X, like)
    if found is None:
        raise ModelError(f"{_ACCEPTED}, not {_named(X)}")
    return found


def check_known(vocabulary: Vocabulary, n_known: int, n_unknown: int) -> None:
    """Raise an error if the model has no words, or none of the texts' words.

    Examples
    --------
    >>> from topoi.corpus.vocabulary import Vocabulary
    >>> from topoi.models.texts import check_known
    >>> check_known(Vocabulary(["sun", "gene"]), n_known=3, n_unknown=9)
    """
    if n_unknown and is_numbered(vocabulary):
        raise ModelError(_NO_WORDS)
    if n_unknown and not n_known:
        raise ModelError(
            f"none of these documents' {n_unknown:,} words is in the model's vocabulary of {len(vocabulary):,}, "
            f"which begins with {', '.join(map(repr, vocabulary.words[:3]))}"
        )


def is_numbered(vocabulary: Vocabulary) -> bool:
    """Whether the words are just the column numbers of a matrix without names.

    Examples
    --------
    >>> from topoi.corpus.vocabulary import Vocabulary
    >>> from topoi.models.texts import is_numbered
    >>> is_numbered(Vocabulary(["0", "1", "2"])), is_numbered(Vocabulary(["1", "2"]))
    (True, False)
    """
    return len(vocabulary) > 0 and all(word == str(w) for w, word in enumerate(vocabulary.words))


def find_documents(X: DocumentsLike) -> Found | None:
    """Recognise texts, lists of words, or a table with texts; None for anything else, such as a matrix.

    Examples
    --------
    >>> from topoi.models.texts import find_documents
    >>> find_documents(["A sun", "A gene"]).kind, find_documents([["sun"], ["gene"]]).kind, find_documents([[1, 2]])
    ('texts', 'words', None)
    """
    if isinstance(X, str | bytes):
        raise ModelError(f"this is one {'string' if isinstance(X, str) else 'piece of bytes'}; pass a list of texts")
    if is_table(X):
        return _in_table(X)
    values = column_values(X)
    if isinstance(values, np.ndarray | pd.Series | pd.Index):
        if values.ndim != 1 or not (values.dtype.kind in "OUT" or pd.api.types.is_string_dtype(values.dtype)):
            return None
    elif not isinstance(values, list | tuple | Iterator) and not _is_column(values):
        return None
    listed = list(values)
    first = next((each for each in listed if not _is_missing(each)), None)
    if isinstance(first, str):
        return _checked(listed, "texts", str)
    if isinstance(first, Mapping):
        return _in_table(_checked(listed, "rows", Mapping).values)
    if isinstance(first, _LISTS):
        return _lists_of_words(listed)
    return None


def _is_missing(value: object) -> bool:
    return value is None or value is pd.NA or (isinstance(value, float) and np.isnan(value))


def _is_column(values: object) -> bool:
    """Whether this is another library's sequence, such as a column of a Hugging Face dataset."""
    return isinstance(values, Iterable) and hasattr(values, "__getitem__") and not hasattr(values, "shape")


def _checked(listed: list[Any], kind: str, expected: type | tuple[type, ...]) -> Found:
    for d, each in enumerate(listed):
        if not isinstance(each, expected) and not (expected is str and _is_missing(each)):
            raise ModelError(f"document {d} is of type {type(each).__name__}, unlike the first; {_ACCEPTED}")
    return Found(kind, listed)


def _lists_of_words(listed: list[Any]) -> Found | None:
    first = next((row[0] for row in map(column_values, listed) if np.ndim(row) and len(row)), None)
    if isinstance(first, tuple) and len(first) == 2:
        raise ModelError("these are gensim's bags of words; make a corpus with Corpus.from_gensim(bags, id2word)")
    if not isinstance(first, str):
        return None
    return Found("words", [list(row) for row in _checked(listed, "words", _LISTS).values])


def _in_table(X: DocumentsLike) -> Found | None:
    """Rows of a table that has one column of texts; None if it holds only numbers, as a matrix of counts does."""
    try:
        rows, some = _looked_at(X)
    except CorpusError as error:
        raise ModelError(str(error)) from None
    names = list(dict.fromkeys(name for record in some for name in record))
    texts = {name: values for name in names if (values := _texts_of(some, name))}
    if not texts and all(_is_number(value) for record in some for value in record.values()):
        return None
    # Long strings are texts; short ones may well be class labels of documents whose words are counted beside them.
    long = [name for name, values in texts.items() if name not in _ROLES and _are_long(values)]
    chosen = "text" if "text" in texts else long[0] if len(long) == 1 else None
    if chosen is None:
        shown = ", ".join(map(repr, long or names[:10]))
        which = "several columns of texts" if long else "no column of texts, nor numbers alone as a table of counts has"
        advice = f"name the texts: Corpus.from_dataframe(frame, text={(long or ['…'])[0]!r})"
        raise ModelError(f"the table has {which}: {shown}; {advice}")
    return Found("rows", rows, chosen)


def _looked_at(X: DocumentsLike) -> tuple[Rows, list[Mapping[str, Any]]]:
    """Rows of a table, and the first few of them; a large frame of counts is not converted to rows for that."""
    if isinstance(X, pd.DataFrame):
        head = list(records_of(X.head(_ROWS_LOOKED_AT)).records)
        return Rows(None, (record for table in (X,) for record in records_of(table).records)), head
    rows = records_of(X)
    some = list(itertools.islice(rows.records, _ROWS_LOOKED_AT))
    return Rows(rows.columns, itertools.chain(some, rows.records)), some


def _texts_of(records: list[Mapping[str, Any]], name: str) -> list[str]:
    """Values of a column if all are strings, without missing ones; otherwise an empty list."""
    values = [value for record in records if not _is_missing(value := record.get(name))]
    texts = [value for value in values if isinstance(value, str)]
    return texts if len(texts) == len(values) else []


def _are_long(texts: list[str]) -> bool:
    return 2 * sum(len(text.split()) >= _FEWEST_WORDS for text in texts) >= len(texts)


def _is_number(value: object) -> bool:
    return _is_missing(value) or isinstance(value, int | float | np.number | np.bool_)


def _named(X: DocumentsLike) -> str:
    return f"{type(X).__name__}{' of numbers' if hasattr(X, 'shape') or isinstance(X, list | tuple) else ''}"
