"""What every Gibbs family does the same way: fit, resume, checkpoint, trace, save and load."""

from __future__ import annotations

import json
from abc import abstractmethod
from collections.abc import Callable
from pathlib import Path
from typing import Any, Self

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from topoi.corpus.corpus import Corpus
from topoi.corpus.vocabulary import Vocabulary
from topoi.engine.bundle import write_bundle
from topoi.engine.chains import diagnose, trace_frame
from topoi.engine.checkpoint import Checkpoint
from topoi.engine.executors import open_executor, resolve_jobs
from topoi.engine.loop import Chain, Outcome, Schedule, chain_arrays, run, saved_progress
from topoi.engine.progress import SweepInfo, open_progress
from topoi.engine.shards import resolve_shards
from topoi.errors import ModelError
from topoi.models.validation import resolve_seed, whole_number

# Settings that may change between a checkpoint and its continuation: they do not touch the chains.
_FREE_TO_CHANGE = frozenset({"n_iter", "n_jobs", "progress", "checkpoint", "checkpoint_every", "random_state"})


class GibbsModel(BaseEstimator):
    """A model fitted by Gibbs chains. A family adds ``_make_sampler`` and what it reads from the chains."""

    n_iter: int
    n_chains: int
    n_jobs: int | None
    n_shards: int | str
    random_state: Any
    evaluate_every: int
    checkpoint: str | Path | None
    checkpoint_every: int | str
    progress: bool | None

    @abstractmethod
    def _make_sampler(self, corpus: Corpus, n_shards: int) -> Any:
        """Check the settings and build the family's sampler."""

    @abstractmethod
    def _freeze(self) -> None:
        """Set the learned attributes from ``_chains``."""

    def _fit_corpus(self, corpus: Corpus, callback: Callable[[SweepInfo], Any] | None = None) -> Self:
        n_iter = whole_number("n_iter", self.n_iter, 0)
        n_chains = whole_number("n_chains", self.n_chains)
        whole_number("evaluate_every", self.evaluate_every)
        seed = resolve_seed(self.random_state)
        n_shards = resolve_shards(self.n_shards, corpus.n_tokens, corpus.n_docs)
        self.corpus_ = corpus
        self._sampler = self._make_sampler(corpus, n_shards)
        store, saved = None, None
        if self.checkpoint is not None:
            store = Checkpoint(self.checkpoint, self.checkpoint_every, self._identity(corpus, n_shards))
            saved = store.read()
        if saved is not None:
            progress, arrays = saved
            seed = int(progress["seed"]) if self.random_state is None else seed
            if progress["sweep"] > n_iter:
                raise ModelError(f"checkpoint {self.checkpoint} is at sweep {progress['sweep']}, beyond n_iter={n_iter}")
            self._chains = self._restore(n_chains, arrays, progress["traces"])
            done = int(progress["sweep"])
        else:
            self._chains = [self._sampler.start(seed, c) for c in range(n_chains)]
            done = 0
        self._seed = seed
        self._seconds = 0.0
        return self._run(done, n_iter, store, callback)

    def _identity(self, corpus: Corpus, n_shards: int) -> dict[str, Any]:
        """What must agree for a checkpoint to be continued."""
        settings = {k: v for k, v in _plain(self.get_params(deep=False)).items() if k not in _FREE_TO_CHANGE}
        known = None if self.random_state is None else resolve_seed(self.random_state)
        settings |= {"model": type(self).__name__, "n_shards": n_shards, "random_state": known}
        return settings | {"corpus": corpus.fingerprint()}

    def _restore(self, n_chains: int, arrays: dict[str, NDArray[Any]], traces: list[Any]) -> list[Chain]:
        return [self._sampler.restore(c, chain_arrays(arrays, c), traces[c]) for c in range(n_chains)]

    def _run(
        self, done: int, n_iter: int, store: Checkpoint | None, callback: Callable[[SweepInfo], Any] | None
    ) -> Self:
        schedule = Schedule(n_iter, self._seed, self.evaluate_every)
        n_tasks = sum(len(chain.shards) for chain in self._chains)
        title = f"{type(self).__name__}{', approximate' if n_tasks > len(self._chains) else ''}"
        bar = open_progress(self.progress, title, n_iter, done)
        with open_executor(resolve_jobs(self.n_jobs), n_tasks) as executor:
            outcome = run(self._sampler, self._chains, schedule, executor, done, store, bar, callback)
        self._finish(outcome, done)
        return self

    def _finish(self, outcome: Outcome, done: int) -> None:
        self.n_iter_ = outcome.sweep
        self._seconds += outcome.seconds
        n_shards = len(self._chains[0].shards)
        work = self._sampler.n_tokens * len(self._chains) * (outcome.sweep - done)
        self.fit_info_ = {
            "model": type(self).__name__,
            "seed": self._seed,
            "n_sweeps": outcome.sweep,
            "n_chains": len(self._chains),
            "n_shards": n_shards,
            "exact": n_shards == 1,
            "interrupted": outcome.interrupted,
            "seconds": self._seconds,
            "tokens_per_second": work / outcome.seconds if outcome.seconds > 0 and work else None,
        }
        self.vocabulary_: Vocabulary = self.corpus_.vocabulary
        self.trace_ = trace_frame([chain.trace for chain in self._chains], self._sampler.n_tokens)
        self._freeze()

    def resume(self, n_iter: int, callback: Callable[[SweepInfo], Any] | None = None) -> Self:
        """Run ``n_iter`` more sweeps of the same chains: the same bits as one longer fit.

        Parameters
        ----------
        n_iter : int
            How many more sweeps.
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
        whole_number("n_iter", n_iter, 0)
        return self._run(self.n_iter_, self.n_iter_ + n_iter, None, callback)

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

    def save(self, path: str | Path, name: str | None = None, corpus: bool = True) -> None:
        """Write the model and its corpus to one file: plain arrays and JSON, nothing that could run.

        Parameters
        ----------
        path : str or Path
            The file; an existing one is replaced in one step.
        name : str, optional
            A name for the model within the file.
        corpus : bool
            Whether to include texts and metadata. Word ids are always included: the counts follow from them.

        Examples
        --------
        >>> import pathlib, tempfile, topoi
        >>> corpus = topoi.Corpus.from_tokens([["a", "b"], ["c", "d"]] * 5)
        >>> path = pathlib.Path(tempfile.mkdtemp()) / "small.topoi"
        >>> model = topoi.LDA(2, n_iter=10, random_state=0).fit(corpus)
        >>> model.save(path)
        >>> bool((topoi.load(path).topic_word_ == model.topic_word_).all())
        True
        """
        check_is_fitted(self, "n_iter_")
        corpus_meta, corpus_arrays = self.corpus_.to_bundle(texts=corpus)
        progress, arrays = saved_progress(self._sampler, self._chains, self.n_iter_, self._seed)
        meta = {
            "model": type(self).__name__,
            "name": name or type(self).__name__,
            "settings": _plain(self.get_params(deep=False)) | {"checkpoint": None, "progress": None},
            "progress": progress,
            "fit_info": self.fit_info_,
            "corpus": corpus_meta,
        }
        write_bundle(path, "model", meta, arrays | {f"corpus_{k}": v for k, v in corpus_arrays.items()}, compress=True)

    def _load(self, corpus: Corpus, meta: dict[str, Any], arrays: dict[str, NDArray[Any]]) -> Self:
        """Take over what ``save`` wrote."""
        progress, info = meta["progress"], meta["fit_info"]
        self.corpus_ = corpus
        self._sampler = self._make_sampler(corpus, int(info["n_shards"]))
        self._chains = self._restore(int(info["n_chains"]), arrays, progress["traces"])
        self._seed = int(progress["seed"])
        self._seconds = float(info["seconds"])
        self._finish(Outcome(int(progress["sweep"]), 0.0, bool(info["interrupted"])), int(progress["sweep"]))
        self.fit_info_ = dict(info)
        return self


def _plain(settings: dict[str, Any]) -> dict[str, Any]:
    """Settings as JSON can hold them; generators become None (the seed that was drawn is kept elsewhere)."""
    return {name: _plain_value(value) for name, value in settings.items()}


def _plain_value(value: Any) -> Any:
    if isinstance(value, np.ndarray | np.generic):
        return value.tolist()
    if isinstance(value, Path):
        return str(value)
    if isinstance(value, np.random.Generator | np.random.RandomState):
        return None
    try:
        return json.loads(json.dumps(value, allow_nan=False))
    except (TypeError, ValueError):
        raise ModelError(f"a setting has the value {value!r}, which cannot be saved") from None


def log_mean_exp(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """log of the mean of exp over the first axis: how documents' probabilities are averaged over chains.

    Examples
    --------
    >>> import numpy as np
    >>> from topoi.models.gibbs import log_mean_exp
    >>> log_mean_exp(np.log([[0.2], [0.4]])).round(6).tolist() == [round(float(np.log(0.3)), 6)]
    True
    """
    top = values.max(axis=0)
    return np.asarray(top + np.log(np.exp(values - top).mean(axis=0)))


def ranked(frame: pd.DataFrame, by: str) -> pd.DataFrame:
    """The frame with a column ``rank`` after its first column: 1, 2, … within each value of ``by``."""
    frame.insert(1, "rank", frame.groupby(by, sort=False).cumcount() + 1)
    return frame
