"""Posteriors of many documents' mixtures, on several threads; documents are independent, so threads change nothing."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from topoi.kernels.folding import Labels
from topoi.models.bags import Bags
from topoi.models.fixed_topics import corrected, ep, vb
from topoi.models.fixed_topics.ep import Outcome, Rule
from topoi.models.fixed_topics.parameters import Parameters
from topoi.models.ranges import for_rows

METHODS = ("ep", "vb")


class Inferred(NamedTuple):
    """Dirichlet posteriors of documents' mixtures, and a report on each.

    ``room`` holds the posteriors with their padding.
    """

    room: NDArray[np.float64]
    evidence: NDArray[np.float64]
    outcome: Outcome

    n_aspects: int

    @property
    def gamma(self) -> NDArray[np.float64]:
        """Parameters of each document's Dirichlet; documents × aspects."""
        return self.room[:, : self.n_aspects]

    @property
    def mean(self) -> NDArray[np.float64]:
        """Posterior means: rows sum to one."""
        return np.asarray(self.gamma / self.gamma.sum(axis=1, keepdims=True))


def infer(
    bags: Bags,
    parameters: Parameters,
    method: str,
    rule: Rule,
    n_jobs: int = 1,
    evidence: bool = False,
    start: NDArray[np.float64] | None = None,
    sites: NDArray[np.float64] | None = None,
    warm: bool = False,
) -> Inferred:
    """Posteriors by expectation propagation (``"ep"``) or variational inference (``"vb"``).

    Parameters
    ----------
    bags, parameters : Bags, Parameters
        The documents and the model.
    method : {"ep", "vb"}
        The kind of posterior.
    rule : Rule
        Stopping rule for a document.
    n_jobs : int
        Threads.
    evidence : bool
        Whether to estimate log p(document) too; NaN if not.
    start : array, optional
        Posteriors, documents × aspects with padding, which are overwritten.
    sites : array, optional
        Array for the sites of all entries, entries × aspects with padding, which is overwritten.
    warm : bool
        Warm start: begin at the posteriors in ``start``, or at the sites if there are any.

    Examples
    --------
    >>> import numpy as np
    >>> from topoi.models.fixed_topics.ep import Rule
    >>> from topoi.models.fixed_topics.inference import infer
    >>> from topoi.models.fixed_topics.parameters import Parameters
    >>> from topoi.models.bags import Bags
    >>> bags = Bags(np.array([0, 2]), np.array([0, 1]), np.array([4.0, 6.0]))
    >>> parameters = Parameters.pad(np.array([[0.5, 1.0], [0.5, 0.0]]), np.ones(2))
    >>> found = [infer(bags, parameters, m, Rule(1e-8, 200, 1.0), evidence=True) for m in ("ep", "vb")]
    >>> [round(float(each.evidence[0]), 3) for each in found]
    [-8.347, -8.688]
    """
    parameters, width = parameters.writable(), len(parameters.alpha)
    bags, impossible = _possible(bags, parameters) if sites is None else (bags, np.zeros(0, np.int64))
    gamma = np.zeros((bags.n_docs, width)) if start is None else start
    found = np.full(bags.n_docs, np.nan)
    outcome = no_outcome(bags.n_docs)
    kept = sites is not None
    room = np.empty((0, width)) if sites is None else sites

    def run(first: int, last: int) -> None:
        if method == "ep":
            ep.infer_documents(bags, parameters, rule, first, last, kept, warm, evidence, room, gamma, found, outcome)
        else:
            vb.infer_documents(bags, parameters, rule, first, last, warm, evidence, gamma, found, outcome)

    for_rows(run, np.diff(bags.doc_start), n_jobs)
    found[impossible] = -np.inf if evidence else np.nan
    return Inferred(gamma, found, outcome, parameters.n_aspects)


class Corrected(NamedTuple):
    """Second-order estimates of log p(document) and of mean mixtures, and a report on each document."""

    evidence: NDArray[np.float64]
    mean: NDArray[np.float64]
    outcome: Outcome


def infer_corrected(bags: Bags, parameters: Parameters, rule: Rule, n_jobs: int = 1) -> Corrected:
    """Expectation propagation with the correction by pairs of words: O(distinct words² × aspects) per document.

    Examples
    --------
    >>> import numpy as np
    >>> from topoi.models.fixed_topics.ep import Rule
    >>> from topoi.models.fixed_topics.inference import infer_corrected
    >>> from topoi.models.fixed_topics.parameters import Parameters
    >>> from topoi.models.bags import Bags
    >>> bags = Bags(np.array([0, 2]), np.array([0, 1]), np.array([4.0, 6.0]))
    >>> parameters = Parameters.pad(np.array([[0.5, 1.0], [0.5, 0.0]]), np.ones(2))
    >>> infer_corrected(bags, parameters, Rule(1e-8, 200)).evidence.round(4).tolist()
    [-8.3449]
    """
    parameters = parameters.writable()
    bags, impossible = _possible(bags, parameters)
    gamma, evidence = np.zeros((bags.n_docs, len(parameters.alpha))), np.zeros(bags.n_docs)
    mean, outcome = np.zeros((bags.n_docs, parameters.n_aspects)), no_outcome(bags.n_docs)

    def run(first: int, last: int) -> None:
        corrected.infer_documents(bags, parameters, rule, first, last, gamma, evidence, mean, outcome)

    for_rows(run, np.diff(bags.doc_start), n_jobs)
    evidence[impossible] = -np.inf
    return Corrected(evidence, mean, outcome)


def label_tokens(
    tokens: NDArray[Any], parameters: Parameters, method: str, rule: Rule
) -> tuple[NDArray[np.float64], Labels]:
    """Mean mixture of a text, and every token's probabilities of aspects: p(w|a) times the mixture, normalised.

    Examples
    --------
    >>> import numpy as np
    >>> from topoi.models.fixed_topics.ep import Rule
    >>> from topoi.models.fixed_topics.inference import label_tokens
    >>> from topoi.models.fixed_topics.parameters import Parameters
    >>> parameters = Parameters.pad(np.array([[0.5, 1.0], [0.5, 0.0]]), np.ones(2))
    >>> label_tokens(np.array([1]), parameters, "ep", Rule(1e-6, 100))[1].topic.tolist()
    [[1.0, 0.0]]
    """
    words, times = np.unique(np.asarray(tokens, np.int64), return_counts=True)
    bags = Bags(np.array([0, len(words)]), words, times.astype(np.float64))
    mean = infer(bags, parameters, method, rule).mean[0]
    shares = parameters.word_aspect[tokens, : parameters.n_aspects] * mean
    total = shares.sum(axis=1, keepdims=True)
    return mean, Labels(np.where(total > 0, shares / np.maximum(total, 1e-300), mean), np.ones((len(tokens), 1)))


def no_outcome(n_docs: int) -> Outcome:
    """An empty report, before inference."""
    return Outcome(np.zeros(n_docs, np.int64), np.zeros(n_docs, np.int64), np.zeros(n_docs))


def _possible(bags: Bags, parameters: Parameters) -> tuple[Bags, NDArray[np.int64]]:
    """Documents without the words that no aspect has, and the numbers of the documents that had any."""
    possible = np.asarray(parameters.word_aspect.max(axis=1) > 0)[bags.row]
    if possible.all():
        return bags, np.zeros(0, np.int64)
    doc = np.repeat(np.arange(bags.n_docs), np.diff(bags.doc_start))
    start = np.concatenate(([0], np.cumsum(np.bincount(doc[possible], minlength=bags.n_docs)))).astype(np.int64)
    return Bags(start, bags.row[possible], bags.times[possible]), np.unique(doc[~possible])
