"""From a corpus and a graph to what the sampler works on: shards of documents, chains; and back."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from topoi.corpus.corpus import Corpus
from topoi.engine.loop import Chain
from topoi.engine.shards import cut
from topoi.errors import ModelError
from topoi.kernels.counts import Counts, Documents, Priors
from topoi.kernels.dirichlet import log_probability_columns
from topoi.kernels.lanes import padded
from topoi.kernels.random import new_stream
from topoi.models.limits import check_exact
from topoi.models.pachinko import blocks, four_level, general, plain
from topoi.models.pachinko.dag import Dag
from topoi.models.pachinko.graph import Graph, four_level_widths, make_graph
from topoi.models.pachinko.learning import learn_alpha, with_sums
from topoi.models.pachinko.plain import Paths
from topoi.models.ranges import document_range

_LEARN_AFTER, _WARM_UNTIL, _LEARN_EVERY = 20, 80, 10
_WARM_SUM = 50.0


def make_priors(graph: Graph, alpha: NDArray[np.float64], beta: NDArray[np.float64]) -> Priors:
    """Priors in the form the kernels read: alpha per slot and its sum per node.

    The sums are exactly rounded sums of the float32 values: the same on every machine, and after a save.
    """
    narrow, narrow_beta = alpha.astype(np.float32), beta.astype(np.float32)
    edges = zip(graph.slot_start[:-1], graph.slot_start[1:], strict=True)
    sums = np.array([math.fsum(narrow[first:last].tolist()) for first, last in edges])
    return Priors(narrow, sums, narrow_beta, math.fsum(narrow_beta.tolist()))  # type: ignore[arg-type]


def private_documents(corpus: Corpus) -> Documents:
    """A corpus in the form the kernels read; its authors play no part."""
    n_docs = corpus.n_docs
    return Documents(
        np.ascontiguousarray(corpus.tokens, np.int32),
        corpus.doc_start.astype(np.int64),
        np.zeros(n_docs, np.int32),
        np.arange(n_docs + 1),
        np.ones(n_docs, np.float32),
    )


class PachinkoSampler:
    """The pachinko family as the engine's loop sees it (see ``topoi.engine.loop.Sampler``).

    A chain's shards are ``Paths``. The four-level model has a sweep of its own; any other graph the general one.
    """

    def __init__(
        self,
        corpus: Corpus,
        dag: Dag,
        alpha: NDArray[np.float64],
        beta: NDArray[np.float64],
        n_shards: int = 1,
        rule: str | None = None,
    ):
        check_exact(corpus)
        self.n_tokens = corpus.n_tokens
        self.n_words = corpus.n_words
        self.n_topics = len(dag.topics)
        self.dag = dag
        self.graph = make_graph(dag)
        widths = four_level_widths(dag)
        self.n_super = widths[0] if widths else 0
        self.documents = private_documents(corpus)
        self._alpha, self._beta, self._rule = alpha, beta, rule
        ranges = cut(np.diff(corpus.doc_start), n_shards)
        self._parts = [document_range(self.documents, first, last) for first, last in ranges]

    def _new_chain(self, index: int, alpha: NDArray[np.float64], beta: NDArray[np.float64]) -> Chain:
        width = padded(self.n_topics)
        counts = Counts(
            np.zeros((self.n_words, width), np.float32),
            np.zeros(self.n_topics, np.int64),
            np.zeros((1, width), np.float32),
            np.zeros(1, np.int64),
        )
        sizes = [len(part.tokens) for part in self._parts]
        shards = [Paths(np.zeros(n, np.uint16), np.zeros(n, np.uint32)) for n in sizes]
        return Chain(index, counts, make_priors(self.graph, alpha, beta), shards)

    def start(self, seed: int, index: int) -> Chain:
        """A chain with random paths, from the stream (seed, chain, sweep 0, shard)."""
        chain = self._new_chain(index, self._alpha, self._beta)
        for number, (part, paths) in enumerate(zip(self._parts, chain.shards, strict=True)):
            plain.random_paths(part, self.graph, paths, new_stream(seed, index, 0, number))
        self.recount(chain)
        return chain

    def restore(self, index: int, arrays: dict[str, NDArray[Any]], trace: list[Any]) -> Chain:
        """The chain that ``to_arrays`` described; its counts are recounted from the paths."""
        topic, path, alpha, beta = (arrays[name] for name in ("topic", "path", "alpha", "beta"))
        # The kernels check no bounds: what comes from a file is checked here.
        if topic.dtype != np.uint16 or path.dtype != np.uint32:
            raise ModelError("the saved paths are not what a sampler writes")
        if topic.shape != (self.n_tokens,) or path.shape != topic.shape or (topic >= self.n_topics).any():
            raise ModelError("the saved paths do not fit this corpus")
        if (path >= self.graph.n_paths[self.graph.topic_node[topic]]).any():
            raise ModelError("the saved paths are not in this graph")
        if alpha.shape != self._alpha.shape or beta.shape != (self.n_words,) or not min(alpha.min(), beta.min()) > 0:
            raise ModelError("the saved priors do not fit this corpus and graph")
        chain = self._new_chain(index, alpha, beta)
        at = 0
        for paths in chain.shards:
            here = slice(at, at + len(paths.topic))
            paths.topic[:], paths.path[:] = topic[here], path[here]
            at = here.stop
        self.recount(chain)
        chain.trace = [(int(s), float(v)) for s, v in trace]
        return chain

    def recount(self, chain: Chain) -> None:
        """Set the shared counts to what the paths say."""
        plain.count(self.documents, self.whole(chain), chain.counts)

    def whole(self, chain: Chain) -> Paths:
        """All paths, in document order."""
        return Paths(*(np.concatenate(arrays) for arrays in zip(*chain.shards, strict=True)))

    def to_arrays(self, chain: Chain) -> dict[str, NDArray[Any]]:
        """Paths (six bytes per token) and priors."""
        return self.whole(chain)._asdict() | {"alpha": chain_alpha(chain), "beta": chain_beta(chain)}

    def sample(self, chain: Chain, shard: int, counts: Counts, stream: NDArray[np.uint64]) -> None:
        """Sample one shard once against the given counts."""
        part, paths = self._parts[shard], chain.shards[shard]
        if self.n_super:
            four_level.sweep_four_level(part, paths, counts, chain.priors, self.n_super, stream)
            blocks.move_blocks(part, paths, chain.priors, self.n_super, self.n_topics, stream)
        else:
            general.sweep_general(part, paths, counts, chain.priors, self.graph, stream)

    def learn(self, chain: Chain, sweep: int) -> None:
        """Update alpha of all nodes but the root: after every sweep of the warm-up, then every ten.

        All nodes of a level begin alike, and documents settle on some of them before these have come to differ; later
        a document hardly ever moves. So for a while, once topics have formed, nodes are held at distributions
        that no document changes much: each word then goes to the node whose children it suits, and nodes part company.
        The warm-up ends with corrected moments, whatever the rule.
        """
        if self._rule is None or sweep < _LEARN_AFTER or (sweep > _WARM_UNTIL and sweep % _LEARN_EVERY):
            return
        parts = zip(self._parts, chain.shards, strict=True)
        rule = self._rule if sweep > _WARM_UNTIL else "moments"
        alpha = learn_alpha(self.graph, parts, chain_alpha(chain), rule)
        if sweep < _WARM_UNTIL:
            alpha = with_sums(self.graph, alpha, _WARM_SUM)
        chain.priors = make_priors(self.graph, alpha, chain_beta(chain))

    def log_joint(self, chain: Chain) -> float:
        """log P(words, paths | alpha, beta), parameters integrated out."""
        counts, priors = chain.counts, chain.priors
        words = log_probability_columns(counts.word_topic, counts.topic, priors.beta, priors.beta_sum)
        parts = zip(self._parts, chain.shards, strict=True)
        each = [plain.log_joint_documents(part, paths, priors, self.graph) for part, paths in parts]
        return float(words + sum(each))


def chain_alpha(chain: Chain) -> NDArray[np.float64]:
    """The chain's alpha per slot."""
    return np.asarray(chain.priors.alpha, np.float64)


def chain_beta(chain: Chain) -> NDArray[np.float64]:
    """The chain's beta per word."""
    return np.asarray(chain.priors.beta, np.float64)
