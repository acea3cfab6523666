"""The corpus: documents as word ids in reading order, with their authors and metadata."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, Self, overload

import numpy as np
import pandas as pd

from topoi.corpus import authors as author_names
from topoi.corpus.bundle import corpus_fingerprint, pack_corpus, unpack_corpus
from topoi.corpus.document import Document
from topoi.corpus.encoding import Encoding
from topoi.corpus.mapped import Scratch
from topoi.corpus.metadata import document_frame
from topoi.corpus.pieces import take_rows
from topoi.corpus.report import CorpusReport
from topoi.corpus.split import choose_known, number_of_tests
from topoi.corpus.stored_texts import JoinedTexts, StoredTexts
from topoi.corpus.vocabulary import Vocabulary, object_array
from topoi.errors import CorpusError

if TYPE_CHECKING:
    import scipy.sparse


class Corpus(Encoding):
    """Documents as integers: word ids in reading order, authors, metadata, and character offsets into the texts.

    Made by :func:`topoi.read_corpus`, :func:`topoi.load_dataset` or one of the ``from_…`` constructors. A corpus is
    immutable; ``subset``, ``split``, ``encode``, ``extended`` and ``with_authors`` return new ones.

    Attributes
    ----------
    tokens : ndarray of int32
        Word ids of all documents, one after the other, in reading order.
    doc_start : ndarray of int64
        Document ``d`` has ``tokens[doc_start[d]:doc_start[d + 1]]``.
    doc_author, doc_author_start : ndarray of int32, ndarray of int64
        Author ids, in the same form (CSR).
    token_start, token_end : ndarray of int32 or None
        Character offsets: ``texts[d][start:end]`` is the word as it was written.
    vocabulary : Vocabulary
        Words and the analyser's settings.
    authors : ndarray of str objects
        Author names by id.
    documents : DataFrame
        One row per document: id, title, date and year if known, and all other metadata.
    texts : list of str, other sequence of str, or None
        The original texts; those of a corpus on disk are read one by one.
    report : CorpusReport
        Account of what was read, skipped and dropped.
    scratch : Scratch
        Where arrays with numbers for every token are made: in memory or, for a corpus on disk, in files.

    Examples
    --------
    >>> from topoi import Corpus
    >>> corpus = Corpus.from_texts(["A cat sat.", "A cat ran."], authors=["Ann", "Bob"], min_df=1, max_df=1.0)
    >>> corpus.words.tolist(), corpus.tokens.tolist()
    (['cat', 'ran', 'sat'], [0, 2, 0, 1])
    """

    def __init__(
        self,
        *,
        tokens: np.ndarray,
        doc_start: np.ndarray,
        vocabulary: Vocabulary,
        doc_author: np.ndarray | None = None,
        doc_author_start: np.ndarray | None = None,
        authors: Sequence[str] | np.ndarray = (),
        documents: pd.DataFrame | Callable[[], pd.DataFrame] | None = None,
        texts: Sequence[str] | None = None,
        token_start: np.ndarray | None = None,
        token_end: np.ndarray | None = None,
        report: CorpusReport | None = None,
        scratch: Scratch | None = None,
    ) -> None:
        self.tokens = np.ascontiguousarray(tokens, np.int32)
        self.doc_start = np.ascontiguousarray(doc_start, np.int64)
        self.vocabulary = vocabulary
        n_docs = len(self.doc_start) - 1
        empty = np.zeros(n_docs + 1, np.int64)
        self.doc_author = np.ascontiguousarray([] if doc_author is None else doc_author, np.int32)
        self.doc_author_start = np.ascontiguousarray(empty if doc_author_start is None else doc_author_start, np.int64)
        self.authors = object_array(list(authors))
        self._documents = document_frame(n_docs) if documents is None else documents
        self.texts = texts
        self.token_start = token_start
        self.token_end = token_end
        self.report = CorpusReport(n_read=n_docs) if report is None else report
        self.scratch = Scratch() if scratch is None else scratch
        self._fingerprint: str | None = None

    @property
    def documents(self) -> pd.DataFrame:
        """One row per document: id, title, date and year if known, and all other metadata."""
        if not isinstance(self._documents, pd.DataFrame):
            self._documents = self._documents()
        return self._documents

    @documents.setter
    def documents(self, frame: pd.DataFrame) -> None:
        self._documents = frame

    @property
    def words(self) -> np.ndarray:
        """The words by id, as an array of str objects."""
        return self.vocabulary.words

    @property
    def n_docs(self) -> int:
        """The number of documents, empty ones included."""
        return len(self.doc_start) - 1

    @property
    def n_tokens(self) -> int:
        """The number of words in all documents together, repetitions counted."""
        return len(self.tokens)

    @property
    def n_words(self) -> int:
        """The number of distinct words in the vocabulary."""
        return len(self.vocabulary)

    @property
    def n_authors(self) -> int:
        """The number of distinct authors."""
        return len(self.authors)

    @property
    def doc_lengths(self) -> np.ndarray:
        """The number of words in each document."""
        return np.diff(self.doc_start)

    def __len__(self) -> int:
        return self.n_docs

    def __iter__(self) -> Iterator[Document]:
        return (Document(self, d) for d in range(self.n_docs))

    @overload
    def __getitem__(self, key: int) -> Document: ...
    @overload
    def __getitem__(self, key: slice) -> Self: ...
    def __getitem__(self, key: int | slice) -> Document | Self:
        if isinstance(key, slice):
            return self.subset(np.arange(self.n_docs)[key])
        d = int(key)
        if not -self.n_docs <= d < self.n_docs:
            raise IndexError(f"document {d} of a corpus of {self.n_docs}")
        return Document(self, d % self.n_docs)

    def __repr__(self) -> str:
        parts = [f"{self.n_docs:,} documents", f"{self.n_tokens:,} tokens", f"{self.n_words:,} words"]
        if self.n_authors:
            parts.append(f"{self.n_authors:,} authors")
        # A frame that was not read yet is not read for this.
        frame = self._documents
        if isinstance(frame, pd.DataFrame) and "year" in frame and frame["year"].notna().any():
            low, high = frame["year"].min(), frame["year"].max()
            parts.append(f"{low}" if low == high else f"{low}–{high}")
        return f"<Corpus: {', '.join(parts)}>"

    def _repr_html_(self) -> str:
        from topoi.corpus.notebook import corpus_html

        return corpus_html(self)

    def author_lists(self) -> list[list[str]]:
        """Return the author names of each document.

        Examples
        --------
        >>> from topoi import Corpus
        >>> Corpus.from_tokens([["a"], ["b"]], authors=[["Ann", "Bob"], None]).author_lists()
        [['Ann', 'Bob'], []]
        """
        names, start = self.authors[self.doc_author].tolist(), self.doc_author_start.tolist()
        return [names[a:b] for a, b in zip(start, start[1:], strict=False)]

    def subset(self, indices: Sequence[int] | np.ndarray | slice) -> Self:
        """Return some of the documents, with the same vocabulary and authors.

        Parameters
        ----------
        indices : sequence of int, boolean mask, or slice
            The documents, in the order wanted.

        Examples
        --------
        >>> from topoi import Corpus
        >>> corpus = Corpus.from_tokens([["a"], ["b"], ["c"]])
        >>> corpus.subset([2, 0]).tokens.tolist()
        [2, 0]
        """
        rows = self._rows(indices)
        columns = {"tokens": self.tokens, "token_start": self.token_start, "token_end": self.token_end}
        known = {name: column for name, column in columns.items() if column is not None}
        doc_start, taken = take_rows(self.doc_start, rows, list(known.values()), self.scratch)
        doc_author_start, (doc_author,) = take_rows(self.doc_author_start, rows, [self.doc_author], Scratch())
        texts = self.texts
        if texts is not None:
            texts = texts.subset(rows) if isinstance(texts, StoredTexts | JoinedTexts) else [texts[d] for d in rows]
        return type(self)(
            **dict(zip(known, taken, strict=True)),
            doc_start=doc_start,
            vocabulary=self.vocabulary,
            doc_author=doc_author,
            doc_author_start=doc_author_start,
            authors=self.authors,
            documents=self._some_documents(rows),
            texts=texts,
            scratch=self.scratch,
            report=replace(self.report, notes=[*self.report.notes, f"{len(rows):,} of {self.n_docs:,} documents"]),
        )

    def _some_documents(self, rows: np.ndarray) -> pd.DataFrame | Callable[[], pd.DataFrame]:
        """Rows of the metadata; a frame that was not read yet is read when its part is asked for."""
        if isinstance(self._documents, pd.DataFrame):
            return self._documents.iloc[rows].reset_index(drop=True)
        return partial(_part, self, rows)

    def _rows(self, indices: Sequence[int] | np.ndarray | slice) -> np.ndarray:
        if isinstance(indices, slice):
            return np.arange(self.n_docs)[indices]
        rows = np.asarray(indices)
        if rows.dtype == bool:
            if rows.shape != (self.n_docs,):
                raise CorpusError(f"a mask of {rows.size} for {self.n_docs} documents")
            return np.flatnonzero(rows)
        if not rows.size:
            return np.zeros(0, np.int64)
        if rows.ndim != 1 or rows.dtype.kind not in "iu":
            raise CorpusError("indices are a list of whole numbers, a boolean mask or a slice")
        rows = rows.astype(np.int64)
        if rows.min() < -self.n_docs or rows.max() >= self.n_docs:
            raise CorpusError(f"indices go from 0 to {self.n_docs - 1}, but there is {rows.max()} or {rows.min()}")
        return np.where(rows < 0, rows + self.n_docs, rows)

    def split(
        self,
        test_size: float | int = 0.1,
        random_state: int | np.random.Generator | np.random.RandomState | None = None,
        known_authors: bool = False,
    ) -> tuple[Self, Self]:
        """Split the corpus at random into a training and a test part.

        Parameters
        ----------
        test_size : float or int
            A share of the documents, or their number.
        random_state : int, generator or None
            Seed; an integer gives the same split every time.
        known_authors : bool
            Whether every author of a test document must also have a training document.

        Returns
        -------
        (Corpus, Corpus)
            Training and test part, documents in the original order, with the vocabulary and authors of the whole.

        Examples
        --------
        >>> from topoi import Corpus
        >>> train, test = Corpus.from_tokens([["a"]] * 10).split(test_size=0.2, random_state=0)
        >>> len(train), len(test)
        (8, 2)
        """
        n_test = number_of_tests(test_size, self.n_docs)
        if random_state is None or isinstance(random_state, (int, np.integer)):
            random_state = np.random.default_rng(random_state)
        order = random_state.permutation(self.n_docs)
        if known_authors:
            chosen = choose_known(order, self.doc_author, self.doc_author_start, n_test)
        else:
            chosen = order[:n_test]
        in_test = np.zeros(self.n_docs, bool)
        in_test[chosen] = True
        return self.subset(~in_test), self.subset(in_test)

    def with_authors(self, columns: str | Sequence[str], separator: str | None = None) -> Self:
        """Return the corpus with other "authors": one or several columns of metadata.

        Parameters
        ----------
        columns : str or list of str
            ``"authors"`` means the authors as read. Names from all columns except ``"authors"`` (or the first, if
            ``"authors"`` is not among them) get a prefix, as in ``venue: ACL``, so that they stay distinct.
        separator : str, optional
            Separator of names in one string of such a column. Lists need none.

        Examples
        --------
        >>> from topoi import Corpus
        >>> corpus = Corpus.from_tokens([["a"]], authors=["Ann"], metadata={"venue": ["ACL"]})
        >>> corpus.with_authors(["authors", "venue"]).authors.tolist()
        ['Ann', 'venue: ACL']
        """
        columns = [columns] if isinstance(columns, str) else list(columns)
        if not columns:
            raise CorpusError("with_authors needs at least one column")
        as_read = self.documents["authors"].tolist() if "authors" in self.documents else self.author_lists()
        lists: dict[str, list[list[str]]] = {}
        for name in columns:
            if name == "authors":
                lists[name] = [list(row) for row in as_read]
            elif name in self.documents:
                lists[name] = [author_names.author_names(value, separator) for value in self.documents[name]]
            else:
                raise CorpusError(f"no column {name!r}; there are: authors, {', '.join(map(str, self.documents))}")
        new = self._copy()
        new._set_authors(author_names.author_table(author_names.prefixed_authors(lists)))
        if columns != ["authors"]:
            new.documents = self.documents.assign(authors=pd.Series(as_read, dtype=object))
        elif "authors" in self.documents:
            new.documents = self.documents.drop(columns="authors")
        new.report = replace(self.report, n_without_authors=int((np.diff(new.doc_author_start) == 0).sum()))
        return new

    def _copy(self) -> Self:
        new = object.__new__(type(self))
        new.__dict__.update(self.__dict__)
        new._fingerprint = None
        return new

    def _set_authors(self, table: author_names.AuthorTable) -> None:
        self.authors, self.doc_author, self.doc_author_start = table

    def to_matrix(self) -> scipy.sparse.csr_matrix:
        """Return the counts of words by document as a sparse matrix.

        Examples
        --------
        >>> from topoi import Corpus
        >>> Corpus.from_tokens([["a", "b", "a"]]).to_matrix().toarray().tolist()
        [[2, 1]]
        """
        ones = np.ones(self.n_tokens, np.int64)
        parts = (ones, self.tokens.copy(), self.doc_start.copy())
        import scipy.sparse  # slow to import, and not needed to read a store

        matrix = scipy.sparse.csr_matrix(parts, shape=(self.n_docs, self.n_words))
        matrix.sum_duplicates()
        return matrix

    def to_frame(self) -> pd.DataFrame:
        """Return one row per document: the metadata, the text if it is known, and the list of authors.

        Examples
        --------
        >>> from topoi import Corpus
        >>> Corpus.from_tokens([["a"]], authors=["Ann"]).to_frame()["authors"].tolist()
        [['Ann']]
        """
        frame = self.documents.copy()
        if self.texts is not None:
            frame["text"] = pd.Series(list(self.texts), dtype="str")
        frame["authors"] = pd.Series(self.author_lists(), dtype=object)
        return frame

    def fingerprint(self) -> str:
        """Return a digest of words, documents and authors, equal on every machine.

        Examples
        --------
        >>> from topoi import Corpus
        >>> a, b = Corpus.from_tokens([["x", "y"]]), Corpus.from_tokens([["y", "x"]])
        >>> a.fingerprint() == b.fingerprint(), len(a.fingerprint())
        (False, 32)
        """
        if self._fingerprint is None:
            self._fingerprint = corpus_fingerprint(self)
        return self._fingerprint

    def to_bundle(self, texts: bool = True) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
        """Serialise the corpus as JSON-able settings and numeric arrays, from which ``from_bundle`` rebuilds it.

        Examples
        --------
        >>> from topoi import Corpus
        >>> meta, arrays = Corpus.from_tokens([["a"]]).to_bundle()
        >>> Corpus.from_bundle(meta, arrays).words.tolist()
        ['a']
        """
        return pack_corpus(self, texts)

    @classmethod
    def from_bundle(cls, meta: Mapping[str, Any], arrays: Mapping[str, np.ndarray]) -> Self:
        """Rebuild the corpus from the result of ``to_bundle``; a damaged bundle is a ``CorpusError``.

        Examples
        --------
        >>> from topoi import Corpus
        >>> Corpus.from_bundle(*Corpus.from_tokens([["a"]], authors=["Ann"]).to_bundle())
        <Corpus: 1 documents, 1 tokens, 1 words, 1 authors>
        """
        return cls(**unpack_corpus(meta, arrays))


def _part(corpus: Corpus, rows: np.ndarray) -> pd.DataFrame:
    return corpus.documents.iloc[rows].reset_index(drop=True)
