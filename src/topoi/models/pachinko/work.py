"""Documents of one shard of the pachinko family, as any machine samples them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from topoi.corpus.mapped import Scratch
from topoi.kernels.counts import Counts, Documents, Priors
from topoi.models.graph import Graph
from topoi.models.pachinko import blocks, equations, four_level, general
from topoi.models.pachinko.equations import Paths
from topoi.models.pachinko.learning import statistics
from topoi.models.pachinko.limited_learning import limited_statistics
from topoi.models.pachinko.limits import Limits, TopicLimits
from topoi.models.ranges import document_range

# Words of a document that are enough to compile kernels.
_FEW_WORDS = 8
_GRAPH = "graph_"
# Rules of learning alpha, by number; the first is none.
_RULES = (None, "moments", "moments-paper", "ml")


class PathWork:
    """Documents and the graph. ``n_super`` is that of the four-level model, which has a sweep of its own; else 0.

    ``limits`` are the topics that these documents may have; None for all.
    """

    def __init__(
        self,
        documents: Documents,
        graph: Graph,
        n_super: int,
        rule: str | None,
        scratch: Scratch | None = None,
        limits: TopicLimits | None = None,
    ) -> None:
        self.documents, self.graph, self.n_super, self._rule = documents, graph, n_super, rule
        self._scratch, self.limits = scratch or Scratch(), limits

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, NDArray[Any]]) -> Self:
        """Rebuild the documents from ``to_arrays``."""
        documents = Documents(*(np.array(arrays[name]) for name in Documents._fields))
        graph = Graph(*(np.array(arrays[_GRAPH + name]) for name in Graph._fields))
        n_super, rule = arrays["sizes"].tolist()
        sets = arrays.get("allowed_sets")
        limits = None if sets is None else TopicLimits(graph, np.array(sets), np.array(arrays["allowed_of"]))
        return cls(documents, graph, n_super, _RULES[rule], limits=limits)

    def to_arrays(self) -> dict[str, NDArray[Any]]:
        """Documents, graph and sizes, and the topics that documents may have."""
        told = {} if self.limits is None else {"allowed_sets": self.limits.sets, "allowed_of": self.limits.doc_set}
        graph = {_GRAPH + name: array for name, array in self.graph._asdict().items()}
        sizes = np.array([self.n_super, _RULES.index(self._rule)])
        return {**self.documents._asdict(), **graph, "sizes": sizes, **told}

    def small(self) -> Self:
        """The first words of the first document that has any."""
        lengths = np.diff(self.documents.doc_start)
        d = int(np.argmax(lengths > 0)) if len(lengths) else 0
        one = document_range(self.documents, d, min(d + 1, len(lengths)))
        n = min(len(one.tokens), _FEW_WORDS)
        few = one._replace(tokens=np.array(one.tokens[:n]), doc_start=np.array([0, n]))
        limits = None if self.limits is None else self.limits.some(slice(d, d + 1))
        return type(self)(few, self.graph, self.n_super, self._rule, limits=limits)

    def new(self) -> Paths:
        """A state without assignments."""
        n = len(self.documents.tokens)
        return Paths(self._scratch.zeros(n, np.uint16), self._scratch.zeros(n, np.uint32))

    def open(self, assignments: Mapping[str, NDArray[Any]]) -> Paths:
        """The state with these topics and paths."""
        state = self.new()
        state.topic[:], state.path[:] = assignments["topic"], assignments["path"]
        return state

    def assignments(self, state: Paths) -> dict[str, NDArray[Any]]:
        """Topics and paths."""
        return dict(state._asdict())

    def count(self, state: Paths, counts: Counts) -> None:
        """Add the assignments to the counts."""
        equations.add_counts(self.documents, state, counts)

    def sweep(self, state: Paths, counts: Any, priors: Priors, stream: NDArray[np.uint64]) -> None:
        """Sample every token once; in the four-level model, move blocks of tokens afterwards."""
        if self.limits is not None:
            self._sweep_limited(state, counts, priors, self.limits.of(priors), stream)
        elif self.n_super:
            four_level.sweep_four_level(self.documents, state, counts, priors, self.n_super, stream)
            docs, n_sub = np.arange(len(self.documents.doc_start) - 1), len(counts.topic)
            blocks.move_blocks(self.documents, docs, state, priors, self.n_super, n_sub, stream)
        else:
            general.sweep_general(self.documents, state, counts, priors, self.graph, stream)

    def _sweep_limited(
        self, state: Paths, counts: Any, priors: Priors, limits: Limits, stream: NDArray[np.uint64]
    ) -> None:
        if self.n_super:
            four_level.sweep_limited(self.documents, state, counts, priors, self.n_super, limits, stream)
            blocks.move_limited(self.documents, state, priors, self.n_super, len(counts.topic), limits, stream)
        else:
            general.sweep_limited(self.documents, state, counts, priors, self.graph, limits, stream)

    def log_joint(self, state: Paths, counts: Any, priors: Priors) -> float:
        """Term of the documents' paths."""
        if self.limits is not None:
            how = self.graph, self.limits.of(priors)
            return float(equations.log_joint_limited(self.documents, state, priors, *how))
        return float(equations.log_joint_documents(self.documents, state, priors, self.graph))

    def statistics(self, state: Paths, priors: Priors) -> tuple[NDArray[Any], ...]:
        """Statistics of the documents for learning alpha."""
        rule = self._rule or "moments"
        if self.limits is not None:
            return limited_statistics(self.graph, self.documents, state, self.limits, rule)
        return statistics(self.graph, self.documents, state, rule)
