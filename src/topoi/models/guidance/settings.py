"""Settings that guide topics, checked against a corpus: seeds, bans and pins of words."""

from __future__ import annotations

import numbers
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, TypeAlias

import numpy as np

from topoi.corpus.corpus import Corpus
from topoi.corpus.vocabulary import Vocabulary
from topoi.errors import ModelError, NotFoundError
from topoi.models.guidance.documents import DocLabels, DocumentsOfTopics, check_sets, labels_of, topic_sets
from topoi.models.guidance.guidance import Guidance
from topoi.models.guidance.phantoms import MOST_PHANTOMS, Phantoms
from topoi.models.notices import warn_user
from topoi.models.validation import whole_number

Seeds: TypeAlias = Mapping[int | str, Sequence[str] | Mapping[str, int]]
WordsOfTopics: TypeAlias = Mapping[int | str, Sequence[str] | str]
# Settings of a model that are guidance.
SETTINGS = ("seeds", "seed_strength", "ban", "pin", "doc_labels", "doc_ban")
# All words of a topic: nothing is ever drawn from it.
EVERY_WORD = "*"
# Strength of a seed that none is given for: this part of the mean size of a topic, see docs/guidance.md.
DEFAULT_PART = 0.01
_ANY_NUMBER = 2**62
_SHOWN = 5


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
    known: Sequence[str] = (),
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
    known : sequence of str
        Names of all topics, if the model's topics have names of their own; the settings may use no others.

    Examples
    --------
    >>> import topoi
    >>> from topoi.models.guidance.settings import resolve_guidance
    >>> corpus = topoi.Corpus.from_tokens([["sun", "star"], ["cell", "gene"]])
    >>> resolve_guidance(corpus, 3, seeds={"life": ["cell"]}, ban={"life": ["sun"]}).phantoms.to_array().tolist()
    [[2, 0, 1], [0, 0, -1]]
    """
    if not seeds and not ban and not pin and doc_labels is None and not doc_ban:
        return None
    strength = default_strength(corpus, n_topics)
    if seed_strength is not None:
        strength = _phantom_number("seed_strength", seed_strength)
    labels = None if doc_labels is None else labels_of(doc_labels, corpus)
    given = _topic_names(seeds, labels, n_topics)
    names = tuple(known) or given
    words = _Words(corpus.vocabulary)
    cells, missing = _seed_cells(seeds or {}, strength, words, names, n_topics)
    banned = _banned_cells(_by_topic("ban", ban, names, n_topics), words, names, corpus.n_words)
    pinned = _pinned_cells(_by_topic("pin", pin, names, n_topics), words, names)
    elsewhere = {(w, k) for w in {w for w, _ in pinned} for k in range(n_topics)} - pinned
    for other, clash in ((banned, "banned there"), (elsewhere, "pinned to others")):
        for w, k in sorted(set(cells) & other)[:1]:
            raise ModelError(f"the word {corpus.words[w]!r} is a seed of topic {_called(k, names)} and {clash}")
    left = {w for w, _ in pinned - banned}
    for w, k in sorted(pinned):
        if w not in left:
            raise ModelError(f"the word {corpus.words[w]!r} is pinned to topic {_called(k, names)} and banned there")
    banned |= elsewhere
    seeded = np.array([(w, k, n) for (w, k), n in cells.items()], np.int64).reshape(-1, 3)
    out = np.array(sorted(banned), np.int64).reshape(-1, 2)
    columns = seeded[:, 0], seeded[:, 1], seeded[:, 2], out[:, 0], out[:, 1]
    phantoms = Phantoms(*columns, corpus.n_words, n_topics)
    _check_left(phantoms, corpus, names)
    allowed, doc_set = topic_sets(corpus, labels, names, n_topics, _by_topic("doc_ban", doc_ban, names, n_topics))
    found = Guidance(phantoms, () if known else names, allowed, doc_set, missing, strength)
    if allowed is not None:
        check_sets(found, corpus)
    return found


def resolve_named(corpus: Corpus, n_topics: int, **settings: Any) -> Guidance | None:
    """``resolve_guidance`` for a model in which topics without a name come and go; None if there is none.

    The last topic of the result stands for all topics without a name: words that are pinned to others are banned from
    it. Only named topics can be guided. Of ``n_topics``, the number to begin with, follows the strength of seeds.

    Examples
    --------
    >>> import topoi
    >>> from topoi.models.guidance.settings import resolve_named
    >>> corpus = topoi.Corpus.from_tokens([["sun", "star"], ["cell", "gene"]])
    >>> told = resolve_named(corpus, 9, seeds={"life": ["cell"]}, pin={"life": ["gene"]})
    >>> told.names, told.n_topics, told.phantoms.to_array().tolist()
    (('life',), 2, [[2, 0, 1], [3, 1, -1]])
    """
    seeds, given = settings.get("seeds"), settings.get("doc_labels")
    labels = None if given is None else labels_of(given, corpus)
    names = _topic_names(seeds, labels, _ANY_NUMBER)
    for name in ("seeds", "ban", "pin", "doc_ban"):
        by_topic = settings.get(name)
        for topic in by_topic if isinstance(by_topic, Mapping) else ():
            number = _number(topic)
            if topic not in names and (number is None or not 0 <= number < len(names)):
                known = f"; named are {', '.join(map(repr, names[:_SHOWN]))}" if names else ""
                raise ModelError(
                    f"{name} has the topic {topic!r}, but in this model topics without a name come and go, and change "
                    f"their numbers; give it a name: that of seeds or of a label{known}"
                )
    if settings.get("seed_strength") is None:
        settings = settings | {"seed_strength": default_strength(corpus, n_topics)}
    return resolve_guidance(corpus, len(names) + 1, **settings)


def default_strength(corpus: Corpus, n_topics: int) -> int:
    """Phantom tokens of a seed word: a hundredth of the mean size of a topic, at least one.

    Examples
    --------
    >>> import topoi
    >>> from topoi.models.guidance.settings import default_strength
    >>> default_strength(topoi.Corpus.from_tokens([["sun"] * 4000]), 2)
    20
    """
    return max(round(DEFAULT_PART * corpus.n_tokens / n_topics), 1)


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

    def need(self, word: str, where: str) -> int:
        """Number of a word; an error that names similar ones if the vocabulary does not have it."""
        found = self.find(word)
        if found is not None:
            return found
        try:
            return self._vocabulary.index(word)
        except NotFoundError as error:
            raise NotFoundError(f"{where}: {error}") from None


def _called(topic: int, names: Sequence[str]) -> str:
    return repr(names[topic]) if topic < len(names) else str(topic)


def _listed(name: str, value: Any) -> list[str]:
    """A list of words, checked."""
    if isinstance(value, str) or not isinstance(value, Iterable):
        example = [value] if isinstance(value, str) else ["tariff", "import"]
        raise ModelError(f"{name} is {value!r}; pass a list of words, as in {example!r}")
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
        own: dict[int, int] = {}
        for word in listed:
            times = (
                strength
                if not isinstance(given, Mapping)
                else _phantom_number(f"seeds[{name!r}][{word!r}]", given[word])
            )
            w = words.find(word)
            if w is None:
                missing.setdefault(str(name), []).append(word)
            elif own.setdefault(w, times) != times:
                raise ModelError(f"seeds[{name!r}] has {word!r} twice, with {own[w]} and {times}")
        cells.update({(w, k): times for w, times in own.items()})
        if listed and len(missing.get(str(name), ())) == len(listed):
            shown = ", ".join(map(repr, listed[:_SHOWN]))
            raise ModelError(f"none of the seeds of {name!r} is in the vocabulary: {shown}")
    if missing:
        left_out = [f"{word!r} of {name!r}" for name, each in missing.items() for word in each]
        more = ", …" if len(left_out) > _SHOWN else ""
        what = "1 seed word is" if len(left_out) == 1 else f"{len(left_out)} seed words are"
        warn_user(f"{what} not in the vocabulary and left out: {', '.join(left_out[:_SHOWN])}{more}")
    return cells, missing


def _phantom_number(what: str, given: Any) -> int:
    if isinstance(given, float) and given.is_integer():
        given = int(given)
    times = whole_number(what, given)
    if times > MOST_PHANTOMS:
        raise ModelError(f"{what} is {times:,}; at most {MOST_PHANTOMS:,} are possible")
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
        if k in found and any(isinstance(each, str) or not isinstance(each, Iterable) for each in (value, found[k])):
            raise ModelError(f"{setting} has topic {k} twice, by number and as {_called(k, names)}; put both together")
        found[k] = [*found[k], *value] if k in found else value
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


def _banned_cells(ban: dict[int, Any], words: _Words, names: Sequence[str], n_words: int) -> set[tuple[int, int]]:
    found: set[tuple[int, int]] = set()
    for k, given in ban.items():
        if given == EVERY_WORD or (isinstance(given, list | tuple) and list(given) == [EVERY_WORD]):
            found |= {(w, k) for w in range(n_words)}
        else:
            found |= _cells(f"ban[{_called(k, names)}]", given, words, k)
    return found


def _pinned_cells(pin: dict[int, Any], words: _Words, names: Sequence[str]) -> set[tuple[int, int]]:
    return {cell for k, given in pin.items() for cell in _cells(f"pin[{_called(k, names)}]", given, words, k)}


def _cells(where: str, given: Any, words: _Words, topic: int) -> set[tuple[int, int]]:
    return {(words.need(word, where), topic) for word in _listed(where, given)}


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
    if (totals > 4 * MOST_PHANTOMS).any():
        k = int(np.argmax(totals))
        raise ModelError(f"the seeds of topic {_called(k, names)} add up to {totals[k]:,.0f} tokens: too many")
