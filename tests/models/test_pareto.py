"""The shape of weights' tails: planted shapes are found, and what has no shape says so."""

import numpy as np
import pytest

from topoi.models.scores import largest_shape, pareto_shapes, tail_length


def tails(logs):
    return np.sort(logs, axis=1)[:, -tail_length(logs.shape[1]) - 1 :]


@pytest.mark.parametrize("shape", [0.5, 0.9, 1.5])
def test_planted_shapes_are_found(shape):
    """Powers of uniform numbers have a Pareto tail of this shape; whatever their unit."""
    uniform = np.random.default_rng(0).random((60, 4000))
    logs = -shape * np.log(uniform)
    found = pareto_shapes(tails(logs))
    assert abs(found.mean() - shape) < 0.06 and found.std() < 0.2
    np.testing.assert_allclose(pareto_shapes(tails(logs - 5000.0)), found, atol=1e-6)


def test_bounded_weights_have_a_negative_shape():
    uniform = np.random.default_rng(1).random((20, 4000))
    assert pareto_shapes(tails(np.log(uniform))).max() == -np.inf
    assert pareto_shapes(tails(-20.0 * uniform)).max() < 0.5


def test_alike_few_or_impossible_weights():
    alike, one = np.zeros((1, 1000)), np.full((1, 1000), -800.0)
    one[0, 0] = 0.0
    assert pareto_shapes(tails(alike))[0] == -np.inf and pareto_shapes(tails(one))[0] == np.inf
    assert pareto_shapes(tails(np.full((1, 1000), -np.inf)))[0] == -np.inf
    assert pareto_shapes(tails(np.random.default_rng(0).random((1, 10))))[0] == np.inf
    assert largest_shape(1) < 0.0 and largest_shape(10**9) == 0.7
