"""A small corpus with everything that can go wrong in it, and models fitted to it once."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

import topoi

SKY = ["sun", "star", "moon", "orbit", "comet", "light"]
LIFE = ["cell", "gene", "protein", "enzyme", "tissue", "light"]
SEA = ["ship", "sail", "anchor", "tide", "harbor", "light"]
SUBJECTS = {"Ann": SKY, "Bob": SKY, "Cat": LIFE, "Dan": LIFE, "Eve": SEA, "Fay": SEA, "Gus": SEA}
LISTS = [["Ann"], ["Bob", "Ann"], ["Cat"], ["Dan"], ["Eve"], ["Fay", "Dan"], ["Gus"], []]


@pytest.fixture(scope="package")
def corpus() -> topoi.Corpus:
    """Forty-eight documents on three subjects; two are empty, six have no author."""
    rng = np.random.default_rng(0)
    rows, authors = [], []
    for d in range(48):
        names = LISTS[d % len(LISTS)]
        pool = [word for name in names for word in SUBJECTS[name]] or SKY + SEA
        rows.append(rng.choice(pool, 6 + d % 7).tolist())
        authors.append(names)
    rows[16], rows[21] = [], []
    return topoi.Corpus.from_tokens(
        rows,
        authors=authors,
        ids=[f"p{d}" for d in range(48)],
        titles=[None if d == 3 else f"Paper {d}" for d in range(48)],
        dates=[None if d == 4 else 1990 + d // 6 for d in range(48)],
    )


def fitted(model, corpus):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # documents without authors
        return model.fit(corpus)


@pytest.fixture(scope="package")
def model(corpus):
    return fitted(topoi.AuthorTopicModel(3, alpha=0.2, n_iter=40, n_chains=3, random_state=0), corpus)


@pytest.fixture(scope="package")
def lda(corpus):
    return topoi.LDA(4, alpha=0.2, n_iter=40, n_chains=2, random_state=1).fit(corpus)


@pytest.fixture(scope="package")
def author_model(corpus):
    return fitted(topoi.AuthorModel(n_iter=20, n_chains=2, random_state=0), corpus)
