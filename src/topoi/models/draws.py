"""Draws of continuous parameters that a chain keeps for intervals: which ones, and when they are enough."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
# Between half and all of this many draws are kept of the whole chain, fewer if they are very large.
_MOST_DRAWS, _LEAST_KEPT, _MOST_NUMBERS = 400, 40, 4_000_000
# With fewer draws than these, or from fewer sweeps, a spread cannot be estimated.
_FEW_DRAWS, _FEW_SWEEPS = 10, 6


class Draws(NamedTuple):
    """Parameters drawn so far, draws × their shape (float32), and the sweep of each draw."""

    values: NDArray[np.float32]
    sweeps: NDArray[np.int64]

    @classmethod
    def none(cls, shape: tuple[int, ...]) -> Draws:
        """No draws yet."""
        return cls(np.zeros((0, *shape), np.float32), np.zeros(0, np.int64))

    def add(self, found: Array, sweep: int) -> Draws:
        """Add the draws of one more sweep, if due. When there are too many, those of every other sweep are dropped.

        Further draws are then added half as often. What is kept depends on the sweeps alone, not on the planned length
        of the chain, so that one fit and a shorter one resumed keep the same.
        """
        at = np.unique(self.sweeps)
        if len(at) and sweep - at[-1] < (at[1] - at[0] if len(at) > 1 else 1):
            return self
        values = np.concatenate((self.values, found.astype(np.float32)))
        sweeps = np.append(self.sweeps, np.full(len(found), sweep, np.int64))
        if len(sweeps) < most_draws(found[0].size):
            return Draws(values, sweeps)
        kept = np.isin(sweeps, np.append(at, sweep)[1::2])
        return Draws(values[kept], sweeps[kept])

    def settled(self, since: int = 0) -> Array:
        """Draws from the second half of the sweeps that have any, and after sweep ``since``."""
        return self.values[self._late(since)].astype(np.float64)

    def are_enough(self, since: int = 0) -> bool:
        """Whether those draws suffice for the uncertainty of parameters: ten or more, from six sweeps or more."""
        sweeps = self.sweeps[self._late(since)]
        return len(sweeps) >= _FEW_DRAWS and len(np.unique(sweeps)) >= _FEW_SWEEPS

    def _late(self, since: int) -> NDArray[np.bool_]:
        second_half = 2 * self.sweeps >= self.sweeps[:1].sum() + self.sweeps[-1:].sum()
        return np.asarray(second_half & (self.sweeps > since))


def most_draws(size: int) -> int:
    """Number of draws at which they are thinned, for parameters of ``size`` numbers; even."""
    return 2 * (min(max(_MOST_NUMBERS // size, _LEAST_KEPT), _MOST_DRAWS) // 2)
