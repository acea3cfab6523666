"""Who could review a submission: authors who know its subject and are not too close to its own authors."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from topoi.analysis.authors import enough_words
from topoi.analysis.authorship import author_log_likelihoods
from topoi.analysis.given import Words, need_authors, need_topics, with_rank, words_of
from topoi.analysis.probabilities import author_mixtures, word_columns
from topoi.corpus.corpus import Corpus
from topoi.corpus.ragged import row_positions
from topoi.corpus.vocabulary import close_matches
from topoi.errors import ModelError
from topoi.models.notices import warn_user
from topoi.models.validation import whole_number

_TOPICS_SHOWN = 3
# A topic that explains less of the text than this is no reason to ask somebody.
_LEAST_SHARE = 0.05


class Conflicts(NamedTuple):
    """Folded names of who must not review: the submission's authors, their co-authors; and names nobody has."""

    own: set[str]
    coauthors: set[str]
    unknown: list[str]


def recommend_reviewers(
    model: Any,
    text: str,
    n: int = 10,
    exclude: Sequence[str] | str = (),
    corpus: Corpus | None = None,
    min_words: int | None = None,
) -> pd.DataFrame:
    """The authors whose mixtures of topics explain a text best, without its own authors and their co-authors.

    Parameters
    ----------
    model : AuthorTopicModel
        A fitted model; chains are averaged.
    text : str
        The submission, or its abstract; words the model does not know are left out.
    n : int
        How many reviewers.
    exclude : list of str
        The submission's authors. They and everybody who shares a document with one of them are left out; letter case
        does not matter. A name that nobody has, such as a newcomer's, is only warned of.
    corpus : Corpus, optional
        Where documents are counted and co-authors looked for, say those of recent years; the training corpus if not
        given.
    min_words : int, optional
        Leave out authors with fewer words. If not given, those whose words weigh less than the prior (the sum of
        alpha): too little is known of them.

    Returns
    -------
    DataFrame
        author, rank, score (mean log probability of the text's words under the author's mixture; the nearer to zero the
        better), n_documents, topics: a list of at most three topics by which the author's mixture explains the text.
        ``frame.attrs`` says who was left out: ``n_excluded``, ``n_coauthors``, ``n_too_few_words``, and the
        ``unknown`` names of ``exclude``.

    Examples
    --------
    >>> import topoi
    >>> rows = [["sun", "star"], ["star", "sun"], ["cell", "gene"], ["sun", "moon"]] * 10
    >>> corpus = topoi.Corpus.from_tokens(rows, authors=["Ann", "Bob", "Eve", ["Ann", "Kim"]] * 10)
    >>> model = topoi.AuthorTopicModel(2, alpha=0.1, n_iter=50, random_state=0).fit(corpus)
    >>> topoi.recommend_reviewers(model, "The sun, a star", exclude=["Ann"])["author"].tolist()
    ['Bob', 'Eve']
    """
    need_topics(model, "reviewers are those whose mixture of topics explains the text", "an AuthorTopicModel")
    need_authors(model)
    n = whole_number("n", n)
    words = words_of(model, text)
    if corpus is not None and not isinstance(corpus, Corpus):
        raise ModelError(f"corpus is {type(corpus).__name__}; pass a topoi.Corpus")
    corpus = model.corpus_ if corpus is None else corpus
    conflicts = find_conflicts(model, corpus, exclude)
    folded = np.array([name.casefold() for name in model.authors_], object)
    is_own = np.array([name in conflicts.own for name in folded], bool)
    is_near = np.array([name in conflicts.coauthors for name in folded], bool)
    known = np.zeros(len(folded), bool)
    known[enough_words(model, min_words)] = True
    score = author_log_likelihoods(model, words.word, words.times) / words.n_known
    eligible = np.flatnonzero(known & ~is_own & ~is_near)
    best = eligible[np.argsort(-score[eligible], kind="stable")[:n]]
    columns = {
        "author": model.authors_[best],
        "score": score[best],
        "n_documents": _document_counts(corpus, model.authors_[best]),
        "topics": pd.Series(_explaining_topics(model.chains_[0], best, words), dtype=object),
    }
    frame = with_rank(pd.DataFrame(columns), 1)
    frame.attrs.update(
        n_excluded=int(is_own.sum()),
        n_coauthors=int(is_near.sum()),
        n_too_few_words=int((~known & ~is_own & ~is_near).sum()),
        unknown=conflicts.unknown,
        n_known=words.n_known,
        n_unknown=words.n_unknown,
    )
    return frame


def find_conflicts(model: Any, corpus: Corpus, exclude: Sequence[str] | str) -> Conflicts:
    """The submission's authors, and whoever shares a document of the corpus with one of them."""
    given = [exclude] if isinstance(exclude, str) else list(exclude) if isinstance(exclude, Iterable) else [None]
    if not all(isinstance(name, str) for name in given):
        raise ModelError(f"exclude is {exclude!r}; pass a list of names")
    own = {name.strip().casefold() for name in given}
    names = {name.casefold() for authors in (corpus.authors, model.authors_) for name in authors}
    unknown = [name for name in given if name.strip().casefold() not in names]
    if unknown:
        near = close_matches(unknown[0], model.authors_)
        listed = ", ".join(map(repr, unknown))
        warn_user(f"not known as an author, so nobody is left out as a co-author: {listed}{near}")
    return Conflicts(own, _coauthors(corpus, own) - own, unknown)


def _coauthors(corpus: Corpus, own: set[str]) -> set[str]:
    """Folded names of all authors of the documents that one of ``own`` has a part in."""
    is_own = np.array([name.casefold() in own for name in corpus.authors], bool)
    if not is_own.any():
        return set()
    entries = np.flatnonzero(is_own[corpus.doc_author])
    documents = np.unique(np.searchsorted(corpus.doc_author_start, entries, side="right") - 1)
    at, _ = row_positions(corpus.doc_author_start, documents)
    return {name.casefold() for name in corpus.authors[np.unique(corpus.doc_author[at])]}


def _document_counts(corpus: Corpus, names: NDArray[Any]) -> NDArray[np.int64]:
    """How many documents of the corpus each author has."""
    row = {name: a for a, name in enumerate(corpus.authors)}
    counts = np.bincount(corpus.doc_author, minlength=len(row) + 1)
    return counts[[row.get(name, len(row)) for name in names]].astype(np.int64)


def _explaining_topics(chain: Any, authors: NDArray[np.int64], words: Words) -> list[list[int]]:
    """For each author the topics to which most of the text would go, had the author written it."""
    phi = word_columns(chain, words.word)
    found = []
    for theta in author_mixtures(chain, authors):
        share = theta * (phi @ (words.times / (theta @ phi))) / words.n_known
        order = np.argsort(-share, kind="stable")[:_TOPICS_SHOWN]
        found.append([int(k) for k in order if share[k] >= _LEAST_SHARE])
    return found
