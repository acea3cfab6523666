"""The fit: EM steps from one random start after the other, plain or tempered, under the engine's loop."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from topoi.corpus.pieces import ArrayOrPieces
from topoi.engine.executors import open_executor
from topoi.engine.loop import Outcome, Saved, Trace
from topoi.engine.restarts import Restarts, restored_trace, trace_array
from topoi.errors import ModelError
from topoi.models.bags import Bags
from topoi.models.plsi import kernels
from topoi.models.validation import whole_number

Array = NDArray[np.float64]

# Documents are cut into blocks of about so many words, at most this number: their sums are added in order, so that
# threads change no bit.
_WORDS_PER_BLOCK, _MOST_BLOCKS = 2**18, 8
# Steps and tolerance of folding in.
FOLDING = (200, 1e-6)


class Plan(NamedTuple):
    """Settings of a fit: tolerance in nats per token, smoothing, tempering (share, factor), starts, threads."""

    tol: float
    smoothing: float
    held_out: float
    cooling: float
    n_restarts: int
    n_jobs: int

    @property
    def tempered(self) -> bool:
        """Whether words are held out, and EM is tempered by them."""
        return self.held_out > 0


@dataclass
class State:
    """State that the next step reads.

    ``last`` is the log-likelihood before the last step, ``gain`` what the step before that gained. In tempered EM
    ``best`` is the largest log-likelihood of the words held out, reached by ``kept`` (P(w|z) and P(z|d)); ``improved``
    tells whether the present power has raised it.
    """

    word_topic: Array
    doc_topic: Array
    last: float = -np.inf
    gain: float = np.inf
    power: float = 1.0
    best: float = -np.inf
    improved: bool = True
    ended: bool = False
    kept: tuple[Array, Array] | None = None

    def arrays(self) -> dict[str, Array]:
        """The state as arrays; numbers too, since JSON has no infinity."""
        numbers = [self.last, self.gain, self.power, self.best, float(self.improved), float(self.ended)]
        found = {"word_topic": self.word_topic, "doc_topic": self.doc_topic, "numbers": np.array(numbers)}
        if self.kept is not None:
            found |= {"kept_word_topic": self.kept[0], "kept_doc_topic": self.kept[1]}
        return {name: array.copy() for name, array in found.items()}

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, ArrayOrPieces], n_docs: int, n_words: int, n_topics: int) -> State:
        """Such a state, checked: kernels check nothing."""
        shapes = {"word_topic": (n_words, n_topics), "doc_topic": (n_docs, n_topics)}
        shapes |= {f"kept_{name}": shape for name, shape in shapes.items() if f"kept_{name}" in arrays}
        found = {name: checked_shares(arrays[name], name, shape) for name, shape in shapes.items()}
        numbers = np.asarray(arrays["numbers"])
        if numbers.dtype != np.float64 or numbers.shape != (6,) or not 0 < numbers[2] <= 1 or np.isnan(numbers).any():
            raise ModelError("the numbers of the last step are not what a fit writes")
        last, gain, power, best, improved, ended = numbers.tolist()
        kept = (found["kept_word_topic"], found["kept_doc_topic"]) if len(found) == 4 else None
        pair = found["word_topic"], found["doc_topic"]
        return cls(*pair, last, gain, power, best, bool(improved), bool(ended), kept)


def checked_shares(array: Any, name: str, shape: tuple[int, ...]) -> Array:
    """Copy of a table of shares from a file, with this shape and between zero and one."""
    found = np.array(array, order="C")
    if found.dtype != np.float64 or found.shape != shape:
        raise ModelError(f"{name} is {found.dtype} of shape {found.shape}, not float64 of shape {shape}")
    if not ((found >= 0) & (found <= 1 + 1e-9)).all():
        raise ModelError(f"{name} has entries that are no shares")
    return found


class Fitted(NamedTuple):
    """Result of one start: P(w|z), P(z|d), log P(words | documents), its last state, steps, trace, and why it ended."""

    word_topic: Array
    doc_topic: Array
    log_likelihood: float
    state: State
    n_steps: int
    trace: Trace
    outcome: Outcome

    @property
    def worth(self) -> float:
        """Score by which starts are compared: log-likelihood of words held out, or of all."""
        return self.state.best if self.state.kept is not None else self.log_likelihood


def split_bags(bags: Bags, share: float, seed: int) -> tuple[Bags, Bags]:
    """Documents without a share of their tokens, drawn at random, and those tokens; every token is in one of them."""
    if share <= 0:
        return bags, Bags(np.zeros(bags.n_docs + 1, np.int64), np.zeros(0, np.int64), np.zeros(0))
    held = np.random.default_rng([seed, 1]).binomial(bags.times.astype(np.int64), share).astype(np.float64)
    return _without_zeros(bags, bags.times - held), _without_zeros(bags, held)


def _without_zeros(bags: Bags, times: Array) -> Bags:
    there = np.concatenate(([0], np.cumsum(times > 0)))
    return Bags(there[bags.doc_start], bags.row[times > 0], times[times > 0])


class EMRestarts(Restarts[Fitted]):
    """EM steps of one start after the other.

    ``first`` is a state to begin with in place of a random one.
    """

    def __init__(
        self, bags: Bags, n_words: int, n_topics: int, plan: Plan, seed: int, first: State | None = None
    ) -> None:
        super().__init__(plan.n_restarts)
        self._whole, self._n_words, self._n_topics, self.plan, self.seed = bags, n_words, n_topics, plan, seed
        self._bags, self._held = split_bags(bags, plan.held_out, seed)
        self.n_tokens = int(bags.times.sum())
        n_blocks = int(np.clip(len(self._bags.row) // _WORDS_PER_BLOCK, 1, _MOST_BLOCKS))
        edges = np.searchsorted(self._bags.doc_start, np.linspace(0, len(self._bags.row), n_blocks + 1)[1:-1])
        ends = [0, *edges.tolist(), bags.n_docs]
        self._blocks = list(zip(ends[:-1], ends[1:], strict=True))
        self.begin(0, first)

    def begin(self, restart: int, first: State | None = None) -> None:
        """Begin a start: words shared out at random in proportion to their numbers, and even mixtures."""
        rng, shape = np.random.default_rng([self.seed, 0, restart]), (self._n_words, self._n_topics)
        times = np.bincount(self._bags.row, self._bags.times, self._n_words)[:, None] + self.plan.smoothing
        words = times * rng.standard_exponential(shape)
        even = np.full((self._whole.n_docs, self._n_topics), 1.0 / self._n_topics)
        # In a list of its own: a step that was abandoned may still end, and must not touch what is put in its place.
        self._present = [first or State(np.ascontiguousarray(words / words.sum(axis=0)), even)]
        self.restart, self.trace = restart, list[tuple[int, float]]()

    @property
    def converged(self) -> bool:
        """Whether a step gained less than ``tol`` per token, or no power improves the words held out."""
        state, least = self.state, self.plan.tol * self.n_tokens
        return state.ended or (not self.plan.tempered and least > 0 and state.gain < least)

    @property
    def state(self) -> State:
        """State of the present start."""
        return self._present[0]

    def step(self, sweep: int, evaluate: bool) -> list[float]:
        """One step of EM; the log-likelihood is that of the state before it."""
        present, plan = self._present, self.plan
        old = present[0]
        by_word, by_document, found = self._expected(old)
        state = State(old.word_topic.copy(), old.doc_topic.copy(), power=old.power, best=old.best, kept=old.kept)
        kernels.maximise(by_word, by_document, plan.smoothing, state.word_topic, state.doc_topic)
        objective = found + (plan.smoothing * float(np.log(old.word_topic).sum()) if plan.smoothing else 0.0)
        state.last, state.gain, state.improved = objective, objective - old.last, old.improved
        if plan.tempered:
            self._temper(state)
        present[0] = state
        return [found] if evaluate else []

    def _expected(self, state: State) -> tuple[Array, Array, float]:
        """Expected tokens of words and of documents, and the log-likelihood; blocks are added in their order."""
        by_document = np.zeros_like(state.doc_topic)

        def expect(block: tuple[int, int]) -> tuple[Array, float]:
            first, last = block
            by_word = np.zeros_like(state.word_topic)
            how = state.word_topic, state.doc_topic[first:last], state.power
            return by_word, kernels.expect(self._bags.part(first, last), *how, by_word, by_document[first:last])

        with open_executor(self.plan.n_jobs, len(self._blocks)) as executor:
            parts = list(executor.map(expect, self._blocks))
        by_word, total = parts[0]
        for more, value in parts[1:]:
            by_word += more
            total += value
        return by_word, by_document, float(total)

    def _temper(self, state: State) -> None:
        """Keep what predicts the words held out best; lower the power when it improves no more (Hofmann, 3.3)."""
        found = float(kernels.score(self._held, state.word_topic, state.doc_topic).sum())
        if found > state.best + self.plan.tol * max(float(self._held.times.sum()), 1.0) or state.kept is None:
            state.best, state.improved = found, True
            state.kept = state.word_topic, state.doc_topic
        elif state.improved:
            state.power, state.improved = state.power * self.plan.cooling, False
        else:
            state.ended = True

    def finish(self) -> tuple[Array, Array, float]:
        """P(w|z), P(z|d) and the log-likelihood; after tempered EM all words of documents are folded in."""
        state = self.state
        words, mixtures = state.kept or (state.word_topic, state.doc_topic)
        if state.kept is not None:
            mixtures = mixtures.copy()
            kernels.fold_in(self._whole, words, state.power, *FOLDING, mixtures)
        return words, mixtures, float(kernels.score(self._whole, words, mixtures).sum())

    def result(self, outcome: Outcome) -> Fitted:
        """P(w|z), P(z|d) and log-likelihood of the present start, and the state that further steps begin with."""
        state = self.state
        words, mixtures = state.kept or (state.word_topic, state.doc_topic)
        result: tuple[Array, Array, float] = outcome.result or (words, mixtures, state.last)
        if not self.trace or self.trace[-1][0] != outcome.sweep:
            self.trace.append((outcome.sweep, result[2]))
        return Fitted(*result, state, outcome.sweep, self.trace, outcome)

    def saved(self, sweep: int) -> Saved:
        """The present start, and the results of those before it."""
        arrays = self.state.arrays() | {"trace": trace_array(self.trace)}
        for number, each in enumerate(self.results):
            own = each.state.arrays() | {"trace": trace_array(each.trace), "doc_mixture": each.doc_topic}
            arrays |= {f"start{number}_{name}": array for name, array in own.items()}
        steps = [[each.n_steps, each.log_likelihood] for each in self.results]
        return {"sweep": sweep, "seed": self.seed, "restart": self.restart, "steps": steps}, dict(arrays)

    def restore(self, progress: Mapping[str, Any], arrays: Mapping[str, ArrayOrPieces]) -> None:
        """Go back to a saved state."""
        restart, steps = whole_number("restart", progress["restart"], 0), progress["steps"]
        if restart >= self.n_restarts or len(steps) != restart:
            raise ModelError("the starts are not those of this fit")
        self.restart, self.seed = restart, int(progress["seed"])
        # The words that are held out depend on the seed, which may have been drawn at random.
        self._bags, self._held = split_bags(self._whole, self.plan.held_out, self.seed)
        self.results = [self._restored(arrays, number, *each) for number, each in enumerate(steps)]
        self._present, self.trace = [self._state(arrays)], restored_trace(arrays)

    def _state(self, arrays: Mapping[str, ArrayOrPieces]) -> State:
        return State.from_arrays(arrays, self._whole.n_docs, self._n_words, self._n_topics)

    def _restored(self, arrays: Mapping[str, ArrayOrPieces], number: int, n_steps: Any, value: Any) -> Fitted:
        prefix = f"start{number}_"
        own = {name.removeprefix(prefix): array for name, array in arrays.items() if name.startswith(prefix)}
        state, trace, value = self._state(own), restored_trace(own), float(value)
        mixtures = checked_shares(own["doc_mixture"], "doc_mixture", state.doc_topic.shape)
        words = state.word_topic if state.kept is None else state.kept[0]
        n_steps = whole_number("steps", n_steps, 0)
        return Fitted(words, mixtures, value, state, n_steps, trace, Outcome(n_steps, 0.0, False))
