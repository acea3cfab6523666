"""Checked plans for sampling new documents."""

from __future__ import annotations

from topoi.kernels.folding import SamplingPlan
from topoi.models.contract import SeedLike
from topoi.models.validation import resolve_seed, whole_number


def checked_plan(
    burn_in: int, n_samples: int, lag: int, seed: int, random_state: SeedLike = None, chain: int = 0
) -> SamplingPlan:
    """A sampling plan; ``random_state``, if given, replaces the fit's seed.

    Examples
    --------
    >>> from topoi.models.sampling import checked_plan
    >>> checked_plan(20, 10, 2, seed=0).n_samples
    10
    """
    whole_number("burn_in", burn_in, 0)
    seed = seed if random_state is None else resolve_seed(random_state)
    return SamplingPlan(burn_in, whole_number("n_samples", n_samples), whole_number("lag", lag), seed, chain)
