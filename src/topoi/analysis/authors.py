"""Similarity of authors by their topics."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from topoi.analysis.given import find_author, need_authors, need_topics, with_rank
from topoi.models.smoothed_counts import MEASURES, whole_tokens
from topoi.models.validation import choice, whole_number

_TOPICS_SHOWN = 3


def similar_authors(
    model: Any, author: str | int, n: int = 10, measure: str = "symmetrised-kl", min_words: int | None = None
) -> pd.DataFrame:
    """The authors who write about what one author writes about: by topics' shares of what they wrote (first chain).

    Parameters
    ----------
    model : AuthorTopicModel or ModelView
        A fitted model.
    author : str or int
        A name, or a position in ``model.authors_``; an unknown one is a ``NotFoundError`` that suggests others.
    n : int
        Number of authors.
    measure : {"symmetrised-kl", "jensen-shannon", "hellinger", "cosine"}
        Symmetrised KL, the sum of both directions in nats, is what the papers use.
    min_words : int, optional
        Leave out authors with fewer words; by default, with fewer than the prior's weight (the sum of alpha): they look
        alike because little is known of them.

    Returns
    -------
    DataFrame
        author, rank, name (of the similar author), distance, n_words (the similar author's), topics: a list of at most
        three topics of which both have more than an even share, the most shared first.
        ``frame.attrs["n_left_out"]`` counts authors with too few words.

    Examples
    --------
    >>> import topoi
    >>> rows = [["sun", "star"], ["star", "sun"], ["cell", "gene"]] * 10
    >>> corpus = topoi.Corpus.from_tokens(rows, authors=["Ann", "Bob", "Eve"] * 10)
    >>> model = topoi.AuthorTopicModel(2, alpha=0.1, n_iter=50, random_state=0).fit(corpus)
    >>> topoi.similar_authors(model, "Ann")["name"].tolist()
    ['Bob', 'Eve']
    """
    need_topics(model, "authors are compared by theirs", "authors")
    need_authors(model)
    a = find_author(model, author)
    authors = model.chains_[0].written
    own = authors.shares(a)[0]
    rows = enough_words(model, min_words)
    rows = rows[rows != a]
    chosen, distance = authors.nearest(own, choice("measure", measure, MEASURES), whole_number("n", n), rows)
    columns = {
        "author": np.full(len(chosen), model.authors_[a], object),
        "name": model.authors_[chosen],
        "distance": distance,
        "n_words": whole_tokens(authors.totals[chosen]),
        "topics": pd.Series([shared_topics(own, row) for row in authors.shares(chosen)], dtype=object),
    }
    frame = with_rank(pd.DataFrame(columns), 1, chosen)
    frame.attrs["n_left_out"] = len(authors) - 1 - len(rows)
    return frame


def enough_words(model: Any, min_words: int | None) -> NDArray[np.int64]:
    """Rows of the authors with at least ``min_words`` words; by default, the sum of the prior alpha."""
    authors = model.chains_[0].written
    least = authors.alpha_sum if min_words is None else whole_number("min_words", min_words, 0)
    return np.flatnonzero(authors.totals >= least)


def shared_topics(p: NDArray[np.float64], q: NDArray[np.float64], n: int = _TOPICS_SHOWN) -> list[int]:
    """Topics with more than an even share (1 / number of topics) in both mixtures, the largest common share first."""
    common = np.minimum(p, q)
    order = np.argsort(-common, kind="stable")[:n]
    return [int(k) for k in order if common[k] > 1.0 / len(common)]
