"""The paper's inference: Dirichlet and Gaussian beliefs pass messages over the Laplace bridge, document by document.

The process is updated after every document, as in the paper, by a step of rank one for each topic. Messages are
natural parameters (precision, shift = precision × mean) and damped. A cavity or message of negative precision is no
Gaussian: the former leaves the document out for this sweep, the latter is replaced by an empty message. Both are
counted.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from topoi.corpus.pieces import ArrayOrPieces
from topoi.models.kernel_topic import gaussian_process as gp
from topoi.models.kernel_topic.evidence import Hyper, Layout, maximise
from topoi.models.kernel_topic.fitting import Counts, Rest, Schedule, Sweeps
from topoi.models.kernel_topic.kernels import subtract_outer
from topoi.models.kernel_topic.laplace_bridge import to_dirichlet, to_gaussian
from topoi.models.trained import checked_floats

Array = NDArray[np.float64]
_PASSES = 3
_ALPHAS = (1e-4, 1e4)
_COUNTED = ("skipped_documents", "clipped_messages", "clipped_dirichlets", "evidence_evaluations")


class Messages:
    """Messages of every document to the topics' processes, and the resulting beliefs.

    ``began`` are the hyper-parameters that learning began at, if not ``hyper``. Messages are empty if not given.
    """

    def __init__(
        self, hyper: Hyper, n_docs: int, damping: float, began: Hyper | None = None, precision: Array | None = None,
        shift: Array | None = None,
    ) -> None:  # fmt: skip
        self.hyper, self._began, self.damping = hyper, began or hyper, damping
        empty = np.zeros((n_docs, len(hyper.noise)))
        self.precision, self.shift = (np.array(empty if given is None else given) for given in (precision, shift))
        self.info = dict.fromkeys(_COUNTED, 0)
        self.refresh()

    def refresh(self) -> None:
        """Recompute all beliefs from the messages, so that rounding errors of the small steps do not accumulate."""
        prior = self.hyper.prior()
        found = []
        for k in range(prior.n_topics):
            covariance = prior.covariance(k)
            gain = gp.regress(covariance, self.precision[:, k], self.shift[:, k]).gain
            found.append(covariance - covariance @ gain @ covariance)
        self.covariance = np.stack(found)
        self.mean = np.einsum("kij,jk->ik", self.covariance, self.shift)

    def visit(self, d: int, counts: Counts) -> None:
        """Update one document: cavity, bridge, words, bridge, message, and a step of the processes."""
        variance = self.covariance[:, d, d]
        precision = 1.0 / variance - self.precision[d]
        if (precision <= 1e-10).any():
            self.info["skipped_documents"] += 1
            return
        shift = self.mean[d] / variance - self.shift[d]
        cavity = shift / precision
        # A Dirichlet does not determine Σ y; the cavity's value must not be returned as new information.
        cavity -= cavity.mean()
        alpha = to_dirichlet(cavity, 1.0 / precision)
        kept = np.clip(alpha, *_ALPHAS)
        self.info["clipped_dirichlets"] += int((kept != alpha).any())
        counts.share_document(d, kept, _PASSES)
        mean, spread = to_gaussian(kept + counts.doc_topic[d])
        new_precision = 1.0 / spread - precision
        new_shift = mean / spread - precision * cavity
        weak = new_precision <= 0.0
        self.info["clipped_messages"] += int(weak.sum())
        new_precision[weak] = new_shift[weak] = 0.0
        self._send(d, new_precision - self.precision[d], new_shift - self.shift[d])

    def _send(self, d: int, precision: Array, shift: Array) -> None:
        """Change a document's messages, damped, and all beliefs with them; O(topics × documents²)."""
        precision, shift = self.damping * precision, self.damping * shift
        column = self.covariance[:, :, d].copy()
        own = column[:, d]
        scale = precision / (1.0 + precision * own)
        subtract_outer(self.covariance, column, scale)
        self.mean += (column * ((shift - precision * self.mean[d]) / (1.0 + precision * own))[:, None]).T
        self.precision[d] += precision
        self.shift[d] += shift

    def learn(self, shared: bool) -> None:
        """Maximise the evidence of the messages (equation 11)."""
        hyper, layout = self.hyper, Layout(len(self.hyper.shape.theta), len(self.hyper.noise), shared)
        found = maximise(
            lambda x: message_evidence(x, layout, hyper, self.precision, self.shift), layout, hyper, centre=self._began
        )
        self.hyper = found.hyper
        self.info["evidence_evaluations"] += found.n_evaluations
        self.refresh()


def message_evidence(x: Array, layout: Layout, hyper: Hyper, precision: Array, shift: Array) -> tuple[float, Array]:
    """Log evidence of the messages, up to terms without hyper-parameters, and its gradient by their logs."""
    at = layout.unpack(x, hyper)
    matrix, slopes = at.shape.with_gradient()
    prior = at.prior(matrix)
    total, value = np.zeros_like(matrix), 0.0
    by_amplitude, by_noise = np.empty(layout.n_topics), np.empty(layout.n_topics)
    for k in range(layout.n_topics):
        found = gp.regress(prior.covariance(k), precision[:, k], shift[:, k])
        pulled = np.outer(found.a, found.a) - found.gain
        value += found.log_evidence
        total += prior.amplitude[k] * pulled
        by_amplitude[k] = prior.amplitude[k] * (pulled * matrix).sum()
        by_noise[k] = prior.noise[k] * np.trace(pulled)
    if layout.shared:
        by_amplitude = by_amplitude.sum(keepdims=True)
    return value, 0.5 * np.concatenate((np.einsum("ij,ijt->t", total, slopes), by_amplitude, by_noise))


class Beliefs(NamedTuple):
    """Messages between two sweeps, and the hyper-parameters."""

    hyper: Hyper
    precision: Array
    shift: Array


class BridgeSweeps(Sweeps):
    """Sweeps over the documents after the warm-up."""

    state: Beliefs | None

    def __init__(
        self,
        damping: float,
        counts: Counts,
        schedule: Schedule,
        hyper: Hyper,
        state: Beliefs | None = None,
        done: int = 0,
        saves: bool = False,
    ) -> None:
        super().__init__(counts, schedule, hyper, state, done, saves)
        self._damping = damping
        self._messages: Messages | None = None
        self.info = dict.fromkeys(_COUNTED, 0)

    def _forget(self) -> None:
        self._messages = None

    def _first_state(self, counts: Counts) -> Beliefs:
        silent = np.zeros_like(counts.doc_topic)
        return Beliefs(self.hyper, silent, silent)

    def _made(self, counts: Counts) -> Messages:
        if self.state is None:
            counts.recount()
            return Messages(self.hyper, counts.bags.n_docs, self._damping)
        hyper, precision, shift = self.state
        messages = Messages(hyper, counts.bags.n_docs, self._damping, self.hyper, precision, shift)
        messages.info |= self.info
        return messages

    def _advance(self, counts: Counts, rest: Rest, since: int) -> Array:
        messages, schedule = self._messages or self._made(counts), self.schedule
        for d in range(counts.bags.n_docs):
            messages.visit(d, counts)
        counts.recount()
        messages.refresh()
        if since % schedule.learn_every == 0:
            if schedule.learns:
                messages.learn(schedule.shared_amplitude)
            rest.compare(counts, messages.mean, schedule.learn_every)
        self._messages, self.info = messages, dict(messages.info)
        self.state = Beliefs(messages.hyper, messages.precision, messages.shift)
        return messages.mean

    def is_long(self, sweep: int) -> bool:
        """Whether messages begin, or hyper-parameters are learned."""
        since = sweep - self._warm_until
        return since == 1 or (since > 0 and since % self.schedule.learn_every == 0)

    def _restored_state(self, arrays: Mapping[str, ArrayOrPieces], shape: tuple[int, ...]) -> Beliefs:
        messages = (checked_floats(arrays, name, shape) for name in ("precision", "shift"))
        return Beliefs(self._restored_hyper(arrays), *messages)
