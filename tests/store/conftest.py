"""Small corpora and models that the tests of the store share."""

import pytest

import topoi
from store.samples import small_corpus


@pytest.fixture(scope="session")
def corpus():
    return small_corpus()


@pytest.fixture(scope="session")
def models(corpus):
    """One fitted model of each family."""
    options = {"n_iter": 12, "random_state": 3}
    return {
        "at": topoi.AuthorTopicModel(3, n_chains=2, **options).fit(corpus),
        "lda": topoi.LDA(2, alpha=[0.1, 0.2], **options).fit(corpus),
        "am": topoi.AuthorModel(**options).fit(corpus),
    }


@pytest.fixture
def path(models, tmp_path):
    """A store with a model of each family."""
    for name, model in models.items():
        model.save(tmp_path / "s.topoi", name=name)
    return tmp_path / "s.topoi"
