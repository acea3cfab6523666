"""Public estimator of the family: ``AspectModel``."""

from __future__ import annotations

import numbers
import time
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, Self

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray
from sklearn.utils.validation import check_is_fitted

from topoi.corpus.corpus import Corpus
from topoi.corpus.pieces import ArrayOrPieces
from topoi.corpus.vocabulary import Vocabulary
from topoi.engine.chains import trace_frame
from topoi.engine.executors import resolve_jobs
from topoi.engine.loop import SweepInfo
from topoi.errors import ModelError, StoreError
from topoi.models.aspect.fitting import EMRestarts, Run, Schedule, fit, fit_report
from topoi.models.aspect.learning import Plan
from topoi.models.aspect.posterior import AspectPosterior
from topoi.models.aspect.prediction import AspectPredictions
from topoi.models.aspect.simulate import simulate_aspects
from topoi.models.aspect.state import checked_aspects, mixture_prior
from topoi.models.bags import Bags
from topoi.models.contract import DocumentsLike, SeedLike
from topoi.models.fixed_topics.ep import Rule
from topoi.models.fixed_topics.parameters import Parameters
from topoi.models.notices import warn_unfinished
from topoi.models.tables import ChainTables
from topoi.models.trained import TrainedModel
from topoi.models.validation import choice, positive_vector, resolve_seed, whole_number

# Within an EM step inference need not converge: the next step continues it (warm start).
_PASSES_PER_STEP = 10


class AspectModel(ChainTables[AspectPosterior], AspectPredictions, TrainedModel):
    """The generative aspect model of Minka and Lafferty: aspects are parameters, documents' mixtures integrated out.

    The model is that of LDA; the words of aspects are fitted by maximum likelihood, and mixtures are inferred by
    expectation propagation, which is more accurate than variational inference at a comparable cost. Nothing is sampled:
    a fit is a sequence of EM steps. Takes a ``Corpus`` or a matrix of counts.

    The defaults predict new documents about as well as LDA (``docs/studies/aspect-defaults.md``). The paper's model is
    ``AspectModel(alpha=1.0, learn_alpha=True, smoothing=0.0)``.

    Parameters
    ----------
    n_aspects : int
        Number of aspects.
    inference : {"ep", "vb"}
        Expectation propagation or variational inference.
    learning : {"em", "bound"}
        Approximate EM with second-order updates of words (equations 30 and 34 of the paper); or maximisation of the
        estimated likelihood: for ``"vb"`` of its lower bound (27, 28: LDA as Blei et al. fit it), for ``"ep"`` of the
        EP evidence, by its exact gradient.
    alpha : float or array, optional
        Dirichlet parameter of mixtures, per aspect: fixed, or the start of learning. If not given, 5 / n_aspects and at
        most 0.5.
    learn_alpha : bool
        Learn alpha, between 0.001 and 1000. On real text it becomes too small, and new documents are predicted badly.
    smoothing : float
        Added to each word's expected count in each aspect, as beta is in LDA. Without it a word that the corpus lacks
        has almost no probability in any aspect.
    tol : float
        The fit ends when a step changes words' probabilities (total variation, mean over aspects by size) and alpha
        (relative, mean) by less.
    n_iter : int
        Largest number of EM steps. A fit that ends here warns, unless ``tol`` is 0.
    n_restarts : int
        Random starts; the one with the largest evidence is kept.
    max_passes, inference_tol, damping : int, float, float
        Inference for a document ends after ``max_passes`` passes over its words, or when a pass changes it by less than
        ``inference_tol``; ``damping`` shortens the steps of expectation propagation, which also does so itself as
        needed.
    memory : int
        Bytes that sites of expectation propagation may take between EM steps (8 × distinct words of all documents ×
        aspects). Beyond, they are recomputed from the documents' posteriors.
    n_jobs : int
        Threads, -1 for all cores. Never changes the result.
    random_state : int, generator or None
        Seeds the starts. The same number gives the same bits.
    evaluate_every : int
        Steps between estimates of the evidence in ``trace_``.
    checkpoint : path, optional
        A file that keeps the progress of a fit, sites of expectation propagation included; the same fit with the same
        file continues there, and ends with the bits of one that was never interrupted.
    checkpoint_every : int or str
        Steps, or a time such as "5min", between checkpoints.
    progress : bool, optional
        A progress bar; on a terminal only if not given.

    Attributes
    ----------
    aspect_word_ : ndarray
        P(word | aspect), aspects × words; also ``topic_word_`` and ``components_``.
    alpha_ : ndarray
        The Dirichlet parameter of each aspect.
    posterior_, doc_aspect_ : ndarray
        Dirichlet parameters and means of the training documents' mixtures; the latter also ``doc_topic_``.
    trace_ : DataFrame
        chain (the start), sweep (the step), log_joint: here the estimate of log p(corpus), log_joint_per_token.
    fit_info_ : dict
        Steps, evidence, words skipped by expectation propagation, aspects that died, advice.

    References
    ----------
    Minka and Lafferty, Expectation-propagation for the generative aspect model, UAI 2002.

    Examples
    --------
    >>> import topoi
    >>> corpus = topoi.Corpus.from_tokens([["sun", "star"], ["cell", "gene"]] * 10)
    >>> model = topoi.AspectModel(2, random_state=0).fit(corpus)
    >>> model.aspect_word_.round(1).tolist()[0] in ([0.5, 0.5, 0.0, 0.0], [0.0, 0.0, 0.5, 0.5])
    True
    """

    def __init__(
        self,
        n_aspects: int = 10,
        *,
        inference: str = "ep",
        learning: str = "em",
        alpha: ArrayLike | None = None,
        learn_alpha: bool = False,
        smoothing: float = 0.05,
        n_iter: int = 1000,
        tol: float = 1e-3,
        n_restarts: int = 1,
        max_passes: int = 100,
        inference_tol: float = 1e-5,
        damping: float = 1.0,
        memory: int = 2**30,
        n_jobs: int | None = 1,
        random_state: SeedLike = None,
        evaluate_every: int = 10,
        checkpoint: str | Path | None = None,
        checkpoint_every: int | str = "1min",
        progress: bool | None = None,
    ):
        self.n_aspects = n_aspects
        self.inference = inference
        self.learning = learning
        self.alpha = alpha
        self.learn_alpha = learn_alpha
        self.smoothing = smoothing
        self.n_iter = n_iter
        self.tol = tol
        self.n_restarts = n_restarts
        self.max_passes = max_passes
        self.inference_tol = inference_tol
        self.damping = damping
        self.memory = memory
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.evaluate_every = evaluate_every
        self.checkpoint = checkpoint
        self.checkpoint_every = checkpoint_every
        self.progress = progress

    @classmethod
    def from_parameters(
        cls, aspect_word: ArrayLike, alpha: ArrayLike = 1.0, words: Iterable[object] | None = None, **settings: Any
    ) -> AspectModel:
        """A model with known parameters, as if fitted: for inference, likelihoods and simulation.

        Parameters
        ----------
        aspect_word : matrix
            P(word | aspect), aspects × words; rows sum to one.
        alpha : float or array
            Dirichlet parameter of mixtures, per aspect.
        words : list of str, optional
            Names of the words; their numbers if not given.
        **settings
            Other settings of the model, such as ``inference``.

        Examples
        --------
        >>> import topoi
        >>> model = topoi.AspectModel.from_parameters([[0.9, 0.1], [0.1, 0.9]], 0.5, words=["sun", "gene"])
        >>> model.transform(["sun sun gene"]).round(2).tolist()
        [[0.66, 0.34]]
        """
        aspects = checked_aspects(aspect_word)
        n_aspects, n_words = aspects.shape
        names = [str(w) for w in (range(n_words) if words is None else words)]
        if len(names) != n_words or len(set(names)) != n_words:
            raise ModelError(f"words has {len(set(names))} different names for {n_words} columns of aspect_word")
        model = cls(n_aspects, alpha=alpha, **settings)
        model._checked_settings()
        alpha = positive_vector("alpha", alpha, n_aspects, "the number of aspects")
        corpus = Corpus(tokens=np.zeros(0, np.int32), doc_start=np.zeros(1, np.int64), vocabulary=Vocabulary(names))
        model._settings = model.get_params(deep=False)
        model._accept(corpus, Parameters.pad(aspects.T, alpha), np.zeros((0, n_aspects)), resolve_seed(0))
        model.n_iter_, model.trace_ = 0, trace_frame([], 0)
        model.fit_info_ = {"model": cls.__name__, "seed": 0, "n_sweeps": 0, "n_chains": 1, "interrupted": False}
        return model

    def _checked_settings(self) -> None:
        choice("inference", self.inference, ("ep", "vb"))
        choice("learning", self.learning, ("em", "bound"))
        choice("learn_alpha", self.learn_alpha, (False, True))
        for name in ("n_aspects", "n_restarts", "max_passes", "evaluate_every"):
            whole_number(name, getattr(self, name))
        whole_number("memory", self.memory, 0)
        for name, least, most in (("tol", 0, 1), ("inference_tol", 0, 1), ("smoothing", 0, 1e9), ("damping", 1e-3, 1)):
            value = getattr(self, name)
            if isinstance(value, bool) or not isinstance(value, numbers.Real) or not least <= float(value) <= most:
                raise ModelError(f"{name} is {value!r}; it must be a number from {least:g} to {most:g}")

    def _final_rule(self) -> Rule:
        return Rule(float(self.inference_tol), self.max_passes, float(self.damping))

    def _fit_corpus(self, corpus: Corpus, callback: Callable[[SweepInfo], Any] | None = None) -> Self:
        return self._learn(corpus, callback, whole_number("n_iter", self.n_iter, 0))

    def resume(self, n_iter: int, callback: Callable[[SweepInfo], Any] | None = None) -> Self:
        """Run up to ``n_iter`` more EM steps from the fitted parameters.

        The steps are those of a longer fit up to the tolerance of inference, not bit for bit: the sites of expectation
        propagation are not part of a model. A ``checkpoint`` keeps the bits; it is neither read nor written here.

        Parameters
        ----------
        n_iter : int
            Number of further steps.
        callback : callable, optional
            Called with a ``SweepInfo`` after each step; a true result ends the run.

        Examples
        --------
        >>> import topoi
        >>> model = topoi.AspectModel(2, n_iter=3, tol=0, random_state=0).fit([[3, 1], [1, 3]])
        >>> model.resume(2).n_iter_
        5
        """
        check_is_fitted(self, "n_iter_")
        before = self._first
        self._learn(self.corpus_, callback, whole_number("n_iter", n_iter, 0), self.n_iter_)
        self._first.remember(before)
        return self

    def _learn(self, corpus: Corpus, callback: Callable[[SweepInfo], Any] | None, n_iter: int, done: int = 0) -> Self:
        self._checked_settings()
        if corpus.n_docs == 0 or corpus.n_words == 0:
            raise ModelError(f"the corpus has {corpus.n_docs} documents and {corpus.n_words} words: nothing to fit")
        alpha = mixture_prior(self.alpha, self.n_aspects)
        start, seed = None, resolve_seed(self.random_state)
        if done:
            seed, alpha = self._seed, self.alpha_
            start = self._parameters_.word_aspect[:, : self._parameters_.n_aspects]
        jobs = resolve_jobs(self.n_jobs)
        rule = Rule(self.inference_tol, min(_PASSES_PER_STEP, self.max_passes), float(self.damping), 1)
        plan = Plan(self.inference, self.learning, self.learn_alpha, float(self.smoothing), rule, self.memory, jobs)
        n_restarts = 1 if done else self.n_restarts
        schedule = Schedule(
            n_iter, float(self.tol), self.evaluate_every, n_restarts, self._final_rule(), self.progress,
            type(self).__name__, callback,
        )  # fmt: skip
        begin = time.perf_counter()
        # The length of earlier starts cannot be changed afterwards.
        store = None if done else self._open_checkpoint(corpus, **({"n_iter": n_iter} if n_restarts > 1 else {}))
        bags, saves = Bags.from_corpus(corpus), store is not None
        training = EMRestarts(bags, corpus.n_words, alpha, plan, schedule, seed, start, saves)
        seed, at = self._continued(store, seed, n_iter, training.restore)
        runs = fit(training, seed, at, store)
        # An earlier fit is left untouched up to here, so that a failing fit does not damage it.
        self._finish(corpus, runs, seed, done, time.perf_counter() - begin)
        return self

    def _finish(self, corpus: Corpus, runs: list[Run], seed: int, done: int, seconds: float) -> None:
        best = max(range(len(runs)), key=lambda r: runs[r].evidence)
        run = runs[best]
        earlier = list(self.trace_[["sweep", "log_joint"]].itertuples(index=False, name=None)) if done else []
        traces = [earlier + [(done + step, value) for step, value in each.trace[bool(done) :]] for each in runs]
        self._settings = self.get_params(deep=False)
        self._accept(corpus, run.parameters, run.inferred.gamma, seed)
        self.n_iter_ = done + run.n_steps
        self.trace_ = trace_frame(traces, corpus.n_tokens)
        self.fit_info_ = fit_report(self, runs, best, seconds)
        last = "the last one still changed the parameters"
        warn_unfinished(self.fit_info_, f"{self.n_iter_ - done:,} EM steps", last, float(self.tol))

    def _accept(self, corpus: Corpus, parameters: Parameters, gamma: NDArray[np.float64], seed: int) -> None:
        self.corpus_, self._parameters_, self._seed = corpus, parameters, seed
        self.posterior_ = np.ascontiguousarray(gamma)
        self.vocabulary_: Vocabulary = corpus.vocabulary
        self.authors_ = np.zeros(0, object)
        self.n_features_in_ = corpus.n_words
        self.chains_ = [
            AspectPosterior.from_fit(corpus, parameters, self.posterior_, seed, self.inference, self._final_rule())
        ]

    def _state(self) -> tuple[dict[str, Any], dict[str, ArrayOrPieces]]:
        columns = self.trace_[["chain", "sweep", "log_joint"]]
        progress: dict[str, Any] = {"sweep": self.n_iter_, "seed": self._seed, "trace": columns.to_numpy().tolist()}
        arrays: dict[str, ArrayOrPieces] = {
            "word_aspect": np.ascontiguousarray(self.aspect_word_.T),
            "alpha": self.alpha_,
            "posterior": self.posterior_,
            "chain0_beta": self._first.beta,
        }
        return progress, arrays

    def restore_bundle(self, corpus: Corpus, meta: dict[str, Any], arrays: dict[str, NDArray[Any]]) -> Self:
        """Restore what ``save`` wrote, checked, since kernels do not check these numbers."""
        self._checked_settings()
        words, alpha, gamma = (np.asarray(arrays[name], np.float64) for name in ("word_aspect", "alpha", "posterior"))
        n_aspects = len(alpha)
        if words.shape != (corpus.n_words, n_aspects) or gamma.shape != (corpus.n_docs, n_aspects):
            raise StoreError("the arrays of the aspect model do not fit its corpus")
        if not (np.isfinite(gamma).all() and (gamma > 0).all()):
            raise StoreError("a posterior in the file is not a Dirichlet")
        checked_aspects(words.T)
        alpha = positive_vector("alpha", alpha, n_aspects, "the number of aspects")
        progress = meta["progress"]
        self._settings = self.get_params(deep=False)
        seed = resolve_seed(whole_number("seed", progress["seed"], 0))
        self._accept(corpus, Parameters.pad(words, alpha), gamma, seed)
        self.n_iter_ = whole_number("sweep", progress["sweep"], 0)
        rows = [(int(c), int(s), float(v)) for c, s, v in progress["trace"]]
        chains = 1 + max((c for c, _, _ in rows), default=-1)
        traces = [[(s, v) for c, s, v in rows if c == chain] for chain in range(chains)]
        self.trace_ = trace_frame(traces, corpus.n_tokens)
        self.fit_info_ = dict(meta["fit_info"])
        return self

    @property
    def aspect_word_(self) -> NDArray[np.float64]:
        """P(word | aspect), aspects × words."""
        return self._first.topic_word

    @property
    def alpha_(self) -> NDArray[np.float64]:
        """The Dirichlet parameter of each aspect, as given or learned."""
        return self._first.alpha.copy()

    @property
    def doc_aspect_(self) -> NDArray[np.float64]:
        """Posterior means of the training documents' mixtures; documents × aspects."""
        return self._first.doc_topic

    def transform(self, X: DocumentsLike) -> NDArray[np.float64]:
        """Posterior means of new documents' mixtures, documents × aspects; rows sum to one. Obeys ``set_output``.

        Examples
        --------
        >>> import topoi
        >>> model = topoi.AspectModel.from_parameters([[0.9, 0.1], [0.1, 0.9]], alpha=1.0)
        >>> model.transform([[3, 0], [0, 0]]).round(2).tolist()
        [[0.78, 0.22], [0.5, 0.5]]
        """
        return self.posterior_mean(X)

    def top_words(
        self, n: int = 10, topic: int | None = None, relevance: float = 1.0, max_unigram: float | None = None
    ) -> pd.DataFrame:
        """The most probable, or most telling, words of each aspect: topic, rank, word, probability.

        Parameters
        ----------
        n, topic, relevance
            As in ``LDA``.
        max_unigram : float, optional
            Leave out words whose share of the corpus is larger. Every aspect has common words, which would lead every
            list; the paper's figure 2 shows the words below 0.001.

        Examples
        --------
        >>> import topoi
        >>> corpus = topoi.Corpus.from_tokens([["the", "sun", "the"], ["the", "gene", "the"]] * 9)
        >>> model = topoi.AspectModel(2, random_state=0).fit(corpus)
        >>> sorted(model.top_words(1, max_unigram=0.5)["word"])
        ['gene', 'sun']
        """
        if max_unigram is None:
            return super().top_words(n, topic, relevance)
        if isinstance(max_unigram, bool) or not isinstance(max_unigram, numbers.Real) or not 0 <= max_unigram <= 1:
            raise ModelError(f"max_unigram is {max_unigram!r}; it is a share of the corpus, from 0 to 1")
        whole_number("n", n)
        times = np.bincount(self._first_corpus.tokens, minlength=self._first_corpus.n_words)
        common = times > max_unigram * max(int(times.sum()), 1)
        frame = super().top_words(n + int(common.sum()), topic, relevance)
        rare = frame[~frame["word"].isin(self.vocabulary_.words[common])]
        kept = rare.groupby("topic", sort=False).head(n).reset_index(drop=True)
        kept["rank"] = kept.groupby("topic", sort=False).cumcount() + 1
        return kept

    @property
    def _first_corpus(self) -> Corpus:
        check_is_fitted(self, "n_iter_")
        return self.corpus_

    def simulate(self, n_docs: int, doc_length: float = 100, random_state: SeedLike = None) -> Corpus:
        """Draw a corpus from the model's generative process, with new aspects or, once fitted, the fitted ones.

        Parameters
        ----------
        n_docs : int
            Number of documents.
        doc_length : float
            Mean length; lengths are Poisson.
        random_state : int, generator or None
            Seeds the draw.

        Returns
        -------
        Corpus
            With the true mixtures and aspects of all tokens in ``corpus.truth``.

        Examples
        --------
        >>> import topoi
        >>> corpus = topoi.AspectModel(3).simulate(20, doc_length=30, random_state=0)
        >>> corpus.n_docs, corpus.truth.doc_aspect.shape
        (20, (20, 3))
        """
        return simulate_aspects(self, n_docs, doc_length, resolve_seed(random_state))
