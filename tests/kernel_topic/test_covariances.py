"""Kernels over named features."""

from __future__ import annotations

import json

import numpy as np
import pytest
from sklearn.gaussian_process.kernels import RBF, ConstantKernel, Matern, RationalQuadratic, WhiteKernel

import topoi
from topoi.errors import ModelError
from topoi.models.features.table import FeatureTable
from topoi.models.kernel_topic.evidence import Shape
from topoi.models.kernel_topic.kernel_forms import as_kernel, bind, from_plain, to_plain

RNG = np.random.default_rng(0)
N_DOCS = 12
YEARS = RNG.integers(1900, 2000, N_DOCS)
NAMES = RNG.choice(["Ann", "Bob", "Cy"], N_DOCS)
CORPUS = topoi.Corpus.from_tokens(
    [["a"]] * N_DOCS,
    authors=NAMES.tolist(),
    dates=YEARS.tolist(),
    ids=[f"d{i}" for i in range(N_DOCS)],
    metadata={"links": [[f"d{(i * 5) % N_DOCS}"] for i in range(N_DOCS)], "size": RNG.normal(size=N_DOCS)},
)
TABLE = FeatureTable.learn(CORPUS, ["year", "authors", "size", "links"])


def bound(kernel):
    return bind(as_kernel(kernel), TABLE)


def test_proximity_is_the_papers_kernel_made_positive_definite() -> None:
    kernel = bound(topoi.Proximity(["year", "authors"], [5.0, 2.0], alpha=0.7))
    q = ((YEARS[:, None] - YEARS) / 5.0) ** 2 + (NAMES[:, None] != NAMES) / 4.0
    found = kernel(TABLE.coordinates)
    assert found == pytest.approx((1 + q / 1.4) ** -0.7)
    assert np.linalg.eigvalsh(found).min() > -1e-10
    assert kernel.diag(TABLE.coordinates) == pytest.approx(np.diag(found))


def test_proximity_of_one_number_is_scikit_learns() -> None:
    x = TABLE.coordinates[:, TABLE.block("year")]
    ours = bound(topoi.Proximity("year", 7.0, alpha=0.4))(TABLE.coordinates)
    assert ours == pytest.approx(RationalQuadratic(7.0, 0.4)(x))
    ours = bound(topoi.Proximity("year", 7.0, alpha=np.inf))(TABLE.coordinates)
    assert ours == pytest.approx(RBF(7.0)(x))


def test_links_with_an_infinite_alpha_are_equation_20() -> None:
    steps = TABLE.coordinates[:, TABLE.block("links")]
    squares = ((steps[:, None] - steps) ** 2).sum(axis=-1)
    found = bound(topoi.Proximity("links", 3.0, alpha=np.inf))(TABLE.coordinates)
    assert found == pytest.approx(np.exp(-0.5 * squares / 9.0))


@pytest.mark.parametrize(
    "kernel",
    [
        None,
        topoi.Proximity(alpha=np.inf),
        topoi.Proximity("authors", alpha_bounds="fixed"),
        topoi.On("year", RBF(9.0)) + topoi.On(["authors", "size"], Matern([1.0] * 6, nu=1.5)),
        ConstantKernel(2.0) * topoi.On("year", RBF(9.0)) + WhiteKernel(0.1),
        topoi.On("size", RBF(0.5)) ** 2,
    ],
)
def test_gradients_are_differences(kernel) -> None:
    start = Shape(bound(kernel), TABLE.coordinates)
    value, gradient = start.with_gradient()
    assert value == pytest.approx(start.matrix())
    assert gradient.shape[-1] == len(start.theta) == len(start.bounds)
    for t in range(len(start.theta)):
        step = 1e-5 * np.eye(len(start.theta))[t]
        slope = (start.at(start.theta + step).matrix() - start.at(start.theta - step).matrix()) / 2e-5
        assert gradient[..., t] == pytest.approx(slope, abs=1e-6)


@pytest.mark.parametrize(
    "kernel",
    [
        topoi.Proximity(alpha=np.inf),
        topoi.Proximity(["year"], 3.0, length_scale_bounds="fixed"),
        2.0 * topoi.On("year", RBF(9.0, (1.0, 50.0))) + topoi.On(["authors"], Matern(2.0, nu=np.inf)) * RBF(3.0),
        topoi.On("size", RBF([0.5])) ** 2,
    ],
)
def test_kernels_survive_json(kernel) -> None:
    before = bound(kernel)
    after = from_plain(json.loads(json.dumps(to_plain(before))))
    assert (after(TABLE.coordinates) == before(TABLE.coordinates)).all()
    assert (after.theta == before.theta).all() and np.array_equal(after.bounds, before.bounds)


def test_binding_leaves_the_users_kernel_alone() -> None:
    mine = topoi.Proximity("year")
    bind(as_kernel(mine), TABLE)
    assert mine.blocks is None and mine.length_scale is None


def test_cross_covariances_are_those_of_new_rows() -> None:
    shape = Shape(bound(None), TABLE.coordinates)
    cross, diagonal = shape.cross(TABLE.coordinates[:3])
    assert cross == pytest.approx(shape.matrix()[:3]) and diagonal == pytest.approx(np.ones(3))


def test_a_function_is_a_kernel() -> None:
    shape = Shape(bound(lambda a, b: np.exp(-abs(a[:, :1] - b[:, :1].T) / 10)), TABLE.coordinates)
    matrix, gradient = shape.with_gradient()
    assert matrix[0, 1] == pytest.approx(np.exp(-abs(YEARS[0] - YEARS[1]) / 10)) and gradient.shape[-1] == 0
    assert shape.cross(TABLE.coordinates[:2])[1] == pytest.approx(np.ones(2))


@pytest.mark.parametrize(
    ("kernel", "message"),
    [
        (3, "pass a kernel"),
        ("rbf", "pass a kernel"),
        (RBF, "pass a kernel: RBF"),
        (topoi.Proximity("colour"), "no feature 'colour'; the features are 'year'"),
        (topoi.On("colour", RBF()), "no feature"),
        (topoi.Proximity("year", [1.0, 2.0]), "pass 1 positive"),
        (topoi.Proximity(["year", "size"], [1.0, -2.0]), "pass 2 positive"),
        (topoi.Proximity("year", "long"), "length_scale"),
        ({"kernel": "os.system", "settings": {}}, "no kernel 'os.system'"),
    ],
)
def test_bad_kernels_are_refused(kernel, message: str) -> None:
    with pytest.raises(ModelError, match=message):
        bound(kernel)


def test_what_is_not_data_is_not_saved() -> None:
    class Mine(RBF):
        pass

    for kernel in (as_kernel(lambda a, b: a @ b.T), lambda a, b: a @ b.T, Mine()):
        with pytest.raises(ModelError, match="cannot be saved"):
            to_plain(kernel)


def test_a_kernel_without_a_model_says_so() -> None:
    for kernel in (topoi.Proximity("year", 1.0), topoi.On("year", RBF())):
        with pytest.raises(ModelError, match="KernelTopicModel"):
            kernel(np.zeros((2, 1)))


def test_a_function_of_the_wrong_shape_is_refused() -> None:
    with pytest.raises(ModelError, match="shape"):
        Shape(bound(lambda a, b: np.ones(3)), TABLE.coordinates).matrix()
    with pytest.raises(ModelError, match="finite"):
        Shape(bound(lambda a, b: np.full((len(a), len(b)), np.nan)), TABLE.coordinates).matrix()
