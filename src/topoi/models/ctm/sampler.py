"""A corpus as the kernels read it, and the chain for the engine's loop."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from topoi.corpus.corpus import Corpus
from topoi.engine.executors import SerialExecutor
from topoi.engine.gibbs import Chain, Sampler, log_joints
from topoi.engine.samples import Sample, compact
from topoi.engine.shards import Shards, cut
from topoi.errors import ModelError
from topoi.kernels.counts import Counts, add_cells
from topoi.kernels.lanes import padded
from topoi.kernels.random import new_stream
from topoi.models.ctm import kernels, normal
from topoi.models.ctm.kernels import Documents, Gaussian, State, Words
from topoi.models.ctm.normal import Hyper
from topoi.models.draws import Draws
from topoi.models.growing import widened_vector
from topoi.models.inputs import word_count_type
from topoi.models.trained import checked_floats
from topoi.models.validation import fits_kernels

Array = NDArray[np.float64]
_MOST_TOPICS = 2**16 - 1
# Number of the random stream of mean and covariance, beyond the number of any shard; and sweeps between kept draws.
_STREAM, _KEPT_EVERY = 2**62, 2
# LDA's alpha in the warm-up.
_WARM_ALPHA = 0.1


class Priors(NamedTuple):
    """Words' Dirichlet parameters, the Gaussian of eta as kernels read it, its covariance, and draws of the latter."""

    beta: NDArray[np.float32]
    beta_sum: float
    gaussian: Gaussian
    covariance: Array
    draws: Draws

    @property
    def words(self) -> Words:
        """The part that belongs to words."""
        return Words(self.beta, self.beta_sum)


class Shard:
    """Consecutive documents and their state. ``older`` are sums of shares over the sweeps before those of the state."""

    def __init__(self, documents: Documents, n_topics: int) -> None:
        n_docs, self.documents = len(documents.doc_start) - 1, documents
        shares = np.zeros((n_docs, n_topics), np.float32)
        topic = np.zeros(len(documents.tokens), np.uint16)
        self.state, self.older = State(topic, np.zeros((n_docs, n_topics)), shares), np.zeros_like(shares)

    def turn(self) -> None:
        """Let what was summed so far be the older sums, and begin new ones."""
        self.older, shares = self.state.shares, self.older
        shares[:] = 0.0
        self.state = self.state._replace(shares=shares)


def summed_sweeps(sweep: int) -> tuple[int, int]:
    """Sweeps after which sums of shares begin: the older sums, and the present ones, after ``sweep``.

    Sums turn at 2, 3, 4, 6, 8, 12, …: what is summed lies in the second half, is a quarter of all sweeps or more, and
    depends on the number of the sweep alone.

    Examples
    --------
    >>> from topoi.models.ctm.sampler import summed_sweeps
    >>> [summed_sweeps(sweep) for sweep in (1, 2, 8, 500)]
    [(0, 1), (1, 2), (6, 8), (256, 384)]
    """
    before, now, then = 0, 1, 2
    while then <= sweep:
        before, now, then = now, then, (then * 3 // 2 if then & (then - 1) == 0 else then * 4 // 3)
    return (before, now) if sweep else (0, 0)


class CorrelatedSampler(Sampler):
    """The family's part of the loop (``topoi.engine.gibbs.Sampler``).

    Examples
    --------
    >>> import numpy as np, topoi
    >>> from topoi.models.ctm.normal import Hyper
    >>> from topoi.models.ctm.sampler import CorrelatedSampler
    >>> corpus = topoi.Corpus.from_tokens([["a", "b"], ["c"]])
    >>> sampler = CorrelatedSampler(corpus, 2, np.full(3, 0.1), Hyper(1.0, 3.0, 1.0))
    >>> sampler.start(0, 0).counts.topic.sum()
    np.float64(3.0)
    """

    sampled = ("topic",)
    in_documents = ("eta", "shares", "older_shares")

    def __init__(
        self, corpus: Corpus, n_topics: int, beta: Array, hyper: Hyper, n_shards: Shards = 1, n_warmup: int = 0
    ) -> None:
        if n_topics > _MOST_TOPICS:
            raise ModelError(f"n_topics is {n_topics}; at most {_MOST_TOPICS} are possible")
        self._word_type = word_count_type(corpus)
        self.n_tokens, self.n_words, self.n_docs, self.n_topics = (
            corpus.n_tokens,
            corpus.n_words,
            corpus.n_docs,
            n_topics,
        )
        self._beta, self.hyper, self._n_warmup = beta, hyper, n_warmup
        self._ranges = cut(np.diff(corpus.doc_start), n_shards)
        self._parts = [_part(corpus, first, last) for first, last in self._ranges]

    def start(self, seed: int, index: int) -> Chain:
        """A chain with random topics, from the streams (seed, chain, sweep 0, shard), and eta of zero."""
        chain = self._new_chain(index, self._beta, *normal.start(self.n_topics, self.hyper))
        for number, shard in enumerate(chain.shards):
            rng = np.random.default_rng(new_stream(seed, index, 0, number))
            shard.state.topic[:] = rng.integers(0, self.n_topics, len(shard.state.topic))
        self.recount(chain)
        return chain

    def _new_chain(self, index: int, beta: Array, mean: Array, covariance: Array) -> Chain:
        width = padded(self.n_topics)
        # Documents have no authors: those arrays are as small as can be.
        counts = Counts(
            np.zeros((self.n_words, width), self._word_type),
            np.zeros(self.n_topics),
            np.zeros((1, width), np.float32),
            np.zeros(1),
        )
        rounded = beta.astype(np.float32)  # what a file has too
        words = rounded, math.fsum(rounded.tolist())
        gaussian, draws = normal.gaussian(mean, covariance), Draws.none(covariance.shape)
        shards = [Shard(part, self.n_topics) for part in self._parts]
        return Chain(index, counts, Priors(*words, gaussian, covariance, draws), shards)

    def recount(self, chain: Chain) -> None:
        """Recompute the shared counts from the topics of tokens."""
        sums = np.zeros((self.n_words, padded(self.n_topics)), np.uint32)
        for shard in chain.shards:
            add_cells(shard.documents.tokens, shard.state.topic, sums)
        chain.counts.word_topic[:] = sums
        chain.counts.topic[:] = sums.sum(axis=0, dtype=np.int64)[: self.n_topics]

    def sample(self, chain: Chain, shard: int, counts: Counts, stream: NDArray[np.uint64]) -> None:
        """Draw the topics and the eta of one shard's documents against the given counts."""
        mine, priors = chain.shards[shard], chain.priors
        given = mine.documents, mine.state, counts, priors.words, priors.gaussian
        if chain.sweep <= self._n_warmup:
            kernels.warm_up(*given, _WARM_ALPHA, stream)
        else:
            kernels.sweep(*given, stream)

    def learn(self, chain: Chain, sweep: int) -> None:
        """Draw mean and covariance given every document's eta."""
        if summed_sweeps(sweep)[1] == sweep:
            for shard in chain.shards:
                shard.turn()
        rng = np.random.default_rng(new_stream(chain.seed, chain.index, sweep, _STREAM))
        mean, covariance = normal.draw(self.eta(chain), self.hyper, rng)
        draws = chain.priors.draws
        if sweep % _KEPT_EVERY == 0:
            draws = draws.add(covariance[None], sweep)
        gaussian = normal.gaussian(mean, covariance)
        chain.priors = chain.priors._replace(gaussian=gaussian, covariance=covariance, draws=draws)

    def eta(self, chain: Chain) -> Array:
        """Eta of all documents: documents × topics."""
        return np.concatenate([shard.state.eta for shard in chain.shards])

    def topics(self, chain: Chain) -> NDArray[np.uint16]:
        """Topics of all tokens."""
        return np.concatenate([shard.state.topic for shard in chain.shards])

    def log_joint(self, chain: Chain) -> float:
        """log P(words, topics, eta | mean, covariance, beta), topics' distributions of words integrated out."""
        return log_joints(self, [chain], SerialExecutor())[0]

    def log_joint_terms(self, chain: Chain) -> list[Callable[[], float]]:
        """Terms of the shards' documents, and of words."""
        priors = chain.priors

        def of_documents(shard: Shard) -> float:
            eta = shard.state.eta
            logs = eta - np.logaddexp.reduce(eta, axis=1, keepdims=True)
            doc = np.repeat(np.arange(len(eta)), np.diff(shard.documents.doc_start))
            return float(logs[doc, shard.state.topic].sum()) + normal.log_densities(eta, priors.gaussian)

        each = [partial(of_documents, shard) for shard in chain.shards]
        return [*each, lambda: chain.counts.log_words(priors.beta, priors.beta_sum)]

    def to_arrays(self, chain: Chain) -> dict[str, NDArray[Any]]:
        """Arrays of a chain for a checkpoint or a file; the precision is computed from the covariance."""
        priors = chain.priors
        return {
            "topic": self.topics(chain),
            "eta": self.eta(chain),
            "mean": priors.gaussian.mean,
            "covariance": priors.covariance,
            "beta": np.asarray(priors.beta, np.float64),
            "shares": np.concatenate([shard.state.shares for shard in chain.shards]),
            "older_shares": np.concatenate([shard.older for shard in chain.shards]),
            "draws": priors.draws.values,
            "drawn_at": priors.draws.sweeps,
        }

    def widened(self, arrays: Mapping[str, NDArray[Any]], old: Any, part: float) -> dict[str, NDArray[Any]]:
        """Mean, covariance and beta. Draws are forgotten: they were of other documents."""
        none = Draws.none(arrays["covariance"].shape)
        same = {name: arrays[name] for name in ("mean", "covariance")}
        beta = widened_vector(arrays["beta"], self.n_words)
        return same | {"beta": beta, "draws": none.values, "drawn_at": none.sweeps}

    def restore(self, index: int, arrays: dict[str, NDArray[Any]], trace: list[Any]) -> Chain:
        """The chain of such arrays, recounted; they come from a file, and kernels check nothing."""
        rows, square = (self.n_docs, self.n_topics), (self.n_topics, self.n_topics)
        read = partial(checked_floats, arrays)
        topic, beta = arrays["topic"], arrays["beta"]
        if topic.dtype != np.uint16:
            raise ModelError("the saved topics are not what a sampler writes")
        self.check_sample({"topic": topic})
        if not fits_kernels(beta, self.n_words):
            raise ModelError("the saved beta does not fit this corpus")
        eta, mean = normal.checked_eta(read("eta", rows)), normal.checked_eta(read("mean", rows[1:])[None])[0]
        covariance = normal.checked_covariance(read("covariance", square))
        chain = self._new_chain(index, beta, mean, covariance)
        chain.priors = chain.priors._replace(draws=_checked_draws(arrays, square))
        sums = [_checked_sums(arrays[name], rows) for name in ("shares", "older_shares")]
        at = 0
        for shard, (first, last) in zip(chain.shards, self._ranges, strict=True):
            here = slice(at, at + len(shard.state.topic))
            shard.state.topic[:], shard.state.eta[:] = topic[here], eta[first:last]
            shard.state.shares[:], shard.older[:] = (each[first:last] for each in sums)
            at = here.stop
        self.recount(chain)
        chain.trace = [(int(sweep), float(value)) for sweep, value in trace]
        return chain

    def snapshot(self, chain: Chain) -> Sample:
        """Topics of tokens, for the average of samples."""
        return {"topic": compact(self.topics(chain), self.n_topics)}

    def check_sample(self, sample: Sample) -> None:
        """Refuse topics of a file that do not fit the corpus."""
        topic = sample["topic"]
        if topic.shape != (self.n_tokens,) or int(topic.max(initial=0)) >= self.n_topics:
            raise ModelError("the saved topics do not fit this corpus")


def _checked_draws(arrays: dict[str, NDArray[Any]], shape: tuple[int, int]) -> Draws:
    draws = Draws(arrays["draws"], arrays["drawn_at"])
    kinds = draws.values.dtype == np.float32 and draws.sweeps.dtype == np.int64 and draws.sweeps.ndim == 1
    if not kinds or draws.values.shape != (len(draws.sweeps), *shape) or not np.isfinite(draws.values).all():
        raise ModelError("the saved draws of covariances do not fit the topics")
    return draws


def _checked_sums(sums: NDArray[Any], shape: tuple[int, int]) -> NDArray[np.float32]:
    if sums.dtype != np.float32 or sums.shape != shape or not (np.isfinite(sums).all() and (sums >= 0).all()):
        raise ModelError("the saved shares of documents do not fit this corpus")
    return sums


def _part(corpus: Corpus, first: int, last: int) -> Documents:
    """Documents ``first`` to ``last``, counted from zero."""
    begin, end = corpus.doc_start[first], corpus.doc_start[last]
    tokens = np.ascontiguousarray(corpus.tokens[begin:end], np.int32)
    return Documents(tokens, (corpus.doc_start[first : last + 1] - begin).astype(np.int64))
