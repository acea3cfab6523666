"""EM steps that learn the aspects' words and the mixtures' prior (Minka and Lafferty 2002, section 5)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from topoi.corpus.pieces import ArrayOrPieces
from topoi.errors import ModelError
from topoi.kernels.dirichlet import maximise_dirichlet, maximise_polya
from topoi.models.aspect import updates
from topoi.models.aspect.state import ByWord
from topoi.models.bags import Bags
from topoi.models.fixed_topics.ep import Outcome, Rule
from topoi.models.fixed_topics.inference import Inferred, infer
from topoi.models.fixed_topics.parameters import Parameters
from topoi.models.ranges import for_rows
from topoi.models.trained import checked_floats
from topoi.models.validation import positive_vector

# Smallest probability of a word of the corpus: from zero it could not return.
FLOOR = 1e-12
# Beyond this range mixtures are practically pure, or practically the same in all documents.
ALPHA_RANGE = (1e-3, 1e3)
# An aspect that explains less than this of a word is dead, and keeps its words as they are.
_DEAD = 1e-6


class Plan(NamedTuple):
    """Settings of learning: ``inference`` "ep" or "vb", ``learning`` "em" or "bound", and the rest of the model's.

    ``step_rule`` ends inference within an EM step, where it need not converge: the next step continues it.
    """

    inference: str
    learning: str
    learn_alpha: bool
    smoothing: float
    step_rule: Rule
    memory: int
    n_jobs: int


class Learner:
    """Parameters, posteriors and sites between two EM steps.

    Sites take 8 bytes per entry and aspect. If that is more than ``plan.memory`` they are not kept: each step then
    begins at the documents' posteriors, and rules that need sites work on parts of the corpus.
    """

    def __init__(self, bags: Bags, n_words: int, parameters: Parameters, plan: Plan) -> None:
        self.bags, self.plan, self.parameters = bags, plan, parameters
        self.by_word = ByWord.from_bags(bags, n_words)
        self.room = np.zeros((bags.n_docs, len(parameters.alpha)))
        needed = len(bags.row) * len(parameters.alpha) * 8
        self.keeps_sites = plan.inference == "ep" and needed <= plan.memory
        self.sites = np.zeros((len(bags.row), len(parameters.alpha))) if self.keeps_sites else None
        self.warm, self.change = False, float("inf")
        self.sizes = np.zeros(parameters.n_aspects)

    def step(self, evidence: bool = False) -> tuple[float, Inferred]:
        """One EM step; return the change of the parameters, and the result of inference before it.

        The change is the largest of the mean total variation of aspects' words, weighted by the aspects' sizes, and the
        mean relative change of alpha.
        """
        new = np.zeros_like(self.parameters.word_aspect)
        cursor = self.by_word.start[:-1].copy()
        found = []
        for first, last in self._parts():
            found.append(self._infer(first, last, evidence))
            self._add(new, cursor, first, last)
        inferred = _joined(found, self.room)
        self.change = self._take(new[:, : self.parameters.n_aspects])
        self.warm = True
        return self.change, inferred

    def settle(self, rule: Rule) -> Inferred:
        """Posteriors and evidence under the current parameters; no step may follow, since sites are overwritten."""
        plan, room = self.plan, self.room.copy()
        return infer(self.bags, self.parameters, plan.inference, rule, plan.n_jobs, True, room, self.sites, self.warm)

    def arrays(self) -> dict[str, NDArray[np.float64]]:
        """State that the next step reads, not copied."""
        n = self.parameters.n_aspects
        found = {"word_aspect": self.parameters.word_aspect[:, :n], "alpha": self.parameters.alpha[:n]}
        found |= {"room": self.room, "sizes": self.sizes}
        return found if self.sites is None else found | {"sites": self.sites}

    def restore(self, arrays: Mapping[str, ArrayOrPieces]) -> None:
        """Go back to copies of ``arrays()``; without sites the learner can make no further step."""
        n, width = self.parameters.n_aspects, len(self.parameters.alpha)
        words = checked_floats(arrays, "word_aspect", (len(self.parameters.word_aspect), n))
        alpha = checked_floats(arrays, "alpha", (n,))
        if (words < 0).any() or (words > 1).any():
            raise ModelError("the words of the aspects are no probabilities")
        self.parameters = Parameters.pad(words, positive_vector("alpha", alpha, n, "the number of aspects"))
        self.room = checked_floats(arrays, "room", self.room.shape)
        self.sizes = checked_floats(arrays, "sizes", (n,))
        self.sites = checked_floats(arrays, "sites", (len(self.bags.row), width)) if "sites" in arrays else None

    def _parts(self) -> Iterator[tuple[int, int]]:
        """Ranges of documents: all at once or, if sites are needed and not kept, parts whose sites fit in memory."""
        needs_sites = self.plan.inference == "ep" and self.plan.learning == "bound"
        if self.keeps_sites or not needs_sites:
            yield 0, self.bags.n_docs
            return
        room = max(self.plan.memory // (8 * len(self.parameters.alpha)), 1)
        first = 0
        while first < self.bags.n_docs:
            fits = int(np.searchsorted(self.bags.doc_start, self.bags.doc_start[first] + room, side="right")) - 1
            last = min(max(fits, first + 1), self.bags.n_docs)
            yield first, last
            first = last

    def _infer(self, first: int, last: int, evidence: bool) -> Inferred:
        plan, part, sites = self.plan, self.bags.part(first, last), self.sites
        self._part_sites = sites
        if sites is None and plan.inference == "ep" and plan.learning == "bound":
            # Sites of this part only, which start at zero: ``warm`` would read them, so the part starts cold.
            self._part_sites = np.zeros((len(part.row), len(self.parameters.alpha)))
            return infer(
                part, self.parameters, "ep", plan.step_rule, plan.n_jobs, evidence, self.room[first:last],
                self._part_sites,
            )  # fmt: skip
        return infer(
            part, self.parameters, plan.inference, plan.step_rule, plan.n_jobs, evidence, self.room[first:last], sites,
            self.warm,
        )  # fmt: skip

    def _add(self, new: NDArray[np.float64], cursor: NDArray[np.int64], first: int, last: int) -> None:
        """Add the contributions of documents ``first`` to ``last`` to each word's row."""
        plan, bags = self.plan, self.bags
        given = (self.by_word, bags.times, self.parameters)
        shared = plan.inference == "vb" and plan.learning == "bound"
        weight = _geometric_means(self.room[:, : self.parameters.n_aspects], self.room.shape[1]) if shared else None

        def run(w0: int, w1: int) -> None:
            if plan.learning == "em":
                updates.add_second_order(*given, self.room, w0, w1, last, cursor, new)
            elif plan.inference == "vb":
                updates.add_shares(*given, weight, w0, w1, last, cursor, new)
            else:
                at = 0 if self.keeps_sites else int(bags.doc_start[first])
                updates.add_tilted(*given, self.room, self._part_sites, at, w0, w1, last, cursor, new)

        for_rows(run, np.diff(self.by_word.start), plan.n_jobs)

    def _take(self, new: NDArray[np.float64]) -> float:
        """Convert sums to probabilities, learn alpha, and return the change."""
        old = self.parameters.word_aspect[:, : self.parameters.n_aspects]
        self.sizes = new.sum(axis=0)
        words = new + self.plan.smoothing
        total = words.sum(axis=0)
        alive = self.sizes > _DEAD
        words = np.where(alive, words / np.where(alive, total, 1.0), old)
        words = np.maximum(words, FLOOR)
        words /= words.sum(axis=0)
        share = self.sizes / max(float(self.sizes.sum()), 1e-300)
        change = float(0.5 * (np.abs(words - old).sum(axis=0) * share).sum())
        alpha = self.parameters.alpha[: self.parameters.n_aspects]
        if self.plan.learn_alpha:
            learned = self._learned_alpha(alpha)
            change = max(change, float(np.abs(learned / alpha - 1.0).mean()))
            alpha = learned
        self.parameters = Parameters.pad(words, alpha)
        return change

    def _learned_alpha(self, alpha: NDArray[np.float64]) -> NDArray[np.float64]:
        """Equation 28 where the bound is maximised, else 30: near the EP evidence's gradient for alpha near one."""
        gamma = self.room[:, : len(alpha)]
        if not len(self.bags.row):
            return alpha
        if self.plan.learning == "bound" and self.plan.inference == "vb":
            return maximise_polya(np.maximum(gamma - alpha, 0.0), alpha, 3, *ALPHA_RANGE)
        from scipy.special import digamma

        mean_log = (digamma(gamma) - digamma(gamma.sum(axis=1, keepdims=True))).mean(axis=0)
        return maximise_dirichlet(mean_log, alpha, *ALPHA_RANGE)


def _geometric_means(gamma: NDArray[np.float64], width: int) -> NDArray[np.float64]:
    """exp Ψ(γ) of every document's aspects, scaled so that the largest is one, padded."""
    from scipy.special import digamma

    logs = digamma(gamma)
    weight = np.zeros((len(gamma), width))
    weight[:, : gamma.shape[1]] = np.exp(logs - logs.max(axis=1, keepdims=True, initial=-np.inf))
    return weight


def _joined(found: list[Inferred], room: NDArray[np.float64]) -> Inferred:
    if len(found) == 1:
        return found[0]
    each = [np.concatenate([getattr(f.outcome, name) for f in found]) for name in Outcome._fields]
    return Inferred(room, np.concatenate([f.evidence for f in found]), Outcome(*each), found[0].n_aspects)


def first_aspects(bags: Bags, n_words: int, n_aspects: int, rng: np.random.Generator) -> NDArray[np.float64]:
    """Initial aspects, words × aspects: random weighted means of documents, plus a little of all and of noise.

    Examples
    --------
    >>> import numpy as np, topoi
    >>> from topoi.models.aspect.learning import first_aspects
    >>> from topoi.models.bags import Bags
    >>> bags = Bags.from_corpus(topoi.Corpus.from_tokens([["a", "b"], ["c"]]))
    >>> first_aspects(bags, 3, 2, np.random.default_rng(0)).sum(axis=0).round(6).tolist()
    [1.0, 1.0]
    """
    doc = np.repeat(np.arange(bags.n_docs), np.diff(bags.doc_start))
    weight = rng.standard_gamma(0.1, (n_aspects, bags.n_docs))
    everywhere = np.bincount(bags.row, bags.times, n_words) + 1e-3
    everywhere /= everywhere.sum()
    aspects = np.empty((n_words, n_aspects))
    for a in range(n_aspects):
        own = np.bincount(bags.row, bags.times * weight[a, doc], n_words)
        own = 0.5 * own / max(own.sum(), 1e-300) + 0.5 * everywhere
        own *= 0.5 + rng.random(n_words)
        aspects[:, a] = own / own.sum()
    return aspects
