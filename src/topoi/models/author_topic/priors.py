"""Priors that the caller leaves open: the papers' numbers, or rules that were chosen on many corpora.

The rules come from ``studies/prior_defaults.py``; ``docs/studies/prior-defaults.md`` shows what each costs and gains.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from topoi.corpus.corpus import Corpus
from topoi.kernels.dirichlet import NO_PRIOR, GammaPrior
from topoi.models.validation import choice

PRIORS = ("auto", "paper")
# Sum of alpha, and beta, in Griffiths and Steyvers (2004) and Rosen-Zvi et al. (2004, 2009).
PAPER_SUM, PAPER_BETA = 50.0, 0.01
# Weight of the priors of concentrations beside the data: too little to matter but for the smallest corpora.
_LEAST_WORTH = 2.0
# Words of the average author from which on documents get private authors: ten times the papers' sum of alpha.
MANY_WORDS = 10 * PAPER_SUM
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

    They do where named authors have many words each: few authors, or long documents. The mixture of such an author is
    an average over many documents, and leaves no room for what a single one is about. Authors of few words take on
    what their documents are about by themselves.

    Examples
    --------
    >>> import topoi
    >>> from topoi.models.author_topic.priors import private_authors
    >>> private_authors(topoi.Corpus.from_tokens([["a"], ["b"]], authors=["Ann", "Bob"]))
    (False, None)
    >>> private_authors(topoi.Corpus.from_tokens([["a", "b"] * 30] * 20, authors=["Ann", "Bob"] * 10))
    (True, None)
    """
    n_named = int((corpus.doc_lengths * (np.diff(corpus.doc_author_start) > 0)).sum())
    return n_named >= MANY_WORDS * max(corpus.n_authors, 1), None
