"""Frames of topic models: a topic's words and authors, an author's topics, sizes of topics."""

from __future__ import annotations

from typing import Any, Generic, TypeVar

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from topoi.corpus.corpus import Corpus
from topoi.corpus.vocabulary import Vocabulary
from topoi.errors import ModelError, NotFoundError
from topoi.models.names import find_name
from topoi.models.people import names_of_people
from topoi.models.posterior import Posterior
from topoi.models.ranking import largest, ranked, relevance_scores
from topoi.models.registry import giving
from topoi.models.resampling import LEVEL
from topoi.models.share_moments import author_interval, with_interval
from topoi.models.smoothed_counts import whole_tokens
from topoi.models.validation import choice, whole_number

PosteriorT = TypeVar("PosteriorT", bound=Posterior)


class Tables(Generic[PosteriorT]):
    """Frames of a fitted topic model; mixed into the families' members."""

    corpus_: Corpus
    vocabulary_: Vocabulary
    authors_: NDArray[Any]
    chains_: list[PosteriorT]

    @property
    def _first(self) -> PosteriorT:
        """The first chain, which is the best; an error if the model is not fitted."""
        check_is_fitted(self, "n_iter_")
        return self.chains_[0]

    def topic_labels(self) -> list[str]:
        """A short name for each topic: a phrase of one to three of its words that tells it from its neighbours.

        Labels are unique and have at most 40 characters. They are made from the phrases of the texts, and written as
        the texts mostly write them; background topics, whose words are common to all kinds of documents, are
        labelled as such, as in "background: said, made". The same model always gets the same labels
        (``topoi.models.labels``). A name that a person gave, in the file that the model comes from or by
        ``topoi.edit``, is used instead of the label.

        Examples
        --------
        >>> import topoi
        >>> texts = ["The Gold Standard was praised."] * 9 + ["Indian tribes and their land."] * 9
        >>> topoi.LDA(2, alpha=0.1, n_iter=50, random_state=0).fit(texts).topic_labels()
        ['Indian tribes', 'Gold Standard']
        """
        labels = list(self._first.named(self.corpus_).labels)
        for topic, name in names_of_people(self).items():
            labels[topic] = name
        return labels

    def top_words(self, n: int = 10, topic: int | None = None, relevance: float = 1.0) -> pd.DataFrame:
        """The most probable, or most telling, words of each topic: topic, rank, word, probability.

        Parameters
        ----------
        n : int
            Number of words per topic.
        topic : int, optional
            One topic only.
        relevance : float
            Rank by relevance · log P(word | topic) + (1 − relevance) · log (P(word | topic) / P(word)), where P(word)
            is the word's share of the corpus (Sievert and Shirley 2014, who found people to name topics best at about
            0.6). 1 is plain probability.

        Examples
        --------
        >>> import topoi
        >>> model = topoi.LDA(1, n_iter=2, random_state=0).fit(topoi.Corpus.from_tokens([["a", "a", "b"]]))
        >>> model.top_words(2)["word"].tolist()
        ['a', 'b']
        """
        topics = self._topics(topic)
        rows = self._first.topic_word[topics]
        times = self._first.word_times
        best = largest(relevance_scores(rows, times, relevance), whole_number("n", n))
        frame = pd.DataFrame(
            {
                "topic": np.repeat(topics, best.shape[1]),
                "word": self.vocabulary_.words[best.ravel()],
                "probability": np.take_along_axis(rows, best, axis=1).ravel(),
            }
        )
        return ranked(frame, "topic")

    def top_authors(
        self, n: int = 10, topic: int | None = None, min_words: int = 0, by: str = "mixture"
    ) -> pd.DataFrame:
        """The authors most likely to have written a word of each topic: topic, rank, author, probability, n_words.

        ``n_words`` is the number of the author's words that the probability rests on. Where documents have private
        authors, the named ones wrote those words, too, in equal parts (``topoi.models.written``).

        Parameters
        ----------
        n : int
            Number of authors per topic.
        topic : int, optional
            One topic only.
        min_words : int
            Leave out authors with fewer words than this, in all topics together.
        by : {"mixture", "words"}
            P(author | topic) for authors taken to be equally productive, which favours those who write of little else
            (AT09, appendix B); or the author's share of the topic's words, which favours those who write much.

        Examples
        --------
        >>> import topoi
        >>> corpus = topoi.Corpus.from_tokens([["a"], ["b"]] * 20, authors=["Ann", "Bob"] * 20)
        >>> model = topoi.AuthorTopicModel(2, alpha=0.1, n_iter=50, random_state=0).fit(corpus)
        >>> sorted(model.top_authors(1)["author"])
        ['Ann', 'Bob']
        """
        self._need_authors()
        topics = self._topics(topic)
        written, alpha = self._first.written, self._first.alpha
        counts = np.stack([written.column(k) for k in topics])
        weight = counts + alpha[topics, None]
        if choice("by", by, ("mixture", "words")) == "mixture":
            weight = weight / (written.totals + self._first.alpha_sum)
        share = weight / weight.sum(axis=1, keepdims=True)
        eligible = np.flatnonzero(written.totals >= max(min_words, 0))
        best = eligible[largest(share[:, eligible], whole_number("n", n))]
        frame = pd.DataFrame(
            {
                "topic": np.repeat(topics, best.shape[1]),
                "author": self.authors_[best.ravel()],
                "probability": np.take_along_axis(share, best, axis=1).ravel(),
                "n_words": whole_tokens(np.take_along_axis(counts, best, axis=1).ravel()),
            }
        )
        return ranked(frame, "topic")

    def author_topics(
        self, author: str | None = None, n: int | None = None, level: float | None = LEVEL
    ) -> pd.DataFrame:
        """The topics of one author or of all: author, rank, topic, probability, n_words, lower, upper.

        Probabilities are shares of what the author wrote. Where documents have private authors, those are the author's
        own words and an equal part of the private ones of each document (``topoi.models.written``); ``author_topic_``
        has the mixtures of the own words alone.

        Parameters
        ----------
        author : str, optional
            A name; an unknown one is a ``NotFoundError`` that suggests others.
        n : int, optional
            Number of topics per author; all if not given.
        level : float, optional
            The interval from ``lower`` to ``upper`` holds this much probability (``topoi.models.share_moments``): it is
            wide for an author of few words. None leaves intervals out.

        Examples
        --------
        >>> import topoi
        >>> corpus = topoi.Corpus.from_tokens([["a"], ["b"]] * 20, authors=["Ann", "Bob"] * 20)
        >>> model = topoi.AuthorTopicModel(2, alpha=0.1, n_iter=50, random_state=0).fit(corpus)
        >>> frame = model.author_topics("Ann", n=1)
        >>> frame["n_words"].tolist(), frame[["lower", "upper"]].round(2).values.tolist()
        ([20], [[0.97, 1.0]])
        """
        self._need_authors()
        known = self.authors_
        rows = np.arange(len(known)) if author is None else np.array([find_name(author, known, "author")])
        written = self._first.written
        counts = written.counts(rows)
        share = (counts + self._first.alpha) / (written.totals[rows, None] + self._first.alpha_sum)
        count = whole_tokens(counts)
        best = largest(share, share.shape[1] if n is None else whole_number("n", n))
        frame = pd.DataFrame(
            {
                "author": np.repeat(known[rows], best.shape[1]),
                "topic": best.ravel(),
                "probability": np.take_along_axis(share, best, axis=1).ravel(),
                "n_words": np.take_along_axis(count, best, axis=1).ravel(),
            }
        )
        return ranked(with_interval(frame, author_interval(self._first, rows, best, level)), "author")

    def topic_sizes(self, level: float | None = LEVEL) -> pd.DataFrame:
        """Number of words of each topic in the training corpus: topic, n_words, share, lower, upper.

        Parameters
        ----------
        level : float, optional
            The interval from ``lower`` to ``upper`` holds the topic's share in documents like these with this
            probability (``topoi.models.share_moments``). None leaves intervals out.

        Examples
        --------
        >>> import topoi
        >>> model = topoi.LDA(1, n_iter=2, random_state=0).fit(topoi.Corpus.from_tokens([["a", "a", "b"]]))
        >>> model.topic_sizes()["n_words"].tolist()
        [3]
        """
        number = self._first.counts.topic
        share = number / max(float(number.sum()), 1.0)
        frame = pd.DataFrame({"topic": np.arange(len(number)), "n_words": self._first.topic_sizes, "share": share})
        return with_interval(frame, None if level is None else self._first.size_moments.interval(level, share))

    def _topics(self, topic: int | None) -> NDArray[np.int64]:
        n_topics = self._first.n_topics
        if topic is None:
            return np.arange(n_topics)
        if isinstance(topic, bool) or not isinstance(topic, int | np.integer) or not 0 <= topic < n_topics:
            raise NotFoundError(f"there is no topic {topic!r}; topics are numbered 0 to {n_topics - 1}")
        return np.array([int(topic)])

    def _need_authors(self) -> None:
        _ = self._first
        if not len(self.authors_):
            raise ModelError(f"{type(self).__name__} has no authors; fit {giving('authors')}")


class ChainTables(Tables[PosteriorT]):
    """The same for a model whose own estimates are those of its first chain."""

    @property
    def topic_word_(self) -> NDArray[np.float64]:
        """P(word | topic) of the first, best chain: topics × words."""
        return self._first.topic_word

    @property
    def doc_topic_(self) -> NDArray[np.float64]:
        """P(topic | document) of the training documents, as the family estimates it: documents × topics."""
        return self._first.doc_topic
