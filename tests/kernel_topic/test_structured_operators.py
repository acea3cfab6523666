"""Products with the kernel are those of its matrix."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.gaussian_process.kernels import RBF

import topoi
from topoi.models.features.table import FeatureTable
from topoi.models.kernel_topic import structured_operators as structures
from topoi.models.kernel_topic.covariances import Proximity
from topoi.models.kernel_topic.kernel_forms import bind
from topoi.models.kernel_topic.operators import DenseOperator, pivoted_factor
from topoi.models.kernel_topic.structured_operators import Structure, StructuredOperator

N_DOCS = 120
RNG = np.random.default_rng(0)


def corpus(n_docs: int = N_DOCS) -> topoi.Corpus:
    rng = np.random.default_rng(1)
    people = [f"p{i}" for i in range(25)]
    authors = [rng.choice(people, rng.integers(0, 4), replace=False).tolist() for _ in range(n_docs)]
    metadata = {"venue": rng.choice(["A", "B", "C", None], n_docs).tolist(), "size": rng.normal(size=n_docs).tolist()}
    dates = rng.integers(1980, 2000, n_docs).tolist()
    return topoi.Corpus.from_tokens([["a"]] * n_docs, authors=authors, dates=dates, metadata=metadata)


CORPUS = corpus()


def made(features: list[str], kernel: Proximity) -> tuple[StructuredOperator, np.ndarray, FeatureTable]:
    table = FeatureTable.learn(CORPUS, features, sparse=True)
    bound = bind(kernel, table)
    found = Structure.of(bound, table)
    assert found is not None
    whole = FeatureTable.learn(CORPUS, features)
    return StructuredOperator(found, bound), bound(whole.coordinates), table


KERNELS = [
    (["year", "authors"], Proximity(length_scale=[4.0, 0.6], alpha=0.7)),
    (["authors", "year"], Proximity(length_scale=[0.8, 3.0], alpha=np.inf)),
    (["year", "venue", "authors"], Proximity(length_scale=[4.0, 0.9, 0.6])),
    (["year", "size"], Proximity(length_scale=[4.0, 1.3])),
    (["authors"], Proximity(length_scale=0.7)),
]


@pytest.mark.parametrize(("features", "kernel"), KERNELS)
def test_products_are_those_of_the_matrix(features, kernel) -> None:
    operator, matrix, _ = made(features, kernel)
    columns = RNG.normal(size=(N_DOCS, 3))
    assert operator.times(columns) == pytest.approx(matrix @ columns, abs=1e-9)
    docs = RNG.permutation(N_DOCS)[:20]
    assert operator.among(docs) == pytest.approx(matrix[np.ix_(docs, docs)], abs=1e-9)
    smooth = operator.factor[operator.value]
    assert (smooth**2).sum(axis=1) + operator.rest == pytest.approx(np.ones(N_DOCS), abs=1e-12)


@pytest.mark.parametrize(("features", "kernel"), KERNELS)
def test_new_documents_are_compared_as_by_the_matrix(features, kernel) -> None:
    operator, _, table = made(features, kernel)
    new = {"year": [1985, None, 2050], "authors": [["p1", "p2"], [], ["nobody", "p3"]], "venue": ["A", None, "Z"]}
    new["size"] = [0.1, 0.2, None]
    coordinates = table.encode(new)
    whole = FeatureTable.learn(CORPUS, features)
    matrix = operator._scaled.kernel(whole.encode(new), whole.coordinates)
    cross = operator.cross(coordinates)
    columns = RNG.normal(size=(N_DOCS, 3))
    assert cross.times(columns) == pytest.approx(matrix @ columns, abs=1e-9)
    docs = RNG.permutation(N_DOCS)[:30]
    for row in range(3):
        assert cross.between(row, docs) == pytest.approx(matrix[row, docs], abs=1e-9)


def test_a_category_of_few_values_needs_no_pairs(monkeypatch) -> None:
    monkeypatch.setattr(structures, "MOST_PAIRS", 4000)
    operator, matrix, _ = made(["year", "venue", "authors"], Proximity(length_scale=[4.0, 0.9, 0.6]))
    assert operator.structure.named == [False, False, True]
    assert operator.times(np.eye(N_DOCS)) == pytest.approx(matrix, abs=1e-9)


def test_what_has_no_structure_is_told() -> None:
    table = FeatureTable.learn(CORPUS, ["year", "authors"], sparse=True)
    assert Structure.of(bind(topoi.On("year", RBF()), table), table) is None
    dense = FeatureTable.learn(CORPUS, ["year", "authors"])
    assert Structure.of(bind(Proximity(), dense), dense) is None


def test_documents_without_names_are_alike_and_make_no_pairs() -> None:
    operator, _, _ = made(["year", "authors"], Proximity())
    nobody = [d for d, names in enumerate(CORPUS.author_lists()) if not names]
    assert len(nobody) > 10 and all(operator.related(d).tolist() == [d] for d in nobody)
    assert (operator.rest[nobody] < 1e-9).all()


def test_too_many_pairs_are_no_structure(monkeypatch) -> None:
    monkeypatch.setattr(structures, "MOST_PAIRS", 10)
    table = FeatureTable.learn(CORPUS, ["year", "authors"], sparse=True)
    assert Structure.of(bind(Proximity(), table), table) is None


def test_the_nearest_share_a_name_or_a_year() -> None:
    operator, matrix, table = made(["year", "authors"], Proximity(length_scale=[4.0, 0.6]))
    years, people = CORPUS.documents["year"].to_numpy(), CORPUS.author_lists()
    for doc in range(20):
        near = operator.nearest(doc, 16)
        assert near[0] == doc and len(set(near.tolist())) == 16
        sharing = [d for d in range(N_DOCS) if d != doc and set(people[d]) & set(people[doc])]
        best = sorted(sharing, key=lambda d: -matrix[doc, d])[:3]
        assert len(set(best) & set(near.tolist())) >= min(len(sharing), 2)
        assert set(operator.related(doc).tolist()) == {doc, *sharing}
        rest = [d for d in near if d != doc and d not in sharing]
        assert np.abs(years[rest] - years[doc]).max() <= (3 if people[doc] else 20)
        assert people[doc] or all(not people[d] for d in near[:8])
        cross = operator.cross(table.coordinates[doc : doc + 1])
        assert len(set(cross.nearest(0, 16).tolist())) == 16 and doc in cross.nearest(0, 16)


def test_a_factor_of_few_columns_leaves_no_more_than_it_says() -> None:
    x = np.sort(RNG.uniform(0, 10, 60))[:, None]
    matrix = RBF(2.0)(x)
    factor = pivoted_factor(np.diag(matrix), lambda pivot: matrix[:, pivot], 60)
    assert factor.shape[1] < 40 and factor @ factor.T == pytest.approx(matrix, abs=1e-8)
    few = pivoted_factor(np.diag(matrix), lambda pivot: matrix[:, pivot], 4)
    assert few.shape == (60, 4) and np.linalg.eigvalsh(matrix - few @ few.T).min() > -1e-10


def test_a_matrix_is_an_operator() -> None:
    x = RNG.uniform(0, 10, (50, 2))
    matrix = RBF(2.0)(x)
    operator = DenseOperator(matrix, lambda new, diagonal: (RBF(2.0)(new, x), np.ones(len(new))))
    columns = RNG.normal(size=(50, 3))
    assert operator.times(columns) == pytest.approx(matrix @ columns)
    assert (operator.rest >= 0).all() and operator.factor.shape == (50, 32)
    near = operator.nearest(7, 5)
    assert near[0] == 7 and set(near.tolist()) == set(np.argsort(-matrix[7])[:5].tolist())
    cross = operator.cross(x[:4])
    assert cross.times(columns) == pytest.approx(matrix[:4] @ columns)
    assert cross.nearest(2, 1).tolist() == [2] and cross.between(2, near) == pytest.approx(matrix[2, near])
