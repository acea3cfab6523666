"""Lists of topics and their authors, in the same order and with the same words in browser and command line."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from topoi.models.ranking import N_RANKED, N_WORDS, SUMMARY_RELEVANCE, reading_order
from topoi.models.resampling import LEVEL
from topoi.models.share_moments import Moments
from topoi.models.validation import whole_number
from topoi.store.door import stored_json
from topoi.store.store import Store


class TopicLists:
    """Precomputed lists of a store; mixed into ``ModelView``."""

    store: Store

    def rows(self, query: str, **parameters: object) -> list[Any]:
        """Rows of a named query for this model."""
        raise NotImplementedError  # abstract: see ``ModelView``

    def top_words(self, n: int = 10, topic: int | None = None, relevance: float = 1.0) -> pd.DataFrame:
        """The words of each topic."""
        raise NotImplementedError  # abstract: see ``ModelView``

    def top_authors(
        self, n: int = 10, topic: int | None = None, min_words: int = 0, by: str = "mixture"
    ) -> pd.DataFrame:
        """The authors of each topic."""
        raise NotImplementedError  # abstract: see ``ModelView``

    def _topics(self, topic: int | None) -> list[int]:
        raise NotImplementedError  # abstract: see ``ModelView``

    def _need_authors(self) -> None:
        raise NotImplementedError  # abstract: see ``ModelView``

    def topic_labels(self) -> list[str]:
        """The name of each topic: the one that a person gave it, or else its automatic label.

        Examples
        --------
        >>> import pathlib, tempfile, topoi
        >>> path = pathlib.Path(tempfile.mkdtemp()) / "small.topoi"
        >>> corpus = topoi.Corpus.from_tokens([["sun", "star"], ["cell", "gene"]] * 10)
        >>> topoi.LDA(2, alpha=0.1, n_iter=50, random_state=0).fit(corpus).save(path)
        >>> topoi.open_store(path).set_label("LDA", 0, "biology")
        >>> topoi.view(path).topic_labels()
        ['biology', 'sun, star']
        """
        self._topics(None)
        return [row[1] for row in self.rows("topic_list")]

    def topics(self, n_words: int = 10, level: float | None = LEVEL) -> pd.DataFrame:
        """All topics as the browser and the command line list them.

        Columns are topic, label, n_words, share, lower, upper, background, words. The largest topic comes first;
        background topics (of connecting words) come last. ``words`` are lists, the most relevant first, as in
        ``top_words(relevance=0.6)``. ``label`` is the automatic one, unless a person gave another.

        Parameters
        ----------
        n_words : int
            Number of words per topic.
        level : float, optional
            Probability of the interval of each share, as in ``topic_sizes``; None leaves intervals out.

        Examples
        --------
        >>> import pathlib, tempfile, topoi
        >>> path = pathlib.Path(tempfile.mkdtemp()) / "small.topoi"
        >>> topoi.LDA(1, n_iter=2, random_state=0).fit(topoi.Corpus.from_tokens([["a", "a", "b"]])).save(path)
        >>> topoi.view(path).topics()["words"].tolist()
        [['a', 'b']]
        """
        wanted = whole_number("n_words", n_words)
        rows = sorted(self.rows("topic_list"), key=lambda row: reading_order(row[4], row[3], row[0]))
        if wanted <= N_WORDS:
            words = [self._listed(row[0], row[5])[:wanted] for row in rows]
        else:
            words = [self.top_words(wanted, topic=row[0], relevance=SUMMARY_RELEVANCE)["word"].tolist() for row in rows]
        topic, label, n_tokens, share, glue, _, deviation = list(zip(*rows, strict=True)) or [()] * 7
        sizes, ends = Moments(np.array(share, np.float64), np.array(deviation, np.float64)), {}
        if level is not None:
            ends = dict(zip(("lower", "upper"), sizes.interval(level), strict=True))
        return pd.DataFrame(
            {
                "topic": np.array(topic, np.int64),
                "label": pd.Series(label, dtype=object),
                "n_words": np.array(n_tokens, np.int64),
                "share": sizes.mean,
                **ends,
                "background": np.array(glue, bool),
                "words": pd.Series(words, dtype=object),
            }
        )

    def background_flags(self) -> NDArray[np.bool_]:
        """Whether each topic is a background topic: of connecting words, without a subject.

        Examples
        --------
        >>> import pathlib, tempfile, topoi
        >>> path = pathlib.Path(tempfile.mkdtemp()) / "small.topoi"
        >>> topoi.LDA(2, n_iter=2, random_state=0).fit([["sun", "star"], ["cell", "gene"]] * 3).save(path)
        >>> topoi.view(path).background_flags().tolist()
        [False, False]
        """
        return np.array([row[4] for row in sorted(self.rows("topic_list"))], bool)

    def _listed(self, topic: int, words: object) -> list[str]:
        with self.store.named():
            return [str(word) for word in stored_json(words, f"the words of topic {topic}", "words")]

    def leading_authors(self, topic: int, n: int = 10) -> pd.DataFrame:
        """Authors with most words of a topic, as the browser lists them: author, n_words, probability.

        The order is that of ``top_authors(by="words")``; authors without a word of the topic are left out.

        Parameters
        ----------
        topic : int
            The topic.
        n : int
            Number of authors.

        Examples
        --------
        >>> import pathlib, tempfile, topoi
        >>> path = pathlib.Path(tempfile.mkdtemp()) / "small.topoi"
        >>> corpus = topoi.Corpus.from_tokens([["a"], ["a"], ["b"]], authors=["Ann", "Bob", "Ann"])
        >>> topoi.AuthorTopicModel(1, prior="paper", n_iter=2, random_state=0).fit(corpus).save(path)
        >>> topoi.view(path).leading_authors(0)["author"].tolist()
        ['Ann', 'Bob']
        """
        self._need_authors()
        (k,) = self._topics(topic)
        if whole_number("n", n) > N_RANKED:
            frame = self.top_authors(n, topic=k, by="words")[["author", "n_words", "probability"]]
            return frame[frame["n_words"] > 0].reset_index(drop=True)
        rows = self.rows("topic_authors", topic=k, n=n)
        _, _, author, n_tokens, probability = list(zip(*rows, strict=True)) or [()] * 5
        return pd.DataFrame(
            {
                "author": pd.Series(author, dtype=object),
                "n_words": np.array(n_tokens, np.int64),
                "probability": np.array(probability, np.float64),
            }
        )
