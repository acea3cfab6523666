"""Neighbours that a mean over years is of, against the definition."""

from hypothesis import given
from hypothesis import strategies as st

from topoi.drawing.smoothing import smoothed, windows

YEARS = st.lists(st.tuples(st.one_of(st.none(), st.floats(0, 1)), st.integers(0, 50)), min_size=1, max_size=12)


def grown(i, values, window, weights, least):
    """A window that grows by a year on each side until it has weight enough, or all years."""
    half = window // 2
    while True:
        near = [j for j in range(len(values)) if abs(j - i) <= half and values[j] is not None]
        if sum(weights[j] for j in near) >= least or (half >= i and half >= len(values) - 1 - i):
            return near
        half += 1


@given(YEARS, st.sampled_from([1, 3, 5]), st.integers(0, 120))
def test_windows_grow_until_they_have_enough(years, window, least):
    values, weights = [value for value, _ in years], [weight for _, weight in years]
    found = windows(values, window, weights, least)
    means = smoothed(values, found)
    for i, (near, weight) in enumerate(found):
        assert near == grown(i, values, window, weights, least)
        assert weight == [weights[j] for j in near]
        if values[i] is not None and sum(weight):
            assert abs(means[i] - sum(w * values[j] for w, j in zip(weight, near, strict=True)) / sum(weight)) < 1e-12
