"""What is compiled, and how often: every signature costs a user seconds the first time."""

from __future__ import annotations

import numpy as np

from topoi.kernels.jit import compiled, inlined, lean


@lean
def _shift(values, by):
    """Add to every value; called from Python and from a kernel."""
    for i in range(values.shape[0]):
        values[i] += by


@inlined
def _twice(x):
    return x + x


@compiled
def _shift_often(values, by):
    _shift(values, 0)
    _shift(values, 1)
    _shift(values, by=_twice(by))


def test_kernels_call_a_version_without_a_wrapper() -> None:
    values = np.zeros(3)
    _shift_often(values, 2)
    assert values.tolist() == [5.0, 5.0, 5.0]
    assert not _shift.signatures and not _twice.signatures  # no wrapper for Python: nobody there called them
    _shift(values, 1)
    assert values.tolist() == [6.0, 6.0, 6.0]
    assert len(_shift.signatures) == 1
    assert _shift_often.signatures and _shift.py_func is not _shift
