"""Which samples a chain keeps: enough for every later end of the run, and never many."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from topoi.engine.samples import MOST_SAMPLES, compact, packed, retained, spacing, unpacked
from topoi.errors import ModelError


@given(st.integers(0, 10**6), st.integers(0, 10**6))
def test_what_is_kept_on_the_way_is_enough_for_every_later_stop(now, more):
    later = set(retained(now + more))
    assert {sweep for sweep in later if sweep <= now} <= set(retained(now))


@given(st.integers(1, 10**6))
def test_samples_are_few_and_spread_over_the_second_half(sweep):
    found = list(retained(sweep))
    step = spacing(sweep)
    assert all(sweep < 2 * each <= 2 * sweep for each in found)
    assert len(found) <= MOST_SAMPLES - 1
    assert len(found) >= min(5, -(-sweep // 2))
    assert step & (step - 1) == 0 and (np.diff(found) == step).all()
    # The first is within a step of the middle, the last within a step of the end.
    assert found[0] - sweep / 2 <= step and sweep - found[-1] < step


def test_before_the_first_sweep_there_is_nothing_to_keep():
    assert list(retained(0)) == []


def some(n_tokens=6):
    rng = np.random.default_rng(0)
    return {
        sweep: {"topic": compact(rng.integers(0, 300, n_tokens), 300), "slot": compact(rng.integers(0, 3, n_tokens), 3)}
        for sweep in retained(40)
    }


def written(samples):
    """What is read again of a file."""
    return {name: np.asarray(array) for name, array in packed(samples).items()}


def test_samples_survive_a_file():
    samples = some()
    arrays = written(samples)
    assert arrays["samples_topic"].dtype == np.uint16 and arrays["samples_slot"].dtype == np.uint8
    again = unpacked(arrays, ("topic", "slot"), 6, 40)
    assert list(again) == list(samples)
    for sweep, sample in samples.items():
        for name, values in sample.items():
            assert again[sweep][name].dtype == values.dtype
            np.testing.assert_array_equal(again[sweep][name], values)
    assert packed({}) == {} and unpacked({}, ("topic",), 6, 40) == {}


DAMAGE = {
    "another sweep": lambda a: a.update(sampled=a["sampled"] + 1),
    "out of order": lambda a: a.update(sampled=a["sampled"][::-1].copy()),
    "twice": lambda a: a["sampled"].__setitem__(1, a["sampled"][0]),
    "not sweeps": lambda a: a.update(sampled=a["sampled"].astype(float)),
    "a table of sweeps": lambda a: a.update(sampled=a["sampled"][None]),
    "fewer tokens": lambda a: a.update(samples_topic=a["samples_topic"][1:]),
    "fewer samples": lambda a: a.update(samples_slot=a["samples_slot"][:, 1:]),
    "signed": lambda a: a.update(samples_topic=a["samples_topic"].astype(np.int16)),
}


@pytest.mark.parametrize("damage", DAMAGE.values(), ids=list(DAMAGE))
def test_damaged_samples_are_refused(damage):
    arrays = written(some())
    damage(arrays)
    with pytest.raises(ModelError, match="saved samples"):
        unpacked(arrays, ("topic", "slot"), 6, 40)
