"""The posterior after a fit: given the topics there are, the posterior of LDA with alpha · b as the prior of mixtures.

A new document may only use topics of the training documents: its mixture has the prior Dirichlet(alpha · b[0], …,
alpha · b[K − 1]), which is the process's own, given that no word is of a new topic.
"""

from __future__ import annotations

from functools import partial
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from topoi.corpus.corpus import Corpus
from topoi.engine.gibbs import Chain
from topoi.errors import ModelError
from topoi.kernels.counts import Assignments
from topoi.models.author_topic.posterior import AuthorTopicPosterior, LabelledPosterior
from topoi.models.author_topic.state import make_priors
from topoi.models.averages import average, mean_counts, mean_lists
from topoi.models.contract import StoredSource
from topoi.models.guidance.documents import limits_documents
from topoi.models.hdp.sampler import HdpSampler
from topoi.models.sources import ArraySource


class HdpPosterior(AuthorTopicPosterior):
    """Mean counts of one chain's samples; new documents are sampled as those of LDA.

    The weights of topics are alpha · E[b | tables] of the last sample.
    """

    @classmethod
    def from_hdp(cls, chain: Chain, sampler: HdpSampler, corpus: Corpus) -> Self:
        """Freeze a chain."""
        n_topics, topic = chain.priors.n_topics, chain.shards[0].copy()
        if any(int(sample["topic"].max(initial=0)) >= n_topics for sample in chain.samples.values()):
            raise ModelError("the saved samples name a topic that is not there")
        averaged = average(chain, {"topic": topic}, n_topics)
        priors = make_priors(chain.priors.means, sampler.words.beta.astype(np.float64))
        how = sampler.words.tokens, averaged, sampler.n_words, n_topics
        told = sampler.named.guidance(n_topics)
        kind = LabelledHdpPosterior if told is not None and told.limits_documents else cls
        source = ArraySource(
            corpus,
            chain.index,
            n_topics,
            Assignments(topic, np.zeros(len(topic), np.uint16)),
            partial(mean_counts, *how),
            priors,
            partial(_alpha, priors.alpha[:n_topics].astype(np.float64), priors.alpha_sum),
            averaged,
            partial(mean_lists, *how) if told is None else None,
            phantoms=None if told is None else told.phantoms,
        )
        found = kind(source, priors)
        found.guidance = told
        found.trace = list(chain.trace)
        return found  # type: ignore[return-value]

    @classmethod
    def from_source(cls, source: StoredSource, settings: dict[str, Any]) -> Self:
        """The posterior of a model in a store."""
        if cls is HdpPosterior and limits_documents(settings):
            return LabelledHdpPosterior.from_source(source, settings)  # type: ignore[return-value]
        return super().from_source(source, settings)


class LabelledHdpPosterior(LabelledPosterior, HdpPosterior):
    """The posterior of documents that may not have all named topics: their mixtures have the others' prior alone."""


def _alpha(alpha: NDArray[np.float64], total: float) -> tuple[NDArray[np.float64], float]:
    return alpha, total
