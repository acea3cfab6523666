"""Cross-validation of settings of the coefficients, on the topic counts of left-out documents."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix

from topoi.engine.interruption import Abandoned, interruptible
from topoi.models.dmr.grouping import grouped, same_rows
from topoi.models.dmr.likelihood import Gaussian, TopicCells, alpha_rows, log_counts, maximise

VARIANCES = (0.01, 0.03, 0.1, 0.3, 1.0, 3.0)
# When widths are compared too, only some variances are: the best width hardly depends on the variance.
FEW_VARIANCES = (0.1, 0.3, 1.0)
_FOLDS, _STEPS = 5, 100


def some_cells(cells: TopicCells, docs: NDArray[np.int64]) -> TopicCells:
    """Counts of some documents."""
    lengths = np.diff(cells.start)[docs]
    start = np.concatenate(([0], np.cumsum(lengths))).astype(np.int64)
    at = np.arange(start[-1]) + np.repeat(cells.start[docs] - start[:-1], lengths)
    limits = None if cells.limits is None else cells.limits.some(docs)
    return TopicCells(start, cells.topic[at], cells.number[at], cells.total[docs], limits)


def held_out(design: csr_matrix, cells: TopicCells, priors: list[Gaussian], n_folds: int = _FOLDS) -> list[float]:
    """Log probability per token of left-out counts for each prior, one fold of documents at a time.

    Folds are random but always the same. Coefficients of one prior start from those of the previous one (warm start).
    """
    n_docs = design.shape[0]
    fold = np.random.default_rng(0).permutation(n_docs) % n_folds
    found = np.zeros(len(priors))
    for number in range(n_folds):
        rest, left = np.flatnonzero(fold != number), np.flatnonzero(fold == number)
        if not len(left) or not len(rest):
            continue
        train, test, seen = some_cells(cells, rest), some_cells(cells, left), design[rest]
        together, counts = grouped(same_rows(seen, train.limits), seen, train)
        coefficients = priors[0].mean
        for p, prior in enumerate(priors):
            coefficients = maximise(together, counts, coefficients, prior, _STEPS)
            found[p] += log_counts(test, alpha_rows(design[left], coefficients, test.limits))
    return list((found / max(float(cells.total.sum()), 1.0)).tolist())


def best_variance(design: csr_matrix, cells: TopicCells, prior: Callable[[float], Gaussian]) -> float:
    """The variance, of a few candidates, under which left-out counts are most probable."""
    scores = held_out(design, cells, [prior(variance) for variance in VARIANCES])
    return VARIANCES[int(np.argmax(scores))]


def best_design(
    designs: Sequence[Any], cells: TopicCells, prior: Callable[[int, float], Gaussian], variances: Sequence[float]
) -> int:
    """Number of the design, of several, under which left-out counts are most probable at its best variance.

    ``prior`` makes the coefficients' prior from a number of columns and a variance. Ties go to the first; after a
    signal, the best so far is returned.
    """
    found = [-np.inf]
    with interruptible() as interruption:
        for design in designs:
            priors = [prior(design.shape[1], variance) for variance in variances]
            try:
                scores = interruption.run(partial(held_out, design, cells, priors))
            except Abandoned:
                break
            found.append(max(scores))
    return max(int(np.argmax(found)) - 1, 0)
