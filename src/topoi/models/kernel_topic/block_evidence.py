"""Hyper-parameters of very many documents: maximise the sum of the exact evidences of some blocks of documents.

The evidence of any set of documents is a likelihood of the hyper-parameters; the sum over several disjoint sets, as if
they were independent, is a composite likelihood (Varin, Reid and Firth 2011). A block consists of random documents and
those that share a name with them, so that the effect of shared names can be learned.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from topoi.models.features.table import as_dense
from topoi.models.kernel_topic.evidence import Hyper, Layout, Learned, Shape, evidence_and_gradient, maximise
from topoi.models.kernel_topic.gaussian_process import Each, Sites, serially
from topoi.models.kernel_topic.operators import Operator, Places

Array = NDArray[np.float64]
N_BLOCKS, BLOCK_SIZE = 6, 250
# Largest number of relatives taken of one document: one with hundreds would fill a block.
_MOST_RELATED = 20


def choose_blocks(
    operator: Operator, n_docs: int, seed: int, n_blocks: int = N_BLOCKS, size: int = BLOCK_SIZE
) -> list[Places]:
    """Disjoint sets of documents: random ones, each with those that share a name with it.

    If all documents fit in one block, that is all of them.
    """
    rng = np.random.default_rng([seed, n_docs])
    size = min(size, n_docs)
    n_blocks = min(n_blocks, n_docs // size)
    free = np.ones(n_docs, bool)
    waiting = iter(rng.permutation(n_docs))
    blocks = []
    for _ in range(n_blocks):
        block: list[int] = []
        for doc in waiting:
            related = operator.related(int(doc))
            others = rng.permutation(related[1:])[:_MOST_RELATED]
            fresh = [d for d in (int(doc), *others.tolist()) if free[d]][: size - len(block)]
            free[fresh] = False
            block += fresh
            if len(block) == size:
                break
        blocks.append(np.sort(np.array(block, np.int64)))
    return blocks


def some_sites(sites: Sites, docs: Places) -> Sites:
    """Sites of some documents."""
    return Sites(sites.weight[docs], sites.total[docs], sites.linear[docs])


def some_documents(shape: Shape, docs: Places) -> Shape:
    """The same kernel at some of the documents."""
    if shape.kernel is None:
        return Shape(None, as_dense(shape.coordinates)[np.ix_(docs, docs)])
    return Shape(shape.kernel, shape.coordinates[docs])


def learn_on_blocks(
    hyper: Hyper, sites: Sites, blocks: list[Places], shared: bool, each: Each = serially, centre: Hyper | None = None
) -> Learned:
    """Maximise the sum of the blocks' evidences for fixed sites; O(topics × blocks × size³) per evaluation."""
    layout = Layout(len(hyper.shape.theta), len(hyper.noise), shared)
    parts = [(hyper._replace(shape=some_documents(hyper.shape, docs)), some_sites(sites, docs)) for docs in blocks]

    def evidence(x: Array) -> tuple[float, Array]:
        found = [evidence_and_gradient(x, layout, part, some, each) for part, some in parts]
        return float(sum(value for value, _ in found)), np.sum([slope for _, slope in found], axis=0)

    return maximise(evidence, layout, hyper, centre=centre)
