"""Very many documents: Newton's method by conjugate gradients, evidence by blocks, covariances given near documents.

The evidence of any set of documents is a likelihood of the hyper-parameters; the sum over several disjoint sets, as if
they were independent, is a composite likelihood (Varin, Reid and Firth 2011). A block consists of random documents and
those that share a name with them, so that the effect of shared names can be learned.

A document's covariance is that given the most similar documents alone. The sites are those at the mode of all
documents, and a subset of them is less information than all. So these covariances are too wide, never too narrow, by
as much as the documents left out could have contributed.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from topoi.models.features.table import as_dense
from topoi.models.kernel_topic.evidence import (
    MEAN_VARIANCE,
    Hyper,
    Layout,
    Learned,
    Shape,
    evidence_and_gradient,
    maximise,
)
from topoi.models.kernel_topic.fitting import Process, Schedule
from topoi.models.kernel_topic.gaussian_process import Each, Mode, Sites, climb, deviation, serially
from topoi.models.kernel_topic.gp_iterative import LargePrior, newton_step, start_large
from topoi.models.kernel_topic.operators import Cross, DenseOperator, Operator, Places
from topoi.models.kernel_topic.structured_operators import Structure, StructuredOperator

Array = NDArray[np.float64]
N_BLOCKS, BLOCK_SIZE = 6, 250
# Largest number of relatives taken of one document: one with hundreds would fill a block.
_MOST_RELATED = 20
# A training document's own words say most about it, so fewer others suffice.
N_NEAR, N_NEAR_IN_TRAINING = 64, 32
_ROWS_AT_ONCE = 64


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


def operator_of(shape: Shape, structure: Structure | None) -> Operator:
    """The shape as an operator."""
    if structure is None:
        return DenseOperator(shape.matrix(), shape.cross)
    return StructuredOperator(structure, shape.kernel)  # type: ignore[arg-type]


def large_prior(hyper: Hyper, structure: Structure | None) -> LargePrior:
    """Prior of y before any word is seen."""
    return LargePrior(operator_of(hyper.shape, structure), hyper.amplitude, hyper.noise, MEAN_VARIANCE)


class LargeProcess(Process):
    """``Process`` for very many documents: no matrix between all of them is ever factored."""

    prior: LargePrior  # type: ignore[assignment]

    def __init__(
        self, hyper: Hyper, structure: Structure | None, y: Array, schedule: Schedule, each: Each,
        began: Hyper | None = None, a: Array | None = None,
    ) -> None:  # fmt: skip
        self._structure = structure
        super().__init__(hyper, y, schedule, each, began, a)
        # They depend on names that documents share, not on hyper-parameters.
        self.blocks = choose_blocks(self.prior.shape, len(y), schedule.seed)

    def _prior(self, hyper: Hyper) -> LargePrior:  # type: ignore[override]
        return large_prior(hyper, self._structure)

    def _start(self, hyper: Hyper, y: Array) -> None:
        self.hyper, self.prior = hyper, self._prior(hyper)
        self.y, self.a, n_iterations = start_large(self.prior, y, self._each)
        self._count(n_iterations)

    def _count(self, n_iterations: int) -> None:
        self.info["solver_iterations"] = self.info.get("solver_iterations", 0) + n_iterations

    def _find_mode(self, counts: Array, n_steps: int | None) -> Mode:
        def whole_step(y: Array, a: Array) -> tuple[Array, Array]:
            new_y, new_a, n_iterations = newton_step(self.prior, counts, y, a, self._each)
            self._count(n_iterations)
            return new_y, new_a

        return climb(counts, whole_step, self.y, self.a, n_steps=n_steps)

    def _deviation(self, sites: Sites, random: np.random.Generator) -> Array:
        """Of each block's documents, given that block; others, from which nothing is learned, stay at the mean."""
        found = np.zeros_like(self.y)
        for docs in self.blocks:
            prior = self.hyper._replace(shape=some_documents(self.hyper.shape, docs)).prior()
            found[docs] = deviation(prior, some_sites(sites, docs), random, self._each)
        return found

    def _learned(self, sites: Sites) -> Learned:
        shared = self._schedule.shared_amplitude
        return learn_on_blocks(self.hyper, sites, self.blocks, shared, self._each, centre=self._began)


def training_covariances(
    prior: LargePrior, weight: Array, each: Each = serially, n_near: int = N_NEAR_IN_TRAINING
) -> Array:
    """Covariances of training documents' y: documents × topics × topics. ``weight`` is N_d π_dk of the sites."""
    shape, n_topics = prior.shape, len(prior.amplitude)

    def one(d: int) -> Array:
        docs = shape.nearest(d, n_near)
        covariance = _prior_among(prior, docs)
        between = covariance[:, 0]
        return given_near(covariance, between, between[:, 0], weight[docs])

    return _for_rows(one, len(weight), n_topics, each)


def new_covariances(
    prior: LargePrior, weight: Array, cross: Cross, noise: bool, each: Each = serially, n_near: int = N_NEAR
) -> Array:
    """Covariances of new documents' y or, without ``noise``, of the function they vary about."""

    def one(row: int) -> Array:
        docs = cross.nearest(row, n_near)
        between = prior.amplitude[:, None] * cross.between(row, docs) + prior.mean_variance
        own = prior.amplitude * cross.own[row] + prior.mean_variance + (prior.noise if noise else 0.0)
        return given_near(_prior_among(prior, docs), between, own, weight[docs])

    return _for_rows(one, len(cross.own), len(prior.amplitude), each)


def _prior_among(prior: LargePrior, docs: Places) -> Array:
    """Covariance of every topic between some documents; topics × documents × documents."""
    found = prior.amplitude[:, None, None] * prior.shape.among(docs) + prior.mean_variance
    found[:, np.arange(len(docs)), np.arange(len(docs))] += prior.noise[:, None]
    return np.asarray(found)


def given_near(covariance: Array, between: Array, own: Array, weight: Array) -> Array:
    """Covariance between one document's topics, given sites at some documents; topics × topics.

    ``covariance`` is topics × documents × documents, ``between`` topics × documents, ``own`` the document's own prior
    variances. Rasmussen and Williams 2006, algorithm 3.4.
    """
    root = np.sqrt(weight.T)
    inner = covariance * (root[:, :, None] * root[:, None, :])
    inner[:, np.arange(len(weight)), np.arange(len(weight))] += 1.0
    gain = np.linalg.inv(inner) * (root[:, :, None] * root[:, None, :])
    seen = np.einsum("kij,kj->ki", gain, between)
    found = seen @ np.linalg.solve(gain.sum(axis=0), seen.T)
    found[np.diag_indices_from(found)] += own - np.einsum("ki,ki->k", between, seen)
    return np.asarray((found + found.T) / 2.0)


def _for_rows(one: Callable[[int], Array], n_rows: int, n_topics: int, each: Each) -> Array:
    found = np.empty((n_rows, n_topics, n_topics))

    def some(part: int) -> None:
        for row in range(part * _ROWS_AT_ONCE, min((part + 1) * _ROWS_AT_ONCE, n_rows)):
            found[row] = one(row)

    each(some, -(-n_rows // _ROWS_AT_ONCE))
    return found
