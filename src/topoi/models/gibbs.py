"""Common behaviour of all Gibbs families: fit, resume, checkpoint, trace and load."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any, Generic, Self, TypeVar

from numpy.typing import NDArray
from sklearn.base import _clone_parametrized
from sklearn.utils.validation import check_is_fitted

from topoi.corpus.corpus import Corpus
from topoi.corpus.pieces import ArrayOrPieces
from topoi.corpus.vocabulary import Vocabulary
from topoi.engine.chains import best_first, diagnose, trace_frame
from topoi.engine.checkpoint import Checkpoint
from topoi.engine.executors import open_executor, resolve_jobs
from topoi.engine.gibbs import Chain, Sampler, Sampling, restored, saved_progress
from topoi.engine.interruption import interruptible
from topoi.engine.loop import Outcome, Schedule, SweepInfo, open_progress, run
from topoi.engine.shards import resolve_shards
from topoi.errors import ModelError
from topoi.models.posterior import Posterior
from topoi.models.trained import TrainedModel
from topoi.models.validation import choice, resolve_seed, whole_number

# Prefix of array names of the chains that estimates were made from, where these are copies of the running chains.
_SETTLED = "settled_"


SamplerT = TypeVar("SamplerT", bound=Sampler)
PosteriorT = TypeVar("PosteriorT")


class GibbsModel(TrainedModel, Generic[SamplerT, PosteriorT]):
    """A model fitted by Gibbs chains. A family says of what kind its sampler and its posteriors are.

    Hooks of a family: ``_make_sampler`` and ``_freeze``; ``_begun`` where chains start from something better than
    chance.

    ``_chains`` are those that ``resume`` continues; ``_settled`` are those that estimates are made from. They differ
    only in the sparse schemes.
    """

    n_iter: int
    n_chains: int
    n_jobs: int | None
    n_shards: int | str
    # A ``dask.distributed.Client``, and a folder that its workers share; only of families that run on clusters.
    executor: Any = None
    shared_folder: str | Path | None = None
    evaluate_every: int
    average: bool
    progress: bool | None
    chains_: list[PosteriorT]
    _sampler: SamplerT
    _chains: list[Chain]
    _settled: list[Chain]

    @abstractmethod
    def _make_sampler(self, corpus: Corpus, n_shards: int) -> SamplerT:
        """Check the settings and build the family's sampler."""

    @abstractmethod
    def _freeze(self) -> None:
        """Set the learned attributes from ``_settled``; the best chain comes first."""

    def _fit_corpus(self, corpus: Corpus, callback: Callable[[SweepInfo], Any] | None = None) -> Self:
        # A signal counts from the beginning: the sampler of some families takes long to make.
        with interruptible():
            return self._fit_interruptibly(corpus, callback)

    def _fit_interruptibly(self, corpus: Corpus, callback: Callable[[SweepInfo], Any] | None) -> Self:
        n_iter = whole_number("n_iter", self.n_iter, 0)
        n_chains = whole_number("n_chains", self.n_chains)
        seed = resolve_seed(self.random_state)
        if corpus.n_docs == 0 or corpus.n_words == 0:
            raise ModelError(f"the corpus has {corpus.n_docs} documents and {corpus.n_words} words: nothing to fit")
        n_shards = resolve_shards(self.n_shards, corpus.n_tokens, corpus.n_docs)
        sampler = self._make_sampler(corpus, n_shards)
        store = self._open_checkpoint(corpus, n_shards=n_shards)
        chains: list[Chain] = []

        def rebuild(progress: dict[str, Any], arrays: dict[str, NDArray[Any]]) -> None:
            chains.extend(restored(sampler, n_chains, arrays, progress["traces"], progress["sweep"]))
            sampler.check_growth(chains, progress["sweep"])

        seed, done = self._continued(store, seed, n_iter, rebuild)
        chains = chains or [sampler.start(seed, c) for c in range(n_chains)]
        outcome, settled = self._run(sampler, chains, self._schedule(n_iter, seed), done, store, callback)
        # An earlier fit is left untouched up to here, so that a failing fit does not damage it.
        self.corpus_, self._sampler, self._seed = corpus, sampler, seed
        self._chains, self._settled = chains, settled
        self._settings = self.get_params(deep=False)
        self._seconds = 0.0
        self._finish(outcome, done)
        return self

    def _take_state(self, corpus: Corpus, arrays: dict[str, NDArray[Any]]) -> Self:
        """Become the fit of one chain whose state is known, as a sampler's ``to_arrays`` gives it, after no sweeps."""
        if whole_number("n_chains", self.n_chains) != 1:
            raise ModelError(f"n_chains is {self.n_chains}; one state is one chain: n_chains=1")
        seed = resolve_seed(self.random_state)
        sampler = self._make_sampler(corpus, resolve_shards(self.n_shards, corpus.n_tokens, corpus.n_docs))
        chain = sampler.restore(0, arrays, [])
        chain.trace.append((0, sampler.log_joint(chain)))
        self.corpus_, self._sampler, self._seed = corpus, sampler, seed
        self._chains = self._settled = [chain]
        self._settings = self.get_params(deep=False)
        self._seconds = 0.0
        self._finish(Outcome(0, 0.0, False), 0)
        return self

    def _begun(self, sampler: SamplerT) -> bool:
        """Whether a chain is usable before its first sweep; a random start is not."""
        return False

    def _schedule(self, n_iter: int, seed: int) -> Schedule:
        return Schedule(n_iter, seed, self.evaluate_every, choice("average", self.average, (True, False)))

    def _run(
        self,
        sampler: SamplerT,
        chains: list[Chain],
        schedule: Schedule,
        done: int,
        store: Checkpoint | None,
        callback: Callable[[SweepInfo], Any] | None,
    ) -> tuple[Outcome, list[Chain]]:
        """Run the chains; return the loop's outcome and the chains that estimates are made from."""
        whole_number("evaluate_every", schedule.evaluate_every)
        n_tasks = sum(len(chain.shards) for chain in chains)
        exact = n_tasks == len(chains) and sampler.exact
        title = f"{type(self).__name__}{'' if exact else ', approximate'}"
        jobs = resolve_jobs(self.n_jobs)
        with self._training(sampler, chains, schedule, done) as training:
            bar = open_progress(self.progress, title, schedule.n_iter, done)
            outcome = run(training, schedule, done, store, bar, callback)
        with open_executor(jobs, n_tasks) as executor:  # threads of the other one may still run abandoned work
            return outcome, sampler.settled(chains, outcome.sweep, schedule.seed, executor)

    @contextmanager
    def _training(
        self, sampler: SamplerT, chains: list[Chain], schedule: Schedule, done: int
    ) -> Iterator[Sampling[Chain]]:
        """Open the chains on this machine's threads, or on the cluster of ``executor``."""
        begun = self._begun(sampler)
        if self.executor is not None:
            from topoi.engine.cluster.sampling import open_cluster

            folder = None if self.shared_folder is None else str(self.shared_folder)
            with open_cluster(sampler, chains, schedule, self.executor, folder, begun, done) as training:
                yield training
            return
        if self.shared_folder is not None:
            raise ModelError("shared_folder is for fits on a cluster: pass executor=, a dask.distributed.Client, too")
        n_tasks = sum(len(chain.shards) for chain in chains)
        with open_executor(resolve_jobs(self.n_jobs), n_tasks) as executor:
            yield Sampling(sampler, chains, schedule, executor, begun)

    def _finish(self, outcome: Outcome, done: int) -> None:
        self.n_iter_ = outcome.sweep
        self._seconds += outcome.seconds
        by_number = sorted(self._chains, key=lambda chain: chain.index)
        order = best_first([chain.trace for chain in by_number], self.evaluate_every)
        if self._settled is self._chains:
            self._chains = self._settled = [by_number[c] for c in order]
        else:
            copies = sorted(self._settled, key=lambda chain: chain.index)
            self._chains, self._settled = ([each[c] for c in order] for each in (by_number, copies))
        n_shards = len(self._chains[0].shards)
        work = self._sampler.n_tokens * len(self._chains) * (outcome.sweep - done)
        self.fit_info_ = {
            "model": type(self).__name__,
            "seed": self._seed,
            "n_sweeps": outcome.sweep,
            "n_chains": len(self._chains),
            "n_shards": n_shards,
            "exact": n_shards == 1 and self._sampler.exact,
            "interrupted": outcome.interrupted,
            "stopped": outcome.stopped,
            "seconds": self._seconds,
            "tokens_per_second": work / outcome.seconds if outcome.seconds > 0 and work else None,
        }
        self.fit_info_ |= self._sampler.notes(self._chains) | (outcome.result or {})
        self.vocabulary_: Vocabulary = self.corpus_.vocabulary
        self.trace_ = trace_frame([chain.trace for chain in by_number], self._sampler.n_tokens)
        self._freeze()
        self.fit_info_ |= self._notes_on_estimates()

    def _notes_on_estimates(self) -> dict[str, Any]:
        """For ``fit_info_``: the chain shown first, the number of samples averaged, the topics that changed."""
        first = self._settled[0]
        shown = self.chains_[0]
        averaged = shown.averaged if isinstance(shown, Posterior) else None
        changed = {k for topics in averaged.changed for k in topics} if averaged is not None else set()
        return {
            "best_chain": first.index,
            "averaged_samples": 1 + sum(sweep != first.sweep for sweep in first.samples),
            "changed_topics": sorted(changed),
        }

    def __sklearn_clone__(self) -> Self:
        """A model with the same settings and the same cluster, which cannot be copied."""
        executor, self.executor = self.executor, None
        try:
            return _clone_parametrized(self).set_params(**({} if executor is None else {"executor": executor}))
        finally:
            self.executor = executor

    def __getstate__(self) -> dict[str, Any]:
        """Copies and pickles of a model leave the cluster behind."""
        state = dict(super().__getstate__())
        for settings in (state, state.get("_settings", {})):
            if settings.get("executor") is not None:
                settings["executor"] = None
        return state

    def resume(self, n_iter: int, callback: Callable[[SweepInfo], Any] | None = None) -> Self:
        """Run ``n_iter`` more sweeps of the same chains, with the same bits as one longer fit.

        Parameters
        ----------
        n_iter : int
            Number of further sweeps.
        callback : callable, optional
            Called with a ``SweepInfo`` after each sweep; a true result ends the run.

        Examples
        --------
        >>> import topoi
        >>> corpus = topoi.Corpus.from_tokens([["a", "b"], ["c", "d"]] * 5)
        >>> model = topoi.LDA(2, n_iter=10, random_state=0).fit(corpus).resume(5)
        >>> model.n_iter_
        15
        """
        check_is_fitted(self, "n_iter_")
        done = self.n_iter_
        schedule = self._schedule(done + whole_number("n_iter", n_iter, 0), self._seed)
        # The run continues copies: ``chains_`` is a frozen result and stays whole even if the run is interrupted.
        # Samples never change, so the copies have the same.
        bare = [replace(chain, samples={}) for chain in self._chains]
        progress, arrays = saved_progress(self._sampler, bare, done, self._seed)
        chains = restored(self._sampler, len(self._chains), arrays, progress["traces"], done)
        for chain in self._chains:
            chains[chain.index].samples = dict(chain.samples)
        outcome, settled = self._run(self._sampler, chains, schedule, done, None, callback)
        self._chains, self._settled = chains, settled
        self._finish(outcome, done)
        return self

    def diagnose(self, burn_in: float = 0.5) -> dict[str, Any]:
        """R-hat and effective sample size of the log joint over the chains, after ``burn_in`` of the trace.

        Examples
        --------
        >>> import topoi
        >>> corpus = topoi.Corpus.from_tokens([["a", "b"], ["c", "d"]] * 5)
        >>> model = topoi.LDA(2, n_iter=40, n_chains=2, evaluate_every=1, random_state=0).fit(corpus)
        >>> model.diagnose()["n_chains"]
        2
        """
        check_is_fitted(self, "n_iter_")
        return diagnose(self.trace_, burn_in)

    def _state(self) -> tuple[dict[str, Any], dict[str, ArrayOrPieces]]:
        progress, arrays = saved_progress(self._sampler, self._chains, self.n_iter_, self._seed)
        if self._settled is not self._chains:
            # The running chains hold their samples.
            bare = [replace(chain, samples={}) for chain in self._settled]
            _, settled = saved_progress(self._sampler, bare, self.n_iter_, self._seed)
            arrays |= {_SETTLED + name: array for name, array in settled.items()}
        return progress, arrays

    def identity_of_fit(self) -> dict[str, Any]:
        """Model, seed and number of shards."""
        return super().identity_of_fit() | {"n_shards": self.fit_info_["n_shards"]}

    def restore_bundle(self, corpus: Corpus, meta: dict[str, Any], arrays: dict[str, NDArray[Any]]) -> Self:
        """Restore what ``save`` wrote."""
        progress, info = meta["progress"], meta["fit_info"]
        sweep = whole_number("sweep", progress["sweep"], 0)
        self.corpus_ = corpus
        self._settings = self.get_params(deep=False)
        self._sampler = self._make_sampler(corpus, resolve_shards(info["n_shards"], corpus.n_tokens, corpus.n_docs))
        n_chains, traces = whole_number("n_chains", info["n_chains"]), progress["traces"]
        self._chains = self._settled = restored(self._sampler, n_chains, arrays, traces, sweep)
        settled = {name.removeprefix(_SETTLED): array for name, array in arrays.items() if name.startswith(_SETTLED)}
        if settled:
            self._settled = restored(self._sampler, n_chains, settled, traces, sweep)
            for chain, copy in zip(self._chains, self._settled, strict=True):
                copy.samples = chain.samples
        self._seed = resolve_seed(whole_number("seed", progress["seed"], 0))
        self._seconds = float(info["seconds"])
        self._finish(Outcome(sweep, 0.0, bool(info["interrupted"])), sweep)
        self.fit_info_ = dict(info)
        return self
