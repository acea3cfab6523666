"""Names that people gave to topics, for a fitted model in memory."""

from __future__ import annotations

from typing import Any

from topoi.models.editing.records import given_names
from topoi.models.posterior import Posterior


def names_of_people(model: Any) -> dict[int, str]:
    """Names that people gave to topics of a fitted model: in the file that it comes from, and by edits since then.

    Examples
    --------
    >>> import topoi
    >>> from topoi.models.people import names_of_people
    >>> model = topoi.LDA(2, n_iter=5, random_state=0).fit([["sun", "star"], ["cell", "gene"]])
    >>> names_of_people(topoi.edit(model).rename(1, "nature").commit())
    {1: 'nature'}
    """
    first = next(iter(model.chains_), None)
    if not isinstance(first, Posterior):
        return {}
    names, n_edits = first.names_known
    found: dict[int, str | None] = {**names, **given_names(model.edits_, n_edits)}
    return {topic: name for topic, name in sorted(found.items()) if name}
