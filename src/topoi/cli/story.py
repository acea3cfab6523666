"""Contents of the demo's story: topics that stand out in one decade, their words and presidents."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from topoi.cli.trends import share_table

if TYPE_CHECKING:
    import numpy as np
    import pandas as pd
    from numpy.typing import NDArray


N_WORDS = 10
N_PRESIDENTS = 3


def story(model: Any, n_topics: int) -> pd.DataFrame:
    """The topics that belong most to one decade, in the order of their time.

    Parameters
    ----------
    model
        A fitted model whose documents have dates.
    n_topics
        Number of topics; no two have their peak in the same decade.

    Returns
    -------
    DataFrame
        topic, peak (the decade), peak_share, words, presidents, decades and shares (lists of equal length).
    """
    import pandas as pd

    import topoi

    shares = share_table(topoi.topic_trends(model, by="decade"))
    overall = model.topic_sizes()["share"].to_numpy() @ model.topic_word_
    decades = [int(decade) for decade in shares.columns]
    rows = []
    for topic in in_order_of_time(shares.loc[most_of_their_time(model, shares, overall, n_topics)]):
        series = [float(share) for share in shares.loc[topic].to_numpy()]
        rows.append(
            {
                "topic": topic,
                "peak": decades[series.index(max(series))],
                "peak_share": max(series),
                "words": telling_words(model, topic),
                "presidents": leading_authors(model, topic),
                "decades": decades,
                "shares": series,
            }
        )
    return pd.DataFrame(rows)


def most_of_their_time(model: Any, shares: pd.DataFrame, overall: NDArray[np.float64], n: int) -> list[int]:
    """The topics that stand out most in the decade of their peak and in their words, one for a decade.

    The score is a product of three factors: the ratio of the peak to the topic's average; the square root of the peak,
    so that tiny topics do not win by noise; and the squared distance of the topic's words from those of the whole
    collection, so that background topics ("present", "shall", "great"), which also come and go, are left out.
    """
    import numpy as np

    peak, mean = shares.max(axis=1).to_numpy(), shares.mean(axis=1).to_numpy()
    divergence = (model.topic_word_ * np.log(model.topic_word_ / overall)).sum(axis=1)
    score = np.sqrt(peak) * np.log(np.maximum(peak, 1e-12) / np.maximum(mean, 1e-12)) * divergence**2
    chosen: dict[object, int] = {}
    for topic in np.argsort(-score, kind="stable"):
        chosen.setdefault(shares.iloc[topic].idxmax(), int(topic))
    return list(chosen.values())[:n]


def in_order_of_time(shares: pd.DataFrame) -> list[int]:
    """Sort topics by their mean decade, weighted by squared shares so that the peak counts most."""
    import numpy as np

    weights = shares.to_numpy() ** 2
    centre = (weights @ np.arange(shares.shape[1])) / weights.sum(axis=1)
    return [int(topic) for topic in shares.index[np.argsort(centre, kind="stable")]]


def telling_words(model: Any, topic: int) -> list[str]:
    """The words that tell a topic from the others: frequent in it, and more than elsewhere."""
    from topoi.models.ranking import SUMMARY_RELEVANCE

    return [str(word) for word in model.top_words(N_WORDS, topic=topic, relevance=SUMMARY_RELEVANCE)["word"]]


def leading_authors(model: Any, topic: int) -> list[str]:
    """The authors with most words of a topic, as everywhere."""
    return [str(name) for name in model.top_authors(N_PRESIDENTS, topic=topic, by="words")["author"]]
