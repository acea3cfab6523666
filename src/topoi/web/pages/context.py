"""The file behind the browser: its current snapshot, and the cache that all pages share."""

from __future__ import annotations

import os
import threading
from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar, cast

import numpy as np
from numpy.typing import NDArray

from topoi.analysis.authors import shared_topics
from topoi.analysis.name_variants import NameIndex
from topoi.errors import ModelError, NotFoundError, StoreError
from topoi.models.editing.records import Edit, retired_topics
from topoi.models.ranking import reading_order
from topoi.models.registry import find
from topoi.models.share_moments import Moments
from topoi.store.door import find_damage, stored_json
from topoi.store.facets import DocumentColumns
from topoi.store.queries import PAGE_QUERIES
from topoi.store.store import Store
from topoi.store.view import ModelView
from topoi.web.links import name_of, slug_of
from topoi.web.pages.names import AuthorIndex
from topoi.web.pages.shapes import Collection, Model, TopicSummary
from topoi.web.pages.text import one_line, short
from topoi.web.submission_desk import SubmissionDesk
from topoi.web.warming import Warming

if TYPE_CHECKING:
    from topoi.web.edits import EditDesk
    from topoi.web.kept_texts import KeptTexts
    from topoi.web.places import PlaceDesk

Result = TypeVar("Result")
_WORDS_OF_A_SUMMARY = 10
_LONGEST_WORD = 100
_LONGEST_LABEL = 100
_MOST_ATTEMPTS = 3
_MOST_KEPT = 100
_SHARED_LOOKED_AT, _SHARED_SHOWN = 10, 3


class RetiredTopicError(NotFoundError):
    """A topic that was merged into another, which has its words."""

    def __init__(self, topic: int, heir: TopicSummary) -> None:
        self.heir = heir
        name = heir["label"] or heir["auto_label"]
        super().__init__(f"topic {topic} was merged into topic {heir['topic']}, {name}, which has its words")


class Trends(NamedTuple):
    """Topics along time: years or decades, tokens, shares and ends of their intervals, topics × periods each."""

    periods: list[int]
    tokens: NDArray[np.int64]
    share: NDArray[np.float64]
    lower: NDArray[np.float64]
    upper: NDArray[np.float64]


def read_edits(view: ModelView) -> list[Edit]:
    """Edits of a model by hand, the first one first."""
    rows = rows_of(view.store, "edits", model_id=view.model_id)
    try:
        with view.store.named():
            return [Edit.from_dict(stored_json(record, "an edit", dict)) for (record,) in rows]
    except ModelError as error:
        raise StoreError(f"{view.store.path} is damaged: {error}") from error


class ModelCache:
    """Cache of a model, valid while its contents do not change: topic summaries, trends, its view."""

    def __init__(self, view: ModelView, digest: str) -> None:
        self.view = view
        self.digest = digest
        self._kept: dict[Any, Any] = {}
        self._making: dict[Any, threading.RLock] = {}
        self._lock = threading.Lock()

    def keep(self, key: object, make: Callable[[], Result]) -> Result:
        """Return the cached value, made by ``make`` on the first call; concurrent callers wait for one result."""
        if key not in self._kept:
            with self._lock:
                making = self._making.setdefault(key, threading.RLock())
            with making:  # a lock per key, so that slow work, such as an alignment, does not block other keys
                if key not in self._kept:
                    self._kept[key] = make()
        return self._kept[key]  # type: ignore[no-any-return]

    @property
    def topics(self) -> list[dict[str, Any]]:
        """All topics: a summary without label, and n_tokens, x, y, all_words."""
        return self.keep("topics", self._read_topics)

    @property
    def edits(self) -> list[Edit]:
        """Edits by hand, the first one first; names that were given since may be missing."""
        return self.keep("edits", lambda: read_edits(self.view))

    @property
    def retired(self) -> frozenset[int]:
        """Topics that were merged into others: they are empty, and no list shows them."""
        return self.keep("retired", lambda: frozenset(retired_topics(self.edits)))

    @property
    def trends(self) -> Trends:
        """Shares of topics by year."""
        return self.keep("trends", lambda: self._read_trends("trends"))

    @property
    def decades(self) -> Trends:
        """Shares of topics by decade."""
        return self.keep("decades", lambda: self._read_trends("decades"))

    def _read_trends(self, query: str) -> Trends:
        rows = rows_of(self.view.store, query, self.view.limits, model_id=self.view.model_id)
        periods = sorted({row[1] for row in rows})
        place = {period: at for at, period in enumerate(periods)}
        tokens = np.zeros((self.view.n_topics, len(periods)), np.int64)
        shares = np.zeros((3, *tokens.shape))
        for topic, period, n_tokens, *part in rows:
            tokens[topic, place[period]], shares[:, topic, place[period]] = n_tokens, part
        return Trends(periods, tokens, *shares)

    def _read_topics(self) -> list[dict[str, Any]]:
        rows = rows_of(self.view.store, "faces", self.view.limits, model_id=self.view.model_id)
        if [row[0] for row in rows] != list(range(self.view.n_topics)):
            raise StoreError(f"{self.view.store.path}: the topics are not numbered from 0")
        years, share = self.trends.periods, self.trends.share
        sizes = Moments(np.array([row[2] for row in rows]), np.array([row[8] for row in rows], np.float64))
        ends = zip(*(end.tolist() for end in sizes.interval()), strict=True)
        return [
            self._topic(row, share[row[0]].round(6).tolist() if years else None, *interval)
            for row, interval in zip(rows, ends, strict=True)
        ]

    def _topic(self, row: tuple[Any, ...], trend: list[float] | None, lower: float, upper: float) -> dict[str, Any]:
        topic, n_tokens, share, hue, x, y, is_background, listed, _, label = row
        with self.view.store.named():
            words = [short(word, _LONGEST_WORD) for word in stored_json(listed, f"topic {topic}", "words")]
        summary = {"topic": topic, "label": None, "auto_label": short(one_line(label), _LONGEST_LABEL)}
        summary |= {"words": words[:_WORDS_OF_A_SUMMARY], "share": float(share)}
        summary |= {"hue": hue, "glue": bool(is_background), "trend": trend}
        size = {"n_tokens": n_tokens, "lower": lower, "upper": upper}
        return {"summary": summary, **size, "x": x, "y": y, "all_words": words}


class Answers:
    """Cache of the latest answers; one is computed at a time."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._kept: OrderedDict[Any, Any] = OrderedDict()

    def get(self, key: Any, make: Callable[[], Result]) -> Result:
        """Return the cached value of a key, made by ``make`` if absent."""
        with self._lock:
            if key not in self._kept:
                self._kept[key] = make()
                if len(self._kept) > _MOST_KEPT:
                    self._kept.popitem(last=False)
            self._kept.move_to_end(key)
            return cast(Result, self._kept[key])


class Snapshot:
    """The contents of the file at one moment."""

    def __init__(self, store: Store, before: Snapshot | None = None) -> None:
        self.store = store
        self._lock, self._author_lock = threading.Lock(), threading.Lock()
        rows = rows_of(store, "models")
        self.digests = {row[1]: f"{row[0]} {row[7]}" for row in rows}
        self.models: list[Model] = [
            Model(
                name=str(name),
                slug=slug_of(str(name)),
                family=str(family),
                n_topics=n_topics,
                n_iter=n_iter,
                n_chains=n_chains,
                created=str(created),
            )
            for _, name, family, n_topics, n_iter, n_chains, created, _ in rows
        ]
        self.corpus = store.sizes
        self.title, self.sentence = store.about()
        same = before is not None and before.store is store and before.corpus == self.corpus
        self.caches: dict[str, ModelCache] = {}
        self._edits: dict[str, list[Edit]] = {}
        self._authors: AuthorIndex | None = None
        self._columns: DocumentColumns | None = None
        self._names: NameIndex | None = None
        self._names_in_order: NDArray[np.int32] | None = None
        if same and before is not None:
            kept = before.caches.items()
            self.caches = {name: cache for name, cache in kept if self.digests.get(name) == cache.digest}
            self._authors, self._columns = before._authors, before._columns
            self._names, self._names_in_order = before._names, before._names_in_order

    @property
    def authors(self) -> AuthorIndex:
        """Index of all authors' names."""
        with self._author_lock:
            if self._authors is None:
                self._authors = AuthorIndex(self._author_rows())
            return self._authors

    @property
    def names(self) -> NameIndex:
        """All authors' names in parts."""
        with self._author_lock:
            if self._names is None:
                self._names = NameIndex(name for name, _ in self._author_rows())
            return self._names

    @property
    def names_in_order(self) -> NDArray[np.int32]:
        """Numbers of all authors by family name."""
        names = self.names
        with self._author_lock:
            if self._names_in_order is None:
                self._names_in_order = np.array(names.order(), np.int32)
            return self._names_in_order

    def _author_rows(self) -> Iterator[tuple[str, int]]:
        # In blocks: a list of all of them would take ten times the memory of the index.
        blocks = self.store.blocks(PAGE_QUERIES["author_names"], (), self.corpus.limits)
        return self._numbered(row for rows in blocks for row in rows)

    @property
    def columns(self) -> DocumentColumns:
        """Columns of all documents, for filters and counts."""
        with self._author_lock:
            if self._columns is None:
                self._columns = DocumentColumns(self.store)
            return self._columns

    def _numbered(self, rows: Iterable[Any]) -> Iterator[tuple[str, int]]:
        for expected, (number, name, n_documents) in enumerate(rows):
            if number != expected:
                raise StoreError(f"{self.store.path}: the authors are not numbered from 0")
            yield name, n_documents

    def edits(self, name: str) -> list[Edit]:
        """Edits of a model by hand, the first one first; names may be given without any change of the model."""
        with self._lock:
            known = self._edits.get(name)
        if known is None:
            known = self._edits[name] = read_edits(self.cache(name).view)
        return known

    def cache(self, name: str) -> ModelCache:
        """The cache of a model."""
        with self._lock:
            if name not in self.caches:
                self.caches[name] = ModelCache(ModelView(self.store, name), self.digests[name])
            return self.caches[name]


class StoreWatcher:
    """A store that other programs may write to, replace or remove while it is read.

    Parameters
    ----------
    path : Path
        The file.

    Attributes
    ----------
    desk : EditDesk, optional
        Where changes of topics are made; None if there are to be none.
    warming : Warming
        What is compiled in the background.
    places : PlaceDesk, optional
        Where documents get their places on the map; None if the file is not to be changed.
    texts : KeptTexts, optional
        Pasted texts that are kept for a while; None if none are.
    submissions : SubmissionDesk
        Where reviewers of many submissions are found.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.desk: EditDesk | None = None
        self.warming = Warming(self, {})
        self.places: PlaceDesk | None = None
        self.texts: KeptTexts | None = None
        self.submissions = SubmissionDesk()
        self._lock = threading.Lock()
        self._seen: tuple[int, ...] | None = None
        self._snapshot: Snapshot | None = None

    def seen(self) -> tuple[int, ...]:
        """Identity of the file and the time of its last change."""
        try:
            status = os.stat(self.path)
        except FileNotFoundError as error:
            raise StoreError(f"{self.path} is not there any more: it has been moved or deleted") from error
        except OSError as error:
            raise StoreError(f"cannot read {self.path}: {error.strerror}") from error
        return status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns

    def snapshot(self) -> Snapshot:
        """Snapshot of the current file."""
        now = self.seen()
        with self._lock:
            if self._snapshot is None or self._seen is None or self._seen[:2] != now[:2]:
                self._snapshot, self._seen = Snapshot(Store(self.path)), now
            elif self._seen != now:
                self._snapshot, self._seen = Snapshot(self._snapshot.store, self._snapshot), now
            return self._snapshot

    def ask(self, slug: str | None, question: Callable[[PageContext], Result]) -> Result:
        """Answer of ``question`` about a model; it is retried if the file changed meanwhile."""
        for _ in range(_MOST_ATTEMPTS - 1):
            before = self.seen()
            try:
                answer = question(self.context(slug))
            except (StoreError, KeyError, IndexError):
                if self.seen() == before:
                    raise
                continue
            if self.seen() == before:
                return answer
        return question(self.context(slug))

    def damage(self) -> str | None:
        """Description of damage in the file; None if none is found."""
        with Store(self.path) as store, store.connection() as connection:
            return find_damage(connection)

    def context(self, slug: str | None = None) -> PageContext:
        """Page context of a model for one request; None is the model saved last."""
        snapshot = self.snapshot()
        if not snapshot.models:
            raise StoreError(f"{self.path} holds no model; save one with `topoi fit` or model.save")
        name = snapshot.models[0]["name"] if slug is None else name_of(slug)
        if name not in snapshot.digests:
            there = ", ".join(repr(short(model["name"], 60)) for model in snapshot.models[:5])
            raise NotFoundError(f"there is no model {short(name, 100)!r} in this file; there are: {there}")
        return PageContext(self, snapshot, snapshot.cache(name))


class PageContext:
    """Everything a page needs of a model, for one request; labels are current.

    Attributes
    ----------
    view : ModelView
        The model, for queries.
    model : Model
        Description of the model.
    likely_neighbours, likely_authors : mapping
        Documents or authors among which the nearest to one are looked for; all, if there are none for it. An export
        knows them.
    """

    def __init__(self, watcher: StoreWatcher, snapshot: Snapshot, cache: ModelCache) -> None:
        self.likely_neighbours: Mapping[int, NDArray[np.int64]] = {}
        self.likely_authors: Mapping[int, NDArray[np.int64]] = {}
        self.watcher = watcher
        self.snapshot = snapshot
        self.cache = cache
        self.view = cache.view
        described = [model for model in snapshot.models if model["name"] == cache.view.name]
        if not described:
            raise StoreError(f"{watcher.path} is damaged: a model has two names")
        self.model = described[0]

    def rows(self, query: str, **parameters: object) -> list[Any]:
        """Rows of one of ``topoi.store.queries.PAGE_QUERIES`` for this model."""
        return rows_of(self.view.store, query, self.view.limits, model_id=self.view.model_id, **parameters)

    def blocks(self, query: str, **parameters: object) -> Iterator[list[Any]]:
        """``rows`` in blocks, for callers that need not hold all of them."""
        given = {"model_id": self.view.model_id, **parameters}
        return self.view.store.blocks(PAGE_QUERIES[query], given, self.view.limits)

    @cached_property
    def collection(self) -> Collection:
        """Size of the collection."""
        sizes, years = self.snapshot.corpus, self.years
        return Collection(
            n_documents=sizes.n_documents,
            n_authors=sizes.n_authors,
            n_tokens=sizes.n_tokens,
            n_words=sizes.n_words,
            first_year=years[0] if years else None,
            last_year=years[-1] if years else None,
        )

    def is_ready(self, kind: str) -> bool:
        """Whether a part of pages can be made without waiting for the compiler."""
        return self.watcher.warming.is_ready(self.model["slug"], kind)

    def pending(self, *kinds: str) -> list[str]:
        """Parts that wait for the compiler."""
        return [kind for kind in kinds if not self.is_ready(kind)]

    @property
    def has_texts(self) -> bool:
        """Whether the file has the documents' texts."""
        return bool(self.snapshot.corpus.has_texts)

    @property
    def has_topics(self) -> bool:
        """Whether the model has topics."""
        return self.view.n_topics > 0

    @property
    def has_graph(self) -> bool:
        """Whether the model's topics are nodes of a graph."""
        return self.view.has_graph

    @property
    def has_authors(self) -> bool:
        """Whether the model distinguishes authors."""
        return self.view.n_authors > 0

    @property
    def features(self) -> list[str]:
        """Names of the features that the model reads; empty if it reads no metadata."""
        given = self.view.settings.get("features")
        names = [given] if isinstance(given, str) else given
        return [str(name) for name in names] if isinstance(names, list | dict) else []

    @property
    def years(self) -> list[int]:
        """Years with shares of topics."""
        return self.cache.trends.periods if self.has_topics else []

    @cached_property
    def labels(self) -> dict[int, str]:
        """Current labels of topics."""
        return {topic: label for topic, label in self._label_rows()} if self.has_topics else {}

    def _label_rows(self) -> list[Any]:
        """Labels, including those of missing topics, which do no harm."""
        return rows_of(self.view.store, "labels", model_id=self.view.model_id)

    def summary(self, topic: int) -> TopicSummary:
        """Summary of a topic, with its trend."""
        topics = self.cache.topics
        if not 0 <= topic < len(topics):
            raise StoreError(f"{self.view.store.path}: a table names a topic that is not there")
        return cast(TopicSummary, {**topics[topic]["summary"], "label": self.labels.get(topic)})

    def badge(self, topic: int) -> TopicSummary:
        """Badge of a topic: its summary without the trend."""
        return cast(TopicSummary, {**self.summary(topic), "trend": None})

    def badges(self, topics: Iterable[int]) -> list[TopicSummary]:
        """Badges of topics."""
        return [self.badge(int(topic)) for topic in topics]

    @property
    def topics(self) -> list[int]:
        """Numbers of all topics but those that were merged into others."""
        return [topic for topic in range(self.view.n_topics) if topic not in self.cache.retired]

    @property
    def last_step(self) -> list[Edit]:
        """Edits of the last commit that is not undone."""
        kept = [edit for edit in self.edits if not edit.undone]
        return [edit for edit in kept if edit.step == kept[-1].step]

    @property
    def edits(self) -> list[Edit]:
        """Edits by hand, the first one first; a model without topics has none."""
        return self.snapshot.edits(self.view.name) if self.has_topics else []

    def merged_into(self, topic: int) -> int:
        """The topic that has the words of a retired one."""
        heir = topic
        for edit in self.cache.edits:
            if edit.undone:
                continue
            if edit.kind == "merge" and heir in edit.topics[1:]:
                heir = edit.topics[0]
            elif edit.kind == "split" and topic in edit.topics[1:]:
                heir = topic  # the number was taken again
        return heir

    @cached_property
    def why_fixed(self) -> str | None:
        """Reason why topics of this model, or this file, cannot be changed by hand; None if they can."""
        known = find(self.view.family)
        why = "it has no topics" if not self.has_topics or known is None else known.why_not_edited(self.view.settings)
        if why is not None:
            return f"Topics of this model cannot be changed by hand: {why}."
        path = self.watcher.path
        if not (os.access(path, os.W_OK) and os.access(path.resolve().parent, os.W_OK)):
            return "Topics cannot be changed: the file, or its folder, may not be written to."
        return None

    def topics_in_order(self) -> list[TopicSummary]:
        """All topics, the largest first, background topics last."""
        summaries = [self.summary(topic) for topic in self.topics]
        return sorted(summaries, key=lambda summary: reading_order(summary["glue"], summary["share"], summary["topic"]))

    def shared_badges(self, own: NDArray[np.float64], other: NDArray[np.float64]) -> list[TopicSummary]:
        """Topics that two mixtures have in common; background topics, which everybody shares, come last."""
        shared = shared_topics(own, other, _SHARED_LOOKED_AT)
        shared.sort(key=lambda topic: self.cache.topics[topic]["summary"]["glue"])
        return self.badges(shared[:_SHARED_SHOWN])

    def check_topic(self, topic: int) -> None:
        """Raise an error for a topic that does not exist."""
        if not 0 <= topic < self.view.n_topics:
            there = f"topics are numbered 0 to {self.view.n_topics - 1}" if self.has_topics else "it has none"
            raise NotFoundError(f"there is no topic {topic} in this model; {there}")
        if topic in self.cache.retired:
            raise RetiredTopicError(topic, self.badge(self.merged_into(topic)))


def rows_of(store: Store, query: str, limits: Mapping[str, int] | None = None, **parameters: object) -> list[Any]:
    """Rows of one of ``PAGE_QUERIES``, checked; see ``Store.rows``."""
    return store.rows(PAGE_QUERIES[query], parameters, limits)
