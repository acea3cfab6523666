"""Alpha learned from documents that may not have all topics.

At a node, a document with the open children A has proportions x from Dirichlet(alpha[A]): with means m and sum s of the
whole Dirichlet, these have the means m[v] / m(A), m(A) = Σ m[A], and the sum s · m(A). A document tells about the
children that were open to it, and about these only in relation to each other; one with a single open child tells
nothing. The root's parameters are not learned.

Moments: m solves  Σ_d x[d,v] = Σ over d with v in A_d of m[v] / m(A_d),  as found by iterating
m[v] ← Σ_d x[d,v] / Σ 1 / m(A_d), which is the mean proportion if everything is open; s solves

    Σ_d |x_d − μ_d|² = Σ_d V_d · [1 / n_d + (1 − 1 / n_d) / (s · m(A_d) + 1)],  μ_d = m / m(A_d), V_d = Σ μ_d (1 − μ_d)

Likelihood: Minka's fixed point, whose denominator sums over the documents in which the child is open. Both have the
pseudo-document with every child once that ``kernels.moments`` explains. With all children open both are the usual rule.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from topoi.kernels.counts import Documents
from topoi.kernels.dirichlet import rounded
from topoi.kernels.moments import LARGEST_SUM, SMALLEST, SMALLEST_SUM
from topoi.models.graph import Graph
from topoi.models.pachinko.equations import Paths
from topoi.models.pachinko.limits import TopicLimits
from topoi.models.pachinko.statistics import slot_counts

Array = NDArray[np.float64]
_MEAN_STEPS, _SUM_STEPS, _LIKELIHOOD_STEPS = 200, 60, 20
_TOLERANCE, _LIKELIHOOD_TOLERANCE, _LARGEST = 1e-7, 1e-4, 1e6


def limited_statistics(
    graph: Graph, documents: Documents, paths: Paths, limits: TopicLimits, rule: str
) -> tuple[NDArray[Any], ...]:
    """Statistics of some documents for ``learn_limited``; ``limits`` are those of these documents.

    For "ml" all counts: slots, numbers, sets; nodes, totals, sets. For "moments" sums: keys of sets and slots with Σ x;
    keys of sets and nodes with the number of documents, Σ 1 / n, and Σ x² over all children.
    """
    slots, numbers, nodes, totals, slot_end, node_end = slot_counts(documents, paths, graph)
    doc, node_doc = (np.repeat(np.arange(len(end) - 1), np.diff(end)) for end in (slot_end, node_end))
    row, node_row = limits.doc_set[doc].astype(np.int64), limits.doc_set[node_doc].astype(np.int64)
    if rule == "ml":
        return slots, numbers, row, nodes, totals, node_row
    n_nodes, n_slots = len(graph.n_paths), int(graph.slot_start[-1])
    parent = np.repeat(np.arange(n_nodes), np.diff(graph.slot_start))[slots]
    keys = node_doc * n_nodes + nodes
    order = np.argsort(keys, kind="stable")
    x = numbers / totals[order][np.searchsorted(keys[order], doc * n_nodes + parent)]
    by_slot = _summed(row * n_slots + slots, x)
    both = np.concatenate((node_row * n_nodes + nodes, row * n_nodes + parent))
    no_node, no_slot = np.zeros(len(nodes)), np.zeros(len(slots))
    columns = (np.ones(len(nodes)), no_slot), (1.0 / totals, no_slot), (no_node, x * x)
    return *by_slot, *_summed(both, *(np.concatenate(column) for column in columns))


def _summed(keys: NDArray[np.int64], *values: Array) -> tuple[NDArray[Any], ...]:
    """Distinct keys in order, and sums of the values of each."""
    distinct, at = np.unique(keys, return_inverse=True)
    return distinct, *(np.bincount(at, each, len(distinct)).astype(np.float64) for each in values)


def learn_limited(
    graph: Graph, limits: TopicLimits, parts: Sequence[tuple[NDArray[Any], ...]], alpha: Array, rule: str
) -> Array:
    """New parameters of all slots from the ``limited_statistics`` of all parts; the root's do not change."""
    columns = [np.concatenate(each) for each in zip(*parts, strict=True)]
    if rule == "ml":
        slots, numbers, row, nodes, totals, node_row = columns
        cells, ends = [slots, row, numbers], [nodes, node_row, totals]
    else:
        key, x, node_key, *sums = *_summed(columns[0], columns[1]), *_summed(columns[2], *columns[3:])
        cells, ends = [*np.divmod(key, len(alpha))[::-1], x], [*np.divmod(node_key, len(graph.n_paths))[::-1], *sums]
    cells, ends = _sorted(cells), _sorted(ends)
    new = alpha.copy()
    for u in range(1, len(graph.n_paths)):
        here = slice(int(graph.slot_start[u]), int(graph.slot_start[u + 1]))
        if here.stop - here.start < 2:
            continue
        is_open = limits.open_slots(here)
        contested = is_open.sum(axis=1) > 1
        mine = _contested(ends, u, u + 1, contested)
        if len(mine[0]):
            own = _contested(cells, here.start, here.stop, contested)
            own[0] = own[0] - here.start
            new[here] = (_by_likelihood if rule == "ml" else _by_moments)(own, mine, is_open, alpha[here])
    # Matrix products differ in their last digits from one machine to another.
    return np.where(new == alpha, alpha, rounded(new))


def _sorted(columns: list[NDArray[Any]]) -> list[NDArray[Any]]:
    """Columns in the order of the first."""
    order = np.argsort(columns[0], kind="stable")
    return [column[order] for column in columns]


def _contested(columns: list[NDArray[Any]], first: int, last: int, contested: NDArray[np.bool_]) -> list[NDArray[Any]]:
    """Rows of slots or nodes ``first`` to ``last``, of the sets in which more than one child is open."""
    begin, end = np.searchsorted(columns[0], [first, last])
    kept = contested[columns[1][begin:end]]
    return [column[begin:end][kept] for column in columns]


class _Rows(NamedTuple):
    """Sums over the documents of each set in which a node has tokens: ``first`` is sets × children."""

    is_open: Array
    n_docs: Array
    inverse: Array
    first: Array
    second: Array


def _by_moments(cells: list[NDArray[Any]], ends: list[NDArray[Any]], is_open: NDArray[np.bool_], alpha: Array) -> Array:
    child, row, x = cells
    _, used, n_docs, inverse, second = ends
    n = len(alpha)
    first = np.zeros((len(used) + 1, n))
    first[np.searchsorted(used, row), child] = x
    first[-1] = 1.0 / n  # the pseudo-document
    rows = _Rows(
        np.vstack((is_open[used], np.ones((1, n), bool))).astype(np.float64),
        np.append(n_docs, 1.0),
        np.append(inverse, 1.0 / n),
        first,
        np.append(second, 1.0 / n),
    )
    mean = _mean(rows, alpha / alpha.sum())
    return np.maximum(mean * _sum(rows, mean, float(alpha.sum())), SMALLEST)


def _mean(rows: _Rows, mean: Array) -> Array:
    """Means of the whole Dirichlet, from ``mean`` on."""
    seen = rows.first.sum(axis=0)
    for _ in range(_MEAN_STEPS):
        new = seen / ((rows.n_docs / (rows.is_open @ mean)) @ rows.is_open)
        new /= new.sum()
        moved = float(np.abs(new - mean).max())
        mean = new
        if moved < _TOLERANCE:
            break
    return mean


def _sum(rows: _Rows, mean: Array, before: float) -> float:
    """Sum of the whole Dirichlet by bisection, given its means; ``before`` if the documents do not tell."""
    mass = rows.is_open @ mean
    own = rows.is_open * mean / mass[:, None]
    spread = 1.0 - (own**2).sum(axis=1)
    found = float((rows.second - 2.0 * (own * rows.first).sum(axis=1) + rows.n_docs * (own**2).sum(axis=1)).sum())
    noise, rest = float(spread @ rows.inverse), spread * (rows.n_docs - rows.inverse)
    if float(rest.sum()) < 1e-9 * max(float(spread @ rows.n_docs), 1e-300):
        return before
    low, high = np.log(SMALLEST_SUM), np.log(LARGEST_SUM)
    for _ in range(_SUM_STEPS):
        middle = (low + high) / 2.0
        expected = noise + float((rest / (np.exp(middle) * mass + 1.0)).sum())
        low, high = (middle, high) if expected > found else (low, middle)
    return float(np.exp((low + high) / 2.0))


def _by_likelihood(
    cells: list[NDArray[Any]], ends: list[NDArray[Any]], is_open: NDArray[np.bool_], alpha: Array
) -> Array:
    from scipy.special import digamma  # slow to import, and not needed for sampling alone

    n = len(alpha)
    # The pseudo-document has each child once, and a set of its own, the last.
    (child, number), times = _counted(np.append(cells[0], np.arange(n)), np.append(cells[2], np.ones(n, np.int64)))
    (row, total), end_times = _counted(np.append(ends[1], len(is_open)), np.append(ends[2], n))
    opened = np.vstack((is_open, np.ones((1, n), bool)))[row].astype(np.float64)
    for _ in range(_LIKELIHOOD_STEPS):
        a, sums = alpha[child], opened @ alpha
        gain = np.bincount(child, times * (digamma(number + a) - digamma(a)), n)
        loss = (end_times * (digamma(total + sums) - digamma(sums))) @ opened
        new = np.clip(alpha * gain / loss, SMALLEST, _LARGEST)
        moved = float(np.abs(new / alpha - 1.0).max())
        alpha = new
        if moved < _LIKELIHOOD_TOLERANCE:
            break
    return alpha


def _counted(
    first: NDArray[Any], second: NDArray[Any]
) -> tuple[tuple[NDArray[np.int64], NDArray[np.int64]], NDArray[np.int64]]:
    """Distinct pairs, and how often each occurs."""
    largest = int(second.max()) + 1
    keys, times = np.unique(first.astype(np.int64) * largest + second.astype(np.int64), return_counts=True)
    return (keys // largest, keys % largest), times
