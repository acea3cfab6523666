"""Simulation: authors' mixtures, topics' words, then for each token an author, a topic, a word."""

from __future__ import annotations

import numbers
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from topoi.errors import ModelError
from topoi.models.author_topic.attribution import PLAIN_BETA
from topoi.models.author_topic.priors import first_alpha, first_beta
from topoi.models.inputs import WeightedAuthors
from topoi.models.simulation import (
    N_WORDS,
    SimulatedCorpus,
    categorical,
    dirichlet_rows,
    document_lengths,
    draw_corpus,
    draw_topics,
    invented_words,
    topic_shares,
)
from topoi.models.validation import positive_vector, whole_number

if TYPE_CHECKING:
    from topoi.models.author_topic.author_model import AuthorModel
    from topoi.models.author_topic.base import TopicModel


class Truth(NamedTuple):
    """Parameters that a simulated corpus was drawn from, and every token's topic and author (position in the list)."""

    topic_word: NDArray[np.float64]
    author_topic: NDArray[np.float64]
    doc_topic: NDArray[np.float64]
    topic: NDArray[np.int64]
    slot: NDArray[np.int64]


def simulate_corpus(
    model: TopicModel, n_docs: int, doc_length: float, authors: Sequence[Sequence[str]] | int | None, seed: int
) -> SimulatedCorpus:
    """Draw a corpus with the model's settings; topics and authors' mixtures are the fitted ones if there are any."""
    rng = np.random.default_rng(seed)
    whole_number("n_docs", n_docs)
    if authors is not None and not hasattr(model, "no_authors"):
        raise ModelError(f"{type(model).__name__} has no authors to simulate; leave out authors=")
    names, doc_author, start = _authors(authors, n_docs, rng)
    if hasattr(model, "n_iter_"):
        posterior = model.chains_[0]
        topic_word, alpha, words = posterior.topic_word, posterior.alpha, list(model.vocabulary_.words)
    else:
        n_topics = whole_number("n_topics", model.n_topics)
        alpha = positive_vector("alpha", first_alpha(model.alpha, n_topics), n_topics, "n_topics")
        topic_word, words = draw_topics(rng, first_beta(model.beta), n_topics)
    if hasattr(model, "n_iter_") and len(names) and len(model.authors_):
        known = {name: a for a, name in enumerate(model.authors_)}
        unknown = [name for name in names if name not in known]
        if unknown:
            raise ModelError(f"the fitted model has no author {unknown[0]!r}")
        author_topic = model.chains_[0].author_topic[[known[name] for name in names]]
    else:
        author_topic = dirichlet_rows(rng, alpha, len(names))
    lists = WeightedAuthors.from_csr(doc_author, start, len(names), *_private_authors(model))
    return _draw(rng, lists, author_topic, topic_word, alpha, doc_length, words, names, (doc_author, start))


def _private_authors(model: TopicModel) -> tuple[bool, float | None]:
    """Whether documents with authors have a private one too, and its weight: as fitted, or as set."""
    if hasattr(model, "n_iter_"):
        return model._sampler.lists.fictitious, model._sampler.lists.fictitious_weight
    fictitious = bool(getattr(model, "fictitious_authors", False))
    return fictitious, getattr(model, "fictitious_weight", None) if fictitious else None


def _authors(
    authors: Sequence[Sequence[str]] | int | None, n_docs: int, rng: np.random.Generator
) -> tuple[list[str], NDArray[Any], NDArray[Any]]:
    """Author names, and each document's authors in CSR form."""
    if authors is None:
        return [], np.zeros(0, np.int32), np.zeros(n_docs + 1, np.int64)
    if isinstance(authors, int | numbers.Integral):
        n = whole_number("authors", authors)
        rows = [rng.choice(n, min(n, int(rng.integers(1, 4))), replace=False).tolist() for _ in range(n_docs)]
        names = [f"author {a}" for a in range(n)]
    else:
        if len(authors) != n_docs:
            raise ModelError(f"authors has {len(authors)} entries for {n_docs} documents")
        authors = [[row] if isinstance(row, str) else list(row or ()) for row in authors]
        names = list(dict.fromkeys(name for row in authors for name in row))
        number = {name: a for a, name in enumerate(names)}
        rows = [list(dict.fromkeys(number[name] for name in row)) for row in authors]
    start = np.concatenate(([0], np.cumsum([len(row) for row in rows]))).astype(np.int64)
    return names, np.array([a for row in rows for a in row], np.int32), start


def _draw(
    rng: np.random.Generator,
    lists: WeightedAuthors,
    author_topic: NDArray[np.float64],
    topic_word: NDArray[np.float64],
    alpha: NDArray[np.float64],
    doc_length: float,
    words: list[str],
    names: list[str],
    csr: tuple[NDArray[Any], NDArray[Any]],
) -> SimulatedCorpus:
    n_docs = len(lists.start) - 1
    lengths = document_lengths(rng, doc_length, n_docs)
    doc_start = np.concatenate(([0], np.cumsum(lengths))).astype(np.int64)
    topic = np.zeros(doc_start[-1], np.int64)
    slot = np.zeros(doc_start[-1], np.int64)
    for d in range(n_docs):
        here = slice(doc_start[d], doc_start[d + 1])
        mine = slice(lists.start[d], lists.start[d + 1])
        own = lists.n_shared
        rows = np.array([dirichlet_rows(rng, alpha, 1)[0] if a == own else author_topic[a] for a in lists.author[mine]])
        weight = lists.weight[mine].astype(np.float64)
        slot[here] = rng.choice(len(rows), lengths[d], p=weight / weight.sum())
        topic[here] = categorical(rng, np.cumsum(rows, axis=1), slot[here])
    people = {"doc_author": csr[0], "doc_author_start": csr[1], "authors": names}
    corpus = draw_corpus(rng, lengths, topic, topic_word, words, **people)
    corpus.truth = Truth(topic_word, author_topic, topic_shares(lengths, topic, len(alpha)), topic, slot)
    return corpus


def simulate_author_words(
    model: AuthorModel, n_docs: int, doc_length: float, authors: Sequence[Sequence[str]] | int | None, seed: int
) -> SimulatedCorpus:
    """Draw a corpus in which each author has one distribution over words, as in the author model.

    ``truth.topic_word`` holds the authors' distributions, one "topic" per row of ``truth.author_topic``: the known
    authors, then one for each document without any.
    """
    rng = np.random.default_rng(seed)
    names, doc_author, start = _authors(authors, whole_number("n_docs", n_docs), rng)
    fitted = hasattr(model, "n_iter_")
    words = list(model.vocabulary_.words) if fitted else None
    given: Any = model.beta_ if fitted else PLAIN_BETA if isinstance(model.beta, str) else model.beta
    n_words = len(words) if words else N_WORDS if np.ndim(given) == 0 else len(given)
    beta = positive_vector("beta", given, n_words, "the number of words")
    lengths = np.diff(start)
    own = np.cumsum(lengths == 0) - 1 + len(names)
    n_rows = len(names) + int((lengths == 0).sum())
    author_word = dirichlet_rows(rng, beta, n_rows)
    for a, name in enumerate(names if fitted else ()):
        author_word[a] = model.author_word(name)
    doc_lengths = document_lengths(rng, doc_length, n_docs)
    doc = np.repeat(np.arange(n_docs), doc_lengths)
    slot = (rng.random(len(doc)) * lengths[doc]).astype(np.int64)
    row = own[doc]
    known = lengths[doc] > 0
    row[known] = doc_author[start[doc[known]] + slot[known]]
    people = {"doc_author": doc_author, "doc_author_start": start, "authors": names}
    corpus = draw_corpus(rng, doc_lengths, row, author_word, words or invented_words(n_words), **people)
    corpus.truth = Truth(author_word, np.eye(n_rows), topic_shares(doc_lengths, row, n_rows), row, slot)
    return corpus
