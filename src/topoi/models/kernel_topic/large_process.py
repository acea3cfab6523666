"""The process of a fit to very many documents: Newton's method by conjugate gradients, evidence by blocks."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from topoi.models.kernel_topic.block_evidence import choose_blocks, learn_on_blocks
from topoi.models.kernel_topic.evidence import MEAN_VARIANCE, Hyper, Learned, Shape
from topoi.models.kernel_topic.fitting import Process, Schedule
from topoi.models.kernel_topic.gaussian_process import Each, Mode, Sites, climb
from topoi.models.kernel_topic.gp_iterative import LargePrior, newton_step, start_large
from topoi.models.kernel_topic.operators import DenseOperator, Operator
from topoi.models.kernel_topic.structured_operators import Structure, StructuredOperator

Array = NDArray[np.float64]


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

    def _learned(self, sites: Sites) -> Learned:
        shared = self._schedule.shared_amplitude
        return learn_on_blocks(self.hyper, sites, self.blocks, shared, self._each, centre=self._began)
