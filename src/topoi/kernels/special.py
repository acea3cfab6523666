"""Special functions that compiled loops need and numba does not have."""

from __future__ import annotations

import math

from topoi.kernels.jit import lean

_ASYMPTOTIC_FROM = 10.0


@lean
def digamma(x):
    """The derivative of log Γ at a positive x, to about 1e-14: upwards by Ψ(x) = Ψ(x + 1) − 1/x, then its series."""
    below = 0.0
    while x < _ASYMPTOTIC_FROM:
        below += 1.0 / x
        x += 1.0
    inverse = 1.0 / (x * x)
    small = inverse * (1.0 / 252 - inverse * (1.0 / 240 - inverse / 132))
    series = inverse * (1.0 / 12 - inverse * (1.0 / 120 - small))
    return math.log(x) - 0.5 / x - series - below


@lean
def log_beta(parameters, n):
    """log of Π Γ(a) / Γ(Σ a) over the first ``n`` parameters: the normaliser of a Dirichlet."""
    total, result = 0.0, 0.0
    for a in range(n):
        total += parameters[a]
        result += math.lgamma(parameters[a])
    return result - math.lgamma(total)
