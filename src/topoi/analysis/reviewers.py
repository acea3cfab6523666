"""Recommendation of reviewers: authors who know a submission's subject and are not its authors' co-authors."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from topoi.analysis.authors import enough_words
from topoi.analysis.given import Words, need_authors, need_topics, with_rank, words_of
from topoi.corpus.corpus import Corpus
from topoi.errors import ModelError, NotFoundError
from topoi.models.catalogue import Catalogue, CorpusCatalogue
from topoi.models.notices import warn_user
from topoi.models.validation import whole_number
from topoi.retrieval.expertise import bag_evidence, evidence_scores
from topoi.retrieval.ranking import Evidence

_TOPICS_SHOWN = 3
# Smallest share of the text that a topic must explain to be listed as a reason.
_LEAST_SHARE = 0.05
_USUAL_LEAST, _ENOUGH_AUTHORS = 3, 100


class Conflicts(NamedTuple):
    """Conflicts of interest: numbers of the submission's authors and of their co-authors, and unknown names."""

    own: NDArray[np.int64]
    coauthors: NDArray[np.int64]
    unknown: list[str]


def recommend_reviewers(
    model: Any,
    text: str,
    n: int = 10,
    exclude: Sequence[str] | str = (),
    corpus: Corpus | None = None,
    min_words: int | None = None,
    min_documents: int = 1,
    since: int | None = None,
    n_papers: int = 3,
    among: NDArray[np.bool_] | None = None,
) -> pd.DataFrame:
    """The authors whose words and topics explain a text best, without its own authors and their co-authors.

    Parameters
    ----------
    model : AuthorTopicModel or ModelView
        A fitted model; chains are averaged.
    text : str
        The submission, or its abstract; words the model does not know are left out.
    n : int
        Number of reviewers.
    exclude : list of str
        The submission's authors. They and all their co-authors are left out; letter case does not matter. An unknown
        name, such as a newcomer's, only causes a warning.
    corpus : Corpus, optional
        The documents in which authors' documents are counted and co-authors found, say those of recent years; the
        training corpus if not given.
    min_words : int, optional
        Leave out authors with fewer words; by default, with fewer than the prior's weight (the sum of alpha): too
        little is known of them.
    min_documents : int
        Leave out authors of fewer documents. Somebody with a single one is known by its words alone, so that authors of
        one document like the text come before those who know the subject; 3 is a good choice for large collections.
    since : int, optional
        Leave out authors without a document of this year or a later one.
    n_papers : int
        Number of documents listed for each reviewer.
    among : array of bool, optional
        Leave out authors for whom this is false.

    Returns
    -------
    DataFrame
        author, rank, score (mean over the text's words of log(P(word | author) / P(word)), so that 0 means "no more
        likely than by anybody" and scores of different texts are comparable; P(word | author) is the mixture of
        ``topoi.Search``, of all that the author wrote and of the author's topics), n_documents, topics: a list of at
        most three topics by which the author's mixture explains the text; fit: the score from 0 to 100, see
        ``fit_of``; last_year (missing without years); papers: a list of numbers of the author's documents that resemble
        the text most, by the same score.
        ``frame.attrs`` counts authors left out (``n_excluded``, ``n_coauthors``, ``n_too_few_words``, and ``n_others``
        by the number or the years of their documents, or by ``among``) and words of the text (``n_known``,
        ``n_unknown``), and lists the ``unknown`` names of ``exclude``.

    Examples
    --------
    >>> import topoi
    >>> rows = [["sun", "star"], ["star", "sun"], ["cell", "gene"], ["sun", "moon"]] * 10
    >>> corpus = topoi.Corpus.from_tokens(rows, authors=["Ann", "Bob", "Eve", ["Ann", "Kim"]] * 10)
    >>> model = topoi.AuthorTopicModel(2, alpha=0.1, n_iter=50, random_state=0).fit(corpus)
    >>> topoi.recommend_reviewers(model, "The sun, a star", exclude=["Ann"])["author"].tolist()
    ['Bob', 'Eve']
    """
    need_topics(model, "reviewers are those whose mixture of topics explains the text", "authors")
    need_authors(model)
    n = whole_number("n", n)
    words = words_of(model, text)
    if corpus is not None and not isinstance(corpus, Corpus):
        raise ModelError(f"corpus is {type(corpus).__name__}; pass a topoi.Corpus")
    counted = model.catalogue_ if corpus is None else CorpusCatalogue(corpus)
    conflicts = find_conflicts(model, counted, exclude)
    rows, left_out = _eligible(model, conflicts, min_words, min_documents, since, among)
    evidence = bag_evidence(model, words.word, words.times)
    score = evidence_scores(evidence, authors=True)
    best = rows[np.argsort(-score[rows], kind="stable")[:n]]
    names = model.authors_[best]
    columns = {
        "author": names,
        "score": score[best],
        "n_documents": model.catalogue_.n_documents(best) if corpus is None else _document_counts(counted, names),
        "topics": pd.Series(_explaining_topics(model.chains_[0], best, words), dtype=object),
        "fit": [fit_of(value) for value in score[best]],
        "last_year": pd.array(model.catalogue_.last_years(best), dtype="Int64"),
        "papers": pd.Series(_papers(model, best, evidence, n_papers), dtype=object),
    }
    frame = with_rank(pd.DataFrame(columns), 1, best)
    frame.attrs.update(left_out, unknown=conflicts.unknown, n_known=words.n_known, n_unknown=words.n_unknown)
    return frame


def fit_of(score: float) -> int:
    """A score from 0 to 100: 50 if the text's words are twice as likely by the author as by anybody, 75 if four times.

    Examples
    --------
    >>> import math
    >>> from topoi.analysis.reviewers import fit_of
    >>> fit_of(0.0), fit_of(math.log(2)), fit_of(math.log(4)), fit_of(-1.0)
    (0, 50, 75, 0)
    """
    return round(100 * (1 - float(np.exp(-max(score, 0.0)))))


def fit_words(fit: int) -> str:
    """A fit in words.

    Examples
    --------
    >>> from topoi.analysis.reviewers import fit_words
    >>> fit_words(80), fit_words(60), fit_words(30), fit_words(3)
    ('knows the subject very well', 'knows the subject well', 'knows a part of it', 'hardly knows it')
    """
    steps = ((75, "knows the subject very well"), (50, "knows the subject well"), (25, "knows a part of it"))
    return next((words for least, words in steps if fit >= least), "hardly knows it")


def usual_least(n_documents: NDArray[Any]) -> int:
    """Fewest documents to ask of reviewers: 3 where at least a hundred authors have so many, else 1.

    Examples
    --------
    >>> import numpy as np
    >>> from topoi.analysis.reviewers import usual_least
    >>> usual_least(np.full(200, 4)), usual_least(np.full(20, 4))
    (3, 1)
    """
    return _USUAL_LEAST if int((np.asarray(n_documents) >= _USUAL_LEAST).sum()) >= _ENOUGH_AUTHORS else 1


def _eligible(
    model: Any,
    conflicts: Conflicts,
    min_words: int | None,
    min_documents: int,
    since: int | None,
    among: NDArray[np.bool_] | None,
) -> tuple[NDArray[np.int64], dict[str, int]]:
    """Authors who may be reviewers, and how many were left out for each reason."""
    free = np.ones(len(model.authors_), bool)
    free[conflicts.own] = free[conflicts.coauthors] = False
    known = np.zeros(len(free), bool)
    known[enough_words(model, min_words)] = True
    known &= free
    rows = np.flatnonzero(known & _wanted(model, min_documents, since, among))
    return rows, {
        "n_excluded": len(conflicts.own),
        "n_coauthors": len(conflicts.coauthors),
        "n_too_few_words": int(free.sum() - known.sum()),
        "n_others": int(known.sum()) - len(rows),
    }


def _wanted(model: Any, min_documents: int, since: int | None, among: NDArray[np.bool_] | None) -> NDArray[np.bool_]:
    """Whether each author has enough documents, is still active, and is among those asked for."""
    n_authors = len(model.authors_)
    found = np.ones(n_authors, bool) if among is None else np.asarray(among, bool).copy()
    if found.shape != (n_authors,):
        raise ModelError(f"among has {found.size} values; one is needed for each of {n_authors} authors")
    if whole_number("min_documents", min_documents) > 1:
        found &= model.catalogue_.n_documents(np.arange(n_authors)) >= min_documents
    if since is not None:
        with np.errstate(invalid="ignore"):
            found &= model.catalogue_.last_years() >= since
    return found


def _papers(model: Any, authors: NDArray[np.int64], evidence: Evidence, n: int) -> list[list[int]]:
    """For each author, the documents that resemble the text most."""
    if not whole_number("n_papers", n, 0) or not len(authors):
        return [[] for _ in authors]
    score = evidence_scores(evidence, authors=False)
    owned = model.catalogue_.documents_of(authors)
    return [own[np.argsort(-score[own], kind="stable")[:n]].tolist() for own in owned]


def find_conflicts(model: Any, counted: Catalogue, exclude: Sequence[str] | str) -> Conflicts:
    """Find the submission's authors, and their co-authors in the catalogue ``counted``.

    ``counted`` may hold other documents than the model's; authors are matched by name.
    """
    given = [exclude] if isinstance(exclude, str) else list(exclude) if isinstance(exclude, Iterable) else [None]
    if not all(isinstance(name, str) for name in given):
        raise ModelError(f"exclude is {exclude!r}; pass a list of names")
    own = model.catalogue_.authors_named(given)
    is_same = counted is model.catalogue_
    there = own if is_same else counted.authors_named(given)
    near = counted.coauthors(there) if len(there) else there
    coauthors = near if is_same else model.catalogue_.authors_named(counted.author_names(near))
    names = [*model.catalogue_.author_names(own), *([] if is_same else counted.author_names(there))]
    known = {str(name).casefold() for name in names}
    unknown = [name for name in given if name.strip().casefold() not in known]
    if unknown:
        listed = ", ".join(map(repr, unknown))
        hint = _hint(model, unknown[0])
        warn_user(f"not known as an author, so nobody is left out as a co-author: {listed}{hint}")
    return Conflicts(own, np.setdiff1d(coauthors, own), unknown)


def _hint(model: Any, name: str) -> str:
    """Suggestion of similar names, to end a message with."""
    try:
        near = model.catalogue_.author_names([model.catalogue_.find_author(name)])[0]
    except NotFoundError as error:
        return str(error).partition(repr(name))[2].partition("; there are")[0]
    return f"; did you mean {near!r}?"


def _document_counts(counted: Catalogue, names: NDArray[Any]) -> NDArray[np.int64]:
    """Number of documents in the catalogue of each author, matched by the exact spelling."""
    found = counted.authors_named(names)
    number = dict(zip(counted.author_names(found), counted.n_documents(found).tolist(), strict=True))
    return np.array([number.get(name, 0) for name in names], np.int64)


def _explaining_topics(chain: Any, authors: NDArray[np.int64], words: Words) -> list[list[int]]:
    """For each author, the topics that would explain most of the text, had the author written it."""
    phi = chain.word_columns(words.word)
    found = []
    for theta in chain.written.shares(authors):
        share = theta * (phi @ (words.times / (theta @ phi))) / words.n_known
        order = np.argsort(-share, kind="stable")[:_TOPICS_SHOWN]
        found.append([int(k) for k in order if share[k] >= _LEAST_SHARE])
    return found
