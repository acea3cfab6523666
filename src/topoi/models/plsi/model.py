"""The public class of probabilistic latent semantic indexing."""

from __future__ import annotations

import numbers
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, Self

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from topoi.corpus.corpus import Corpus
from topoi.corpus.pieces import ArrayOrPieces
from topoi.corpus.vocabulary import Vocabulary
from topoi.engine.chains import trace_frame
from topoi.engine.executors import resolve_jobs
from topoi.engine.loop import Schedule, SweepInfo, checked_trace, plain_traces
from topoi.engine.restarts import run_restarts
from topoi.errors import ModelError
from topoi.models.contract import DocumentsLike, SeedLike
from topoi.models.notices import warn_unfinished
from topoi.models.plsi.fitting import Array, EMRestarts, Fitted, Plan, State, checked_shares
from topoi.models.plsi.posterior import PlsiPosterior, fitted_dirichlet
from topoi.models.plsi.prediction import FoldedIn
from topoi.models.tables import ChainTables
from topoi.models.trained import TrainedModel
from topoi.models.validation import choice, positive_vector, resolve_seed, whole_number

_RANGES = (("tol", 0, 1), ("smoothing", 0, 1e9), ("held_out", 1e-6, 0.9), ("cooling", 0.1, 0.99))


class PLSI(FoldedIn, ChainTables, TrainedModel):
    """Hofmann's aspect model: topics, and a mixture for each training document, by maximum likelihood.

    P(word | document) = Σ_z P(word | z) P(z | document), fitted by EM, plain or tempered; a scikit-learn transformer.
    It has no prior of mixtures, and so says nothing of documents it has not seen: they are *folded in*. It is the
    baseline that ``AspectModel`` and ``LDA`` improve on. Takes a ``Corpus``, a list of texts, or a matrix of counts.

    Parameters
    ----------
    n_topics : int
        Number of topics.
    smoothing : float
        Tokens added to every word of every topic in each step. Without any, a word that no training document has is
        impossible, and so is a document with it.
    tempered : bool
        Tempered EM: hold out ``held_out`` of the tokens, raise P(z | document, word) to a power below one, and lower
        the power by the factor ``cooling`` whenever the words held out are predicted no better.
    held_out, cooling : float
        For tempered EM.
    n_iter : int
        EM steps at most.
    tol : float
        The fit ends when a step gains less than this many nats per token.
    n_restarts : int
        Random starts; the one with the largest log-likelihood is kept (of the words held out, in tempered EM).
    n_jobs : int
        Threads, -1 for all cores. Never changes the result.
    random_state, evaluate_every, checkpoint, checkpoint_every, progress
        As in ``LDA``.

    Attributes
    ----------
    topic_word_, doc_topic_ : ndarray
        P(word | topic) and P(topic | document) of the training documents; rows sum to one.
    alpha_ : ndarray
        The Dirichlet that was fitted, afterwards, to the training documents' mixtures: only ``log_likelihood`` and
        ``perplexity`` of new documents use it.
    trace_ : DataFrame
        chain (the start), sweep (the step), log_joint: here log P(words | documents), log_joint_per_token.
    fit_info_ : dict
        Steps, log-likelihood, why the fit ended; the power of tempered EM.

    References
    ----------
    Hofmann, Probabilistic latent semantic indexing, SIGIR 1999; Unsupervised learning by probabilistic latent semantic
    analysis, Machine Learning, 2001.

    Examples
    --------
    >>> import topoi
    >>> corpus = topoi.Corpus.from_tokens([["sun", "star"], ["cell", "gene"]] * 10)
    >>> model = topoi.PLSI(2, random_state=0).fit(corpus)
    >>> sorted(model.topic_word_.round(2).tolist())
    [[0.0, 0.0, 0.5, 0.5], [0.5, 0.5, 0.0, 0.0]]
    """

    def __init__(
        self,
        n_topics: int = 20,
        *,
        smoothing: float = 0.0,
        tempered: bool = False,
        held_out: float = 0.1,
        cooling: float = 0.9,
        n_iter: int = 500,
        tol: float = 1e-5,
        n_restarts: int = 1,
        n_jobs: int | None = 1,
        random_state: SeedLike = None,
        evaluate_every: int = 10,
        checkpoint: str | Path | None = None,
        checkpoint_every: int | str = "1min",
        progress: bool | None = None,
    ):
        self.n_topics = n_topics
        self.smoothing = smoothing
        self.tempered = tempered
        self.held_out = held_out
        self.cooling = cooling
        self.n_iter = n_iter
        self.tol = tol
        self.n_restarts = n_restarts
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.evaluate_every = evaluate_every
        self.checkpoint = checkpoint
        self.checkpoint_every = checkpoint_every
        self.progress = progress

    def _fit_plan(self, n_restarts: int) -> Plan:
        whole_number("n_topics", self.n_topics)
        whole_number("evaluate_every", self.evaluate_every)
        choice("tempered", self.tempered, (False, True))
        for name, least, most in _RANGES:
            value = getattr(self, name)
            if isinstance(value, bool) or not isinstance(value, numbers.Real) or not least <= float(value) <= most:
                raise ModelError(f"{name} is {value!r}; it must be a number from {least:g} to {most:g}")
        held_out = float(self.held_out) if self.tempered else 0.0
        numbers_of = float(self.tol), float(self.smoothing), held_out, float(self.cooling)
        return Plan(*numbers_of, n_restarts, resolve_jobs(self.n_jobs))

    def _fit_corpus(self, corpus: Corpus, callback: Callable[[SweepInfo], Any] | None = None) -> Self:
        if corpus.n_docs == 0 or corpus.n_words == 0 or corpus.n_tokens == 0:
            raise ModelError(f"the corpus has {corpus.n_docs} documents and {corpus.n_tokens} words: nothing to fit")
        plan = self._fit_plan(whole_number("n_restarts", self.n_restarts))
        n_iter, seed = whole_number("n_iter", self.n_iter, 0), resolve_seed(self.random_state)
        begin = time.perf_counter()
        training = EMRestarts(self._corpus_bags(corpus), corpus.n_words, self.n_topics, plan, seed)
        # The length of earlier starts cannot be changed afterwards.
        store = self._open_checkpoint(corpus, **({"n_iter": n_iter} if plan.n_restarts > 1 else {}))
        seed, done = self._continued(store, seed, n_iter, training.restore)
        schedule = Schedule(n_iter, seed, self.evaluate_every, evaluate_before=True)
        fitted = run_restarts(training, schedule, done, store, self.progress, type(self).__name__, callback)
        # An earlier fit is left untouched up to here, so that a failing fit does not damage it.
        self._settings, self._seed = self.get_params(deep=False), seed
        self._finish(corpus, fitted, [each.trace for each in fitted], time.perf_counter() - begin)
        return self

    def resume(self, n_iter: int, callback: Callable[[SweepInfo], Any] | None = None) -> Self:
        """Run up to ``n_iter`` more EM steps of the start that was kept, with the same bits as one longer fit.

        Parameters
        ----------
        n_iter : int
            Number of further steps.
        callback : callable, optional
            Called with a ``SweepInfo`` after each step; a true result ends the run.

        Examples
        --------
        >>> import topoi
        >>> topoi.PLSI(2, n_iter=3, tol=0, random_state=0).fit([[3, 1], [1, 3]]).resume(2).n_iter_
        5
        """
        check_is_fitted(self, "n_iter_")
        done, begin, before = self.n_iter_, time.perf_counter(), self._first
        schedule = Schedule(
            done + whole_number("n_iter", n_iter, 0), self._seed, self.evaluate_every, evaluate_before=True
        )
        bags, n_topics = self._corpus_bags(self.corpus_), len(self.topic_word_)
        training = EMRestarts(bags, self.corpus_.n_words, n_topics, self._fit_plan(1), self._seed, self._em_state)
        number = self.fit_info_["best_restart"]
        # The loop evaluates the state it begins with once more, if that is due.
        training.trace = [row for row in self._traces[number] if row[0] < done or schedule.evaluated(done + 1) is None]
        fitted = run_restarts(training, schedule, done, None, self.progress, type(self).__name__, callback)
        traces = [fitted[0].trace if chain == number else trace for chain, trace in enumerate(self._traces)]
        self._finish(self.corpus_, fitted, traces, time.perf_counter() - begin, number)
        self._first.remember(before)
        return self

    def _finish(
        self, corpus: Corpus, fitted: list[Fitted], traces: list[Any], seconds: float, number: int | None = None
    ) -> None:
        best = max(range(len(fitted)), key=lambda r: fitted[r].worth)
        run, outcome = fitted[best], fitted[-1].outcome
        alpha = fitted_dirichlet(run.doc_topic, corpus.doc_lengths)
        self._em_state, self._traces = run.state, traces
        self.n_iter_ = run.n_steps
        self._accept(corpus, run.word_topic, run.doc_topic, alpha)
        gain = run.state.gain / corpus.n_tokens
        self.fit_info_ = {
            "model": type(self).__name__,
            "seed": self._seed,
            "n_sweeps": self.n_iter_,
            "n_chains": 1,
            "n_restarts": len(traces),
            "best_restart": best if number is None else number,
            "log_likelihood": run.log_likelihood,
            "log_likelihood_per_token": run.log_likelihood / corpus.n_tokens,
            "held_out_log_likelihood": run.state.best if run.state.kept is not None else None,
            "power": run.state.power,
            "last_change": gain if np.isfinite(gain) else None,
            "interrupted": outcome.interrupted,
            "stopped": outcome.stopped,
            "seconds": seconds,
        }
        last = "the last but one still raised the log-likelihood per word"
        warn_unfinished(self.fit_info_, f"{self.n_iter_:,} EM steps", last, 0.0 if self.tempered else float(self.tol))

    def _accept(self, corpus: Corpus, word_topic: Array, doc_topic: Array, alpha: NDArray[np.float64]) -> None:
        self.corpus_, self._doc_mixture = corpus, doc_topic
        self.vocabulary_: Vocabulary = corpus.vocabulary
        self.authors_ = np.zeros(0, object)
        self.n_features_in_ = corpus.n_words
        power = self._em_state.power
        self.chains_ = [PlsiPosterior.from_fit(corpus, word_topic, doc_topic, alpha, self._seed, power)]
        self.trace_: pd.DataFrame = trace_frame(self._traces, corpus.n_tokens)

    def _state(self) -> tuple[dict[str, Any], dict[str, ArrayOrPieces]]:
        first = self._first
        progress = {"sweep": self.n_iter_, "seed": self._seed, "traces": plain_traces(self._traces)}
        own = {"word_topic": first.word_topic, "doc_mixture": self._doc_mixture, "alpha": self.alpha_}
        em = {f"em_{name}": array for name, array in self._em_state.arrays().items()}
        return progress, {**own, "power": np.array([self._em_state.power]), "chain0_beta": first.beta, **em}

    def restore_bundle(self, corpus: Corpus, meta: dict[str, Any], arrays: dict[str, NDArray[Any]]) -> Self:
        """Restore what ``save`` wrote, checked, since kernels do not check these numbers."""
        self._fit_plan(1)
        n_topics = len(arrays["alpha"])
        alpha = positive_vector("alpha", arrays["alpha"], n_topics, "the number of topics")
        words = checked_shares(arrays["word_topic"], "word_topic", (corpus.n_words, n_topics))
        mixtures = checked_shares(arrays["doc_mixture"], "doc_mixture", (corpus.n_docs, n_topics))
        em = {name.removeprefix("em_"): array for name, array in arrays.items() if name.startswith("em_")}
        self._em_state = State.from_arrays(em, corpus.n_docs, corpus.n_words, n_topics)
        progress = meta["progress"]
        self._settings = self.get_params(deep=False)
        self._seed = resolve_seed(whole_number("seed", progress["seed"], 0))
        self._traces = [checked_trace(trace) for trace in progress["traces"]]
        self.n_iter_ = whole_number("sweep", progress["sweep"], 0)
        self._accept(corpus, words, mixtures, alpha)
        self.fit_info_ = dict(meta["fit_info"])
        return self

    @property
    def alpha_(self) -> NDArray[np.float64]:
        """The Dirichlet that was fitted to the training documents' mixtures."""
        return np.asarray(self._first.alpha.copy())

    def transform(self, X: DocumentsLike) -> NDArray[np.float64]:
        """Mixtures of new documents by folding in: EM with the topics fixed; documents × topics. Obeys ``set_output``.

        A document without words that the model knows has an even mixture.

        Examples
        --------
        >>> import topoi
        >>> model = topoi.PLSI(2, random_state=0).fit([[4, 0, 2], [0, 3, 0]])
        >>> model.transform([[2, 0, 1], [0, 0, 0]]).max(axis=1).round(2).tolist()
        [1.0, 0.5]
        """
        check_is_fitted(self, "n_iter_")
        return np.asarray(self._first.fold_in(self._bags(X)))
