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
from topoi.corpus.joining import join_corpora
from topoi.corpus.pieces import ArrayOrPieces
from topoi.corpus.vocabulary import Vocabulary
from topoi.engine.chains import best_first, diagnose, trace_frame
from topoi.engine.checkpoint import Checkpoint
from topoi.engine.executors import SerialExecutor, open_executor, resolve_jobs
from topoi.engine.gibbs import Chain, Sampler, Sampling, restored, saved_progress
from topoi.engine.interruption import interruptible
from topoi.engine.loop import Outcome, Schedule, SweepInfo, run
from topoi.engine.progress import open_progress
from topoi.engine.shards import Shards, resolve_shards
from topoi.errors import CorpusError, ModelError
from topoi.models.contract import DocumentsLike
from topoi.models.editing.records import Edit
from topoi.models.growing import wider_setting
from topoi.models.posterior import Posterior
from topoi.models.texts import check_known, find_documents, is_numbered, need_documents
from topoi.models.trained import TrainedModel
from topoi.models.update_report import UpdateReport
from topoi.models.updating import checked_joined, run_update
from topoi.models.validation import choice, resolve_seed, whole_number

# Prefix of array names of the chains that estimates were made from, where these are copies of the running chains.
_SETTLED = "settled_"


SamplerT = TypeVar("SamplerT", bound=Sampler)
PosteriorT = TypeVar("PosteriorT")


class GibbsModel(TrainedModel, Generic[SamplerT, PosteriorT]):
    """A model fitted by Gibbs chains. A family says of what kind its sampler and its posteriors are.

    Hooks of a family: ``_make_sampler`` and ``_freeze``; ``_begun`` where chains start from something better than
    chance; for ``update``, ``_takes_documents``, its sampler's ``widened`` and, where more topics are possible,
    ``_topic_settings``; for edits by hand, ``why_not_edited``, and its sampler's ``token_rows`` and
    ``with_weight_moved``.

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
    # Whether chains can go on over more documents than they began with.
    _takes_documents = False
    # Earlier updates in short and the last one in full, and all edits, as JSON can hold them.
    _updates: list[dict[str, Any]] = []
    _edits: list[dict[str, Any]] = []

    @abstractmethod
    def _make_sampler(self, corpus: Corpus, n_shards: Shards) -> SamplerT:
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
        self.__dict__.pop("chains_", None)
        self.corpus_, self._sampler, self._seed = corpus, sampler, seed
        self._chains, self._settled = chains, settled
        self._settings = self._settings_of_fit()
        self._seconds, self._updates, self._edits = 0.0, [], []
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
        self._settings = self._settings_of_fit()
        self._seconds, self._updates, self._edits = 0.0, [], []
        self._finish(Outcome(0, 0.0, False), 0)
        return self

    def _settings_of_fit(self) -> dict[str, Any]:
        """Settings for ``_settings``; a family adds what its sampler has chosen for those that were left open."""
        return self.get_params(deep=False)

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
            sampler.executor = executor
            try:
                yield Sampling(sampler, chains, schedule, executor, begun)
            finally:
                sampler.executor = SerialExecutor()

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
        shown = self.__dict__.get("fit_info_", {}).get("best_chain")
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
        self.fit_info_ |= {"updates": self._updates} if self._updates else {}
        self.fit_info_ |= {"edits": self._edits} if self._edits else {}
        self.vocabulary_: Vocabulary = self.corpus_.vocabulary
        self.trace_ = trace_frame([chain.trace for chain in by_number], self._sampler.n_tokens)
        before = next(iter(self.__dict__.get("chains_", ())), None)
        self._freeze()
        if isinstance(before, Posterior) and isinstance(self.chains_[0], Posterior):
            self.chains_[0].remember_labels(before.labels_so_far)
        self.fit_info_ |= self._notes_on_estimates()
        if isinstance(before, Posterior) and isinstance(self.chains_[0], Posterior):
            names, n_edits = before.names_known
            stay = [k for k in names if self._numbers_stay(shown, k)]
            self.chains_[0].remember_names({k: names[k] for k in stay}, n_edits)

    def _numbers_stay(self, shown: int | None, topic: int) -> bool:
        """Whether a topic has the number that it had when the chain ``shown`` was first; other chains have others."""
        return bool(shown == self.fit_info_["best_chain"])

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

    def update(
        self,
        X: DocumentsLike,
        n_iter: int = 100,
        spare_topics: int = 0,
        *,
        min_df: int | None = 2,
        known: str = "error",
        callback: Callable[[SweepInfo], Any] | None = None,
    ) -> Self:
        """Add new documents to the fitted model, with their new words and authors; topics keep their numbers.

        New documents get their topics given the old ones, then all chains go on for ``n_iter`` sweeps over all
        documents. ``corpus_`` is the joined corpus afterwards, ``update_report_`` says what has changed, and
        ``docs/updating.md`` how it works. Same seed, same bits, on any number of threads. An update that fails or is
        interrupted before all documents are in leaves the model as it was.

        Parameters
        ----------
        X : Corpus, or what ``fit`` and ``transform`` take
            The new documents. Texts are read with the analyser of the training corpus; no documents at all is the same
            as ``resume(n_iter)``.
        n_iter : int
            Sweeps over all documents, old and new.
        spare_topics : int
            Topics that may form in the new documents, numbered after the old ones. ``n_topics`` grows by them.
        min_df : int or None
            New words must be in at least this many of the new documents; None takes in no new words.
        known : {"error", "skip"}
            Treatment of documents whose ids the corpus has already.
        callback : callable, optional
            Called with a ``SweepInfo`` after each sweep; a true result ends the sweeps.

        Examples
        --------
        >>> import topoi
        >>> corpus = topoi.Corpus.from_texts(["red fish", "blue bird", "red fish", "blue bird"], max_df=1.0)
        >>> model = topoi.LDA(2, n_iter=20, random_state=0).fit(corpus)
        >>> model.update(["red fish swim", "red fish swim"], n_iter=10).corpus_.words.tolist()
        ['bird', 'blue', 'fish', 'red', 'swim']
        >>> print(model.update_report_)  # doctest: +ELLIPSIS
        2 documents (6 words of text) added
          1 new word: swim
        ...
        """
        check_is_fitted(self, "n_iter_")
        if not self._takes_documents:
            return super().update(X)
        whole_number("n_iter", n_iter, 0)
        n_spare = whole_number("spare_topics", spare_topics, 0)
        self._grown_settings(self.corpus_.n_words, n_spare)
        try:
            new = self._new_corpus(X)
            joined = join_corpora(self.corpus_, new, min_df, known, None if new is X else new.texts is not None)
        except CorpusError as error:
            raise ModelError(str(error)) from None
        if not joined.added.n_docs and not n_spare:
            return self.resume(n_iter, callback)
        run_update(self, checked_joined(joined, n_spare), n_iter, n_spare, callback)
        return self

    @property
    def update_report_(self) -> UpdateReport:
        """Report of the last ``update``."""
        check_is_fitted(self, "n_iter_")
        if not self._updates:
            raise AttributeError("the model has not been updated by new documents")
        return UpdateReport.from_dict(self._updates[-1])

    @property
    def edits_(self) -> list[Edit]:
        """Edits by hand, the first one first, those that were undone included; see ``topoi.edit``."""
        check_is_fitted(self, "n_iter_")
        return [Edit.from_dict(plain) for plain in self._edits]

    def _note_update(self, report: UpdateReport) -> None:
        """Keep the report of an update; of earlier ones, only their counts and spare topics."""
        short = [UpdateReport.from_dict(plain).to_dict(topics=False) for plain in self._updates]
        self._updates = [*short, report.to_dict()]
        self.fit_info_["updates"] = self._updates

    def _new_corpus(self, X: DocumentsLike) -> Corpus:
        """New documents as a corpus, with all their words."""
        found = None if isinstance(X, Corpus) else find_documents(X)
        if isinstance(X, Corpus):
            return X
        if found is None:
            return self._as_corpus(X)
        if is_numbered(self.corpus_.vocabulary):
            check_known(self.corpus_.vocabulary, 0, 1)
        return Corpus.from_tokens(found.values) if found.kind == "words" else found.encoded(self.corpus_)

    def _as_corpus(self, X: DocumentsLike) -> Corpus:
        return need_documents(X, self.corpus_)

    def _grown_settings(self, n_words: int, n_spare: int) -> dict[str, Any]:
        """Settings of the model with so many words, and so many topics more."""
        settings = self.get_params(deep=False)
        words = {"beta": wider_setting(settings["beta"], n_words)} if "beta" in settings else {}
        return words | (self._topic_settings(n_spare) if n_spare else {})

    def _topic_settings(self, n_spare: int) -> dict[str, Any]:
        """Settings of the model with so many topics more; a ``ModelError`` if there can be none."""
        raise ModelError(f"{type(self).__name__} has no spare topics; update it without: spare_topics=0")

    def _sampler_like(self, old: SamplerT, corpus: Corpus, n_shards: Shards) -> SamplerT:
        """A sampler of more documents than ``old``, with what that one has learned from its own."""
        return self._make_sampler(corpus, n_shards)

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
        """Model, seed and number of shards, and what gives numbers other topics: edits but for names, another chain."""
        made = [edit.text for edit in self.edits_ if not edit.undone and edit.kind != "rename"]
        found = super().identity_of_fit() | {"n_shards": self.fit_info_["n_shards"]}
        shown = self.fit_info_.get("best_chain")
        return found | ({"edits": made} if made else {}) | ({"best_chain": shown} if shown else {})

    def restore_bundle(self, corpus: Corpus, meta: dict[str, Any], arrays: dict[str, NDArray[Any]]) -> Self:
        """Restore what ``save`` wrote."""
        progress, info = meta["progress"], meta["fit_info"]
        sweep = whole_number("sweep", progress["sweep"], 0)
        self.corpus_ = corpus
        self._sampler = self._make_sampler(corpus, resolve_shards(info["n_shards"], corpus.n_tokens, corpus.n_docs))
        self._settings = self._settings_of_fit()
        n_chains, traces = whole_number("n_chains", info["n_chains"]), progress["traces"]
        self._chains = self._settled = restored(self._sampler, n_chains, arrays, traces, sweep)
        settled = {name.removeprefix(_SETTLED): array for name, array in arrays.items() if name.startswith(_SETTLED)}
        if settled:
            self._settled = restored(self._sampler, n_chains, settled, traces, sweep)
            for chain, copy in zip(self._chains, self._settled, strict=True):
                copy.samples = chain.samples
        self._seed = resolve_seed(whole_number("seed", progress["seed"], 0))
        self._seconds, self._updates = float(info["seconds"]), list(info.get("updates", []))
        self._edits = [Edit.from_dict(plain).to_dict() for plain in info.get("edits", [])]
        self._finish(Outcome(sweep, 0.0, bool(info["interrupted"])), sweep)
        self.fit_info_ = dict(info)
        return self
