"""Every sweep of the family behind one signature, and loops around it that the tests share."""

from typing import Any, NamedTuple

import numba
import numpy as np

from topoi.kernels.jit import compiled
from topoi.models.graph import four_level_widths
from topoi.models.pachinko.blocks import move_blocks
from topoi.models.pachinko.equations import sweep_four_level_plain, sweep_plain
from topoi.models.pachinko.four_level import sweep_four_level
from topoi.models.pachinko.general import sweep_general


@compiled
def four_level_plain(documents, paths, counts, priors, graph, stream):
    n_super = graph.slot_start[1]
    sweep_four_level_plain(documents, paths, counts, priors, n_super, stream)


@compiled
def four_level_lanes(documents, paths, counts, priors, graph, stream):
    sweep_four_level(documents, paths, counts, priors, graph.slot_start[1], stream)


@compiled
def four_level_with_blocks(documents, paths, counts, priors, graph, stream):
    n_super = graph.slot_start[1]
    sweep_four_level(documents, paths, counts, priors, n_super, stream)
    docs = np.arange(documents.doc_start.shape[0] - 1)
    move_blocks(documents, docs, paths, priors, n_super, counts.topic.shape[0], stream)


class Sweep(NamedTuple):
    """A sweep with a signature that all have, and loops around it: one counts visits, one alternates with new words."""

    sweep: Any
    visit: Any
    alternate: Any
    four_level_only: bool


def with_loops(sweep, four_level_only):
    """Loops compiled around one sweep."""

    @numba.njit(error_model="numpy")
    def visit(documents, paths, counts, priors, graph, first, n_choices, n_sweeps, stream, visits):
        for _ in range(n_sweeps):
            sweep(documents, paths, counts, priors, graph, stream)
            number = 0
            for i in range(len(documents.tokens)):
                number = number * n_choices + first[paths.topic[i]] + paths.path[i]
            visits[number] += 1

    @numba.njit(error_model="numpy")
    def alternate(draw_words, statistics, documents, paths, counts, priors, graph, n, stream, out):
        for s in range(n):
            sweep(documents, paths, counts, priors, graph, stream)
            draw_words(documents, paths, counts, priors, stream)
            statistics(documents, paths, counts, graph, out[s])

    return Sweep(sweep, visit, alternate, four_level_only)


SWEEPS = {
    "any graph, plain": with_loops(sweep_plain, False),
    "any graph, lanes": with_loops(sweep_general, False),
    "four levels, plain": with_loops(four_level_plain, True),
    "four levels, lanes": with_loops(four_level_lanes, True),
    "four levels, lanes and blocks": with_loops(four_level_with_blocks, True),
}


def sweeps_for(dag):
    """The sweeps that a graph can have."""
    return [name for name, sweep in SWEEPS.items() if four_level_widths(dag) or not sweep.four_level_only]
