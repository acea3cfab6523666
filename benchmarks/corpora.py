"""The collections that are measured: a simulated one of NIPS size and ``nips12``, and their held-out tokens."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

import numpy as np

import topoi
from topoi.corpus.datasets import dataset_names
from topoi.corpus.vocabulary import Vocabulary

AUTHORS_PER_PAPER = (0.30, 0.40, 0.20, 0.07, 0.03)
# Words of a topic are Dirichlet with this mean parameter: small enough for topics that differ.
CONCENTRATION = 0.02


class Size(NamedTuple):
    """How large a simulated corpus is; of ``n_words``, some never occur and are left out."""

    n_docs: int
    n_authors: int
    length: int
    n_words: int
    n_topics: int


NIPS_SIZE = Size(n_docs=1740, n_authors=2037, length=1380, n_words=12_600, n_topics=100)
QUICK_SIZE = Size(n_docs=150, n_authors=160, length=200, n_words=1_500, n_topics=10)


class Heldout(NamedTuple):
    """Tokens that no contender sees while training: the document and the word of each."""

    doc: np.ndarray
    word: np.ndarray


class Split(NamedTuple):
    """A corpus less its held-out tokens, and those."""

    train: topoi.Corpus
    heldout: Heldout


def simulated(quick: bool = False, times: int = 1, seed: int = 0) -> topoi.Corpus:
    """A corpus drawn from the author-topic model: 1,740 papers, about 2.4 M tokens and 11,500 words that occur.

    Topics share a Zipf-like base, as those of real text do; ``times`` multiplies the number of papers.
    """
    size = QUICK_SIZE if quick else NIPS_SIZE
    base = 1.0 / (np.arange(size.n_words) + 10.0)
    beta = base * (CONCENTRATION * size.n_words / base.sum())
    n_docs = size.n_docs * times
    writers = _paper_authors(n_docs, size.n_authors, np.random.default_rng(seed))
    model = topoi.AuthorTopicModel(size.n_topics, alpha=5.0 / size.n_topics, beta=beta)
    return compact(model.simulate(n_docs, size.length, authors=writers, random_state=seed))


def nips12() -> topoi.Corpus | None:
    """The NIPS papers 1987–1999, words in at least five papers; None if ``$TOPOI_DATA`` does not hold them."""
    if "nips12" not in dataset_names():
        return None
    return compact(topoi.load_dataset("nips12", min_df=5))


def compact(corpus: topoi.Corpus) -> topoi.Corpus:
    """The corpus with only the words and authors that occur, so that every system has the same vocabulary.

    Texts, offsets and metadata are left behind: memory is measured with this corpus loaded.
    """
    used, tokens = np.unique(corpus.tokens, return_inverse=True)
    writers, doc_author = np.unique(corpus.doc_author, return_inverse=True)
    return topoi.Corpus(
        tokens=tokens,
        doc_start=corpus.doc_start,
        vocabulary=Vocabulary([str(word) for word in corpus.words[used]]),
        doc_author=doc_author,
        doc_author_start=corpus.doc_author_start,
        authors=[str(name) for name in corpus.authors[writers]],
    )


def first_documents(corpus: topoi.Corpus, share: float) -> topoi.Corpus:
    """The first ``share`` of the documents, with the words and authors that occur in them."""
    if share >= 1.0:
        return corpus
    return compact(corpus.subset(slice(0, max(1, round(share * corpus.n_docs)))))


def hold_out(corpus: topoi.Corpus, share: float = 0.1, seed: int = 1) -> Split:
    """Set aside ``share`` of each document's tokens, except every word's first occurrence: all words can be learned."""
    rng = np.random.default_rng(seed)
    doc = np.repeat(np.arange(corpus.n_docs), np.diff(corpus.doc_start))
    out = rng.random(corpus.n_tokens) < share
    out[np.unique(corpus.tokens, return_index=True)[1]] = False
    out[corpus.doc_start[:-1]] = False  # no document is emptied: some systems drop empty ones
    start = np.concatenate(([0], np.cumsum(np.bincount(doc[~out], minlength=corpus.n_docs))))
    train = topoi.Corpus(
        tokens=corpus.tokens[~out],
        doc_start=start,
        vocabulary=corpus.vocabulary,
        doc_author=corpus.doc_author,
        doc_author_start=corpus.doc_author_start,
        authors=corpus.authors,
    )
    return Split(train, Heldout(doc[out], corpus.tokens[out]))


def save(corpus: topoi.Corpus, path: Path) -> None:
    """Write what a child process needs."""
    np.savez(
        path,
        tokens=corpus.tokens,
        doc_start=corpus.doc_start,
        words=corpus.words.astype(str),
        doc_author=corpus.doc_author,
        doc_author_start=corpus.doc_author_start,
        authors=corpus.authors.astype(str),
    )


def load(path: Path) -> topoi.Corpus:
    """Read what ``save`` wrote."""
    with np.load(path) as saved:
        return topoi.Corpus(
            tokens=saved["tokens"],
            doc_start=saved["doc_start"],
            vocabulary=Vocabulary(saved["words"].tolist()),
            doc_author=saved["doc_author"],
            doc_author_start=saved["doc_author_start"],
            authors=saved["authors"].tolist(),
        )


def _paper_authors(n_docs: int, n_authors: int, rng: np.random.Generator) -> list[list[str]]:
    """One to five authors a paper; everybody writes at least one paper, and a few write many."""
    counts = rng.choice(len(AUTHORS_PER_PAPER), n_docs, p=AUTHORS_PER_PAPER) + 1
    everybody = rng.permutation(n_authors)
    activity = 1.0 / (np.arange(n_authors) + 20.0)
    regulars = rng.choice(n_authors, max(0, counts.sum() - n_authors), p=activity / activity.sum())
    places = rng.permutation(np.concatenate((everybody, regulars))[: counts.sum()])
    papers = np.split(places, np.cumsum(counts)[:-1])
    return [[f"author {a}" for a in dict.fromkeys(paper.tolist())] for paper in papers]
