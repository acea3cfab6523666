"""Topics of a word."""

from __future__ import annotations

import numpy as np
import pandas as pd

from topoi.analysis.given import need_topics, with_rank
from topoi.errors import ModelError
from topoi.models.contract import ModelLike
from topoi.models.names import find_name
from topoi.models.validation import whole_number


def word_topics(model: ModelLike, word: str, n: int | None = None) -> pd.DataFrame:
    """Topics of one word: the probability of each, and the word's rank in it (first chain).

    Parameters
    ----------
    model : AuthorTopicModel or LDA
        A fitted model.
    word : str
        A word of the vocabulary; an unknown one is a ``NotFoundError`` that suggests others.
    n : int, optional
        Number of topics; all if not given.

    Returns
    -------
    DataFrame
        word, rank, topic, probability (P(topic | word) for a word of the training corpus: P(word | topic) times the
        topic's share of the corpus), word_rank (the word's rank in the topic, 1 for its most probable word, as in
        ``top_words``), n_words (number of the word's tokens in the topic).

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
    words = model.vocabulary_
    w = words.index(word) if word in words else find_name(word, words.words, "word", part=False)
    chain = model.chains_[0]
    joint = chain.word_columns([w])[:, 0] * chain.topic_totals
    probability = joint / joint.sum()
    best = np.argsort(-probability, kind="stable")[: None if n is None else whole_number("n", n)]
    columns = {
        "word": np.full(len(best), model.vocabulary_.words[w], object),
        "topic": best,
        "probability": probability[best],
        "word_rank": chain.words_before(w, best) + 1,
        "n_words": chain.word_counts(w)[best],
    }
    return with_rank(pd.DataFrame(columns), 1)
