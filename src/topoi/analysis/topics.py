"""The topics of a word."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from topoi.analysis.given import need_topics, with_rank
from topoi.analysis.probabilities import blocks, word_columns
from topoi.errors import ModelError
from topoi.models.names import find_name
from topoi.models.validation import whole_number


def word_topics(model: Any, word: str, n: int | None = None) -> pd.DataFrame:
    """The topics of one word: which of them it comes from, and how much it means to each (first chain).

    Parameters
    ----------
    model : AuthorTopicModel or LDA
        A fitted model.
    word : str
        A word of the vocabulary; an unknown one is a ``NotFoundError`` that suggests others.
    n : int, optional
        How many topics; all if not given.

    Returns
    -------
    DataFrame
        word, rank, topic, probability (P(topic | word) for a word of the training corpus: P(word | topic) times the
        topic's share of the corpus), word_rank (the word's rank in the topic, 1 for its most probable word, as in
        ``top_words``), n_words (how often the word is in the topic).

    Examples
    --------
    >>> import topoi
    >>> corpus = topoi.Corpus.from_tokens([["sun", "sun", "star"], ["cell", "gene"]] * 10)
    >>> model = topoi.LDA(2, alpha=0.1, n_iter=50, random_state=0).fit(corpus)
    >>> topoi.word_topics(model, "star", n=1)[["word_rank", "n_words"]].values.tolist()
    [[2, 10]]
    """
    need_topics(model, "a word's topics were asked for")
    if not isinstance(word, str):
        raise ModelError(f"word is {type(word).__name__}; pass one word")
    w = find_name(word, model.vocabulary_.words, "word")
    chain = model.chains_[0]
    joint = word_columns(chain, [w])[:, 0] * chain.counts.topic
    probability = joint / joint.sum()
    best = np.argsort(-probability, kind="stable")[: None if n is None else whole_number("n", n)]
    columns = {
        "word": np.full(len(best), model.vocabulary_.words[w], object),
        "topic": best,
        "probability": probability[best],
        "word_rank": _words_before(chain, w)[best] + 1,
        "n_words": chain.counts.word_topic[w, best].astype(np.int64),
    }
    return with_rank(pd.DataFrame(columns), 1)


def _words_before(chain: Any, word: int) -> NDArray[np.int64]:
    """For each topic how many words rank before one: the more probable, and the equally probable of lower number."""
    n_topics, own = chain.n_topics, chain.counts.word_topic[word, : chain.n_topics] + chain.beta[word]
    before = np.zeros(n_topics, np.int64)
    for part in blocks(len(chain.beta)):
        # Within a topic the weights differ from the probabilities by a factor only.
        weight = chain.counts.word_topic[part, :n_topics] + chain.beta[part, None]
        before += (weight > own).sum(axis=0) + (weight[: max(word - part.start, 0)] == own).sum(axis=0)
    return before
