"""Common base of ``AuthorTopicModel`` and ``LDA``: settings to sampler, chains to point estimates."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils.validation import check_is_fitted

from topoi.corpus.blocks import Table
from topoi.corpus.corpus import Corpus
from topoi.engine.shards import Shards
from topoi.models.author_topic.attribution import CalibratedAuthors
from topoi.models.author_topic.posterior import AuthorTopicPosterior
from topoi.models.author_topic.priors import first_alpha, first_beta, what_is_learned, without_alpha
from topoi.models.author_topic.simulate import simulate_corpus
from topoi.models.author_topic.state import AuthorTopicSampler, TopicChain
from topoi.models.author_topic.surprise import by_topics, surprise_rows
from topoi.models.calibration import BY_MIXTURE
from topoi.models.contract import DocumentsLike, SeedLike
from topoi.models.gibbs import GibbsModel
from topoi.models.growing import wider_setting
from topoi.models.guidance.model import Guided
from topoi.models.inputs import WeightedAuthors
from topoi.models.mixing import AuthorMixtures
from topoi.models.prediction import GIBBS, Predictions
from topoi.models.sparse.scheme import resolve_sparse
from topoi.models.tables import ChainTables
from topoi.models.validation import positive_vector, resolve_seed, whole_number


class TopicModel(
    Guided,
    CalibratedAuthors[AuthorTopicSampler],
    ChainTables[AuthorTopicPosterior],
    Predictions,
    GibbsModel[AuthorTopicSampler, AuthorTopicPosterior],
):
    """Common base of the family's members: topics, authors (possibly private ones), one sampler."""

    n_topics: int
    prior: str
    alpha: ArrayLike | None
    beta: ArrayLike | None
    learn_alpha: bool | str | None
    learn_beta: bool | None
    _calibrates = BY_MIXTURE
    _takes_documents = True

    def transform(
        self, X: DocumentsLike, burn_in: int = 20, n_samples: int = 100, lag: int = 1, method: str = GIBBS
    ) -> NDArray[np.float64]:
        """Topic shares of new documents, documents × topics; rows sum to one.

        With ``method="gibbs"`` topics are sampled against the first chain (topics of different chains do not
        correspond): the mean of ``n_samples`` samples, ``lag`` sweeps apart, after ``burn_in``. A document's authors,
        where the model knows them, inform its topics; one without known authors gets a private author.

        ``method="mean-field"`` is for very many documents without known authors. It is about as close to a long run as
        the default number of samples, in a twentieth of the time or less and without random numbers. More passes do
        not bring it closer, as more samples do.

        Parameters
        ----------
        X : Corpus, list of texts or of lists of words, table with texts, or (LDA) a matrix of counts
            The documents. Words the model does not know are left out; texts without any it knows are a ``ModelError``.
        burn_in, n_samples, lag : int
            Gibbs sweeps.
        method : {"gibbs", "mean-field"}
            Sampling, or passes over the documents' words until their topics settle.

        Examples
        --------
        >>> import topoi
        >>> corpus = topoi.Corpus.from_tokens([["a", "b"], ["c", "d"]] * 10)
        >>> model = topoi.LDA(2, alpha=0.1, n_iter=50, random_state=0).fit(corpus)
        >>> model.transform(["a b a", "c"]).argmax(axis=1).tolist() == model.doc_topic_[:2].argmax(axis=1).tolist()
        True
        >>> model.transform(["a b a"], method="mean-field").max().round(2)
        np.float64(0.97)
        """
        return self._shares(X, burn_in, n_samples, lag, method)

    @property
    def _sparse(self) -> bool | str:
        """The sparse scheme; False for none."""
        return False

    def _author_lists(self, corpus: Corpus) -> WeightedAuthors:
        raise NotImplementedError  # abstract: each member says who may have written a document

    def _make_sampler(self, corpus: Corpus, n_shards: Shards) -> AuthorTopicSampler:
        n_topics = whole_number("n_topics", self.n_topics)
        alpha, beta = self._priors(corpus, n_topics)
        given = self.prior, self.alpha, self.beta, self.learn_alpha, self.learn_beta
        lists = self._author_lists(corpus)
        told = self._guidance(corpus, n_topics)
        learning = what_is_learned(*given, lists.n_shared, corpus.n_words)
        if self.doc_labels is not None:
            learning = without_alpha(learning, self.learn_alpha)
        sparse = resolve_sparse(self._sparse, corpus.n_docs, whole_number("n_iter", self.n_iter, 0))
        return AuthorTopicSampler(
            corpus, lists, alpha, beta, n_shards, sparse=sparse, guidance=told, **learning._asdict()
        )

    def _priors(self, corpus: Corpus, n_topics: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Alpha per topic and beta per word before anything is learned, checked."""
        alpha = positive_vector("alpha", first_alpha(self.alpha, n_topics), n_topics, "n_topics")
        return alpha, positive_vector("beta", first_beta(self.beta), corpus.n_words, "the number of words")

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

    def _freeze(self) -> None:
        self.chains_ = [self._frozen(chain, self._sampler, self.corpus_) for chain in self._settled]
        self.authors_ = self.corpus_.authors if self._sampler.lists.n_shared else np.zeros(0, object)

    def _frozen(self, chain: TopicChain, sampler: AuthorTopicSampler, corpus: Corpus) -> AuthorTopicPosterior:
        return AuthorTopicPosterior.from_chain(chain, sampler, corpus)

    def family_tables(self, corpus: Corpus) -> dict[str, Table]:
        """Perplexities of authors' documents."""
        check_is_fitted(self, "n_iter_")
        if not len(self.authors_):
            return {}
        each = [by_topics(corpus, chain.kernel_counts, chain.priors) for chain in self.chains_]
        return {"author_document": surprise_rows(corpus, each)}

    def family_parameters(self) -> dict[str, Any]:
        """The calibration of authors."""
        check_is_fitted(self, "n_iter_")
        return self._more_meta()

    def restore_bundle(self, corpus: Corpus, meta: dict[str, Any], arrays: dict[str, NDArray[Any]]) -> Self:
        """Restore what ``save`` wrote."""
        super().restore_bundle(corpus, meta, arrays)
        self._take_calibration(meta)
        return self

    def _text_scores(
        self, sampler: AuthorTopicSampler, chain: TopicChain, corpus: Corpus, texts: list[NDArray[Any]]
    ) -> NDArray[np.float64]:
        authors = AuthorMixtures(corpus, self._frozen(chain, sampler, corpus))
        return np.array([authors.log_ratios(text) for text in texts])

    @property
    def alpha_(self) -> NDArray[np.float64]:
        """Alpha per topic, as given or learned (first chain)."""
        return self._first.alpha

    @property
    def beta_(self) -> NDArray[np.float64]:
        """Beta per word, as given or learned (first chain)."""
        return self._first.beta

    def simulate(
        self,
        n_docs: int,
        doc_length: float = 100,
        authors: Sequence[Sequence[str]] | int | None = None,
        random_state: SeedLike = None,
    ) -> Corpus:
        """Draw a corpus from the model's generative process, with new topics or, once fitted, the fitted ones.

        Parameters
        ----------
        n_docs : int
            Number of documents.
        doc_length : float
            Mean length; lengths are Poisson.
        authors : list of lists of str, int, or None
            Each document's authors; or the number of authors to invent (each document then has one to three).
        random_state : int, generator or None
            Seeds the draw.

        Returns
        -------
        Corpus
            With the true topics and authors of all tokens in ``corpus.truth``.

        Examples
        --------
        >>> import topoi
        >>> corpus = topoi.AuthorTopicModel(3).simulate(20, doc_length=30, authors=5, random_state=0)
        >>> corpus.n_docs, corpus.n_authors, corpus.truth.topic_word.shape[0]
        (20, 5, 3)
        """
        return simulate_corpus(self, n_docs, doc_length, authors, resolve_seed(random_state))
