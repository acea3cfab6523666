"""Counts of topics that the metadata have not shaped: for choosing settings, and for ``refit``."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix

from topoi.corpus.corpus import Corpus
from topoi.engine.executors import Executor
from topoi.engine.loop import Chain, sweep_chains
from topoi.kernels.dirichlet import CountHistogram, learn_dirichlet
from topoi.models.regression.draws import Draws
from topoi.models.regression.likelihood import TopicCells
from topoi.models.regression.state import Plan, RegressionSampler

_LEARN_EVERY, _SEED = 10, 0


def frozen_topics(
    sampler: RegressionSampler, corpus: Corpus, chain: Chain, sweeps: range, seed: int, executor: Executor
) -> NDArray[np.uint16]:
    """Every token's topic after some sweeps from the chain's state in which all documents have the same alpha.

    That alpha is the most likely one, learned on the way. The chain is left alone.
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
        if (sweep - sweeps.start) % _LEARN_EVERY == 0:
            alpha = learn_dirichlet(_histogram(twin, copy), alpha, symmetric=False)
            copy.priors = twin.priors(np.log(alpha)[:, None], beta, 1.0)
        sweep_chains(twin, [copy], sweep, seed, executor)
    return twin.whole(copy)[1].topic


def topics_of_words(
    corpus: Corpus, alpha: NDArray[np.float64], beta: NDArray[np.float64], n_iter: int, executor: Executor
) -> TopicCells:
    """Documents' counts of topics after a short run that knows no metadata, always the same one: a fair judge.

    What is chosen by it depends neither on the seed of a fit, nor on how many chains it has, nor on a checkpoint.
    """
    same = csr_matrix(np.ones((corpus.n_docs, 1)))
    sampler = RegressionSampler(corpus, same, Plan(np.log(alpha)[:, None], 1.0, 1.0, n_iter + 1, 1), beta)
    topic = frozen_topics(sampler, corpus, sampler.start(_SEED, 0), range(1, n_iter + 1), _SEED, executor)
    return sampler.cells(topic)


def _histogram(sampler: RegressionSampler, chain: Any) -> CountHistogram:
    cells = sampler.cells(sampler.whole(chain)[1].topic)
    return CountHistogram.from_counts(cells.topic, cells.number, cells.total, sampler.n_topics)
