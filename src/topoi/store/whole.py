"""Questions about all documents of a store, which read their words or topics once: pairs of topics, odd documents."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from topoi.analysis.surprise import Surprises, document_surprises
from topoi.analysis.together import LEAST, Together, clear_pairs, count_together
from topoi.models.validation import whole_number
from topoi.store.facets import TopicCells
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
