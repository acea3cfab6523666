"""Encoding of new documents with the vocabulary and authors of an existing corpus."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any, Self, cast

import numpy as np
import pandas as pd

from topoi.corpus.analysis import checked_texts
from topoi.corpus.authors import DEFAULT_SEPARATOR, AuthorLists, author_lists, known_author_table
from topoi.corpus.constructors import Constructors
from topoi.corpus.metadata import document_frame
from topoi.corpus.records import RecordTable
from topoi.corpus.report import CorpusReport
from topoi.corpus.sources import column_values
from topoi.corpus.vocabulary import EncodedTexts
from topoi.errors import CorpusError

if TYPE_CHECKING:
    from topoi.corpus.corpus import Corpus


class Encoding(Constructors):
    """``encode`` and ``encode_records`` of :class:`~topoi.corpus.corpus.Corpus`."""

    def encode(
        self,
        texts: Iterable[str] | Iterable[Sequence[str]],
        authors: Sequence[Any] | None = None,
        titles: Sequence[Any] | None = None,
        dates: Sequence[Any] | None = None,
        metadata: Any = None,
        ids: Sequence[Any] | None = None,
        *,
        new_authors: str = "error",
        author_separator: str | None = DEFAULT_SEPARATOR,
    ) -> Self:
        """Make a corpus from new texts with this corpus's vocabulary, analyser and authors.

        Parameters
        ----------
        texts : iterable of str, or of lists of words
            The new documents. Words that the vocabulary does not have are left out and counted in the report.
        authors, titles, dates, metadata, ids, author_separator
            As in ``from_texts``.
        new_authors : {"error", "add", "drop"}
            Treatment of authors that this corpus does not have.

        Examples
        --------
        >>> from topoi import Corpus
        >>> corpus = Corpus.from_tokens([["red", "fish"]], authors=["Ann"])
        >>> corpus.encode(["One fish, two fish"], authors=["Ann"]).tokens.tolist()
        [1, 1]
        """
        if isinstance(texts, str):
            raise CorpusError("texts is one string; give a list of texts")
        new: list[Any] = list(column_values(texts))
        as_words = any(isinstance(text, (list, tuple, np.ndarray)) for text in new)
        listed = None if as_words else checked_texts(new)
        vocabulary = cast("Corpus", self).vocabulary
        encoded = vocabulary.encode_tokens(new) if listed is None else vocabulary.encode(listed)
        lists = author_lists(authors, len(new), author_separator)
        documents = document_frame(len(new), ids, titles, dates, metadata)
        return self._encoded(encoded, lists, documents, listed, CorpusReport(), new_authors)

    def encode_records(self, table: RecordTable, new_authors: str = "error") -> Self:
        """Make a corpus from collected records with this corpus's vocabulary, analyser and authors.

        Examples
        --------
        >>> from topoi import Corpus
        >>> from topoi.corpus.records import FieldMap, RecordTable
        >>> table = RecordTable(FieldMap())
        >>> table.add({"text": "One fish, two fish"}, line=1)
        >>> Corpus.from_tokens([["red", "fish"]]).encode_records(table).tokens.tolist()
        [1, 1]
        """
        table.check_fields()
        encoded = cast("Corpus", self).vocabulary.encode(table.texts)
        lists = table.authors
        return self._encoded(encoded, lists, table.documents(), table.texts, table.report, new_authors)

    def extended(self, new: Corpus, *, min_df: int | None = 2, known: str = "error") -> Corpus:
        """Return this corpus with the documents of another after its own; all its numbers stay.

        Words and authors of this corpus keep their ids; new ones come after them. New texts are read with this corpus's
        analyser, whatever settings they were read with before.

        Parameters
        ----------
        new : Corpus
            The documents to add. Columns of metadata that only one of the two has are missing in the other's rows. If
            it has this corpus's vocabulary, as from ``encode`` or ``split``, it adds no words.
        min_df : int or None
            New words must be in at least this many of the new documents; None adds no words. Words that were left out
            because too many of the old documents have them stay out.
        known : {"error", "skip"}
            Treatment of documents whose ids this corpus has already. If documents have numbers in
            place of ids, the numbering goes on.

        Examples
        --------
        >>> from topoi import Corpus
        >>> corpus = Corpus.from_tokens([["red", "fish"]], authors=["Ann"])
        >>> whole = corpus.extended(Corpus.from_tokens([["old", "fish"], ["old"]], authors=["Bob", "Ann"]))
        >>> whole.words.tolist(), whole.authors.tolist(), whole.documents["id"].tolist()
        (['red', 'fish', 'old'], ['Ann', 'Bob'], ['0', '1', '2'])
        """
        from topoi.corpus.joining import join_corpora  # it makes corpora

        return join_corpora(cast("Corpus", self), new, min_df, known).corpus

    def _encoded(
        self,
        encoded: EncodedTexts,
        lists: AuthorLists,
        documents: pd.DataFrame,
        texts: list[str] | None,
        report: CorpusReport,
        new_authors: str,
    ) -> Self:
        old = cast("Corpus", self)
        table = known_author_table(lists, old.authors.tolist(), new_authors)
        report.n_unknown_tokens = encoded.n_unknown
        made = type(self)._assemble(encoded, old.vocabulary, lists, documents, texts, report)
        cast("Corpus", made)._set_authors(table)
        return made
