"""The paper's inference: Dirichlet and Gaussian beliefs pass messages over the Laplace bridge, document by document.

The process is updated after every document, as in the paper, by a step of rank one for each topic. Messages are
natural parameters (precision, shift = precision × mean) and damped. A cavity or message of negative precision is no
Gaussian: the former leaves the document out for this sweep, the latter is replaced by an empty message. Both are
counted.
"""

from __future__ import annotations

from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from topoi.engine.interruption import Abandoned
from topoi.models.kernel_topic import gaussian_process as gp
from topoi.models.kernel_topic.evidence import Hyper, Layout, maximise
from topoi.models.kernel_topic.fitting import Counts, Rest, Schedule, Watch, softmax, warm_up
from topoi.models.kernel_topic.laplace_bridge import to_dirichlet, to_gaussian
from topoi.models.kernel_topic.rank_one import subtract_outer

Array = NDArray[np.float64]
_PASSES = 3
_ALPHAS = (1e-4, 1e4)


class Messages:
    """Messages of every document to the topics' processes, and the resulting beliefs."""

    def __init__(self, hyper: Hyper, n_docs: int, damping: float) -> None:
        n_topics = len(hyper.noise)
        self.hyper, self._began, self.damping = hyper, hyper, damping
        self.precision, self.shift = np.zeros((n_docs, n_topics)), np.zeros((n_docs, n_topics))
        self.info = {"skipped_documents": 0, "clipped_messages": 0, "clipped_dirichlets": 0, "evidence_evaluations": 0}
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


class Believed(NamedTuple):
    """Result of a fit by ``inference="bridge"``: final state, number of sweeps, and whether it converged."""

    hyper: Hyper
    precision: Array
    shift: Array
    sweep: int
    converged: bool
    info: dict[str, Any]


def fit_bridge(counts: Counts, hyper: Hyper, schedule: Schedule, watch: Watch, damping: float) -> Believed:
    """Sweeps over the documents after the warm-up; a signal ends them between two documents."""
    sweep, stopped = warm_up(counts, schedule, watch)
    counts.recount()
    silent = np.zeros_like(counts.doc_topic)
    kept, rest, converged, since = (hyper, silent, silent), Rest(schedule.tol), False, 0
    info: dict[str, Any] = {}
    try:
        messages = watch.run(partial(Messages, hyper, counts.bags.n_docs, damping))
        info = messages.info
        while sweep < schedule.n_iter and not stopped:
            for d in range(counts.bags.n_docs):
                messages.visit(d, counts)
                if watch.interrupted:
                    break
            kept = messages.hyper, messages.precision.copy(), messages.shift.copy()
            if watch.interrupted:
                break
            sweep, since = sweep + 1, since + 1
            counts.recount()
            watch.run(messages.refresh)
            if schedule.learns and since % schedule.learn_every == 0:
                watch.run(partial(messages.learn, schedule.shared_amplitude))
                kept = messages.hyper, *kept[1:]
            if since % schedule.learn_every == 0:
                converged = rest.reached(counts, messages.mean, schedule.learn_every)
            stopped = watch.after(sweep, lambda: counts.log_likelihood(softmax(messages.mean))) or converged
    except Abandoned:
        pass
    counts.recount()
    return Believed(*kept, sweep, converged, dict(info) | rest.info)
