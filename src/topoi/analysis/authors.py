"""Authors who write about the same things."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from topoi.analysis.distances import distances
from topoi.analysis.given import need_authors, need_topics, with_rank
from topoi.analysis.probabilities import author_mixtures, author_sizes, blocks
from topoi.models.names import find_name
from topoi.models.validation import whole_number

_TOPICS_SHOWN = 3


def similar_authors(
    model: Any, author: str, n: int = 10, measure: str = "symmetrised-kl", min_words: int | None = None
) -> pd.DataFrame:
    """The authors whose mixtures of topics are nearest to one author's (first chain).

    Parameters
    ----------
    model : AuthorTopicModel
        A fitted model.
    author : str
        A name; an unknown one is a ``NotFoundError`` that suggests others.
    n : int
        How many authors.
    measure : {"symmetrised-kl", "jensen-shannon", "hellinger", "cosine"}
        Symmetrised KL, the sum of both directions in nats, is what the papers use.
    min_words : int, optional
        Leave out authors with fewer words. If not given, those whose words weigh less than the prior (the sum of
        alpha): they look alike because little is known of them.

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
    need_topics(model, "authors are compared by theirs", "an AuthorTopicModel")
    need_authors(model)
    a = find_name(author, model.authors_, "author")
    chain = model.chains_[0]
    own = author_mixtures(chain, [a])[0]
    rows = enough_words(model, min_words)
    rows = rows[rows != a]
    distance = np.empty(len(rows))
    for part in blocks(len(rows)):
        distance[part] = distances(own, author_mixtures(chain, rows[part]), measure)
    best = np.argsort(distance, kind="stable")[: whole_number("n", n)]
    chosen = rows[best]
    columns = {
        "author": np.full(len(best), model.authors_[a], object),
        "name": model.authors_[chosen],
        "distance": distance[best],
        "n_words": author_sizes(model)[chosen],
        "topics": pd.Series([shared_topics(own, row) for row in author_mixtures(chain, chosen)], dtype=object),
    }
    frame = with_rank(pd.DataFrame(columns), 1)
    frame.attrs["n_left_out"] = len(model.authors_) - 1 - len(rows)
    return frame


def enough_words(model: Any, min_words: int | None) -> NDArray[np.int64]:
    """Rows of the authors of whom enough is known: ``min_words``, or as many words as the prior weighs."""
    least = model.chains_[0].alpha.sum() if min_words is None else whole_number("min_words", min_words, 0)
    return np.flatnonzero(author_sizes(model) >= least)


def shared_topics(p: NDArray[np.float64], q: NDArray[np.float64], n: int = _TOPICS_SHOWN) -> list[int]:
    """Topics of which two mixtures both have more than an even share, those with most in common first."""
    common = np.minimum(p, q)
    order = np.argsort(-common, kind="stable")[:n]
    return [int(k) for k in order if common[k] > 1.0 / len(common)]
