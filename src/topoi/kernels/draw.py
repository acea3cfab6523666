"""Draws from a discrete distribution given by weights: serial, and in sixteen SIMD lanes."""

from __future__ import annotations

import numpy as np

from topoi.kernels import lanes
from topoi.kernels.jit import compiled, inlined
from topoi.kernels.random import high_float, low_float, uniform

_ZERO = np.float32(0.0)
_SIXTEEN = np.float32(16.0)


@inlined
def draw_plain(weights, n, stream):
    """Draw an index below ``n`` with probability ``weights[i] / sum``; uses no random number if n = 1."""
    if n == 1:
        return 0
    total = 0.0
    for i in range(n):
        total += weights[i]
    left = uniform(stream) * total
    for i in range(n - 1):
        left -= weights[i]
        if left < 0.0:
            return i
    return n - 1


@inlined
def draw_positive(weights, n, stream):
    """Draw as ``draw_plain``, but never an index of weight zero, however sums round; always uses one random number."""
    total = 0.0
    for i in range(n):
        total += weights[i]
    left = uniform(stream) * total
    chosen = 0
    for i in range(n):
        if weights[i] > 0.0:
            chosen = i
            left -= weights[i]
            if left < 0.0:
                break
    return chosen


@inlined
def draw_lanes(running, sums, n, own, own_weight, bits):
    """Draw an index below ``n``, given running sums of the weights in sixteen lanes.

    ``running[16 * b + l]`` is the sum of lane ``l`` over blocks 0 to b, and ``sums`` the sums over all blocks, both
    *without* the weight of index ``own``, which is passed as ``own_weight``: it is the only one that changes when the
    current token is left out, and adding it here loses no precision. First the lane is drawn from the lanes' sums, then
    the block within the lane, each with its own 24 of the random ``bits``.

    Cost: O(n / 16) additions by the caller, O(n / 128 + 8) loads here.
    """
    own_lane = own & 15
    own_block = own >> 4
    upto = lanes.add_from(lanes.prefix(sums), own_lane, own_weight)
    lane = lanes.count_at_most(upto, lanes.mul(lanes.splat(high_float(bits)), lanes.last(upto)))
    # Rounding may make the product equal the total: clamp to the existing lanes.
    lane = min(lane, min(n, 16) - 1)
    extra = own_weight if lane == own_lane else _ZERO
    n_blocks = (n + 15) >> 4
    target = low_float(bits) * (running[16 * (n_blocks - 1) + lane] + extra)
    # Count without an early exit: the loads are independent and the branches predictable.
    group = 0
    if n_blocks > 8:
        for first in range(0, (n_blocks + 7) >> 3, 8):
            at = 16 * (8 * first + 7) + lane
            group += lanes.count_eight_groups(running, at, (own_block >> 3) - first, extra, target)
        group = min(group, (n_blocks - 1) >> 3)
    at = 128 * group + lane
    block = 8 * group + lanes.count_eight_blocks(running, at, own_block - 8 * group, extra, target)
    return 16 * min(block, (n - 1 - lane) >> 4) + lane


@inlined
def scan_products(word_topic, row, beta, sides, own, running, width):
    """Store running lane sums of (word_topic + beta) · side without topic ``own``; return the last ones.

    Topic ``own`` is masked in registers: writing a zero to memory would stall the vector load that follows.
    """
    sums = lanes.splat(_ZERO)
    prior = lanes.splat(beta)
    k = lanes.numbers()
    for j in range(0, width, 16):
        word = lanes.add(lanes.load(word_topic, row + j), prior)
        weight = lanes.mul(word, lanes.load(sides, j))
        sums = lanes.add(sums, lanes.zero_where_equal(weight, k, lanes.splat(np.float32(own))))
        lanes.store(running, j, sums)
        k = lanes.add(k, lanes.splat(_SIXTEEN))
    return sums


@inlined
def scratch_length(n):
    """Length of ``running`` for ``n`` weights; entries beyond the weights must be infinity.

    Up to 128 weights are eight blocks; more are searched in sets of eight groups of eight blocks.
    """
    return 128 if n <= 128 else 1024 * ((n + 1023) // 1024)


@compiled
def differences(running, n):
    """Recover ``n`` weights from their running sums in sixteen lanes."""
    weights = np.empty(n)
    for k in range(n):
        weights[k] = np.float64(running[k]) - (np.float64(running[k - 16]) if k >= 16 else 0.0)
    return weights
