"""A model in a store that answers queries without being loaded: rows are read on demand."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from topoi.corpus.notebook import table
from topoi.corpus.vocabulary import Vocabulary
from topoi.errors import ModelError, NotFoundError, StoreError
from topoi.models.calibration import BY_MIXTURE, BY_WORDS, Calibration, restored
from topoi.models.contract import SeedLike
from topoi.models.notebook import topics_html
from topoi.models.notices import warn_user
from topoi.models.periods import PERIODS, Trend
from topoi.models.posterior import checked_plan
from topoi.models.ranking import largest, ranked, relevance_scores
from topoi.models.registry import find, giving
from topoi.models.resampling import LEVEL
from topoi.models.share_moments import author_interval, with_interval
from topoi.models.smoothed_counts import whole_tokens
from topoi.models.texts import check_known
from topoi.models.validation import choice, whole_number
from topoi.retrieval.index import DocumentIndex
from topoi.store.catalogue import StoreCatalogue, StoredNames
from topoi.store.counts import StoredCounts
from topoi.store.door import check_model, stored_json
from topoi.store.places import stored_places
from topoi.store.queries import QUERIES
from topoi.store.read import find_model
from topoi.store.store import Store
from topoi.store.topic_lists import TopicLists
from topoi.store.whole import WholeCollection
from topoi.store.words import stored_vocabulary

# Answered by the view of a model whose topics are nodes of a graph.
GRAPH_QUESTIONS = ("dag_", "edges", "node_labels", "pruned_dag", "super_nodes", "super_topics")


class ModelView(TopicLists, WholeCollection):
    """A fitted model in a store; made by ``topoi.view``.

    It has the frames of a fitted model and answers the same queries (``topoi.similar_authors``, ``topoi.label_words``,
    …) with the same numbers, from the first, best chain. It reads by SQL only what an answer needs, so that opening it
    takes little time and memory. It may be used from several threads.

    Attributes
    ----------
    store : Store
        The file.
    name, family : str
        The model's name and class.
    model_id : int
        Its number in the store's tables.
    gives : tuple of str
        Features of its family that not all have, such as ``"graph"``; see ``topoi.models.registry.Model``.
    n_topics, n_authors, n_chains : int
        0 topics, or authors, if the model has none.

    Examples
    --------
    >>> import pathlib, tempfile, topoi
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "small.topoi"
    >>> topoi.LDA(2, n_iter=2, random_state=0).fit([[1, 2], [2, 1]]).save(path)
    >>> topoi.view(path).topic_sizes()["n_words"].sum()
    np.int64(6)
    """

    def __init__(self, store: Store, name: str | None = None) -> None:
        self.store = store
        self.catalogue_ = StoreCatalogue(store)
        columns = "model_id, name, model, n_topics, n_iter, n_chains, seed, bundle"
        authors = " OR ".join(
            f"EXISTS (SELECT 1 FROM {table} WHERE model_id = ?)" for table in ("author_topic", "author_word")
        )
        with store.connection() as connection, store.named():
            self.model_id, self.name, self.family, *numbers, bundle = find_model(connection, name, columns)
            self.n_topics, self.n_iter_, self.n_chains, self._seed = (number or 0 for number in numbers)
            has_authors = connection.execute(f"SELECT {authors}", (self.model_id, self.model_id)).fetchone()[0]
            check_model(connection, self.model_id, self.n_topics)
            self.settings = stored_json(bundle, "the model", "model.bundle")["settings"]
        sizes = store.sizes  # a store without a corpus is refused here
        known = find(self.family)
        if known is None or (self.n_topics == 0) != (not known.posterior):
            raise StoreError(f"{store.path} holds a model of an unknown kind, {self.family!r}")
        self._known, self.gives = known, known.gives
        # All words may have been drawn from private authors: then no named one has any.
        self.n_authors = sizes.n_authors if has_authors or "authors" in known.gives else 0

    @cached_property
    def limits(self) -> dict[str, int]:
        """Numbers of topics, words, documents and authors, for checking rows that name them."""
        return self.store.sizes.limits | {"topic": self.n_topics, "other": self.n_topics}

    def __repr__(self) -> str:
        return f"<ModelView: {self.name!r}, {self.family} in {self.store.path}>"

    def _repr_html_(self) -> str:
        title = repr(self).strip("<>")
        if not self.n_topics:
            return table(title, [], [])
        topics = self.topics(n_words=8, level=None)
        words = dict(zip(topics["topic"].tolist(), topics["words"], strict=True))
        return topics_html(title, topics, words, "<code>view.topics()</code>")

    def rows(self, query: str, **parameters: object) -> list[Any]:
        """Rows of one of ``topoi.store.queries.QUERIES`` for this model.

        Examples
        --------
        >>> import pathlib, tempfile, topoi
        >>> path = pathlib.Path(tempfile.mkdtemp()) / "small.topoi"
        >>> topoi.LDA(2, n_iter=2, random_state=0).fit([[1, 2], [2, 1]]).save(path)
        >>> len(topoi.view(path).rows("topics"))
        2
        """
        return self.store.rows(QUERIES[query], {"model_id": self.model_id, **parameters}, self.limits)

    @cached_property
    def chains_(self) -> list[Any]:
        """The first chain, in a list; empty if the model has no topics."""
        if not self._known.posterior:
            return []
        counts = StoredCounts(self.store, self.model_id, self.n_authors, self.settings)
        return [self._known.posterior_class.from_source(counts, self.settings)]

    def search_index(self) -> DocumentIndex:
        """The index of the documents, for ``topoi.Search``.

        Examples
        --------
        >>> import pathlib, tempfile, topoi
        >>> path = pathlib.Path(tempfile.mkdtemp()) / "small.topoi"
        >>> corpus = topoi.Corpus.from_tokens([["sun", "star"], ["cell", "gene"]] * 10)
        >>> topoi.LDA(2, alpha=0.1, n_iter=50, random_state=0).fit(corpus).save(path)
        >>> topoi.view(path).search_index().lengths.tolist()[:3]
        [2.0, 2.0, 2.0]
        """
        return self.store.search_index()

    def searched_model(self, name: str | None) -> ModelView:
        """The model of that name in the same file, or this one, for ``topoi.Search``.

        Examples
        --------
        >>> import pathlib, tempfile, topoi
        >>> path = pathlib.Path(tempfile.mkdtemp()) / "small.topoi"
        >>> corpus = topoi.Corpus.from_tokens([["sun", "star"], ["cell", "gene"]] * 10)
        >>> topoi.LDA(2, alpha=0.1, n_iter=50, random_state=0).fit(corpus).save(path)
        >>> topoi.view(path).searched_model(None).name
        'LDA'
        """
        return self if name in (None, self.name) else ModelView(self.store, name)

    def load(self) -> Any:
        """The fitted model, read as a whole, as by ``topoi.load``.

        Examples
        --------
        >>> import pathlib, tempfile, topoi
        >>> path = pathlib.Path(tempfile.mkdtemp()) / "small.topoi"
        >>> corpus = topoi.Corpus.from_tokens([["sun", "star"], ["cell", "gene"]] * 10)
        >>> topoi.LDA(2, alpha=0.1, n_iter=50, random_state=0).fit(corpus).save(path)
        >>> topoi.view(path).load().n_iter_
        50
        """
        from topoi.store.files import load  # estimators take long to import, and most queries do without

        return load(self.store, self.name)

    @property
    def has_graph(self) -> bool:
        """Whether the model's topics are nodes of a graph."""
        return "graph" in self.gives

    def __getattr__(self, name: str) -> Any:
        if name in GRAPH_QUESTIONS:
            raise ModelError(f"{self.family} has no graph of topics; fit {giving('graph')}")
        raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")

    @cached_property
    def vocabulary_(self) -> Vocabulary:
        """The words, and the analyser that cuts text into them."""
        return stored_vocabulary(self.store)

    @property
    def authors_(self) -> StoredNames:
        """Names of the authors, by number."""
        return StoredNames(self.catalogue_, self.n_authors)

    def author_id(self, author: str | int) -> int:
        """Number of an author given by name or by number; ``NotFoundError`` if there is none.

        Examples
        --------
        >>> import pathlib, tempfile, topoi
        >>> path = pathlib.Path(tempfile.mkdtemp()) / "small.topoi"
        >>> corpus = topoi.Corpus.from_tokens([["a"], ["b"]] * 5, authors=["Ann", "Bob"] * 5)
        >>> topoi.AuthorTopicModel(2, n_iter=5, random_state=0).fit(corpus).save(path)
        >>> topoi.view(path).author_id("bob")
        1
        """
        if isinstance(author, str):
            return self.catalogue_.find_author(author)
        if isinstance(author, bool) or not 0 <= int(author) < self.n_authors:
            raise NotFoundError(f"there is no author {author!r}; authors are numbered 0 to {self.n_authors - 1}")
        return int(author)

    # The frames of a fitted model.

    def topic_sizes(self, level: float | None = LEVEL) -> pd.DataFrame:
        """Number of words of each topic in the corpus, as in a fitted model's ``topic_sizes``.

        Examples
        --------
        >>> import pathlib, tempfile, topoi
        >>> path = pathlib.Path(tempfile.mkdtemp()) / "small.topoi"
        >>> corpus = topoi.Corpus.from_tokens([["sun", "star"], ["cell", "gene"]] * 10)
        >>> topoi.LDA(2, alpha=0.1, n_iter=50, random_state=0).fit(corpus).save(path)
        >>> topoi.view(path).topic_sizes()["n_words"].tolist()
        [20, 20]
        """
        total = self._first.topic_totals
        share = total / max(float(total.sum()), 1.0)
        frame = pd.DataFrame({"topic": np.arange(len(total)), "n_words": self._first.topic_sizes, "share": share})
        return with_interval(frame, None if level is None else self._first.size_moments.interval(level, share))

    def top_words(self, n: int = 10, topic: int | None = None, relevance: float = 1.0) -> pd.DataFrame:
        """The most probable, or most relevant, words of each topic, as in a fitted model's ``top_words``.

        ``frame.attrs["rows"]`` lists the words' numbers. Words without a token in the topic are left out.

        Examples
        --------
        >>> import pathlib, tempfile, topoi
        >>> path = pathlib.Path(tempfile.mkdtemp()) / "small.topoi"
        >>> corpus = topoi.Corpus.from_tokens([["sun", "star"], ["cell", "gene"]] * 10)
        >>> topoi.LDA(2, alpha=0.1, n_iter=50, random_state=0).fit(corpus).save(path)
        >>> topoi.view(path).top_words(2, topic=0)["word"].tolist()
        ['cell', 'gene']
        """
        wanted = whole_number("n", n)
        parts = [self._words_of(k, wanted, relevance) for k in self._topics(topic)]
        frame = pd.concat(parts, ignore_index=True)
        frame.attrs["rows"] = frame.pop("word_id").tolist()
        return ranked(frame, "topic")

    def _words_of(self, topic: int, n: int, relevance: float) -> pd.DataFrame:
        limit = n if relevance == 1.0 and self._first.words_by_tokens else -1
        rows = self.rows("topic_words_with_totals", topic=topic, n=limit)
        probability = np.array([row[2] for row in rows], np.float64)
        score = relevance_scores(probability[None], np.array([row[3] for row in rows], np.int64), relevance)
        number = np.array([row[0] for row in rows], np.int64)
        # Ties are broken by the word's number, as everywhere.
        by_number = np.argsort(number, kind="stable")
        best = by_number[largest(score[:, by_number], n)[0]]
        words = [rows[i][1] for i in best]
        return pd.DataFrame(
            {"topic": topic, "word": pd.Series(words, dtype=object), "probability": probability[best]}
            | {"word_id": number[best]}
        )

    def top_authors(
        self, n: int = 10, topic: int | None = None, min_words: int = 0, by: str = "mixture"
    ) -> pd.DataFrame:
        """Leading authors of each topic, as in a fitted model's ``top_authors``; numbers in ``attrs["rows"]``.

        Examples
        --------
        >>> import pathlib, tempfile, topoi
        >>> path = pathlib.Path(tempfile.mkdtemp()) / "small.topoi"
        >>> corpus = topoi.Corpus.from_tokens([["sun", "star"], ["cell", "gene"]] * 10, authors=["Ann", "Bob"] * 10)
        >>> topoi.AuthorTopicModel(2, alpha=0.1, n_iter=50, random_state=0).fit(corpus).save(path)
        >>> topoi.view(path).top_authors(1)["author"].tolist()
        ['Bob', 'Ann']
        """
        self._need_authors()
        choice("by", by, ("mixture", "words"))
        authors, alpha = self._first.written, self._first.alpha
        room = authors.totals + authors.alpha_sum
        eligible = np.flatnonzero(authors.totals >= max(min_words, 0))
        parts = []
        for k in self._topics(topic):
            count = authors.column(k)
            weight = count + alpha[k] if by == "words" else (count + alpha[k]) / room
            share = weight / weight.sum()
            best = eligible[largest(share[None, eligible], whole_number("n", n))[0]]
            columns = {"topic": k, "author_id": best, "probability": share[best], "n_words": whole_tokens(count[best])}
            parts.append(pd.DataFrame(columns))
        frame = pd.concat(parts, ignore_index=True)
        numbers = frame.pop("author_id").tolist()
        frame.insert(1, "author", self.catalogue_.author_names(numbers))
        frame.attrs["rows"] = numbers
        return ranked(frame, "topic")

    def author_topics(
        self, author: str | int | None = None, n: int | None = None, level: float | None = LEVEL
    ) -> pd.DataFrame:
        """Topics of one author, or of all, as in a fitted model's ``author_topics``.

        Examples
        --------
        >>> import pathlib, tempfile, topoi
        >>> path = pathlib.Path(tempfile.mkdtemp()) / "small.topoi"
        >>> corpus = topoi.Corpus.from_tokens([["sun", "star"], ["cell", "gene"]] * 10, authors=["Ann", "Bob"] * 10)
        >>> topoi.AuthorTopicModel(2, alpha=0.1, n_iter=50, random_state=0).fit(corpus).save(path)
        >>> topoi.view(path).author_topics("Ann", n=1)["n_words"].tolist()
        [20]
        """
        self._need_authors()
        mixtures = self._first.written
        rows = np.arange(self.n_authors) if author is None else np.array([self.author_id(author)])
        share, count = mixtures.shares(rows), whole_tokens(mixtures.counts(rows))
        best = largest(share, self.n_topics if n is None else whole_number("n", n))
        frame = pd.DataFrame(
            {
                "author": np.repeat(self.catalogue_.author_names(rows), best.shape[1]),
                "topic": best.ravel(),
                "probability": np.take_along_axis(share, best, axis=1).ravel(),
                "n_words": np.take_along_axis(count, best, axis=1).ravel(),
            }
        )
        return ranked(with_interval(frame, author_interval(self._first, rows, best, level)), "author")

    # New texts.

    def transform(self, texts: Sequence[str], burn_in: int = 20, n_samples: int = 100, lag: int = 1) -> NDArray[Any]:
        """Topic shares of new texts, as in a fitted model's ``transform``.

        Examples
        --------
        >>> import pathlib, tempfile, topoi
        >>> path = pathlib.Path(tempfile.mkdtemp()) / "small.topoi"
        >>> corpus = topoi.Corpus.from_tokens([["sun", "star"], ["cell", "gene"]] * 10)
        >>> topoi.LDA(2, alpha=0.1, n_iter=50, random_state=0).fit(corpus).save(path)
        >>> topoi.view(path).transform(["sun star sun"]).round(1).tolist()
        [[0.0, 1.0]]
        """
        if isinstance(texts, str) or not all(isinstance(text, str) for text in texts):
            raise ModelError("pass a list of texts")
        plan = checked_plan(burn_in, n_samples, lag, self._seed)
        encoded = [self.vocabulary_.encode([text]) for text in texts]
        check_known(self.vocabulary_, sum(len(each.tokens) for each in encoded), sum(e.n_unknown for e in encoded))
        shares = [self._first.text_topics(each.tokens, plan) for each in encoded]
        return np.stack(shares) if shares else np.zeros((0, self.n_topics))

    def label_text(
        self,
        tokens: NDArray[Any],
        authors: NDArray[np.int64],
        burn_in: int = 20,
        n_samples: int = 20,
        lag: int = 2,
        random_state: SeedLike = None,
    ) -> Any:
        """Probabilities of topics and authors for every token of a new text.

        Examples
        --------
        >>> import pathlib, tempfile, topoi
        >>> path = pathlib.Path(tempfile.mkdtemp()) / "small.topoi"
        >>> corpus = topoi.Corpus.from_tokens([["sun", "star"], ["cell", "gene"]] * 10)
        >>> topoi.LDA(2, alpha=0.1, n_iter=50, random_state=0).fit(corpus).save(path)
        >>> import numpy as np
        >>> tokens = np.array([0, 1], np.int32)
        >>> topoi.view(path).label_text(tokens, np.zeros(0, np.int64)).topic.shape
        (2, 2)
        """
        return self._first.label_text(tokens, authors, checked_plan(burn_in, n_samples, lag, self._seed, random_state))

    def label_stored(
        self, document: object, burn_in: int, n_samples: int, lag: int, random_state: SeedLike = None
    ) -> Any:
        """Probabilities of topics and authors for every token of a training document.

        Examples
        --------
        >>> import pathlib, tempfile, topoi
        >>> path = pathlib.Path(tempfile.mkdtemp()) / "small.topoi"
        >>> corpus = topoi.Corpus.from_tokens([["sun", "star"], ["cell", "gene"]] * 10)
        >>> topoi.LDA(2, alpha=0.1, n_iter=50, random_state=0).fit(corpus).save(path)
        >>> view = topoi.view(path)
        >>> document = view.chains_[0].document(0)
        >>> view.label_stored(document, burn_in=20, n_samples=20, lag=2).topic.shape
        (2, 2)
        """
        return self._first.label_document(document, checked_plan(burn_in, n_samples, lag, self._seed, random_state))

    # Precomputed parts of a store.

    @cached_property
    def author_calibration_(self) -> Calibration:
        """Calibration of authors' probabilities, as learned when the model was saved."""
        rows = self.store.rows("SELECT parameters FROM model WHERE model_id = ?", (self.model_id,))
        try:
            by = BY_MIXTURE if self.n_topics else BY_WORDS
            found = restored(stored_json(rows[0][0], "the model's parameters", {}), by)
        except ModelError as error:
            raise StoreError(f"{self.store.path} is damaged: {error}") from None
        if found is None:
            warn_user(f"{self.store.path} was saved without a calibration of its authors: save the model again")
        return Calibration() if found is None else found

    def topic_hues(self) -> dict[int, int]:
        """Hue of each topic, 0 to 359, the same wherever the topic is shown.

        Examples
        --------
        >>> import pathlib, tempfile, topoi
        >>> path = pathlib.Path(tempfile.mkdtemp()) / "small.topoi"
        >>> corpus = topoi.Corpus.from_tokens([["sun", "star"], ["cell", "gene"]] * 10)
        >>> topoi.LDA(2, alpha=0.1, n_iter=50, random_state=0).fit(corpus).save(path)
        >>> sorted(topoi.view(path).topic_hues())
        [0, 1]
        """
        return {int(topic): int(hue) for topic, hue in self.rows("topic_hues")}

    def document_places(self) -> NDArray[np.float64] | None:
        """Places of the documents on a map, documents × 2, as stored; None if there are none yet.

        Examples
        --------
        >>> import pathlib, tempfile, topoi
        >>> path = pathlib.Path(tempfile.mkdtemp()) / "small.topoi"
        >>> topoi.LDA(2, n_iter=5, random_state=0).fit([["sun", "star"], ["cell", "gene"]] * 3).save(path)
        >>> topoi.view(path).document_places().shape
        (6, 2)
        """
        return stored_places(self)

    def author_perplexities(self, author: int) -> tuple[NDArray[Any], NDArray[Any], NDArray[np.float64]]:
        """Documents of an author, their numbers of words, and their perplexities under the author alone.

        Examples
        --------
        >>> import pathlib, tempfile, topoi
        >>> path = pathlib.Path(tempfile.mkdtemp()) / "small.topoi"
        >>> corpus = topoi.Corpus.from_tokens([["sun", "star"], ["cell", "gene"]] * 10, authors=["Ann", "Bob"] * 10)
        >>> topoi.AuthorTopicModel(2, alpha=0.1, n_iter=50, random_state=0).fit(corpus).save(path)
        >>> documents, n_words, perplexity = topoi.view(path).author_perplexities(0)
        >>> n_words.tolist()[:3], perplexity.round().tolist()[:3]
        ([2, 2, 2], [2.0, 2.0, 2.0])
        """
        rows = self.rows("author_perplexities", author_id=author)
        columns = list(zip(*rows, strict=True)) or [(), (), ()]
        perplexity = np.array([np.nan if value is None else value for value in columns[2]], np.float64)
        return np.array(columns[0], np.int64), np.array(columns[1], np.int64), perplexity

    def has_periods(self, by: str) -> bool:
        """Whether the store has words per topic by ``by``: years, or decades unless documents have a decade column.

        Examples
        --------
        >>> import pathlib, tempfile, topoi
        >>> path = pathlib.Path(tempfile.mkdtemp()) / "small.topoi"
        >>> corpus = topoi.Corpus.from_tokens([["sun", "star"], ["cell"]] * 2, dates=[1990, 1990, 1991, 1991])
        >>> topoi.LDA(2, alpha=0.1, n_iter=50, random_state=0).fit(corpus).save(path)
        >>> view = topoi.view(path)
        >>> view.has_periods("year"), view.has_periods("venue")
        (True, False)
        """
        if by not in ("year", "decade"):
            return False
        own = "SELECT EXISTS (SELECT 1 FROM document, json_each(metadata) AS field WHERE field.key = ?)"
        with self.store.connection() as connection:
            if by == "decade" and connection.execute(own, (by,)).fetchone()[0]:
                return False
            query = "SELECT EXISTS (SELECT 1 FROM topic_trend WHERE model_id = ?)"
            return bool(connection.execute(query, (self.model_id,)).fetchone()[0])

    def yearly_shares(self, by: str) -> Trend:
        """Words per topic by year or decade, and their shares with intervals.

        Examples
        --------
        >>> import pathlib, tempfile, topoi
        >>> path = pathlib.Path(tempfile.mkdtemp()) / "small.topoi"
        >>> corpus = topoi.Corpus.from_tokens([["sun", "star"], ["cell"]] * 2, dates=[1990, 1990, 1991, 1991])
        >>> topoi.LDA(2, alpha=0.1, n_iter=50, random_state=0).fit(corpus).save(path)
        >>> topoi.view(path).yearly_shares("year").periods.tolist()
        [1990, 1991]
        """
        return self._trend("topic", by, np.arange(self.n_topics))

    def _trend(self, of: str, by: str, columns: NDArray[np.int64]) -> Trend:
        """Trend of topics (or nodes) by year or decade."""
        step = PERIODS[choice("by", by, tuple(PERIODS))]
        rows = np.array([tuple(row) for row in self.rows(f"{of}s_by_{by}")], np.float64).reshape(-1, 5)
        years, tokens = self._year_tokens
        if not len(years):
            raise ModelError(f"no document with words has a value for {by!r}")
        values, at = np.unique(years // step * step, return_inverse=True)
        period, column = rows[:, 0].astype(np.int64), rows[:, 1].astype(np.int64)
        if not (np.isin(period, values).all() and np.isin(column, columns).all()):
            raise StoreError(f"{self.store.path}: a table names a topic, a node or a year that is not there")
        words, found = np.bincount(at, tokens, len(values)).astype(np.float64), np.zeros((3, len(values), len(columns)))
        found[:, np.searchsorted(values, period), np.searchsorted(columns, column)] = rows[:, 2:].T
        return Trend(values, words, found[0] * words[:, None], *found)

    @cached_property
    def _year_tokens(self) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
        """Years of documents with words, and the number of words in each."""
        query = "SELECT document_id, year FROM document WHERE year IS NOT NULL"
        rows = self.store.rows(query, limits=self.store.sizes.limits)
        table = np.array(rows, np.int64).reshape(-1, 2)
        tokens = self._first.documents.totals[table[:, 0]]
        years, at = np.unique(table[tokens > 0, 1], return_inverse=True)
        return years, np.bincount(at, tokens[tokens > 0], len(years)).astype(np.float64)

    @property
    def _first(self) -> Any:
        if not self.chains_:
            raise ModelError(f"{self.family} has no topics; fit {giving('topics')}")
        return self.chains_[0]

    def _topics(self, topic: int | None) -> list[int]:
        _ = self._first
        if topic is None:
            return list(range(self.n_topics))
        if isinstance(topic, bool) or not isinstance(topic, int | np.integer) or not 0 <= topic < self.n_topics:
            raise NotFoundError(f"there is no topic {topic!r}; topics are numbered 0 to {self.n_topics - 1}")
        return [int(topic)]

    def _need_authors(self) -> None:
        if not self.n_authors or not self.chains_:
            raise ModelError(f"{self.family} has no authors with topics; fit {giving('authors')}")


def view(path: str | Path | Store, name: str | None = None) -> ModelView:
    """Open a model in a store for queries, without loading it.

    Parameters
    ----------
    path : str, Path or Store
        The file that ``model.save`` wrote.
    name : str, optional
        Which of its models; the one saved last if not given.

    Examples
    --------
    >>> import pathlib, tempfile, topoi
    >>> corpus = topoi.Corpus.from_tokens([["sun", "star"], ["cell", "gene"]] * 10, authors=["Ann", "Bob"] * 10)
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "small.topoi"
    >>> topoi.AuthorTopicModel(2, alpha=0.1, n_iter=50, random_state=0).fit(corpus).save(path)
    >>> topoi.similar_authors(topoi.view(path), "Ann")["name"].tolist()
    ['Bob']
    """
    from topoi.store.graph_view import GraphView

    store = path if isinstance(path, Store) else Store(path)
    found = ModelView(store, name)
    return GraphView(store, found.name) if found.has_graph else found
