"""Special functions that numba lacks, and logarithms of gamma and Dirichlet draws, which would underflow themselves."""

from __future__ import annotations

import math

from topoi.kernels.jit import lean
from topoi.kernels.random import uniform

_ASYMPTOTIC_FROM = 10.0
_EXPANDED_FROM = 40.0


@lean
def digamma(x):
    """Derivative of log Γ at a positive x, to about 1e-14: the recurrence Ψ(x) = Ψ(x + 1) − 1/x, then its series."""
    below = 0.0
    while x < _ASYMPTOTIC_FROM:
        below += 1.0 / x
        x += 1.0
    inverse = 1.0 / (x * x)
    small = inverse * (1.0 / 252 - inverse * (1.0 / 240 - inverse / 132))
    series = inverse * (1.0 / 12 - inverse * (1.0 / 120 - small))
    return math.log(x) - 0.5 / x - series - below


@lean
def trigamma(x):
    """Second derivative of log Γ at a positive x, to about 1e-14, in the same way."""
    below = 0.0
    while x < _ASYMPTOTIC_FROM:
        below += 1.0 / (x * x)
        x += 1.0
    inverse = 1.0 / (x * x)
    small = inverse * (
        1.0 / 42 - inverse * (1.0 / 30 - inverse * (5.0 / 66 - inverse * (691.0 / 2730 - inverse * 7.0 / 6)))
    )
    return (1.0 + 0.5 / x + inverse * (1.0 / 6 - inverse * (1.0 / 30 - small))) / x + below


@lean
def mixed_difference(x, b, c):
    """lgamma(x − b − c) − lgamma(x − b) − lgamma(x − c) + lgamma(x), for b and c of at most about one.

    For large x the four terms cancel; the result is then b c times the mean of the second derivative, which is expanded
    about the middle of the range.
    """
    if x < _EXPANDED_FROM:
        return math.lgamma(x - b - c) - math.lgamma(x - b) - math.lgamma(x - c) + math.lgamma(x)
    inverse = 1.0 / (x - 0.5 * (b + c))
    square = inverse * inverse
    slope = inverse * (1.0 + inverse * (0.5 + inverse * (1.0 / 6 - square * (1.0 / 30 - square / 42))))
    bend = inverse * square * (2.0 + inverse * (3.0 + inverse * (2.0 - square)))
    return b * c * (slope + (b * b + c * c) / 24.0 * bend)


@lean
def log_beta(parameters, n):
    """log of Π Γ(a) / Γ(Σ a) over the first ``n`` parameters: the normaliser of a Dirichlet."""
    total, result = 0.0, 0.0
    for a in range(n):
        total += parameters[a]
        result += math.lgamma(parameters[a])
    return result - math.lgamma(total)


@lean
def normal(stream):
    """Draw from the standard normal distribution, by the polar method."""
    while True:
        x, y = 2.0 * uniform(stream) - 1.0, 2.0 * uniform(stream) - 1.0
        square = x * x + y * y
        if 0.0 < square < 1.0:
            return x * math.sqrt(-2.0 * math.log(square) / square)


@lean
def log_gamma(stream, shape):
    """Log of a gamma draw (Marsaglia and Tsang 2000): a draw of ``shape`` + 1, reduced to ``shape`` by U^(1/shape)."""
    d = shape + 1.0 - 1.0 / 3.0
    c = 1.0 / math.sqrt(9.0 * d)
    while True:
        x = normal(stream)
        v = 1.0 + c * x
        if v > 0.0:
            log_v = 3.0 * math.log(v)
            u = 1.0 - uniform(stream)
            if math.log(u) < 0.5 * x * x + d - d * v * v * v + d * log_v:
                return math.log(d) + log_v + math.log(1.0 - uniform(stream)) / shape


@lean
def log_dirichlet(stream, parameters, n, draw):
    """Write the logarithms of one draw from a Dirichlet with ``n`` parameters to ``draw``."""
    largest = -math.inf
    for a in range(n):
        draw[a] = log_gamma(stream, parameters[a])
        largest = max(largest, draw[a])
    total = 0.0
    for a in range(n):
        total += math.exp(draw[a] - largest)
    shift = largest + math.log(total)
    for a in range(n):
        draw[a] -= shift
