"""Public estimator of the family: ``DirichletMultinomialRegression``."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import csr_matrix

from topoi.corpus.corpus import Corpus
from topoi.corpus.pieces import ArrayOrPieces
from topoi.engine.executors import open_executor
from topoi.engine.interruption import interruptible
from topoi.engine.loop import SweepInfo
from topoi.engine.shards import Shards
from topoi.errors import ModelError, StoreError
from topoi.models.contract import DocumentsLike, FeaturesLike, MetadataLike, SeedLike
from topoi.models.dmr.design import PARTS, Design, WidthLike, is_chosen
from topoi.models.dmr.likelihood import Gaussian
from topoi.models.dmr.posterior import RegressionPosterior
from topoi.models.dmr.prediction import RegressionPredictions
from topoi.models.dmr.refitting import Refitting, topics_of_words
from topoi.models.dmr.selection import FEW_VARIANCES, best_design
from topoi.models.dmr.simulate import simulate_regression
from topoi.models.dmr.state import Plan, RegressionSampler, checked_variance, prior_mean
from topoi.models.gibbs import GibbsModel
from topoi.models.growing import wider_setting
from topoi.models.guidance.documents import DocLabels, DocumentsOfTopics
from topoi.models.guidance.guidance import Guidance
from topoi.models.guidance.model import Guided
from topoi.models.guidance.settings import Seeds, WordsOfTopics
from topoi.models.tables import ChainTables
from topoi.models.texts import corpus_with
from topoi.models.validation import choice, positive_vector, resolve_seed, whole_number

Array = NDArray[np.float64]
# After fewer sweeps, counts of topics say little.
_FEWEST_SWEEPS = 20


class DirichletMultinomialRegression(
    Guided,
    ChainTables[RegressionPosterior],
    Refitting,
    RegressionPredictions,
    GibbsModel[RegressionSampler, RegressionPosterior],
):
    """LDA in which a document's alpha is a log-linear function of its metadata (Mimno and McCallum 2008).

    alpha[d, k] = exp(x_d · λ_k): an author, a year or a venue makes topics more or less likely. Topics are sampled by
    exact collapsed Gibbs sampling. The coefficients λ, with a Gaussian prior, are sampled too, every few sweeps, by
    Hamiltonian Monte Carlo on the counts of topics, so that intervals include the uncertainty of the topics.

    Parameters
    ----------
    n_topics : int
        Number of topics.
    features : list of str, or dict
        Columns of ``corpus.documents``, or ``"authors"``; kinds are recognised, or named: ``{"decade": "category"}``.
        Numbers are standardised; categories, names and links have a column for each name; an intercept is added.
    width : float, "auto", "cv", None or dict
        Width and distance, in years, of the bumps by which a date or year acts; "auto" is a tenth of the range, None a
        straight line. "cv" divides the range into 2.5 to 40 parts, chosen by cross-validation on the counts of topics
        of a short run without metadata. A mapping of features to widths gives other numbers bumps too.
    variance : float or "cv"
        Prior variance of the coefficients: the larger, the more a single author may differ from all others.
        "cv" chooses it by cross-validation on the counts of topics after the warm-up.
    intercept_variance : float
        Prior variance of the intercepts.
    alpha : float or array
        Alpha before anything is learned, per topic; the intercepts' prior mean is its logarithm.
    beta : float or array
        Dirichlet parameter of topics' words, per word.
    n_iter : int
        Gibbs sweeps.
    n_warmup, learn_every : int
        Sweeps before coefficients are learned, and between steps of learning.
    learning : {"sample", "optimise"}
        Draw coefficients from their posterior or, as in the paper, maximise it by L-BFGS. Their errors are then taken
        from the curvature given the topics, and are too small where topics overlap.
    seeds, seed_strength, ban, pin, doc_labels, doc_ban
        As in ``AuthorTopicModel``. With labels, a document's alpha is that of the topics that it may have, and the
        coefficients are learned from those alone.
    n_chains, n_jobs, n_shards, executor, shared_folder, random_state, evaluate_every, average, checkpoint, \
checkpoint_every, progress
        As in ``AuthorTopicModel``.

    Attributes
    ----------
    topic_word_, doc_topic_ : ndarray
        Rows are probabilities. Documents' shares are smoothed by their own alpha.
    coefficients_ : ndarray
        λ of the first chain, topics × columns of the design; ``coefficients()`` names them. The mean of the draws.
    coefficient_draws_ : ndarray
        Draws × topics × columns, from the second half of the first chain, for intervals of any function of
        coefficients.
    alpha_ : ndarray
        Mean alpha of the training documents, per topic.
    design_ : Design
        The columns.
    chains_, trace_, fit_info_
        As in ``AuthorTopicModel``; ``fit_info_`` also has the first chain's ``"variance"`` and the bumps' ``"widths"``.

    References
    ----------
    Mimno and McCallum, Topic models conditioned on arbitrary features with Dirichlet-multinomial regression, UAI 2008.

    Examples
    --------
    >>> import topoi
    >>> words = [["war"] * 20 if year < 1950 else ["trade"] * 20 for year in range(1900, 2000)]
    >>> corpus = topoi.Corpus.from_tokens(words, dates=list(range(1900, 2000)))
    >>> model = topoi.DirichletMultinomialRegression(2, features=["year"], n_iter=60, random_state=0).fit(corpus)
    >>> early, late = model.predict({"year": [1920, 1980]}).groupby("row")["mean"].max()
    >>> bool(early > 0.8), bool(late > 0.8)
    (True, True)
    """

    def __init__(
        self,
        n_topics: int = 100,
        *,
        features: FeaturesLike | None = None,
        width: WidthLike = "auto",
        variance: float | str = 0.5,
        intercept_variance: float = 10.0,
        alpha: ArrayLike = 0.1,
        beta: ArrayLike = 0.01,
        n_iter: int = 500,
        n_warmup: int = 50,
        learn_every: int = 10,
        learning: str = "sample",
        seeds: Seeds | None = None,
        seed_strength: int | None = None,
        ban: WordsOfTopics | None = None,
        pin: WordsOfTopics | None = None,
        doc_labels: DocLabels | None = None,
        doc_ban: DocumentsOfTopics | None = None,
        n_chains: int = 1,
        n_jobs: int | None = 1,
        n_shards: int | str = "auto",
        executor: Any = None,
        shared_folder: str | Path | None = None,
        random_state: SeedLike = None,
        evaluate_every: int = 10,
        average: bool = True,
        checkpoint: str | Path | None = None,
        checkpoint_every: int | str = "1min",
        progress: bool | None = None,
    ):
        self.n_topics = n_topics
        self.features = features
        self.width = width
        self.variance = variance
        self.intercept_variance = intercept_variance
        self.alpha = alpha
        self.beta = beta
        self.n_iter = n_iter
        self.n_warmup = n_warmup
        self.learn_every = learn_every
        self.learning = learning
        self.seeds = seeds
        self.seed_strength = seed_strength
        self.ban = ban
        self.pin = pin
        self.doc_labels = doc_labels
        self.doc_ban = doc_ban
        self.n_chains = n_chains
        self.n_jobs = n_jobs
        self.n_shards = n_shards
        self.executor = executor
        self.shared_folder = shared_folder
        self.random_state = random_state
        self.evaluate_every = evaluate_every
        self.average = average
        self.checkpoint = checkpoint
        self.checkpoint_every = checkpoint_every
        self.progress = progress

    def fit(self, corpus: DocumentsLike, y: object = None, callback: Callable[[SweepInfo], Any] | None = None) -> Self:
        """Fit the model to a corpus with metadata.

        Parameters
        ----------
        corpus : Corpus, or table with texts and metadata
            The documents.
        y : None
            Ignored; scikit-learn's convention.
        callback : callable, optional
            Called with a ``SweepInfo`` after each sweep; a true result ends the fit.

        Examples
        --------
        >>> import topoi
        >>> corpus = topoi.Corpus.from_tokens([["a", "b"], ["c", "d"]] * 5, dates=list(range(2000, 2010)))
        >>> topoi.DirichletMultinomialRegression(2, features=["year"], n_iter=10, random_state=0).fit(corpus).n_iter_
        10
        """
        corpus = corpus_with("metadata", corpus, type(self).__name__)
        if self.features is None:
            raise ModelError('features is not given; name columns of corpus.documents, features=["year"] for one')
        return self._fit_corpus(corpus, callback)

    # A loaded model has its design from the file, which may not include the metadata.

    _stored: tuple[Design, csr_matrix] | None = None

    def _make_sampler(self, corpus: Corpus, n_shards: Shards) -> RegressionSampler:
        n_topics = whole_number("n_topics", self.n_topics)
        alpha = positive_vector("alpha", self.alpha, n_topics, "n_topics")
        beta = positive_vector("beta", self.beta, corpus.n_words, "the number of words")
        spread = float(positive_vector("intercept_variance", self.intercept_variance, 1, "the intercept")[0])
        whole_number("n_warmup", self.n_warmup, 0)
        whole_number("learn_every", self.learn_every)
        variance = checked_variance(self.variance)
        told = self._guidance(corpus, n_topics)
        begin = None
        if self._stored is not None:
            design, matrix = self._stored
        else:
            design, begin = self._learned_design(corpus, alpha, beta, spread, variance, told)
            matrix = design.matrix(corpus)
        drawn = choice("learning", self.learning, ("sample", "optimise")) == "sample"
        plan = Plan(prior_mean(alpha, matrix.shape[1]), variance, spread, self.n_warmup, self.learn_every, drawn)
        sampler = RegressionSampler(corpus, matrix, plan, beta, n_shards, told)
        sampler.terms, sampler.begin = design, begin
        return sampler

    _takes_documents = True

    def why_not_edited(self) -> str | None:
        """None: topics can be edited by hand."""
        return None

    def _topic_settings(self, n_spare: int) -> dict[str, Any]:
        n_topics = self.n_topics + n_spare
        return {"n_topics": n_topics, "alpha": wider_setting(self.alpha, n_topics)}

    def _settings_of_fit(self) -> dict[str, Any]:
        """Settings with what was said of documents by their ids, which parts of the corpus have too."""
        return super()._settings_of_fit() | self._told_of_documents()

    def _grown_settings(self, n_words: int, n_spare: int) -> dict[str, Any]:
        return super()._grown_settings(n_words, n_spare) | self._told_of_documents()

    def _sampler_like(self, old: RegressionSampler, corpus: Corpus, n_shards: Shards) -> RegressionSampler:
        """A sampler with the design of ``old``, and columns for names that it did not know."""
        design = old.terms.with_names(corpus)
        self._stored = design, design.matrix(corpus)
        try:
            return self._make_sampler(corpus, n_shards)
        finally:
            self._stored = None

    def _begun(self, sampler: RegressionSampler) -> bool:
        return sampler.begin is not None

    def _learned_design(
        self, corpus: Corpus, alpha: Array, beta: Array, spread: float, variance: float, told: Guidance | None
    ) -> tuple[Design, NDArray[np.uint16] | None]:
        """The design; if its width is to be chosen, by a short run without metadata.

        If a signal has come meanwhile, also that run's topics, as the result of a fit that ends here.
        """
        if not is_chosen(self.width):
            return Design.learn(corpus, self.features, self.width), None
        # Build them first: widths that are too narrow for the corpus raise an error before anything is sampled.
        designs = [Design.learn(corpus, self.features, self.width, parts) for parts in PARTS]

        def prior(n_columns: int, chosen: float) -> Gaussian:
            return Plan(prior_mean(alpha, n_columns), chosen, spread, 0, 1).prior(chosen)

        with open_executor(1, 1) as executor:
            topic, cells = topics_of_words(corpus, alpha, beta, max(self.n_warmup, _FEWEST_SWEEPS), executor, told)
        variances = FEW_VARIANCES if np.isnan(variance) else (variance,)
        best = best_design([design.matrix(corpus) for design in designs], cells, prior, variances)
        with interruptible() as interruption:
            return designs[best], topic if interruption.is_set() else None

    def _freeze(self) -> None:
        self.design_, self._known_spread = self._sampler.terms, None
        spoken = [replace(chain, priors=self._sampler.summary(chain)) for chain in self._chains]
        self.chains_ = [RegressionPosterior.from_chain(chain, self._sampler, self.corpus_) for chain in spoken]
        self.authors_ = np.zeros(0, object)
        first = self._chains[0].priors
        self.fit_info_ |= {
            "variance": None if np.isnan(first.variance) else first.variance,
            "widths": {term.name: term.width for term in self.design_.terms if term.width is not None},
            "n_columns": len(self.design_.labels),
            "refitted": bool(len(first.frozen)),
            "n_draws": len(self.coefficient_draws_),
        }

    @property
    def alpha_(self) -> Array:
        """Mean alpha of the training documents (first chain)."""
        return self._first.alpha

    @property
    def coefficients_(self) -> Array:
        """The coefficients, topics × columns of the design (first chain): the mean of ``coefficient_draws_``."""
        return self._first.coefficients.copy()

    @property
    def coefficient_draws_(self) -> Array:
        """Draws of the coefficients from their posterior, draws × topics × columns (second half of the first chain)."""
        return self._first.priors.draws.settled()

    def simulate(self, features: MetadataLike, doc_length: float = 100, random_state: SeedLike = None) -> Corpus:
        """Draw a corpus of documents with given metadata from the model's generative process.

        Coefficients and topics are drawn from their priors, or, once fitted, are the fitted ones.

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
            With the true coefficients, alphas, shares and topics of all tokens in ``corpus.truth``.

        Examples
        --------
        >>> import topoi
        >>> model = topoi.DirichletMultinomialRegression(3, features=["venue"])
        >>> corpus = model.simulate({"venue": ["A", "B"] * 20}, doc_length=30, random_state=0)
        >>> corpus.n_docs, corpus.truth.coefficients.shape
        (40, (3, 3))
        """
        return simulate_regression(self, features, doc_length, resolve_seed(random_state))

    # Content of a file.

    def _state(self) -> tuple[dict[str, Any], dict[str, ArrayOrPieces]]:
        progress, arrays = super()._state()
        matrix = self._sampler.design
        rows = {"design_data": matrix.data, "design_column": matrix.indices, "design_start": matrix.indptr}
        rows["design_point"] = self.coefficients_  # for views, which read the alpha of a document from them
        return progress | {"design": self.design_.to_plain()}, arrays | rows

    def restore_bundle(self, corpus: Corpus, meta: dict[str, Any], arrays: dict[str, NDArray[Any]]) -> Self:
        """Restore what ``save`` wrote."""
        design = Design.from_plain(meta["progress"]["design"])
        parts = arrays["design_data"], arrays["design_column"], arrays["design_start"]
        matrix = csr_matrix(parts, shape=(corpus.n_docs, len(design.labels)), dtype=np.float64)
        matrix.check_format()
        # Features are standardised; the squares of larger values would overflow in covariances.
        if not (np.abs(matrix.data) < 1e50).all():
            raise StoreError("the design of the regression has values that are not finite, or far too large")
        self._stored = design, matrix
        try:
            super().restore_bundle(corpus, meta, arrays)
        finally:
            self._stored = None
        self.fit_info_ = dict(meta["fit_info"])
        return self
