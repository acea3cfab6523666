"""Guidance of topics by what a person knows: seed words, words banned or pinned, labels of documents.

All of it changes the prior, never the draw:

* A **seed** word w of topic k is a number n of *phantom tokens*: the prior of w in k is beta[w] + n.
* A **banned** word of a topic has the prior zero there, so it is never drawn from it.
* **Labels** of a document set the prior of all topics but its labels' and the shared ones to zero in that document.

A sampler's counts hold real and phantom tokens together. A banned cell holds exactly -beta[w], so that the kernels'
``count + beta`` is exactly zero: they need not know of any of this. Counts of a posterior and of a store are real
tokens alone; ``Phantoms`` adds the others where probabilities are computed.
"""

from __future__ import annotations

import math
import numbers
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, TypeAlias

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.special import gammaln

from topoi.corpus.corpus import Corpus
from topoi.corpus.vocabulary import Vocabulary
from topoi.errors import ModelError
from topoi.kernels.guided import draw_start
from topoi.kernels.random import new_stream
from topoi.models.notices import warn_user
from topoi.models.validation import whole_number

# Nonzero counts row by row: start of each row, columns, sums over the samples.
Rows: TypeAlias = tuple[NDArray[Any], NDArray[Any], NDArray[Any]]
Seeds: TypeAlias = Mapping[int | str, Sequence[str] | Mapping[str, int]]
WordsOfTopics: TypeAlias = Mapping[int | str, Sequence[str] | str]
DocLabels: TypeAlias = "str | Sequence[Any] | Mapping[str, Any]"
DocumentsOfTopics: TypeAlias = Mapping[int | str, Sequence[int | str]]

# All words of a topic: nothing is ever drawn from it.
EVERY_WORD = "*"
# Strength of a seed that none is given for: this part of the mean size of a topic, see docs/guidance.md.
DEFAULT_PART = 0.01
# Settings of a model that are guidance.
SETTINGS = ("seeds", "seed_strength", "ban", "pin", "doc_labels", "doc_ban")
# Sums of beta over banned words are rounded to this, so that float64 counts of tokens stay exact.
_GRID = 2.0**-20
_MOST_PHANTOMS = 2**22
_STREAM = 2**60
_SHOWN = 5


@dataclass(frozen=True)
class Phantoms:
    """Prior of words in topics beyond beta: cells of phantom tokens, and cells that are banned.

    Parameters
    ----------
    word, topic, times : arrays
        Phantom tokens of words in topics; whole numbers.
    banned_word, banned_topic : arrays
        Words that topics cannot have.
    n_words, n_topics : int
        Numbers of words and topics.

    Examples
    --------
    >>> import numpy as np
    >>> from topoi.models.guidance import Phantoms
    >>> one = Phantoms(*(np.array([n]) for n in (0, 1, 50, 2, 0)), 3, 2)
    >>> one.rows([0, 2], np.array([0.5, 0.5, 0.5])).tolist()
    [[0.0, 50.0], [-0.5, 0.0]]
    """

    word: NDArray[np.int64]
    topic: NDArray[np.int64]
    times: NDArray[np.int64]
    banned_word: NDArray[np.int64]
    banned_topic: NDArray[np.int64]
    n_words: int
    n_topics: int

    @classmethod
    def from_array(cls, cells: NDArray[Any], n_words: int, n_topics: int) -> Phantoms:
        """Phantoms from the array of ``to_array``, checked; a ``ModelError`` if it does not fit."""
        whole = cells.ndim == 2 and cells.shape[1] == 3 and cells.dtype == np.int64
        if not whole or not _fit(cells, n_words, n_topics):
            raise ModelError("the saved guidance does not fit the words and topics")
        seeds, banned = cells[cells[:, 2] > 0], cells[cells[:, 2] < 0]
        return cls(seeds[:, 0], seeds[:, 1], seeds[:, 2], banned[:, 0], banned[:, 1], n_words, n_topics)

    def to_array(self) -> NDArray[np.int64]:
        """Words, topics and phantom tokens, -1 for banned cells; one row for each."""
        seeds = np.stack([self.word, self.topic, self.times], axis=1)
        banned = np.stack([self.banned_word, self.banned_topic, np.full(len(self.banned_word), -1)], axis=1)
        return np.concatenate([seeds, banned]).astype(np.int64)

    def __len__(self) -> int:
        return len(self.word) + len(self.banned_word)

    @cached_property
    def retired(self) -> NDArray[np.bool_]:
        """Topics whose every word is banned."""
        return np.asarray(np.bincount(self.banned_topic, minlength=self.n_topics) == self.n_words)

    def totals(self, beta: NDArray[Any]) -> NDArray[np.float64]:
        """Phantom tokens per topic, less beta of the words that it cannot have."""
        found = np.bincount(self.topic, self.times, self.n_topics)
        lost = np.bincount(self.banned_topic, np.asarray(beta, np.float64)[self.banned_word], self.n_topics)
        # A retired topic has no words at all, and its weights are zero whatever they are divided by.
        lost[self.retired] = 0.0
        return np.asarray(found - np.rint(lost / _GRID) * _GRID)

    def rows(self, words: Any, beta: NDArray[Any]) -> NDArray[np.float64]:
        """Phantom tokens of some words per topic, words × topics; -beta where a word is banned."""
        chosen = np.asarray(words, np.int64)
        found = self.seed_rows(chosen)
        at, row = _places(self.banned_word, chosen)
        found[row, self.banned_topic[at]] = -np.asarray(beta, np.float64)[self.banned_word[at]]
        return found

    def seed_rows(self, words: NDArray[np.int64]) -> NDArray[np.float64]:
        """Phantom tokens of some words per topic, words × topics; zero where a word is banned."""
        found = np.zeros((len(words), self.n_topics))
        at, row = _places(self.word, words)
        np.add.at(found, (row, self.topic[at]), self.times[at])
        return found

    def at(self, word: NDArray[Any], topic: NDArray[Any]) -> NDArray[np.float64]:
        """Phantom tokens of pairs of words and topics that are not banned."""
        keys, order = self._sorted
        wanted = np.asarray(word, np.int64) * self.n_topics + np.asarray(topic, np.int64)
        place = np.minimum(np.searchsorted(keys, wanted), max(len(keys) - 1, 0))
        if not len(keys):
            return np.zeros(len(wanted))
        return np.where(keys[place] == wanted, self.times[order][place], 0).astype(np.float64)

    @cached_property
    def _sorted(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        keys = self.word * self.n_topics + self.topic
        order = np.argsort(keys)
        return keys[order], order

    def with_seeds(self, cells: Rows, samples: int) -> Rows:
        """Word counts of topics, as sums over samples row by row, with the phantom tokens of seeds."""
        start, word, number = cells
        topic = np.concatenate([np.repeat(np.arange(self.n_topics), np.diff(start)), self.topic])
        both = topic * (int(max(word.max(initial=0), self.word.max(initial=0))) + 1) + np.concatenate([word, self.word])
        keys, place = np.unique(both, return_inverse=True)
        sums = np.bincount(place, np.concatenate([number, self.times * samples]), len(keys))
        at = np.zeros(len(keys), np.int64)
        at[place] = np.arange(len(both))
        found = topic[at], np.concatenate([word, self.word])[at]
        return np.searchsorted(found[0], np.arange(self.n_topics + 1)), found[1], np.rint(sums).astype(np.int64)

    def add_to(self, counts: Any, beta: NDArray[Any]) -> None:
        """Add the phantoms to a sampler's counts of real tokens."""
        np.add.at(counts.word_topic, (self.word, self.topic), self.times.astype(counts.word_topic.dtype))
        counts.topic[...] += self.totals(beta)
        self._ban(counts, beta)

    def change_beta(self, counts: Any, old: NDArray[Any], new: NDArray[Any]) -> None:
        """Bring counts with phantoms to another beta."""
        counts.topic[...] += self.totals(new) - self.totals(old)
        self._ban(counts, new)

    def _ban(self, counts: Any, beta: NDArray[Any]) -> None:
        if len(self.banned_word):
            counts.word_topic[self.banned_word, self.banned_topic] = -np.asarray(beta, np.float32)[self.banned_word]

    def log_constant(self, beta: NDArray[Any], beta_sum: float) -> float:
        """What ``Counts.log_words`` gives for the phantoms alone: their part of counts with phantoms."""
        own = np.asarray(beta, np.float64)[self.word]
        cells = gammaln(self.times + own) - gammaln(own)
        return float(cells.sum() - (gammaln(self.totals(beta) + beta_sum) - math.lgamma(beta_sum)).sum())

    def unguided(self) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
        """Words and topics, as masks, such that no cell of theirs has phantoms.

        Given these topics and the tokens of these words in them, the words have a Dirichlet prior with beta alone:
        what beta is learned from. Topics with many phantoms are left out, and the words of all others' phantoms.
        """
        both = [np.concatenate(pair) for pair in ((self.word, self.banned_word), (self.topic, self.banned_topic))]
        topics = np.bincount(both[1], minlength=self.n_topics) <= max(self.n_words // 20, 10)
        words = np.ones(self.n_words, bool)
        words[both[0][topics[both[1]]]] = False
        return words, topics


def _fit(cells: NDArray[np.int64], n_words: int, n_topics: int) -> bool:
    word, topic, times = cells.T
    inside = (word >= 0) & (word < n_words) & (topic >= 0) & (topic < n_topics)
    known = (times == -1) | ((times > 0) & (times <= _MOST_PHANTOMS))
    return bool((inside & known).all()) and len(np.unique(word * n_topics + topic)) == len(cells)


def _places(among: NDArray[np.int64], wanted: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Positions in ``among`` of values that are in ``wanted``, and their positions there; ``wanted`` is distinct."""
    if not len(among) or not len(wanted):
        return np.zeros(0, np.int64), np.zeros(0, np.int64)
    order = np.argsort(wanted, kind="stable")
    place = np.minimum(np.searchsorted(wanted[order], among), len(wanted) - 1)
    at = np.flatnonzero(wanted[order][place] == among)
    return at, order[place[at]]


@dataclass(frozen=True)
class Guidance:
    """What a sampler is told: phantoms, and the topics that each document may have.

    Parameters
    ----------
    phantoms : Phantoms
        Prior of words in topics.
    names : tuple of str
        Names of the first topics: of seeds, then of labels.
    allowed : array of bool, optional
        Sets of topics, sets × topics, if some documents may not have all.
    doc_set : array of int, optional
        Number of each document's set.
    missing : dict
        Seed words that the vocabulary does not have, by topic.
    """

    phantoms: Phantoms
    names: tuple[str, ...] = ()
    allowed: NDArray[np.bool_] | None = None
    doc_set: NDArray[np.int32] | None = None
    missing: Mapping[str, list[str]] | None = None

    @property
    def n_topics(self) -> int:
        """The number of topics."""
        return self.phantoms.n_topics

    @property
    def limits_documents(self) -> bool:
        """Whether some documents may not have all topics."""
        return self.allowed is not None

    def of_documents(self, first: int, last: int) -> tuple[NDArray[np.float32], NDArray[np.int32]] | None:
        """For documents ``first`` to ``last``: sets of topics as rows of zeros and ones, and the number of each's."""
        if self.allowed is None or self.doc_set is None:
            return None
        return self.allowed.astype(np.float32), self.doc_set[first:last]

    def check_type(self, kind: Any) -> None:
        """Raise an error if counts are whole numbers of this type, and a banned cell has to hold a fraction."""
        if len(self.phantoms.banned_word) and np.dtype(kind).kind != "f":
            raise ModelError(
                "a word has more than 2**24 tokens, so counts are whole numbers, and no word can be banned or pinned; "
                "make the most frequent words stop words of the corpus"
            )

    def repaired(
        self, corpus: Corpus, topic: NDArray[np.uint16], key: tuple[int, int, int], first: int = 0
    ) -> NDArray[np.uint16]:
        """The topics of all tokens from document ``first`` on, with those that are not allowed drawn anew.

        A token of a seed word is drawn among the topics that have it as a seed, others uniformly among those allowed.
        """
        return self._drawn(corpus, topic, key, first, corpus.n_docs, anew=False)

    def started(
        self, corpus: Corpus, topic: NDArray[np.uint16], key: tuple[int, int, int], first: int, last: int
    ) -> NDArray[np.uint16]:
        """``repaired`` for documents ``first`` to ``last``, with all tokens of seed words drawn anew."""
        return self._drawn(corpus, topic, key, first, last, anew=True)

    def _drawn(
        self, corpus: Corpus, topic: NDArray[np.uint16], key: tuple[int, int, int], first: int, last: int, anew: bool
    ) -> NDArray[np.uint16]:
        doc_start = corpus.doc_start[first : last + 1]
        tokens = np.ascontiguousarray(corpus.tokens[doc_start[0] : doc_start[-1]], np.int32)
        rows, row = self._word_weights(corpus.n_words)
        sets, doc_set = np.ones((1, self.n_topics), np.float32), np.zeros(last - first, np.int32)
        if self.allowed is not None and self.doc_set is not None:
            sets, doc_set = self.allowed.astype(np.float32), self.doc_set[first:last]
        found = np.array(topic, np.uint16)
        stream = new_stream(*key, _STREAM)
        draw_start(tokens, doc_start - doc_start[0], found, rows, row, sets, doc_set, anew, stream)
        return found

    def _word_weights(self, n_words: int) -> tuple[NDArray[np.float32], NDArray[np.int32]]:
        """Weights of topics for words with phantoms, a row each, and each word's row; the first row is of all others.

        A seed word has its phantoms; a word that is only banned has ones; banned cells are -1.
        """
        both = np.unique(np.concatenate([self.phantoms.word, self.phantoms.banned_word]))
        row = np.zeros(n_words, np.int32)
        row[both] = 1 + np.arange(len(both))
        rows = np.zeros((1 + len(both), self.n_topics), np.float32)
        np.add.at(rows, (row[self.phantoms.word], self.phantoms.topic), self.phantoms.times)
        rows[row[self.phantoms.banned_word], self.phantoms.banned_topic] = -1.0
        rows[0, self.phantoms.retired] = -1.0
        return rows, row


def resolve_guidance(
    corpus: Corpus,
    n_topics: int,
    *,
    seeds: Seeds | None = None,
    seed_strength: int | None = None,
    ban: WordsOfTopics | None = None,
    pin: WordsOfTopics | None = None,
    doc_labels: DocLabels | None = None,
    doc_ban: DocumentsOfTopics | None = None,
) -> Guidance | None:
    """Check a model's guidance against its corpus; None if there is none.

    Parameters
    ----------
    corpus : Corpus
        The documents of the fit.
    n_topics : int
        Number of topics.
    seeds, seed_strength, ban, pin, doc_labels, doc_ban
        As in the models; see ``docs/guidance.md``.

    Examples
    --------
    >>> import topoi
    >>> from topoi.models.guidance import resolve_guidance
    >>> corpus = topoi.Corpus.from_tokens([["sun", "star"], ["cell", "gene"]])
    >>> resolve_guidance(corpus, 3, seeds={"life": ["cell"]}, ban={"life": ["sun"]}).phantoms.to_array().tolist()
    [[2, 0, 1], [0, 0, -1]]
    """
    if not seeds and not ban and not pin and doc_labels is None and not doc_ban:
        return None
    strength = default_strength(corpus, n_topics)
    if seed_strength is not None:
        strength = _phantom_number("seed_strength", seed_strength)
    labels = None if doc_labels is None else _labels(doc_labels, corpus)
    names = _topic_names(seeds, labels, n_topics)
    words = _Words(corpus.vocabulary)
    cells, missing = _seed_cells(seeds or {}, strength, words, names, n_topics)
    banned = _banned_cells(_by_topic("ban", ban, names, n_topics), words, n_topics, corpus.n_words)
    banned |= _pinned_elsewhere(_by_topic("pin", pin, names, n_topics), words, n_topics)
    both = sorted(set(cells) & banned)
    if both:
        w, k = both[0]
        raise ModelError(f"the word {corpus.words[w]!r} is a seed of topic {_called(k, names)} and banned there")
    seeded = np.array([(w, k, n) for (w, k), n in cells.items()], np.int64).reshape(-1, 3)
    out = np.array(sorted(banned), np.int64).reshape(-1, 2)
    columns = seeded[:, 0], seeded[:, 1], seeded[:, 2], out[:, 0], out[:, 1]
    phantoms = Phantoms(*columns, corpus.n_words, n_topics)
    _check_left(phantoms, corpus, names)
    allowed, doc_set = _sets(corpus, labels, names, n_topics, _by_topic("doc_ban", doc_ban, names, n_topics))
    found = Guidance(phantoms, names, allowed, doc_set, missing)
    if allowed is not None:
        _check_sets(found, corpus)
    return found


def default_strength(corpus: Corpus, n_topics: int) -> int:
    """Phantom tokens of a seed word: a hundredth of the mean size of a topic, at least one.

    Examples
    --------
    >>> import topoi
    >>> from topoi.models.guidance import default_strength
    >>> default_strength(topoi.Corpus.from_tokens([["sun"] * 4000]), 2)
    20
    """
    return max(round(DEFAULT_PART * corpus.n_tokens / n_topics), 1)


def documents_told(settings: Mapping[str, Any], corpus: Corpus) -> dict[str, Any]:
    """Settings about documents by their ids, which stay the same when documents are added or put into another order.

    Examples
    --------
    >>> import topoi
    >>> from topoi.models.guidance import documents_told
    >>> corpus = topoi.Corpus.from_tokens([["a"], ["b"]])
    >>> documents_told({"doc_labels": [["x"], None], "doc_ban": {1: [0]}}, corpus)
    {'doc_labels': {'0': ['x']}, 'doc_ban': {1: ['0']}}
    """
    found: dict[str, Any] = {}
    labels, ban = settings.get("doc_labels"), settings.get("doc_ban")
    ids = corpus.documents["id"].tolist() if labels is not None or ban else []
    if labels is not None and not isinstance(labels, str | Mapping):
        given = zip(ids, _labels(labels, corpus), strict=True)
        found["doc_labels"] = {key: own for key, own in given if own is not None}
    if ban:
        found["doc_ban"] = {k: [d if isinstance(d, str) else ids[d] for d in docs] for k, docs in ban.items()}
    return found


def limits_documents(settings: Mapping[str, Any]) -> bool:
    """Whether a model with these settings was told that some documents may not have all topics.

    Examples
    --------
    >>> from topoi.models.guidance import limits_documents
    >>> limits_documents({"doc_labels": "label"}), limits_documents({"doc_labels": None, "doc_ban": {}})
    (True, False)
    """
    return settings.get("doc_labels") is not None or bool(settings.get("doc_ban"))


class _Words:
    """Numbers of words that people write; a word that is not there is tried in lower case."""

    def __init__(self, vocabulary: Vocabulary) -> None:
        self._vocabulary = vocabulary

    def find(self, word: str) -> int | None:
        """Number of a word, None if the vocabulary does not have it."""
        for form in (word, word.lower(), word.strip().lower()):
            if form in self._vocabulary:
                return self._vocabulary.index(form)
        return None

    def need(self, word: str) -> int:
        """Number of a word; an error that names similar ones if the vocabulary does not have it."""
        found = self.find(word)
        return self._vocabulary.index(word) if found is None else found


def _called(topic: int, names: Sequence[str]) -> str:
    return repr(names[topic]) if topic < len(names) else str(topic)


def _listed(name: str, value: Any) -> list[str]:
    """A list of words, checked."""
    if isinstance(value, str) or not isinstance(value, Iterable):
        raise ModelError(f"{name} is {value!r}; pass a list of words, as in [{value!r}]")
    found = list(value)
    wrong = [word for word in found if not isinstance(word, str) or not word]
    if wrong:
        raise ModelError(f"{name} has {wrong[0]!r}, which is no word")
    return found


def _topic_names(seeds: Any, labels: list[list[str] | None] | None, n_topics: int) -> tuple[str, ...]:
    """Names of the first topics: of seeds in their order, then of labels in the order of documents."""
    if seeds is not None and not isinstance(seeds, Mapping):
        raise ModelError(f"seeds is {seeds!r}; it is a mapping of names to words: {{'trade': ['tariff', 'import']}}")
    names: dict[str, None] = {}
    for name in seeds or {}:
        if _number(name) is None:
            if not isinstance(name, str) or not name.strip():
                raise ModelError(f"seeds has a topic called {name!r}; a name is text")
            names[name] = None
    for each in labels or ():
        names.update(dict.fromkeys(each or ()))
    if len(names) > n_topics:
        what = "seeds and labels" if labels is not None else "seeds"
        raise ModelError(f"{what} name {len(names)} topics, but n_topics is {n_topics}; raise n_topics")
    return tuple(names)


def _seed_cells(
    seeds: Mapping[Any, Any], strength: int, words: _Words, names: Sequence[str], n_topics: int
) -> tuple[dict[tuple[int, int], int], dict[str, list[str]]]:
    """Phantom tokens by word and topic, and the words that are not there."""
    cells: dict[tuple[int, int], int] = {}
    missing: dict[str, list[str]] = {}
    for name, given in seeds.items():
        k = _topic_number("seeds", name, names, n_topics)
        listed = _listed(f"seeds[{name!r}]", given)
        for word in listed:
            times = (
                strength
                if not isinstance(given, Mapping)
                else _phantom_number(f"seeds[{name!r}][{word!r}]", given[word])
            )
            w = words.find(word)
            if w is None:
                missing.setdefault(str(name), []).append(word)
            else:
                cells[w, k] = times
        if listed and len(missing.get(str(name), ())) == len(listed):
            shown = ", ".join(map(repr, listed[:_SHOWN]))
            raise ModelError(f"none of the seeds of {name!r} is in the vocabulary: {shown}")
    if missing:
        left_out = [word for each in missing.values() for word in each]
        more = ", …" if len(left_out) > _SHOWN else ""
        warn_user(
            f"{len(left_out)} seed words are not in the vocabulary and are left out: "
            f"{', '.join(left_out[:_SHOWN])}{more}"
        )
    return cells, missing


def _phantom_number(what: str, given: Any) -> int:
    if isinstance(given, float) and given.is_integer():
        given = int(given)
    times = whole_number(what, given)
    if times > _MOST_PHANTOMS:
        raise ModelError(f"{what} is {times:,}; at most {_MOST_PHANTOMS:,} are possible")
    return times


def _by_topic(setting: str, given: Any, names: Sequence[str], n_topics: int) -> dict[int, Any]:
    """A mapping by number of topic. Keys of JSON are text, so the text of a number is a number."""
    if given is None:
        return {}
    if not isinstance(given, Mapping):
        raise ModelError(f"{setting} is {given!r}; it is a mapping of topics, numbers or names, to lists")
    found: dict[int, Any] = {}
    for topic, value in given.items():
        k = _topic_number(setting, topic, names, n_topics)
        found[k] = value if k not in found else [*found[k], *value]
    return found


def _topic_number(setting: str, topic: Any, names: Sequence[str], n_topics: int) -> int:
    if isinstance(topic, str) and topic in names:
        return names.index(topic)
    number = _number(topic)
    if number is not None and 0 <= number < n_topics:
        return number
    known = f"; named are {', '.join(map(repr, names[:_SHOWN]))}" if names else ""
    raise ModelError(f"{setting} has the topic {topic!r}; topics are numbered 0 to {n_topics - 1}{known}")


def _number(topic: Any) -> int | None:
    """A topic's number, or the text of one, as keys of JSON are; None for a name."""
    if isinstance(topic, str):
        return int(topic) if topic.isdecimal() else None
    return int(topic) if isinstance(topic, numbers.Integral) and not isinstance(topic, bool) else None


def _banned_cells(ban: dict[int, Any], words: _Words, n_topics: int, n_words: int) -> set[tuple[int, int]]:
    found: set[tuple[int, int]] = set()
    for k, given in ban.items():
        if given == EVERY_WORD or (not isinstance(given, str) and list(given) == [EVERY_WORD]):
            found |= {(w, k) for w in range(n_words)}
        else:
            found |= {(words.need(word), k) for word in _listed(f"ban[{k}]", given)}
    return found


def _pinned_elsewhere(pin: dict[int, Any], words: _Words, n_topics: int) -> set[tuple[int, int]]:
    """Cells of pinned words in topics that they are not pinned to."""
    homes: dict[int, set[int]] = {}
    for k, given in pin.items():
        for word in _listed(f"pin[{k}]", given):
            homes.setdefault(words.need(word), set()).add(k)
    return {(w, k) for w, own in homes.items() for k in range(n_topics) if k not in own}


def _check_left(phantoms: Phantoms, corpus: Corpus, names: Sequence[str]) -> None:
    """Raise an error for a word that no topic can have, and for too many phantoms."""
    if phantoms.retired.all() and len(phantoms.banned_word):
        raise ModelError("every topic has all its words banned; leave at least one topic")
    times = np.bincount(phantoms.banned_word, minlength=corpus.n_words)
    nowhere = np.flatnonzero(times == phantoms.n_topics)
    if len(nowhere):
        raise ModelError(
            f"the word {corpus.words[nowhere[0]]!r} is banned from every topic; to leave a word out altogether, make "
            "it a stop word of the corpus"
        )
    totals = np.bincount(phantoms.topic, phantoms.times, phantoms.n_topics)
    if (totals > 4 * _MOST_PHANTOMS).any():
        k = int(np.argmax(totals))
        raise ModelError(f"the seeds of topic {_called(k, names)} add up to {totals[k]:,.0f} tokens: too many")


def _labels(given: Any, corpus: Corpus) -> list[list[str] | None]:
    """Labels of each document; None for a document that may have all topics."""
    if isinstance(given, str):
        if given not in corpus.documents.columns:
            known = ", ".join(map(repr, corpus.documents.columns))
            raise ModelError(f"doc_labels is {given!r}, which is no column of the documents; there are {known}")
        values: list[Any] = corpus.documents[given].tolist()
    elif isinstance(given, Mapping):
        values = [given.get(key) for key in corpus.documents["id"].tolist()]
    else:
        values = list(given)
        if len(values) != corpus.n_docs:
            raise ModelError(f"doc_labels has {len(values)} entries, but there are {corpus.n_docs} documents")
    return [_label_list(value, d) for d, value in enumerate(values)]


def _label_list(value: Any, document: int) -> list[str] | None:
    if value is None or value is pd.NA or (isinstance(value, float) and math.isnan(value)):
        return None
    listed = [value] if isinstance(value, str) else value
    if not isinstance(listed, Iterable) or not all(isinstance(each, str) and each for each in listed):
        raise ModelError(
            f"document {document} has the labels {value!r}; pass a list of names, [] for none, None for all"
        )
    return list(listed)


def _sets(
    corpus: Corpus,
    labels: list[list[str] | None] | None,
    names: Sequence[str],
    n_topics: int,
    doc_ban: dict[int, Any],
) -> tuple[NDArray[np.bool_] | None, NDArray[np.int32] | None]:
    """Distinct sets of allowed topics and each document's; None if every document may have all."""
    if labels is None and not doc_ban:
        return None, None
    out = _banned_documents(doc_ban, corpus)
    labelled = {name for each in labels or () for name in each or ()}
    number = {name: k for k, name in enumerate(names)}
    shared = np.array([k >= len(names) or names[k] not in labelled for k in range(n_topics)])
    sets: dict[tuple[Any, Any], int] = {}
    rows: list[NDArray[np.bool_]] = []
    doc_set = np.zeros(corpus.n_docs, np.int32)
    for d in range(corpus.n_docs):
        own = None if labels is None else labels[d]
        key = None if own is None else frozenset(own), out.get(d)
        if key not in sets:
            row = np.ones(n_topics, bool) if own is None else shared.copy()
            row[[number[name] for name in own or ()]] = True
            row[list(out.get(d, ()))] = False
            sets[key] = len(rows)
            rows.append(row)
        doc_set[d] = sets[key]
    allowed = np.stack(rows) if rows else np.ones((1, n_topics), bool)
    return allowed, doc_set


def _banned_documents(doc_ban: dict[int, Any], corpus: Corpus) -> dict[int, frozenset[int]]:
    """Topics that documents may not have, by number of the document."""
    places: dict[str, int] = {}
    found: dict[int, set[int]] = {}
    for k, given in doc_ban.items():
        if isinstance(given, str) or not isinstance(given, Iterable):
            raise ModelError(f"doc_ban[{k}] is {given!r}; pass a list of documents, by id or number")
        for document in given:
            if isinstance(document, str):
                places = places or {key: d for d, key in enumerate(corpus.documents["id"].tolist())}
                # Documents that are not there are left out: a part of the corpus has the same settings.
                d = places.get(document, -1)
            else:
                d = whole_number(f"doc_ban[{k}]", document, 0)
                if d >= corpus.n_docs:
                    raise ModelError(f"doc_ban[{k}] has document {d}; there are {corpus.n_docs}")
            if d >= 0:
                found.setdefault(d, set()).add(k)
    return {d: frozenset(topics) for d, topics in found.items()}


def _check_sets(guidance: Guidance, corpus: Corpus) -> None:
    """Raise an error for a document with a word that none of its topics can have."""
    allowed, doc_set, phantoms = guidance.allowed, guidance.doc_set, guidance.phantoms
    assert allowed is not None and doc_set is not None
    lengths = np.diff(corpus.doc_start)
    empty = ~(allowed & ~phantoms.retired).any(axis=1)
    lost = np.flatnonzero(empty[doc_set] & (lengths > 0))
    if len(lost):
        raise ModelError(
            f"document {lost[0]} may have no topic at all: all are shut by its labels or bans; leave at least one "
            "topic without a label, or allow it more"
        )
    guided = np.unique(phantoms.banned_word)
    guided = guided[np.bincount(phantoms.banned_word)[guided] > phantoms.retired.sum()]
    can = np.asarray(phantoms.rows(guided, np.ones(corpus.n_words)) >= 0)
    for w, row in zip(guided.tolist(), can, strict=True):
        stuck = ~(allowed & row).any(axis=1)
        if not stuck.any():
            continue
        at = np.flatnonzero(np.asarray(corpus.tokens) == w)
        docs = np.searchsorted(corpus.doc_start, at, "right") - 1
        bad = docs[stuck[doc_set[docs]]]
        if len(bad):
            raise ModelError(
                f"document {bad[0]} has the word {corpus.words[w]!r}, which none of the topics that its labels allow "
                "can have: allow the word or the document one of the others"
            )
