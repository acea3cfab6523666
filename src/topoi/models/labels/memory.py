"""Labels that topics had before: they stay while they are nearly as good as the best, since people cite them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from topoi.models.labels.choice import Candidate
from topoi.models.labels.surface import BETWEEN, one_line
from topoi.models.labels.telling import Leading

LONGEST = 40
BACKGROUND = "background: "
# A former label stays if it scores at least this part of the best one.
_NEARLY = 0.5
# Both words of a background topic's former label are still among so many leading ones.
_N_BACKGROUND = 15


class Kept(NamedTuple):
    """A former label that stays, and the words that it is found by; none of a background topic."""

    label: str
    words: tuple[int, ...]


def kept_labels(
    former: Sequence[str],
    found: Sequence[Candidate],
    leading: Leading,
    words: Sequence[str] | NDArray[Any],
    background: NDArray[np.bool_],
) -> dict[int, Kept]:
    """Former labels that stay, by topic.

    A phrase or a list stays if it scores half as much as the best candidate; that of a background topic, if both words
    are still among its leading ones. A label that is neither is not kept: a number, or what no word of the topic makes.

    Parameters
    ----------
    former : sequence of str
        Former labels of the first topics.
    found : sequence of Candidate
        Candidates for labels, of topics that have a subject.
    leading : Leading
        Leading words of each topic.
    words : sequence of str
        The vocabulary.
    background : array of bool
        Which topics are background topics now.

    Examples
    --------
    >>> import numpy as np
    >>> from topoi.models.labels.choice import Candidate
    >>> from topoi.models.labels.memory import kept_labels
    >>> from topoi.models.labels.telling import Leading
    >>> leading = Leading(np.array([[0, 1]]), np.ones((1, 2)), np.ones((1, 2)))
    >>> found = [Candidate(1.0, 0, (0,)), Candidate(0.7, 0, (0, 1)), Candidate(0.1, 0, (1,))]
    >>> how = found, leading, ["gold", "coin"], np.zeros(1, bool)
    >>> [len(kept_labels([label], *how)) for label in ("Gold Coin", "coin")]
    [1, 0]
    """
    listed: dict[int, dict[str, Candidate]] = {}
    for one in found:
        listed.setdefault(one.topic, {})[_key(" ".join(str(words[w]) for w in one.words))] = one
    kept, taken = dict[int, Kept](), set[str]()
    for k, label in enumerate(former[: len(background)]):
        if len(label) > LONGEST or one_line(label) != label or label.casefold() in taken:
            continue
        if background[k]:
            usual = {_key(str(words[w])) for w in leading.word[k, :_N_BACKGROUND]}
            told = label.removeprefix(BACKGROUND)
            stays = told != label and {_key(part) for part in told.split(", ")} <= usual
            words_of: tuple[int, ...] | None = () if stays else None
        else:
            words_of = _still_good(label, listed.get(k, {}))
        if words_of is not None:
            kept[k] = Kept(label, words_of)
            taken.add(label.casefold())
    return kept


def _still_good(label: str, listed: dict[str, Candidate]) -> tuple[int, ...] | None:
    """Words of a label that is nearly as good as the best candidate of its topic; None if it is not."""
    best = max((one.score for one in listed.values()), default=0.0)
    parts = [_key(part) for part in label.split(", ")]
    if len(parts) > 1:
        known = [listed[part] for part in parts if part in listed and len(listed[part].words) == 1]
        good = len(known) == len(parts) == 2 and max(one.score for one in known) >= _NEARLY * best
        return known[0].words if good else None
    # A phrase may have been completed by words that are none of the topic's.
    part = [
        one
        for form, one in listed.items()
        if len(one.words) > 1 and (parts[0].startswith(form) or parts[0].endswith(form))
    ]
    fits = [listed[parts[0]]] if parts[0] in listed else part
    one = max(fits, key=lambda each: each.score, default=None)
    return one.words if one is not None and one.score >= _NEARLY * best else None


def _key(text: str) -> str:
    """A text in lower case, without spaces, hyphens and the like."""
    return "".join(c for c in text.casefold() if c not in BETWEEN)
