"""Logarithms of gamma and Dirichlet draws; for tiny parameters the draws themselves would underflow."""

from __future__ import annotations

import math

from topoi.kernels.jit import lean
from topoi.kernels.random import uniform


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
