"""Questions about all documents of a store, which read their words or topics once: pairs of topics, odd documents."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from topoi.analysis.given import need_topic
from topoi.analysis.surprise import Surprises, document_surprises
from topoi.analysis.together import LEAST, Together, clear_pairs, count_together
from topoi.errors import ModelError, NotFoundError
from topoi.models.validation import whole_number
from topoi.store.facets import DocumentColumns, TopicCells
from topoi.store.matching import match_for
from topoi.store.queries import PAGE_QUERIES
from topoi.store.search import StoreIndex

if TYPE_CHECKING:
    from topoi.store.view import ModelView

# Words that are read: of larger collections some documents by chance, so that it takes seconds.
MOST_TOKENS = 8_000_000


def together_in(view: ModelView, cells: TopicCells | None = None) -> Together:
    """Pairs of topics in the documents of a store; background topics are in none."""
    cells = TopicCells(view.chains_[0]) if cells is None else cells
    kept = (cells.share >= LEAST) & ~view.background_flags()[cells.topic]
    return count_together(cells.row[kept], cells.topic[kept].astype(np.int64), cells.n_documents, cells.n_topics)


def surprises_in(view: ModelView, report: Callable[[float], None] = lambda part: None) -> Surprises:
    """How surprising each document of a store is; ``report`` is called with the part that is done."""
    index = StoreIndex(view.store)
    lengths = index.lengths
    rows = np.flatnonzero(lengths > 0)
    if lengths.sum() > MOST_TOKENS:
        shuffled = np.random.default_rng(0).permutation(rows)
        rows = np.sort(shuffled[np.cumsum(lengths[shuffled]) <= MOST_TOKENS])
    return document_surprises(
        view.chains_[0],
        index.tokens(rows),
        len(lengths),
        view.store.sizes.n_words,
        lambda n: report(n / max(len(rows), 1)),
    )


class WholeCollection:
    """Answers that take all documents; mixed into ``ModelView``."""

    def topics_together(self: Any, n: int = 80) -> pd.DataFrame:
        """Pairs of topics that documents have together more often than by chance, the clearest first.

        A document has a topic if a tenth of its words is in it. Columns are topic, other, n_documents (with both) and
        times (as many as by chance). Background topics are left out.

        Parameters
        ----------
        n : int
            Number of pairs.

        Examples
        --------
        >>> import pathlib, tempfile, topoi
        >>> path = pathlib.Path(tempfile.mkdtemp()) / "small.topoi"
        >>> rows = [["sun", "star"] * 9, ["cell", "gene"] * 9] * 9
        >>> topoi.LDA(2, alpha=0.1, n_iter=50, random_state=0).fit(topoi.Corpus.from_tokens(rows)).save(path)
        >>> topoi.view(path).topics_together()["topic"].tolist()
        []
        """
        found = together_in(self)
        one, other = clear_pairs(found, whole_number("n", n))
        columns = {"topic": one, "other": other, "n_documents": found.n_documents[one, other]}
        return pd.DataFrame({**columns, "times": found.times[one, other]})

    def documents_with(
        self: Any,
        words: str = "",
        topics: Sequence[int] = (),
        authors: Sequence[int | str] = (),
        first: int | None = None,
        last: int | None = None,
        values: Mapping[str, Sequence[str]] | None = None,
        least: float = LEAST,
    ) -> NDArray[np.int64]:
        """Numbers of the documents that pass all filters, as on the browser's page of documents.

        Parameters
        ----------
        words : str
            Words, all of which must be in the title or the text; the last may be the beginning of a word.
        topics : sequence of int
            Topics of which a document must have a share of at least ``least``.
        authors : sequence of int or str
            Numbers or names of authors, all of whom must have written it.
        first, last : int, optional
            Years, both included.
        values : mapping of str to sequences of str, optional
            Columns of the metadata, and values of which a document must have one.
        least : float
            The smallest share of a topic, 0.01 or more.

        Examples
        --------
        >>> import pathlib, tempfile, topoi
        >>> path = pathlib.Path(tempfile.mkdtemp()) / "small.topoi"
        >>> corpus = topoi.Corpus.from_tokens([["sun"], ["gene"], ["star"]], metadata={"venue": ["A", "B", "A"]})
        >>> topoi.LDA(2, n_iter=2, random_state=0).fit(corpus).save(path)
        >>> topoi.view(path).documents_with(values={"venue": ["A"]})
        array([0, 2])
        """
        for name, year in (("first", first), ("last", last)):
            if not (year is None or isinstance(year, int | np.integer)):
                raise ModelError(f"{name} is {year!r}; pass a year as a whole number")
        columns = DocumentColumns(self.store)
        found = columns.within(first, last)
        match = match_for(words)
        if words.strip():
            having = np.zeros(columns.n_documents, bool)
            having[
                []
                if match is None
                else [row[0] for row in self.store.rows(PAGE_QUERIES["matching"], {"match": match}, self.limits)]
            ] = True
            found &= having
        if topics:
            cells = TopicCells(self.chains_[0])
            for topic in topics:
                found &= cells.of(need_topic(self, topic)) >= least
        for author in authors:
            number = self.catalogue_.find_author(author) if isinstance(author, str) else int(author)
            if not 0 <= number < columns.n_authors:
                raise NotFoundError(f"there is no author {number}; authors are numbered 0 to {columns.n_authors - 1}")
            found &= columns.of_author(number)
        for name, wanted in (values or {}).items():
            if name not in columns:
                raise NotFoundError(f"the documents have no column {name!r}; there are {', '.join(columns.names)}")
            found &= columns[name].having(wanted, columns.n_documents)
        return np.flatnonzero(found)

    def surprising_documents(self: Any, n: int = 25) -> pd.DataFrame:
        """The documents that their own topics explain worst.

        Columns are document, id, title and others as in ``unusual_documents``, perplexity, and times the median
        perplexity of all documents. Documents of fewer than thirty words are left out; of collections of more than
        eight million words, a part is read.

        Parameters
        ----------
        n : int
            Number of documents.

        Examples
        --------
        >>> import pathlib, tempfile, topoi
        >>> path = pathlib.Path(tempfile.mkdtemp()) / "small.topoi"
        >>> rows = [["sun", "star"] * 20, ["cell", "gene"] * 20] * 9 + [["sun"] * 20 + ["zoo", "ark"] * 10]
        >>> topoi.LDA(2, alpha=0.1, n_iter=50, random_state=0).fit(topoi.Corpus.from_tokens(rows)).save(path)
        >>> topoi.view(path).surprising_documents(1)["document"].tolist()
        [18]
        """
        perplexity = surprises_in(self).perplexity
        known = np.flatnonzero(np.isfinite(perplexity))
        best = known[np.argsort(-perplexity[known], kind="stable")[: whole_number("n", n)]]
        median = float(np.median(perplexity[known])) if len(known) else 1.0
        own = {"perplexity": perplexity[best], "times": perplexity[best] / median}
        return pd.DataFrame(self.catalogue_.document_columns(best) | own)
