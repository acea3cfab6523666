"""Public estimator of the family: ``KernelTopicModel``."""

from __future__ import annotations

import numbers
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.gaussian_process.kernels import Kernel
from sklearn.utils.validation import check_is_fitted

from topoi.corpus.corpus import Corpus
from topoi.corpus.pieces import ArrayOrPieces
from topoi.corpus.vocabulary import Vocabulary
from topoi.engine.chains import trace_frame
from topoi.engine.executors import resolve_jobs
from topoi.engine.interruption import Abandoned, Interruption, interruptible
from topoi.engine.loop import Schedule as Steps
from topoi.engine.loop import SweepInfo, run
from topoi.engine.progress import open_progress
from topoi.errors import ModelError, StoreError
from topoi.models.bags import Bags
from topoi.models.contract import DocumentsLike, FeaturesLike, MetadataLike, SeedLike
from topoi.models.features.table import FeatureTable
from topoi.models.kernel_topic.evidence import Hyper
from topoi.models.kernel_topic.fitting import (
    Counts,
    Ended,
    LaplaceSweeps,
    Schedule,
    State,
    Sweeps,
    each_topic,
    smoothed,
)
from topoi.models.kernel_topic.kernel_forms import as_kernel, to_plain
from topoi.models.kernel_topic.laplace_bridge import from_expected_logs
from topoi.models.kernel_topic.message_passing import Beliefs, BridgeSweeps
from topoi.models.kernel_topic.posterior import BridgePosterior, LaplacePosterior, LargePosterior, softmax_moments
from topoi.models.kernel_topic.prediction import KernelPredictions
from topoi.models.kernel_topic.simulate import simulate_kernel_topics
from topoi.models.kernel_topic.solvers import (
    SOLVERS,
    Setup,
    announce,
    coordinate_arrays,
    set_up,
    set_up_again,
    stored_setup,
)
from topoi.models.kernel_topic.topics import KernelTopics
from topoi.models.notices import warn_unfinished
from topoi.models.share_moments import Moments
from topoi.models.tables import Tables
from topoi.models.texts import corpus_with
from topoi.models.trained import TrainedModel
from topoi.models.validation import choice, positive_vector, resolve_seed, whole_number

Array = NDArray[np.float64]


class KernelTopicModel(Tables[KernelTopics], KernelPredictions, TrainedModel):
    """Topics whose shares are smooth functions of time, people, links and any other metadata.

    Each topic has a Gaussian process over the documents' features. A document's y is its value there plus noise, its
    topic shares are softmax(y), and its words are drawn as in LDA. Predictions from metadata alone come with bands.

    Parameters
    ----------
    n_topics : int
        Number of topics.
    features : list of str, or dict
        Columns of ``corpus.documents``, or ``"authors"``; kinds are recognised, or named: ``{"decade": "category"}``.
        Kinds are number, date, category, names (lists of names) and links (lists of documents' ids).
    kernel : kernel, function or matrix, optional
        Similarity of documents: ``topoi.Proximity`` over all features if not given; any kernel of scikit-learn, sums
        and products, over all coordinates or, in ``topoi.On``, some features; a function of two arrays of coordinates;
        or a matrix of similarities between the documents, without features.
    inference : {"laplace", "bridge"}
        Newton's method on the joint posterior of all documents; or the scheme of the paper, messages between
        Dirichlet and Gaussian beliefs, which predicts as well and takes longer (see the page on kernel topics).
    solver : {"auto", "exact", "iterative"}
        Algebra of the process: by factors of all matrices, for some thousand documents; or by iterations on the same
        kernel, for tens of thousands, with hyper-parameters learned on blocks of documents. "auto" iterates above 2,000
        documents.
    amplitude : {"per-topic", "shared"}
        Whether topics differ in their amplitude. The kernel's shape is shared in any case.
    learn_kernel : bool
        Whether kernel, amplitudes and noise are learned, by maximising the evidence.
    learn_from : {"drawn", "expected"}
        Topic counts that hyper-parameters are learned from: those of one topic for every word, given a draw of y from
        its posterior, or expected ones at the mode. Those vary less than topics do, so that the noise is
        underestimated, and bands are too narrow. With ``inference="bridge"`` they are learned from the messages.
    noise : float or array
        Variance of documents about the function, per topic; the start of learning.
    beta : float
        Dirichlet parameter of words in topics.
    n_iter, n_warmup : int
        Largest number of sweeps over the words; the first ``n_warmup`` are those of LDA.
    tol : float
        The fit ends when ten sweeps change documents' shares, and topics' words, by less (mean total variation).
    process_every, learn_every : int
        Sweeps between steps of the processes (with ``"bridge"`` each sweep is one), and of the hyper-parameters.
    damping : float
        For ``"bridge"``: the share of each message that is sent.
    n_jobs : int
        Threads, -1 for all cores. Never changes the result.
    random_state : int, generator or None
        Seeds the start. The same number gives the same bits.
    evaluate_every : int
        Sweeps between entries of ``trace_``.
    checkpoint : path, optional
        A file that keeps the progress of a fit, topic shares of all words included; the same fit with the same file
        continues there, and ends with the bits of one that was never interrupted.
    checkpoint_every : int or str
        Sweeps, or a time such as "5min", between checkpoints.
    progress : bool, optional
        A progress bar; on a terminal only if not given.

    Attributes
    ----------
    topic_word_ : ndarray
        P(word | topic), topics × words.
    doc_topic_ : ndarray
        Mean topic shares of the training documents.
    kernel_ : kernel
        The learned kernel.
    amplitude_, noise_ : ndarray
        Variances of each topic's function, and of documents about it.
    alpha_ : ndarray
        The Dirichlet nearest to the training documents' shares: the prior of a document without metadata.
    table_ : FeatureTable
        Encoding of the features.
    trace_ : DataFrame
        chain (always 0), sweep, log_joint: here the log-likelihood of the words, log_joint_per_token.
    fit_info_ : dict
        Steps, evaluations of the evidence, numbers of missing, skipped or clipped items, seconds.

    References
    ----------
    Hennig, Stern, Herbrich and Graepel, Kernel topic models, AISTATS 2012.

    Examples
    --------
    >>> import topoi
    >>> words = [["war"] * 20 if year < 1950 else ["trade"] * 20 for year in range(1900, 2000)]
    >>> corpus = topoi.Corpus.from_tokens(words, dates=list(range(1900, 2000)))
    >>> model = topoi.KernelTopicModel(2, features=["year"], n_iter=40, n_warmup=20, random_state=0).fit(corpus)
    >>> early, late = model.predict({"year": [1920.5, 1980.5]}, noise=False).groupby("row")["mean"].max().round(1)
    >>> bool(early > 0.8), bool(late > 0.8)
    (True, True)
    """

    def __init__(
        self,
        n_topics: int = 10,
        *,
        features: FeaturesLike | None = None,
        kernel: Kernel | ArrayLike | Callable[..., Any] | None = None,
        inference: str = "laplace",
        solver: str = "auto",
        amplitude: str = "per-topic",
        learn_kernel: bool = True,
        learn_from: str = "drawn",
        noise: ArrayLike = 0.5,
        beta: float = 0.01,
        n_iter: int = 1000,
        n_warmup: int = 100,
        tol: float = 0.001,
        process_every: int = 5,
        learn_every: int = 20,
        damping: float = 0.5,
        n_jobs: int | None = 1,
        random_state: SeedLike = None,
        evaluate_every: int = 10,
        checkpoint: str | Path | None = None,
        checkpoint_every: int | str = "1min",
        progress: bool | None = None,
    ):
        self.n_topics = n_topics
        self.features = features
        self.kernel = kernel
        self.inference = inference
        self.solver = solver
        self.amplitude = amplitude
        self.learn_kernel = learn_kernel
        self.learn_from = learn_from
        self.noise = noise
        self.beta = beta
        self.n_iter = n_iter
        self.n_warmup = n_warmup
        self.tol = tol
        self.process_every = process_every
        self.learn_every = learn_every
        self.damping = damping
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.evaluate_every = evaluate_every
        self.checkpoint = checkpoint
        self.checkpoint_every = checkpoint_every
        self.progress = progress

    def _checked_settings(self) -> None:
        choice("inference", self.inference, ("laplace", "bridge"))
        choice("solver", self.solver, SOLVERS)
        choice("amplitude", self.amplitude, ("per-topic", "shared"))
        choice("learn_from", self.learn_from, ("drawn", "expected"))
        choice("learn_kernel", self.learn_kernel, (False, True))
        whole_number("n_topics", self.n_topics, 2)
        for name in ("process_every", "learn_every", "evaluate_every"):
            whole_number(name, getattr(self, name))
        for name in ("n_iter", "n_warmup"):
            whole_number(name, getattr(self, name), 0)
        positive_vector("beta", self.beta, 1, "beta")
        positive_vector("noise", self.noise, self.n_topics, "n_topics")
        if isinstance(self.tol, bool) or not isinstance(self.tol, numbers.Real) or not 0 <= self.tol <= 1:
            raise ModelError(f"tol is {self.tol!r}; it must be a number from 0 to 1")
        damping = self.damping
        if isinstance(damping, bool) or not isinstance(damping, numbers.Real) or not 0 < damping <= 1:
            raise ModelError(f"damping is {damping!r}; it is the share of a message that is sent: above 0, at most 1")

    def fit(self, X: DocumentsLike, y: object = None, callback: Callable[[SweepInfo], Any] | None = None) -> Self:
        """Fit the model to a corpus with metadata.

        Parameters
        ----------
        X : Corpus, or table with texts and metadata
            The documents. Beyond 2,000 of them the process is solved by iterations (``solver``).
        y : None
            Ignored; scikit-learn's convention.
        callback : callable, optional
            Called with a ``SweepInfo`` after each sweep; a true result ends the sweeps.

        Examples
        --------
        >>> import topoi
        >>> corpus = topoi.Corpus.from_tokens([["a", "b"], ["c", "d"]] * 5, dates=list(range(2000, 2010)))
        >>> topoi.KernelTopicModel(2, features=["year"], n_iter=10, n_warmup=5, random_state=0).fit(corpus).n_iter_
        10
        """
        self._checked_settings()
        corpus = self._checked_corpus(X)
        with interruptible() as interruption:
            try:
                setup = interruption.run(lambda: self._setup(corpus))
            except Abandoned:
                interruption.give_up("the first sweep was done")
            announce(setup, self.solver, corpus.n_docs)
            return self._fit_set_up(corpus, setup, callback)

    def resume(self, n_iter: int, callback: Callable[[SweepInfo], Any] | None = None) -> Self:
        """Run up to ``n_iter`` more sweeps from the fitted topics, shares and hyper-parameters.

        A loaded model continues as the one that was saved does, bit for bit. A longer fit would have other bits: topic
        shares of single words are not part of a model, and are made anew from topics and documents' shares. A
        ``checkpoint`` keeps them; it is neither read nor written here.

        Parameters
        ----------
        n_iter : int
            Number of further sweeps.
        callback : callable, optional
            Called with a ``SweepInfo`` after each sweep; a true result ends the run.

        Examples
        --------
        >>> import topoi
        >>> corpus = topoi.Corpus.from_tokens([["a", "b"], ["c", "d"]] * 5, dates=list(range(2000, 2010)))
        >>> model = topoi.KernelTopicModel(2, features=["year"], n_iter=10, n_warmup=5, tol=0, random_state=0)
        >>> model.fit(corpus).resume(5).n_iter_
        15
        """
        check_is_fitted(self, "n_iter_")
        self._checked_settings()
        posterior, done, before = self._posterior, self.n_iter_, self._first
        large = isinstance(posterior, LargePosterior)
        setup = set_up_again(self.table_, self._settings["kernel"], posterior.hyper.shape, large)
        counts = Counts.of_mixtures(Bags.from_corpus(self.corpus_), self.topic_word_, self.doc_topic_, float(self.beta))
        if isinstance(posterior, BridgePosterior):
            state: State | Beliefs = Beliefs(posterior.hyper, posterior.precision, posterior.shift)
        else:
            state = State(posterior.hyper, posterior.y, posterior.a if isinstance(posterior, LargePosterior) else None)
        wanted = done + whole_number("n_iter", n_iter, 0)
        self._train(self.corpus_, setup, counts, self._seed, wanted, callback, state)
        self._first.remember(before)
        return self

    def _fit_set_up(self, corpus: Corpus, setup: Setup, callback: Callable[[SweepInfo], Any] | None) -> Self:
        seed = resolve_seed(self.random_state)
        counts = Counts(Bags.from_corpus(corpus), corpus.n_words, self.n_topics, seed, float(self.beta))
        return self._train(corpus, setup, counts, seed, self.n_iter, callback)

    def _schedule(self, seed: int, setup: Setup, n_iter: int) -> Schedule:
        return Schedule(
            n_iter, self.n_warmup, self.process_every, self.learn_every, self.evaluate_every, seed,
            self.amplitude == "shared", self.learn_kernel, self.learn_from == "drawn", float(self.tol),
        )  # fmt: skip

    def _train(
        self, corpus: Corpus, setup: Setup, counts: Counts, seed: int, n_iter: int,
        callback: Callable[[SweepInfo], Any] | None, state: State | Beliefs | None = None,
    ) -> Self:  # fmt: skip
        """Run the loop up to sweep ``n_iter``: from the beginning, a checkpoint, or ``state``, the fitted model's."""
        begin, jobs, n_topics = time.perf_counter(), resolve_jobs(self.n_jobs), len(counts.topic)
        done, store, earlier = 0, None, []
        if state is None:
            store = self._open_checkpoint(corpus, metadata=setup.fingerprint() if self.checkpoint else "")
        else:
            done = self.n_iter_
            earlier = [(int(s), float(v)) for s, v in self.trace_[["sweep", "log_joint"]].to_numpy()]
        schedule = self._schedule(seed, setup, n_iter)
        hyper = Hyper(setup.shape, np.ones(n_topics), positive_vector("noise", self.noise, n_topics, "n_topics"))
        is_bridge = isinstance(state, Beliefs) or (state is None and self.inference == "bridge")
        with each_topic(jobs, n_topics) as each, interruptible() as interruption:
            training: Sweeps
            saves = store is not None
            if is_bridge:
                training = BridgeSweeps(
                    float(self.damping),
                    counts,
                    schedule,
                    hyper,
                    state if isinstance(state, Beliefs) else None,
                    done,
                    saves,
                )
            else:
                training = LaplaceSweeps(
                    partial(setup.process, each=each),
                    counts,
                    schedule,
                    hyper,
                    None if isinstance(state, Beliefs) else state,
                    done,
                    saves,
                )
            if store is not None:
                seed, done = self._continued(store, seed, n_iter, training.restore)
            bar = open_progress(self.progress, type(self).__name__, n_iter, done)
            steps = Steps(n_iter, seed, self.evaluate_every)
            outcome = run(training, steps, done, store, bar, callback)
            ended = training.ended()
            counts = ended.counts
            posterior = _posterior(ended, setup, jobs)
            shares = self._mean_shares(posterior, counts.doc_topic, interruption)
        # An earlier fit is left untouched up to here, so that a failing fit does not damage it.
        self._settings = self.get_params(deep=False)
        self._accept(corpus, setup.table, posterior, counts.topic_word, seed, shares)
        self.n_iter_, self.trace_ = outcome.sweep, trace_frame([earlier + training.traces[0]], corpus.n_tokens)
        self.fit_info_ = {
            "model": type(self).__name__,
            "seed": seed,
            "n_sweeps": outcome.sweep,
            "n_chains": 1,
            "converged": training.converged,
            "interrupted": outcome.interrupted,
            "stopped": outcome.stopped,
            "seconds": time.perf_counter() - begin,
            "missing": {} if setup.table is None else setup.table.unknown(corpus),
            **setup.info,
            **ended.info,
        }
        last = "ten sweeps still changed the shares"
        warn_unfinished(self.fit_info_, f"{outcome.sweep:,} sweeps", last, float(self.tol))
        return self

    def _mean_shares(
        self, posterior: LaplacePosterior | LargePosterior | BridgePosterior, counts: Array, interruption: Interruption
    ) -> Moments:
        """Shares of the training documents; after an interrupt, those of the counts, without deviations."""
        try:
            return interruption.run(lambda: softmax_moments(*posterior.training()))
        except Abandoned:
            return Moments(smoothed(counts), None)

    def _checked_corpus(self, corpus: DocumentsLike) -> Corpus:
        corpus = corpus_with("metadata", corpus, type(self).__name__)
        if corpus.n_docs < 2 or corpus.n_words == 0:
            raise ModelError(f"the corpus has {corpus.n_docs} documents and {corpus.n_words} words: nothing to fit")
        return corpus

    def _setup(self, corpus: Corpus) -> Setup:
        return set_up(corpus, self.features, self.kernel, self.solver, self.inference)

    def _accept(
        self,
        corpus: Corpus,
        table: FeatureTable | None,
        posterior: LaplacePosterior | LargePosterior | BridgePosterior,
        topic_word: Array,
        seed: int,
        shares: Moments,
    ) -> None:
        self.corpus_, self.table_, self._posterior, self._seed = corpus, table, posterior, seed
        self.topic_word_ = topic_word
        self.vocabulary_: Vocabulary = corpus.vocabulary
        self.authors_ = np.zeros(0, object)
        self.doc_topic_, self._deviation = shares
        self._population = from_expected_logs(np.log(self.doc_topic_).mean(axis=0, keepdims=True))[0]
        weight = self.doc_topic_ * (posterior.counts.sum(axis=1, keepdims=True) + 1.0)
        self.chains_ = [KernelTopics.from_fit(corpus, topic_word, self._population, weight, seed, self._deviation)]

    @property
    def kernel_(self) -> Any:
        """The learned kernel; None if it is a matrix."""
        check_is_fitted(self, "n_iter_")
        return self._posterior.hyper.shape.kernel

    @property
    def amplitude_(self) -> Array:
        """Variance of each topic's function, relative to the kernel's."""
        check_is_fitted(self, "n_iter_")
        return self._posterior.hyper.amplitude.copy()

    @property
    def noise_(self) -> Array:
        """Variance of documents about each topic's function."""
        check_is_fitted(self, "n_iter_")
        return self._posterior.hyper.noise.copy()

    @property
    def alpha_(self) -> Array:
        """The Dirichlet nearest to the training documents' shares."""
        check_is_fitted(self, "n_iter_")
        return self._population.copy()

    def simulate(self, features: MetadataLike, doc_length: float = 100, random_state: SeedLike = None) -> Corpus:
        """Draw a corpus of documents with given metadata from the model's generative process.

        Functions and topics are new draws or, once fitted, the fitted ones.

        Parameters
        ----------
        features : DataFrame, mapping of columns, or Corpus
            The metadata, one row per document.
        doc_length : float
            Mean length; lengths are Poisson.
        random_state : int, generator or None
            Seeds the draw.

        Returns
        -------
        Corpus
            With the true y, shares and topics of all tokens in ``corpus.truth``.

        Examples
        --------
        >>> import topoi
        >>> model = topoi.KernelTopicModel(3, features=["year"])
        >>> corpus = model.simulate({"year": list(range(1900, 1950))}, doc_length=30, random_state=0)
        >>> corpus.n_docs, corpus.truth.doc_topic.shape
        (50, (50, 3))
        """
        return simulate_kernel_topics(self, features, doc_length, resolve_seed(random_state))

    # Content of a file.

    def _plain_settings(self, settings: dict[str, Any]) -> dict[str, Any]:
        kernel = settings["kernel"]
        # A matrix is stored as an array; as a list of lists it would be the larger part of the file.
        plain = None if isinstance(kernel, np.ndarray | list) else to_plain(kernel)
        return super()._plain_settings(settings | {"kernel": None}) | {"kernel": plain}

    def _state(self) -> tuple[dict[str, Any], dict[str, ArrayOrPieces]]:
        hyper = self._posterior.hyper
        progress = {
            "sweep": self.n_iter_,
            "seed": self._seed,
            "trace": self.trace_[["sweep", "log_joint"]].to_numpy().tolist(),
            "kernel": to_plain(hyper.shape.kernel),
            "features": None if self.table_ is None else self.table_.to_plain(),
            "solver": self.fit_info_.get("solver", "exact"),
        }
        arrays: dict[str, ArrayOrPieces] = {
            "topic_word": self.topic_word_,
            **coordinate_arrays(hyper.shape.coordinates),
            "amplitude": hyper.amplitude,
            "noise": hyper.noise,
            "chain0_beta": self._first.beta,
            **self._posterior.arrays(),
            # Recomputing them would take a minute.
            "doc_topic": self.doc_topic_,
            **({} if self._deviation is None else {"doc_deviation": self._deviation}),
        }
        return progress, arrays

    def restore_bundle(self, corpus: Corpus, meta: dict[str, Any], arrays: dict[str, NDArray[Any]]) -> Self:
        """Restore what ``save`` wrote, checked."""
        self._checked_settings()
        progress, names = meta["progress"], ("topic_word", "amplitude", "noise", "doc_counts")
        words, amplitude, noise, counts = (np.array(arrays[name], np.float64) for name in names)
        n_topics = whole_number("n_topics", self.n_topics, 2)
        per_document = (corpus.n_docs, n_topics)
        if words.shape != (n_topics, corpus.n_words) or counts.shape != per_document or (words <= 0).any():
            raise StoreError("the arrays of the kernel topic model do not fit its corpus")
        setup = stored_setup(progress, arrays)
        n_docs = setup.shape.coordinates.shape[0]
        if amplitude.shape != (n_topics,) or noise.shape != (n_topics,) or n_docs != corpus.n_docs:
            raise StoreError("the hyper-parameters of the kernel topic model do not fit its topics")
        hyper, jobs = Hyper(setup.shape, amplitude, noise), resolve_jobs(self.n_jobs)
        kinds = ("precision", "shift") if self.inference == "bridge" else ("y", "a") if setup.large else ("y", "y")
        one, other = (np.array(arrays[name], np.float64) for name in kinds)
        kept, spread = (
            np.array(arrays[name], np.float64) if name in arrays else None for name in ("doc_topic", "doc_deviation")
        )
        if any(each is not None and each.shape != per_document for each in (one, other, kept, spread)):
            raise StoreError("the posterior of the kernel topic model does not fit its corpus")
        posterior: LaplacePosterior | LargePosterior | BridgePosterior
        if self.inference == "bridge":
            posterior = BridgePosterior(hyper, one, other, counts, jobs)
        else:
            posterior = setup.posterior(hyper, one, other, counts, jobs)
        matrix = setup.shape.coordinates if setup.table is None else None
        self.kernel = matrix if matrix is not None else None if self.kernel is None else as_kernel(self.kernel)
        self._settings = self.get_params(deep=False)
        seed = resolve_seed(whole_number("seed", progress["seed"], 0))
        # Older files of exact solutions lack the shares, which are then recomputed.
        shares = softmax_moments(*posterior.training()) if kept is None else Moments(kept, spread)
        if not (np.isfinite(shares.mean).all() and (shares.mean > 0).all()):
            raise StoreError("the shares of documents in the file are not shares")
        if shares.deviation is not None and not ((shares.deviation >= 0) & (shares.deviation <= 1)).all():
            raise StoreError("the deviations of shares in the file are not deviations")
        self._accept(corpus, setup.table, posterior, words, seed, shares)
        self.n_iter_ = whole_number("sweep", progress["sweep"], 0)
        self.trace_ = trace_frame([[(int(s), float(v)) for s, v in progress["trace"]]], corpus.n_tokens)
        self.fit_info_ = dict(meta["fit_info"])
        return self


def _posterior(ended: Ended, setup: Setup, jobs: int) -> LaplacePosterior | LargePosterior | BridgePosterior:
    """Posterior at the end of a fit."""
    counts = ended.counts.doc_topic
    if isinstance(ended.state, Beliefs):
        return BridgePosterior(*ended.state, counts, jobs)
    hyper, y, a = ended.state
    return setup.posterior(hyper, y, np.zeros_like(y) if a is None else a, counts, jobs)
