"""Counts of topics sampled without metadata, for choosing settings and for ``refit``."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix

from topoi.corpus.corpus import Corpus
from topoi.engine.executors import Executor
from topoi.engine.gibbs import Chain, sweep_chains
from topoi.engine.interruption import Abandoned, interruptible
from topoi.kernels.dirichlet import CountHistogram, learn_dirichlet
from topoi.models.dmr.likelihood import TopicCells
from topoi.models.dmr.state import Plan, RegressionSampler
from topoi.models.draws import Draws

_LEARN_EVERY, _SEED = 10, 0


def frozen_topics(
    sampler: RegressionSampler,
    corpus: Corpus,
    chain: Chain,
    sweeps: range,
    seed: int,
    executor: Executor,
    stop: Callable[[], bool] | None = None,
) -> NDArray[np.uint16]:
    """Topics of all tokens after some sweeps from the chain's state with the same alpha for all documents.

    That alpha is learned by maximum likelihood on the way. The chain is not changed. ``stop`` may end the sweeps early.
    """
    never = sweeps.stop + 1
    beta = chain.priors.beta.astype(np.float64)
    same = csr_matrix(np.ones((sampler.n_docs, 1)))
    plan = Plan(np.zeros((sampler.n_topics, 1)), 1.0, 1.0, never, 1)
    twin = RegressionSampler(corpus, same, plan, beta, len(chain.shards))
    none = Draws.none(plan.mean.shape)
    arrays = sampler.to_arrays(chain) | {"coefficients": plan.mean, "frozen": np.zeros(0, np.uint16)}
    arrays |= {"draws": none.values, "drawn_at": none.sweeps}
    copy = twin.restore(chain.index, arrays, [])
    alpha = np.asarray(chain.priors.alpha[: sampler.n_topics], np.float64)
    for sweep in sweeps:
        if stop is not None and stop():
            break
        if (sweep - sweeps.start) % _LEARN_EVERY == 0:
            alpha = learn_dirichlet(_histogram(twin, copy), alpha, symmetric=False)
            copy.priors = twin.priors(np.log(alpha)[:, None], beta, 1.0)
        sweep_chains(twin, [copy], sweep, seed, executor)
    return twin.whole(copy)[1].topic


def topics_of_words(
    corpus: Corpus, alpha: NDArray[np.float64], beta: NDArray[np.float64], n_iter: int, executor: Executor
) -> tuple[NDArray[np.uint16], TopicCells]:
    """Topics of all tokens after a short run without metadata, and their counts per document, to compare settings by.

    It is always the same run, so that a choice based on it depends neither on the seed of a fit, nor on its number of
    chains, nor on a checkpoint. A signal ends it after the current sweep.
    """
    same = csr_matrix(np.ones((corpus.n_docs, 1)))
    sampler = RegressionSampler(corpus, same, Plan(np.log(alpha)[:, None], 1.0, 1.0, n_iter + 1, 1), beta)
    start, sweeps = sampler.start(_SEED, 0), range(1, n_iter + 1)
    with interruptible() as interruption:
        try:
            work = partial(frozen_topics, sampler, corpus, start, sweeps, _SEED, executor, stop=interruption.is_set)
            topic = interruption.run(work)
        except Abandoned:
            interruption.give_up("the first sweeps were done")
    return topic, sampler.cells(topic)


def _histogram(sampler: RegressionSampler, chain: Any) -> CountHistogram:
    cells = sampler.cells(sampler.whole(chain)[1].topic)
    return CountHistogram.from_counts(cells.topic, cells.number, cells.total, sampler.n_topics)
