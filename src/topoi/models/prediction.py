"""Predictions of a fitted topic model for new documents: topic shares, labels, likelihood, perplexity."""

from __future__ import annotations

import hashlib
from collections import defaultdict, deque
from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from topoi.corpus.corpus import Corpus
from topoi.corpus.vocabulary import Vocabulary
from topoi.engine.executors import resolve_jobs
from topoi.errors import ModelError
from topoi.kernels.counts import Documents
from topoi.kernels.folding import FIXED, Labels, SamplingPlan, Scored
from topoi.models.contract import DocumentsLike, MetadataLike, SeedLike
from topoi.models.filtering import AUTO, N_MOVES, Filtered, checked_particles, filtered, over_chains, spread_words
from topoi.models.inputs import Aligned, WeightedAuthors, align, checked_observed
from topoi.models.posterior import Posterior, checked_plan
from topoi.models.ranges import document_range
from topoi.models.resampling import Draws, stacked_draws
from topoi.models.scores import log_mean_exp, perplexities
from topoi.models.texts import need_documents
from topoi.models.validation import choice, resolve_seed

# How ``transform`` finds the shares of new documents, where a family offers both.
METHODS = GIBBS, MEAN_FIELD = "gibbs", "mean-field"
# Largest number of token-topic probabilities held at once: 32 MB.
_CELLS_AT_ONCE = 2**22


class DocumentReader:
    """Documents as a fitted model reads them, and what all models say of them; mixed into the families' members.

    Random streams are named by the fit's seed, the chain and the document's own words and authors: a result depends
    neither on the order of documents nor on the number of threads.
    """

    # Whether documents have hidden mixtures of topics.
    has_mixtures = True
    vocabulary_: Vocabulary
    authors_: NDArray[Any]
    chains_: list[Any]
    corpus_: Corpus
    n_jobs: int | None
    _seed: int

    def _lists_for(self, corpus: Corpus) -> WeightedAuthors:
        """Possible authors of each document; ``WeightedAuthors.private`` for a model without authors."""
        raise NotImplementedError  # abstract: each family's own

    def _as_corpus(self, X: DocumentsLike) -> Corpus:
        """New documents as a corpus."""
        return need_documents(X, self.corpus_)

    def _align(self, X: DocumentsLike) -> tuple[Aligned, Documents]:
        check_is_fitted(self, "n_iter_")
        aligned = align(self._as_corpus(X), self.vocabulary_, self.authors_)
        return aligned, make_documents(aligned.corpus, self._lists_for(aligned.corpus))

    def read_documents(self, X: DocumentsLike) -> tuple[Corpus, Documents]:
        """Documents in the model's words and authors, and in the form that its chains read.

        Examples
        --------
        >>> import topoi
        >>> model = topoi.LDA(1, n_iter=2, random_state=0).fit(topoi.Corpus.from_tokens([["a", "b"], ["a", "a"]]))
        >>> corpus, documents = model.read_documents(["b a"])
        >>> documents.tokens.tolist()
        [1, 0]
        """
        aligned, documents = self._align(X)
        return aligned.corpus, documents

    def _plan(self, burn_in: int, n_samples: int, lag: int, chain: int, random_state: SeedLike = None) -> SamplingPlan:
        return checked_plan(burn_in, n_samples, lag, self._seed, random_state, chain)

    def topic_counts(self, X: DocumentsLike) -> NDArray[np.float64]:
        """Words of each topic in documents, documents × topics, without smoothing; a row sums to a document's length.

        Training documents have the counts of the fit (first chain). They are recognised by their words and by whatever
        else the model reads of them (authors or metadata), not by object identity: an equal corpus, part of it, or one
        that was saved and loaded will do. Other documents have expected counts: the probabilities of topics, given the
        whole document, summed over its words.

        Parameters
        ----------
        X : Corpus, list of texts, or (LDA) a matrix of counts
            The documents. Words the model does not know are left out.

        Examples
        --------
        >>> import topoi
        >>> corpus = topoi.Corpus.from_tokens([["a", "b"], ["c", "d"]] * 10)
        >>> model = topoi.LDA(2, alpha=0.1, n_iter=50, random_state=0).fit(corpus)
        >>> model.topic_counts(corpus.subset([0, 1])).sum(axis=1).tolist()
        [2.0, 2.0]
        >>> model.topic_counts(["a b a b a"]).round(1).max()
        np.float64(5.0)
        """
        check_is_fitted(self, "n_iter_")
        if X is self.corpus_:
            return self._training_counts(np.arange(self.corpus_.n_docs))
        return self._counted(X)[0]

    def _counted(self, X: DocumentsLike) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
        """Words of each topic in documents, and the training documents that they are, -1 for new ones."""
        corpus = self._align(X)[0].corpus
        rows = self._training_rows(corpus)
        counts = np.zeros((corpus.n_docs, self.chains_[0].n_topics))
        counts[rows >= 0] = self._training_counts(rows[rows >= 0])
        new = np.flatnonzero((rows < 0) & (corpus.doc_lengths > 0))
        if len(new):
            counts[new] = self._expected_counts(corpus.subset(new))
        return counts, rows

    def topic_draws(self, X: DocumentsLike) -> tuple[NDArray[np.float64], Draws]:
        """``topic_counts``, and the same in every sample of the first chain; new documents have equal counts in all.

        Examples
        --------
        >>> import topoi
        >>> corpus = topoi.Corpus.from_tokens([["a", "b"], ["c", "d"]] * 10)
        >>> model = topoi.LDA(2, alpha=0.1, n_iter=50, random_state=0).fit(corpus)
        >>> counts, draws = model.topic_draws(corpus)
        >>> counts.shape, draws.n_draws == model.chains_[0].n_samples
        ((20, 2), True)
        """
        check_is_fitted(self, "n_iter_")
        known = self.chains_[0].document_draws()
        if X is self.corpus_:
            return self.topic_counts(X), known
        counts, rows = self._counted(X)
        place = np.full(self.corpus_.n_docs, -1)
        place[rows[rows >= 0]] = np.flatnonzero(rows >= 0)
        twice = np.flatnonzero((rows >= 0) & (place[rows] != np.arange(len(rows))))
        tables = [counts.copy() for _ in range(known.n_draws)]
        for first, draws in known.blocks() if (rows >= 0).any() else ():
            for table, (start, column, number) in zip(tables, draws, strict=True):
                to = np.repeat(place[first : first + len(start) - 1], np.diff(start))
                table[to[to >= 0]] = 0.0
                table[to[to >= 0], column[to >= 0]] = number[to >= 0]
        for table in tables:
            table[twice] = table[place[rows[twice]]]
        return counts, stacked_draws(tables)

    def _training_counts(self, rows: NDArray[np.int64]) -> NDArray[np.float64]:
        return np.asarray(self.chains_[0].documents.counts(rows), np.float64)

    def _training_rows(self, corpus: Corpus) -> NDArray[np.int64]:
        """The training document equal to each document (in the model's words and authors), or -1."""
        known = self.corpus_
        keys = [content_keys(each, self._beside_words(each)) for each in (corpus, known)]
        return matching_rows(keys[0], names_of(corpus), keys[1], names_of(known))

    def _beside_words(self, corpus: Corpus) -> list[bytes]:
        """Other input that decides each document's topics: its authors, if the model distinguishes any."""
        return author_bytes(corpus) if len(self.authors_) else [b""] * corpus.n_docs

    def _expected_counts(self, corpus: Corpus) -> NDArray[np.float64]:
        """Expected words of each topic in new documents, by sampling; the corpus is in the model's words."""
        documents, first = self._align(corpus)[1], self.chains_[0]
        plan, jobs = self._plan(20, 10, 2, 0), resolve_jobs(self.n_jobs)
        counts = np.zeros((corpus.n_docs, first.n_topics))
        block = np.cumsum(corpus.doc_lengths) * first.n_topics // _CELLS_AT_ONCE
        for rows in np.split(np.arange(corpus.n_docs), np.flatnonzero(np.diff(block)) + 1):
            part = document_range(documents, rows[0], rows[-1] + 1)
            labels = first.sample_documents(part, plan, labels=True, n_jobs=jobs)[2].topic
            counts[rows] = np.add.reduceat(labels, part.doc_start[:-1])
        return counts

    def documents_and_chains(
        self, X: DocumentsLike, metadata: MetadataLike | None = None
    ) -> tuple[Corpus, Documents, list[Any]]:
        """Documents as the chains read them, and the chains, with each document's prior given its metadata.

        Examples
        --------
        >>> import topoi
        >>> model = topoi.LDA(1, n_iter=2, random_state=0).fit(topoi.Corpus.from_tokens([["a", "b"], ["a", "a"]]))
        >>> corpus, documents, chains = model.documents_and_chains(["b a"])
        >>> corpus.n_docs, len(chains)
        (1, 1)
        """
        if metadata is not None:
            raise ModelError(f"{type(self).__name__} reads no metadata; leave out metadata=")
        return *self.read_documents(X), self.chains_

    def _seed_of(self, random_state: SeedLike) -> int:
        return self._seed if random_state is None else resolve_seed(random_state)

    def _filtered(
        self, X: DocumentsLike, n_particles: int | str, random_state: SeedLike, metadata: MetadataLike | None = None
    ) -> tuple[NDArray[np.int64], Filtered]:
        """Lengths of documents, and their log probabilities by the particle filter, averaged over chains."""
        particles = checked_particles(n_particles)
        corpus, documents, chains = self.documents_and_chains(X, metadata)
        seed, jobs = self._seed_of(random_state), resolve_jobs(self.n_jobs)

        def one(chain: Posterior) -> Filtered:
            ordered = spread_words(chain, documents) if particles == AUTO else documents
            return filtered(chain, ordered, seed, particles, N_MOVES, jobs)

        return corpus.doc_lengths, over_chains([one(chain) for chain in chains])


class FilterReports(DocumentReader):
    """Reports of the particle filter, also for families with estimators of their own."""

    def log_likelihood_report(
        self, X: DocumentsLike, n_particles: int | str = AUTO, random_state: SeedLike = None
    ) -> pd.DataFrame:
        """``log_likelihood`` with its errors, one row per document.

        Parameters
        ----------
        X, n_particles, random_state
            As in ``log_likelihood``.

        Returns
        -------
        DataFrame
            document, n_words, log_likelihood; standard_error, in nats: zero where nothing is integrated out, NaN for a
            single filter; n_particles, of all runs and chains together.

        Examples
        --------
        >>> import topoi
        >>> corpus = topoi.Corpus.from_tokens([["a", "b"], ["a", "a"]])
        >>> model = topoi.LDA(1, n_iter=2, random_state=0).fit(corpus)
        >>> model.log_likelihood_report(corpus)["standard_error"].round(6).tolist()
        [0.0, 0.0]
        """
        return report_frame(*self._filtered(X, n_particles, random_state))

    def score(self, X: DocumentsLike, y: object = None) -> float:
        """Mean log-likelihood per token, for scikit-learn's model selection: the higher, the better.

        Examples
        --------
        >>> import topoi
        >>> corpus = topoi.Corpus.from_tokens([["a", "b"]] * 4)
        >>> round(topoi.LDA(1, n_iter=2, random_state=0).fit(corpus).score(corpus), 3)
        -0.693
        """
        lengths, found = self._filtered(X, AUTO, None)
        return float(found.log_likelihood.sum() / max(int(lengths.sum()), 1))


class Predictions(FilterReports):
    """Predictions of models that sample new documents; families with other estimators have methods of their own."""

    def transform(self, X: DocumentsLike, burn_in: int = 20, n_samples: int = 100, lag: int = 1) -> NDArray[np.float64]:
        """Topic shares of new documents, documents × topics; rows sum to one.

        Sampled against the first chain (topics of different chains do not correspond), the mean of
        ``n_samples`` samples ``lag`` sweeps apart after ``burn_in``. A document's authors, where the model knows them,
        inform its topics; one without known authors gets a private author.

        Parameters
        ----------
        X : Corpus, list of texts or of lists of words, table with texts, or (LDA) a matrix of counts
            The documents. Words the model does not know are left out; texts without any it knows are a ``ModelError``.
        burn_in, n_samples, lag : int
            Gibbs sweeps.

        Examples
        --------
        >>> import topoi
        >>> corpus = topoi.Corpus.from_tokens([["a", "b"], ["c", "d"]] * 10)
        >>> model = topoi.LDA(2, alpha=0.1, n_iter=50, random_state=0).fit(corpus)
        >>> model.transform(["a b a", "c"]).argmax(axis=1).tolist() == model.doc_topic_[:2].argmax(axis=1).tolist()
        True
        """
        return self._shares(X, burn_in, n_samples, lag)

    def _shares(
        self, X: DocumentsLike, burn_in: int, n_samples: int, lag: int, method: str = GIBBS
    ) -> NDArray[np.float64]:
        """``transform`` by either method; ``"mean-field"`` where the family's chains have it."""
        choice("method", method, METHODS)
        _, documents = self._align(X)
        jobs = resolve_jobs(self.n_jobs)
        if method == MEAN_FIELD:
            return np.asarray(self.chains_[0].mean_field(documents, jobs))
        return self.chains_[0].sample_documents(documents, self._plan(burn_in, n_samples, lag, 0), n_jobs=jobs)[0]

    def label_text(
        self,
        tokens: NDArray[Any],
        authors: NDArray[np.int64],
        burn_in: int = 20,
        n_samples: int = 20,
        lag: int = 2,
        random_state: SeedLike = None,
    ) -> Labels:
        """Probabilities of topics and authors (positions in ``authors``) for every token of a new text (first chain).

        Without authors, the text is treated as written by somebody new.

        Examples
        --------
        >>> import numpy as np, topoi
        >>> model = topoi.LDA(2, n_iter=5, random_state=0).fit([[2, 1, 0], [0, 1, 2]])
        >>> labels = model.label_text(np.array([0, 2], np.int32), np.zeros(0, np.int64))
        >>> labels.topic.shape
        (2, 2)
        """
        check_is_fitted(self, "n_iter_")
        plan = self._plan(burn_in, n_samples, lag, 0, random_state)
        private = self.chains_[0].counts.author_topic.shape[0] - 1
        author = authors.astype(np.int32) if len(authors) else np.array([private], np.int32)
        lists = WeightedAuthors(author, np.array([0, len(author)]), np.ones(len(author), np.float32), private)
        edges = np.array([0, len(tokens)])
        document = Documents(np.ascontiguousarray(tokens, np.int32), edges, lists.author, lists.start, lists.weight)
        return self.chains_[0].sample_documents(document, plan, labels=True)[2]

    def log_likelihood(
        self, X: DocumentsLike, n_particles: int | str = AUTO, random_state: SeedLike = None
    ) -> NDArray[np.float64]:
        """Log probability of each document, natural log, without multinomial coefficient, averaged over chains.

        It is the probability of the words given what the model knows of the document beforehand (its authors). The
        mixture of topics is integrated out under its prior by a particle filter; mixtures of known authors are plugged
        in. The average is over the chains' probabilities of the whole document (AT09, below equation 10).

        Parameters
        ----------
        X : Corpus, list of texts, or (LDA) a matrix of counts
            The documents.
        n_particles : "auto" or int
            As many particles as each document's logarithm needs to settle (a standard error of 0.08 √n nats for n
            words, at most 6,096 particles); or one filter with this many, in the order of the document's words, whose
            probabilities are unbiased.
        random_state : int, generator or None
            Seeds the draws; the fit's seed if None.

        Examples
        --------
        >>> import numpy as np, topoi
        >>> corpus = topoi.Corpus.from_tokens([["a", "b"], ["a", "a"]])
        >>> model = topoi.LDA(1, n_iter=2, random_state=0).fit(corpus)
        >>> np.exp(model.log_likelihood(corpus)).round(3).tolist()
        [0.188, 0.561]
        """
        return self._filtered(X, n_particles, random_state)[1].log_likelihood

    def perplexity(
        self,
        X: DocumentsLike,
        average: str = "tokens",
        per_document: bool = False,
        n_particles: int | str = AUTO,
        random_state: SeedLike = None,
    ) -> Any:
        """Perplexity of documents: the lower, the better the model predicts them.

        Parameters
        ----------
        X : Corpus, list of texts, or (LDA) a matrix of counts
            The documents. Empty ones have no perplexity and do not count.
        average : {"tokens", "documents"}
            exp(−Σ log p(w_d) / Σ N_d), or the mean over documents of exp(−log p(w_d) / N_d), as AT09 reports.
        per_document : bool
            Return the array of documents' perplexities instead (NaN for empty ones).
        n_particles, random_state
            As in ``log_likelihood``.

        Examples
        --------
        >>> import topoi
        >>> corpus = topoi.Corpus.from_tokens([["a", "b"]] * 4)
        >>> round(topoi.LDA(1, n_iter=2, random_state=0).fit(corpus).perplexity(corpus), 6)
        2.0
        """
        lengths, found = self._filtered(X, n_particles, random_state)
        return perplexities(found.log_likelihood, lengths, average, per_document)

    def log_completion(
        self,
        corpus: Corpus,
        observed: NDArray[np.bool_],
        burn_in: int = 20,
        n_samples: int = 10,
        lag: int = 2,
        learn_topics: bool = True,
    ) -> NDArray[np.float64]:
        """Log probability of each document's unobserved tokens, given the observed ones.

        Every chain is continued on the observed tokens alone and its predictions averaged over samples; the
        product over tokens is averaged over chains (AT09, section 6.4).

        Parameters
        ----------
        corpus : Corpus
            The documents.
        observed : boolean array, one per token
            Which tokens are seen.
        burn_in, n_samples, lag : int
            Gibbs sweeps.
        learn_topics : bool
            Whether topics go on learning from the document's observed tokens, as in the paper, or stay what training
            made them, as they do in families without counts: ``evaluation.compare`` holds those of all fixed.

        Examples
        --------
        >>> import numpy as np, topoi
        >>> corpus = topoi.Corpus.from_tokens([["a", "b"]] * 4)
        >>> model = topoi.LDA(1, n_iter=2, random_state=0).fit(corpus)
        >>> len(model.log_completion(corpus, np.arange(8) % 2 == 0))
        4
        """
        aligned, documents = self._align(corpus)
        observed = checked_observed(observed, len(aligned.kept))[aligned.kept]
        doc = np.repeat(np.arange(aligned.corpus.n_docs), aligned.corpus.doc_lengths)
        seen = _part(documents, observed, doc)
        rest = _part(documents, ~observed, doc)
        scored = Scored(rest.tokens, rest.doc_start)
        totals = []
        for chain in self.chains_:
            plan = self._plan(burn_in, n_samples, lag, chain.index)._replace(weight=1.0 if learn_topics else FIXED)
            _, scores, _ = chain.sample_documents(seen, plan, scored, n_jobs=resolve_jobs(self.n_jobs))
            totals.append(np.bincount(doc[~observed], np.log(scores), aligned.corpus.n_docs))
        return log_mean_exp(np.stack(totals))


def report_frame(lengths: NDArray[np.int64], found: Filtered) -> pd.DataFrame:
    """Log probabilities of documents and their errors, one row each."""
    return pd.DataFrame({"document": np.arange(len(lengths)), "n_words": lengths} | found._asdict())


def make_documents(corpus: Corpus, lists: WeightedAuthors) -> Documents:
    """A corpus and its lists of authors in the form the kernels read."""
    return Documents(corpus.tokens, corpus.doc_start, lists.author, lists.start, lists.weight)


def _part(documents: Documents, chosen: NDArray[np.bool_], doc: NDArray[np.int64]) -> Documents:
    """The documents reduced to the chosen tokens."""
    lengths = np.bincount(doc[chosen], minlength=len(documents.doc_start) - 1)
    start = np.concatenate(([0], np.cumsum(lengths))).astype(np.int64)
    return documents._replace(tokens=documents.tokens[chosen], doc_start=start)


def author_bytes(corpus: Corpus) -> list[bytes]:
    """Each document's author numbers, sorted, as bytes."""
    return _sorted_rows(corpus.doc_author, corpus.doc_author_start)


def content_keys(corpus: Corpus, beside: Sequence[bytes]) -> list[bytes]:
    """Digest of each document's bag of words and of the bytes in ``beside``.

    Examples
    --------
    >>> import topoi
    >>> from topoi.models.prediction import content_keys
    >>> one, other, third = content_keys(topoi.Corpus.from_tokens([["a", "b"], ["b", "a"], ["b", "b"]]), [b""] * 3)
    >>> one == other, one == third
    (True, False)
    """
    words = _sorted_rows(corpus.tokens, corpus.doc_start)
    lengths = (len(each).to_bytes(8, "little") for each in words)
    parts = zip(lengths, words, beside, strict=True)
    return [hashlib.blake2b(b"".join(part), digest_size=16).digest() for part in parts]


def matching_rows(
    keys: Sequence[bytes], names: Sequence[str], known_keys: Sequence[bytes], known_names: Sequence[str]
) -> NDArray[np.int64]:
    """For each document, the known one with the same key; -1 if there is none.

    Of several with the same key, the one with the same name is taken; without such a name they are taken in order.

    Examples
    --------
    >>> from topoi.models.prediction import matching_rows
    >>> matching_rows([b"x", b"y", b"x"], ["2", "9", "1"], [b"x", b"x"], ["1", "2"]).tolist()
    [1, -1, 0]
    """
    named: dict[tuple[bytes, str], deque[int]] = defaultdict(deque)
    first: dict[bytes, int] = {}
    for row, (key, name) in enumerate(zip(known_keys, known_names, strict=True)):
        named[key, name].append(row)
        first.setdefault(key, row)
    found = np.full(len(keys), -1, np.int64)
    for d, place in enumerate(zip(keys, names, strict=True)):
        if named.get(place):
            found[d] = named[place].popleft()
    rest: dict[bytes, deque[int]] = defaultdict(deque)
    for row in sorted(row for rows in named.values() for row in rows):
        rest[known_keys[row]].append(row)
    for d in np.flatnonzero(found < 0).tolist():
        if keys[d] in first:
            found[d] = rest[keys[d]].popleft() if rest.get(keys[d]) else first[keys[d]]
    return found


def names_of(corpus: Corpus) -> list[str]:
    """Ids of the documents; empty strings if the corpus has none."""
    return [str(each) for each in corpus.documents["id"]] if "id" in corpus.documents else [""] * corpus.n_docs


def _sorted_rows(values: NDArray[np.int32], start: NDArray[np.int64]) -> list[bytes]:
    edges = start.tolist()
    return [np.sort(values[a:b]).tobytes() for a, b in zip(edges, edges[1:], strict=False)]
