"""Priors that the caller leaves open: the papers' numbers, or rules that were chosen on many corpora.

The rules come from ``studies/prior_defaults.py``; ``docs/studies/prior-defaults.md`` shows what each costs and gains.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from topoi.corpus.corpus import Corpus
from topoi.errors import ModelError
from topoi.kernels.dirichlet import NO_PRIOR, GammaPrior
from topoi.models.validation import choice

PRIORS = ("auto", "paper")
# Sum of alpha, and beta, in Griffiths and Steyvers (2004) and Rosen-Zvi et al. (2004, 2009).
PAPER_SUM, PAPER_BETA = 50.0, 0.01
# Weight of the priors of concentrations beside the data: too little to matter but for the smallest corpora.
_LEAST_WORTH = 2.0
# Likeness up to which documents of one author count as alike: 1 but for chance; of real texts it is 2 and more.
ALIKE, _MOST_WORDS = 1.25, 1_000_000
# Prior probability of the private author. More makes topics more coherent, and costs what is known of named authors.
PRIVATE_WEIGHT = 0.2
# The same in the first sweeps: from a random start topics first become those of documents, then authors share them.
# After the last of these sweeps something is learned, which is when a cluster's workers get new priors.
FIRST_PRIVATE_WEIGHT, FIRST_SWEEPS = 0.9, 50
# A fit that ends within these goes on for so many sweeps in a copy, in which named authors get their words.
SETTLING_SWEEPS = 10
_RULES = {False: None, True: "asymmetric", "symmetric": "symmetric", "asymmetric": "asymmetric"}


class Learning(NamedTuple):
    """What is learned: alpha's shape ("symmetric", "asymmetric" or None), one beta, and their concentrations' priors.

    The fields are arguments of ``AuthorTopicSampler``.
    """

    learn_alpha: str | None = None
    learn_beta: bool = False
    alpha_prior: GammaPrior = NO_PRIOR
    beta_prior: GammaPrior = NO_PRIOR


def first_alpha(alpha: ArrayLike | None, n_topics: int) -> ArrayLike:
    """Alpha before anything is learned.

    Examples
    --------
    >>> from topoi.models.author_topic.priors import first_alpha
    >>> first_alpha(None, 100), first_alpha(0.1, 100)
    (0.5, 0.1)
    """
    return PAPER_SUM / n_topics if alpha is None else alpha


def first_beta(beta: ArrayLike | None) -> ArrayLike:
    """Beta before anything is learned.

    Examples
    --------
    >>> from topoi.models.author_topic.priors import first_beta
    >>> first_beta(None), first_beta(0.1)
    (0.01, 0.1)
    """
    return PAPER_BETA if beta is None else beta


def what_is_learned(
    prior: str,
    alpha: ArrayLike | None,
    beta: ArrayLike | None,
    learn_alpha: bool | str | None,
    learn_beta: bool | None,
    n_authors: int,
    n_words: int,
) -> Learning:
    """What a model with these settings learns; what is said by the caller is done as said.

    Alpha and beta that are given are kept, unless learning is asked for; that is then by maximum likelihood. Those that
    are left open are learned with a prior of their concentration, or with ``prior="paper"`` not at all.

    Examples
    --------
    >>> from topoi.models.author_topic.priors import what_is_learned
    >>> what_is_learned("auto", None, 0.1, None, None, 0, 1000)[:2]
    ('asymmetric', False)
    >>> what_is_learned("paper", None, None, None, None, 0, 1000)[:2]
    (None, False)
    """
    choice("prior", prior, PRIORS)
    learning = Learning()
    if learn_alpha is not None:
        learning = learning._replace(learn_alpha=_RULES[choice("learn_alpha", learn_alpha, tuple(_RULES))])
    if learn_beta is not None:
        learning = learning._replace(learn_beta=choice("learn_beta", learn_beta, (False, True)))
    if prior == "auto" and alpha is None and learn_alpha is None:
        learning = learning._replace(learn_alpha="asymmetric", alpha_prior=prior_of_alpha(n_authors))
    if prior == "auto" and beta is None and learn_beta is None:
        learning = learning._replace(learn_beta=True, beta_prior=_around(PAPER_BETA * n_words, _LEAST_WORTH))
    return learning


def without_alpha(learning: Learning, learn_alpha: bool | str | None) -> Learning:
    """What is learned where documents have labels: not alpha, an error if that was asked for.

    A document with labels tells nothing of the topics that it may not have, so its alpha is another one.
    """
    if learn_alpha:
        raise ModelError("learn_alpha cannot be combined with doc_labels: documents with labels do not have all topics")
    return learning._replace(learn_alpha=None, alpha_prior=NO_PRIOR)


def prior_of_alpha(n_authors: int) -> GammaPrior:
    """Prior of alpha's sum: its mode is the papers' 50, and it weighs as much as there are named authors.

    An author of one or two documents looks more concentrated than the next document will show: by maximum likelihood
    too little is expected of other topics. Private authors, as in LDA, have no next document.

    Examples
    --------
    >>> from topoi.models.author_topic.priors import prior_of_alpha
    >>> prior_of_alpha(0), prior_of_alpha(1000)
    (GammaPrior(shape=3.0, rate=0.04), GammaPrior(shape=1003.0, rate=20.04))
    """
    return _around(PAPER_SUM, _LEAST_WORTH + n_authors)


def _around(mode: float, worth: float) -> GammaPrior:
    """Gamma density with this mode; ``worth`` is its curvature there, in the logarithm."""
    return GammaPrior(1.0 + worth, worth / mode)


def private_authors(corpus: Corpus) -> tuple[bool, float | None]:
    """Whether documents get a private author beside their named ones, and its prior probability.

    They do unless documents of one author are all alike (see ``likeness``), as the author-topic model has it. Real
    documents are not: each has subjects of its own, and without a private author topics have to be mixtures of them.

    Examples
    --------
    >>> import topoi
    >>> from topoi.models.author_topic.priors import private_authors
    >>> alike = [["sun", "star"] * 20] * 10
    >>> private_authors(topoi.Corpus.from_tokens(alike, authors=["Ann"] * 10))
    (False, None)
    >>> different = [["sun", "star"] * 20, ["cell", "gene"] * 20] * 5
    >>> private_authors(topoi.Corpus.from_tokens(different, authors=["Ann"] * 10))
    (True, 0.2)
    """
    if not corpus.n_authors or likeness(corpus) <= ALIKE:
        return False, None
    return True, PRIVATE_WEIGHT


def likeness(corpus: Corpus) -> float:
    """How many times as often two words of a document are the same as two words of different documents of its author.

    Of documents that have one author: there the author-topic model expects 1. NaN if no author has two of them. At most
    about a million words are looked at, those of evenly spaced documents.
    """
    alone = np.flatnonzero(np.diff(corpus.doc_author_start) == 1)
    part = corpus.subset(alone[:: 1 + int(corpus.doc_lengths[alone].sum()) // _MOST_WORDS])
    doc = np.repeat(np.arange(part.n_docs), part.doc_lengths)
    same_doc, all_doc = _pairs(doc, part)
    same_author, all_author = _pairs(np.asarray(part.doc_author, np.int64)[doc], part)
    # A word is no pair with itself.
    within, across = all_doc - part.n_tokens, all_author - all_doc
    if within <= 0 or across <= 0 or same_author <= same_doc:
        return float("nan") if across <= 0 or within <= 0 else float("inf")
    return ((same_doc - part.n_tokens) / within) / ((same_author - same_doc) / across)


def _pairs(row: NDArray[np.int64], corpus: Corpus) -> tuple[int, int]:
    """Ordered pairs of tokens in the same row that are the same word, and all such pairs."""
    _, times = np.unique(row * np.int64(corpus.n_words) + corpus.tokens, return_counts=True)
    return int((times.astype(np.int64) ** 2).sum()), int((np.bincount(row).astype(np.int64) ** 2).sum())
