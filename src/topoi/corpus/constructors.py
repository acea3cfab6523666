"""Constructors of a corpus from data in memory: texts, tokens, counts, frames, gensim's structures."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Self, cast

import numpy as np
import pandas as pd

from topoi.corpus.analysis import Analysis, build_vocabulary, checked_texts
from topoi.corpus.authors import DEFAULT_SEPARATOR, AuthorLists, author_lists, author_table
from topoi.corpus.counts import count_rows, gensim_authors, gensim_rows, token_rows, word_list
from topoi.corpus.metadata import document_frame
from topoi.corpus.records import FieldMap, RecordTable
from topoi.corpus.report import CorpusReport
from topoi.corpus.scan import Scan
from topoi.corpus.sources import records_of
from topoi.corpus.tokenize import Analyzer
from topoi.corpus.vocabulary import EncodedTexts, Vocabulary
from topoi.errors import CorpusError

if TYPE_CHECKING:
    from topoi.corpus.corpus import Corpus


class Constructors:
    """The ``from_…`` class methods of :class:`~topoi.corpus.corpus.Corpus`."""

    @classmethod
    def from_texts(
        cls,
        texts: Iterable[str],
        authors: Sequence[Any] | None = None,
        titles: Sequence[Any] | None = None,
        dates: Sequence[Any] | None = None,
        metadata: Any = None,
        ids: Sequence[Any] | None = None,
        *,
        author_separator: str | None = DEFAULT_SEPARATOR,
        report: CorpusReport | None = None,
        **analysis: Any,
    ) -> Self:
        """Make a corpus from texts.

        Parameters
        ----------
        texts : iterable of str
            One per document; None and empty texts are kept as empty documents. Columns of pandas, polars and pyarrow
            are accepted, here and below.
        authors, titles, dates, ids : sequence, optional
            One entry per document. Authors are a list of names, a separated string, or None; dates are years, ISO
            strings or date objects.
        metadata : DataFrame, mapping of columns, or list of mappings, optional
            All other metadata of the documents.
        author_separator : str or None
            Separator of names in a string.
        report : CorpusReport, optional
            A report to continue.
        **analysis
            ``lowercase, stop_words, pattern, hyphens, min_length, keep_numbers, min_df, max_df, max_words, phrases,
            phrase_min_count, function_words``: see :class:`~topoi.corpus.analysis.Analysis`.

        Examples
        --------
        >>> from topoi import Corpus
        >>> corpus = Corpus.from_texts(["A red fish", "A blue fish"], dates=[1999, "2004-07-08"], min_df=1, max_df=1.0)
        >>> corpus.words.tolist(), corpus.documents["year"].tolist()
        (['blue', 'fish', 'red'], [1999, 2004])
        """
        settings = Analysis(**analysis)
        listed = checked_texts(texts)
        report = CorpusReport() if report is None else report
        lists = author_lists(authors, len(listed), author_separator)
        documents = document_frame(len(listed), ids, titles, dates, metadata)
        vocabulary, encoded = build_vocabulary(listed, settings, report)
        return cls._assemble(encoded, vocabulary, lists, documents, listed, report)

    @classmethod
    def _assemble(
        cls,
        encoded: EncodedTexts,
        vocabulary: Vocabulary,
        lists: AuthorLists,
        documents: pd.DataFrame,
        texts: list[str] | None,
        report: CorpusReport,
    ) -> Self:
        table = author_table(lists)
        lengths = np.diff(encoded.doc_start) if texts is None else np.array([len(t.strip()) for t in texts])
        report.n_read = len(documents)
        report.n_empty_texts = int(np.count_nonzero(lengths == 0))
        report.n_without_authors = sum(not row for row in lists)
        make = cast("type[Corpus]", cls)
        return cast(Self, make(
            tokens=encoded.tokens,
            doc_start=encoded.doc_start,
            vocabulary=vocabulary,
            doc_author=table.doc_author,
            doc_author_start=table.doc_author_start,
            authors=table.names,
            documents=documents,
            texts=texts,
            token_start=encoded.token_start if texts is not None else None,
            token_end=encoded.token_end if texts is not None else None,
            report=report,
        ))  # fmt: skip

    @classmethod
    def _from_rows(
        cls,
        tokens: np.ndarray,
        doc_start: np.ndarray,
        vocabulary: Vocabulary,
        authors: Sequence[Any] | None,
        author_separator: str | None,
        **columns: Any,
    ) -> Self:
        n_docs = len(doc_start) - 1
        lists = author_lists(authors, n_docs, author_separator)
        encoded = EncodedTexts(tokens, doc_start, np.empty(0, np.int32), np.empty(0, np.int32), 0)
        return cls._assemble(encoded, vocabulary, lists, document_frame(n_docs, **columns), None, CorpusReport())

    @classmethod
    def from_tokens(
        cls,
        token_lists: Iterable[Iterable[str]],
        authors: Sequence[Any] | None = None,
        words: Sequence[str] | Vocabulary | None = None,
        titles: Sequence[Any] | None = None,
        dates: Sequence[Any] | None = None,
        metadata: object = None,
        ids: Sequence[Any] | None = None,
        *,
        analyzer: Analyzer | None = None,
        author_separator: str | None = DEFAULT_SEPARATOR,
    ) -> Self:
        """Make a corpus from lists of words, unchanged: nothing is dropped, reordered or re-cased.

        Parameters
        ----------
        token_lists : iterable of iterables of str
            The words of each document.
        authors, titles, dates, metadata, ids, author_separator
            As in ``from_texts``.
        words : sequence of str or Vocabulary, optional
            The vocabulary in the order of its ids; without it, words are numbered in order of appearance.
        analyzer : Analyzer, optional
            Analyser of new texts.

        Examples
        --------
        >>> from topoi import Corpus
        >>> Corpus.from_tokens([["B", "a"], []], words=["a", "B", "c"]).tokens.tolist()
        [1, 0]
        """
        names = None if words is None else word_list(words)
        tokens, doc_start, listed = token_rows(token_lists, names)
        if isinstance(words, Vocabulary) and analyzer is None:
            analyzer = words.analyzer
        vocabulary = Vocabulary(listed if names is None else names, analyzer)
        columns = {"titles": titles, "dates": dates, "metadata": metadata, "ids": ids}
        return cls._from_rows(tokens, doc_start, vocabulary, authors, author_separator, **columns)

    @classmethod
    def from_counts(
        cls,
        matrix: object,
        vocabulary: object = None,
        authors: Sequence[Any] | None = None,
        titles: Sequence[Any] | None = None,
        dates: Sequence[Any] | None = None,
        metadata: object = None,
        ids: Sequence[Any] | None = None,
        *,
        analyzer: Analyzer | None = None,
        author_separator: str | None = DEFAULT_SEPARATOR,
    ) -> Self:
        """Make a corpus from a matrix of counts, documents by words. Empty columns stay.

        Parameters
        ----------
        matrix : sparse matrix, array or DataFrame
            Non-negative integers. A frame's columns are the words.
        vocabulary : sequence of str, mapping of word to column, Vocabulary, or None
            The words, for example ``vectorizer.get_feature_names_out()``; None names them 0, 1, 2, …
        authors, titles, dates, metadata, ids, analyzer, author_separator
            As in ``from_tokens``.

        Examples
        --------
        >>> from topoi import Corpus
        >>> Corpus.from_counts([[2, 0, 1]], ["a", "b", "c"]).tokens.tolist()
        [0, 0, 2]
        """
        if isinstance(matrix, pd.DataFrame) and vocabulary is None:
            vocabulary = [str(name) for name in matrix.columns]
        tokens, doc_start, n_columns = count_rows(matrix)
        words = [str(w) for w in range(n_columns)] if vocabulary is None else word_list(vocabulary)
        if len(words) != n_columns:
            raise CorpusError(f"{len(words)} words for a matrix with {n_columns} columns")
        if isinstance(vocabulary, Vocabulary) and analyzer is None:
            analyzer = vocabulary.analyzer
        columns = {"titles": titles, "dates": dates, "metadata": metadata, "ids": ids}
        found = Vocabulary(words, analyzer)
        return cls._from_rows(tokens, doc_start, found, authors, author_separator, **columns)

    @classmethod
    def from_dataframe(
        cls,
        frame: Any,
        text: str | Sequence[str] = "text",
        authors: str | Sequence[str] | None = None,
        date: str | None = None,
        title: str | None = None,
        id: str | None = None,
        *,
        metadata: Sequence[str] | None = None,
        author_separator: str | None = DEFAULT_SEPARATOR,
        **analysis: Any,
    ) -> Self:
        """Make a corpus from a table, one row per document.

        Parameters
        ----------
        frame : DataFrame of pandas or polars, pyarrow Table, mapping of columns
            The documents. Any frame that narwhals supports is accepted; for an iterable of mappings use
            ``from_records``.
        text, authors, date, title, id : str or list of str
            Names of columns. Several text columns are joined; several author columns are all "authors". Left out,
            columns named authors (or author), date (or year), title and id are used if they exist.
        metadata : list of str, optional
            The other columns to keep; all by default.
        author_separator, **analysis
            As in ``from_texts``.

        Examples
        --------
        >>> import pandas as pd
        >>> from topoi import Corpus
        >>> frame = pd.DataFrame({"abstract": ["On cats", "On dogs"], "authors": ["Ann; Bob", "Cy"], "year": [1, 2]})
        >>> Corpus.from_dataframe(frame, text="abstract", min_df=1)
        <Corpus: 2 documents, 2 tokens, 2 words, 3 authors, 1–2>
        """
        fields = FieldMap(text, authors, date, title, id, metadata, author_separator)
        return cls._from_source(frame, fields, Analysis(**analysis), "a data frame")

    @classmethod
    def from_records(
        cls,
        records: Iterable[Mapping[str, Any]],
        text: str | Sequence[str] = "text",
        authors: str | Sequence[str] | None = None,
        date: str | None = None,
        title: str | None = None,
        id: str | None = None,
        *,
        metadata: Sequence[str] | None = None,
        author_separator: str | None = DEFAULT_SEPARATOR,
        **analysis: Any,
    ) -> Self:
        """Make a corpus from mappings, one per document: a list, a generator, a Hugging Face dataset.

        Parameters
        ----------
        records : iterable of mappings
            The documents, read once. Fields that some of them lack are missing there.
        text, authors, date, title, id, metadata, author_separator, **analysis
            As in ``from_dataframe``; names of fields.

        Examples
        --------
        >>> from topoi import Corpus
        >>> papers = ({"text": f"On {what}", "authors": ["Ann"], "year": 1999} for what in ("cats", "dogs"))
        >>> Corpus.from_records(papers, min_df=1)
        <Corpus: 2 documents, 2 tokens, 2 words, 1 authors, 1999>
        """
        fields = FieldMap(text, authors, date, title, id, metadata, author_separator)
        return cls._from_source(records, fields, Analysis(**analysis), "records")

    @classmethod
    def _from_source(cls, source: object, fields: FieldMap, settings: Analysis, name: str) -> Self:
        table = RecordTable(fields, report=CorpusReport(source=name))
        table.add_all(records_of(source))
        return cls.from_table(table, settings)

    @classmethod
    def from_table(cls, table: RecordTable, analysis: Analysis, scan: Scan | None = None) -> Self:
        """Make a corpus from collected records: the last step of every file reader.

        Examples
        --------
        >>> from topoi import Corpus
        >>> from topoi.corpus.analysis import Analysis
        >>> from topoi.corpus.records import FieldMap, RecordTable
        >>> table = RecordTable(FieldMap())
        >>> table.add({"text": "On dust", "authors": ["Ann"]}, line=1)
        >>> Corpus.from_table(table, Analysis(min_df=1, max_df=1.0))
        <Corpus: 1 documents, 1 tokens, 1 words, 1 authors>
        """
        table.check_fields()
        documents = table.documents()
        vocabulary, encoded = build_vocabulary(table.texts, analysis, table.report, scan)
        made = cls._assemble(encoded, vocabulary, table.authors, documents, table.texts, table.report)
        others = table.fields.author_fields[1:]
        return cast(Self, cast("Corpus", made).with_authors(["authors", *others])) if others else made

    @classmethod
    def from_gensim(
        cls,
        corpus: Iterable[Iterable[tuple[int, float]]],
        id2word: Mapping[int, str] | None = None,
        author2doc: Mapping[Any, Iterable[int]] | None = None,
        doc2author: Mapping[int, Iterable[Any]] | None = None,
        **columns: Any,
    ) -> Self:
        """Make a corpus from gensim's bags of words, dictionary and author mappings.

        Parameters
        ----------
        corpus : iterable of lists of (word id, count)
            The documents.
        id2word : gensim Dictionary or mapping of id to word, optional
            The words; those that do not occur stay in the vocabulary.
        author2doc, doc2author : mapping, optional
            One of the two; author names become strings.
        **columns
            ``titles``, ``dates``, ``metadata``, ``ids``, ``analyzer``.

        Examples
        --------
        >>> from topoi import Corpus
        >>> Corpus.from_gensim([[(0, 2)], [(1, 1)]], {0: "a", 1: "b"}, author2doc={"Ann": [0, 1]}).author_lists()
        [['Ann'], ['Ann']]
        """
        matrix, words = gensim_rows(corpus, id2word)
        authors = gensim_authors(matrix.shape[0], author2doc, doc2author)
        return cls.from_counts(matrix, words, authors, author_separator=None, **columns)
