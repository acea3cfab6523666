"""Edits as guidance: what a model is told about topics, words and documents, as settings (``topoi.models.guidance``).

Each function takes the settings that are guidance and returns those that change. Keys are numbers of topics, as numbers
or as text (JSON), or names of seeds.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from topoi.models.guidance.settings import EVERY_WORD

Settings = Mapping[str, Any]
# A frozen topic's words weigh so many times what they did when it was frozen, and count no more than this in all.
FROZEN_TIMES, _MOST_FROZEN = 20, 2**23


def retired(told: Settings, names: Sequence[str], gone: int, kept: int) -> dict[str, Any]:
    """All words are banned from a topic; words that were pinned to it are pinned to the one that it is merged into.

    Examples
    --------
    >>> from topoi.models.editing.rules import retired
    >>> retired({"ban": {7: ["a"]}, "pin": {"7": ["b"]}}, (), 7, 3)
    {'ban': {7: '*'}, 'pin': {3: ['b']}, 'seeds': None, 'doc_ban': None}
    """
    pinned = _of(told.get("pin"), names, gone)
    return {
        "ban": {**_without(told.get("ban"), names, gone), gone: EVERY_WORD},
        "pin": with_words(_without(told.get("pin"), names, gone), names, kept, pinned) or None,
        "seeds": unseeded(told, names, gone)["seeds"],
        "doc_ban": _without(told.get("doc_ban"), names, gone) or None,
    }


def divided(told: Settings, names: Sequence[str], source: int, new: Iterable[int]) -> dict[str, Any]:
    """New topics have the bans and pins of the one that they come from; if they were retired, they are no more.

    Examples
    --------
    >>> from topoi.models.editing.rules import divided
    >>> divided({"ban": {7: "*", 2: ["a"]}}, (), 2, [7])
    {'ban': {2: ['a'], 7: ['a']}, 'pin': None, 'doc_ban': None}
    """
    found: dict[str, Any] = {}
    for setting in ("ban", "pin", "doc_ban"):
        own, given = _of(told.get(setting), names, source), dict(told.get(setting) or {})
        for k in new:
            given = with_words(_without(given, names, k), names, k, own)
        found[setting] = given or None
    return found


def banned(told: Settings, names: Sequence[str], topic: int, words: Sequence[str]) -> dict[str, Any]:
    """Words that a topic may not have; seeds that hold it in place lose them.

    Examples
    --------
    >>> from topoi.models.editing.rules import banned
    >>> banned({"ban": {"3": ["a"]}, "seeds": {3: {"a": 5, "b": 5}}}, (), 3, ["b"])
    {'ban': {3: ['a', 'b']}, 'seeds': {3: {'a': 5}}}
    """
    seeds = unseeded(told, names, topic, words)
    return {"ban": with_words(told.get("ban"), names, topic, words)} | seeds


def pinned(told: Settings, names: Sequence[str], topic: int, words: Sequence[str]) -> dict[str, Any]:
    """Words that only a topic may have, or only it and others that they are pinned to."""
    pin = with_words(told.get("pin"), names, topic, words)
    seeds = told.get("seeds")
    for key in dict(seeds or {}):
        k = _number(key, names)
        away = [word for word in words if k != topic and word not in _of(pin, names, k)]
        seeds = unseeded({"seeds": seeds}, names, k, away)["seeds"]
    return {"pin": pin, "seeds": seeds}


def frozen(told: Settings, names: Sequence[str], topic: int, counts: Mapping[str, int]) -> dict[str, Any]:
    """Phantom tokens that hold a topic at its present words."""
    total = sum(counts.values())
    times = max(min(FROZEN_TIMES, _MOST_FROZEN // max(total, 1)), 1)
    seeds = dict(told.get("seeds") or {})
    return {"seeds": {**seeds, topic: {word: times * int(n) for word, n in sorted(counts.items())}}}


def kept_away(told: Settings, names: Sequence[str], topic: int, document: str) -> dict[str, Any]:
    """A document, by its id, that may not have a topic."""
    return {"doc_ban": with_words(told.get("doc_ban"), names, topic, [document])}


def unseeded(
    told: Settings, names: Sequence[str], topic: int | None, words: Sequence[str] | None = None
) -> dict[str, Any]:
    """Seeds of a topic without some words, or without all. A name keeps its place, so that numbers do not shift."""
    found: dict[Any, Any] = {}
    for key, given in (told.get("seeds") or {}).items():
        if _number(key, names) != topic:
            found[key] = given
            continue
        left = [] if words is None else [word for word in given if word not in words]
        if left or key in names:
            found[key] = {word: given[word] for word in left} if isinstance(given, Mapping) and left else left
    return {"seeds": found or None}


def with_words(
    given: Mapping[Any, Any] | None, names: Sequence[str], topic: int, words: Sequence[str]
) -> dict[Any, Any]:
    """A mapping of topics to lists with more entries for one topic."""
    own = _of(given, names, topic)
    rest = _without(given, names, topic)
    return {**rest, topic: list(dict.fromkeys([*own, *words]))} if own or words else rest


def _of(given: Mapping[Any, Any] | None, names: Sequence[str], topic: int | None) -> list[str]:
    found = [value for key, value in (given or {}).items() if _number(key, names) == topic]
    return [each for value in found for each in ([value] if isinstance(value, str) else value)]


def _without(given: Mapping[Any, Any] | None, names: Sequence[str], topic: int) -> dict[Any, Any]:
    return {key: value for key, value in (given or {}).items() if _number(key, names) != topic}


def _number(key: Any, names: Sequence[str]) -> int | None:
    if isinstance(key, str) and key in names:
        return list(names).index(key)
    return int(key) if not isinstance(key, str) or key.isdecimal() else None
