"""From a corpus and a graph to what the sampler works on: shards of documents, chains; and back."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from topoi.kernels.counts import Priors
from topoi.models.pachinko.graph import Graph


def make_priors(graph: Graph, alpha: NDArray[np.float64], beta: NDArray[np.float64]) -> Priors:
    """Priors in the form the kernels read: alpha per slot and its sum per node.

    The sums are exactly rounded sums of the float32 values: the same on every machine, and after a save.
    """
    narrow, narrow_beta = alpha.astype(np.float32), beta.astype(np.float32)
    edges = zip(graph.slot_start[:-1], graph.slot_start[1:], strict=True)
    sums = np.array([math.fsum(narrow[first:last].tolist()) for first, last in edges])
    return Priors(narrow, sums, narrow_beta, math.fsum(narrow_beta.tolist()))  # type: ignore[arg-type]
