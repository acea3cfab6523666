"""The setting alpha, resolved to one parameter for every slot of a graph."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from topoi.errors import ModelError
from topoi.models.dag import Dag
from topoi.models.graph import four_level_widths, slot_children
from topoi.models.validation import positive_vector

_DEFAULT = 0.1


def resolve_alpha(dag: Dag, root_alpha: Any, alpha: Any) -> NDArray[np.float64]:
    """One parameter for every slot, in the order of the graph's slots.

    ``alpha`` is a number for all nodes but the root; a dict from nodes to a number or one per child (0.1 for nodes that
    it leaves out); or, for the four-level model, a matrix of super-topics × sub-topics.

    Examples
    --------
    >>> from topoi.models.dag import Dag
    >>> from topoi.models.pachinko.settings import resolve_alpha
    >>> resolve_alpha(Dag.from_levels(1, 3), 0.01, {"super 0": [1, 2, 3]}).tolist()
    [0.01, 1.0, 2.0, 3.0]
    """
    slots = slot_children(dag)
    given = _by_node(dag, alpha)
    unknown = [name for name in given if name not in slots or name == dag.root or not slots[name]]
    if unknown:
        raise ModelError(
            f"alpha names {unknown[0]!r}, which is no inner node below the root; set root_alpha for the root"
        )
    parts = []
    for name, below in slots.items():
        if name == dag.root:
            parts.append(positive_vector("root_alpha", root_alpha, len(below), "the number of the root's children"))
        elif below:
            what = f"the number of children of {name!r}"
            parts.append(positive_vector("alpha", given.get(name, _DEFAULT), len(below), what))
    return np.concatenate(parts)


def _by_node(dag: Dag, alpha: Any) -> dict[str, Any]:
    """Alpha as a dict from nodes to parameters."""
    if isinstance(alpha, Mapping):
        return dict(alpha)
    inner = [name for name in dag.nodes if name != dag.root and dag.children(name)]
    if np.ndim(alpha) == 2:
        widths = four_level_widths(dag)
        if widths is None or np.shape(alpha) != widths:
            expected = f"{widths[0]} × {widths[1]}" if widths else "a dict from nodes to parameters for this graph"
            raise ModelError(f"alpha is a matrix of {np.shape(alpha)}; it must be {expected}, or a number")
        return dict(zip(inner, np.asarray(alpha), strict=True))
    return dict.fromkeys(inner, _DEFAULT if alpha is None else alpha)
