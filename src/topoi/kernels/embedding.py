"""t-SNE in the plane: repulsion by a Barnes–Hut tree over a space-filling curve, attraction along a sparse matrix.

Van der Maaten (2014), "Accelerating t-SNE using tree-based algorithms". Every point's forces are summed in a fixed
order, whichever thread does it, and the tree is built by one thread: the same bits for any number of threads.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from topoi.kernels.jit import compiled, inlined, lean

# Bits of a coordinate on the curve: cells are at least this small a part of the whole square.
_BITS = 20
# Cells with so few points are not divided further.
_LEAF = 16
# Cells and points that are gathered before they are added.
_AT_ONCE = 512
# Gains of a coordinate's step: larger while its gradient keeps its sign.
_SMALLEST_GAIN = 0.01


class Tree(NamedTuple):
    """Cells of a quadtree in preorder: a cell comes before those inside it.

    ``after`` is the cell that follows when those inside are left out; ``begin`` and ``end`` are its points along the
    curve; a cell is divided if the next cell is not ``after``.
    """

    x: NDArray[np.float64]
    y: NDArray[np.float64]
    width: NDArray[np.float64]
    begin: NDArray[np.int32]
    end: NDArray[np.int32]
    after: NDArray[np.int32]


def empty_tree(n_points: int) -> Tree:
    """Room for the cells of any tree over so many points."""
    room = 2 * n_points + 2
    floats, integers = (np.zeros((3, room)), np.zeros((3, room), np.int32))
    return Tree(*floats, *integers)  # type: ignore[arg-type]


@inlined
def _spread(v):
    """A number of 32 bits with a zero after each bit."""
    v &= np.uint64(0xFFFFFFFF)
    v = (v | (v << np.uint64(16))) & np.uint64(0x0000FFFF0000FFFF)
    v = (v | (v << np.uint64(8))) & np.uint64(0x00FF00FF00FF00FF)
    v = (v | (v << np.uint64(4))) & np.uint64(0x0F0F0F0F0F0F0F0F)
    v = (v | (v << np.uint64(2))) & np.uint64(0x3333333333333333)
    return (v | (v << np.uint64(1))) & np.uint64(0x5555555555555555)


@lean
def curve_codes(points, codes):
    """Set each point's place along the Z-order curve through the square around all points; return its side."""
    n = points.shape[0]
    low_x, high_x, low_y, high_y = points[0, 0], points[0, 0], points[0, 1], points[0, 1]
    for i in range(n):
        low_x, high_x = min(low_x, points[i, 0]), max(high_x, points[i, 0])
        low_y, high_y = min(low_y, points[i, 1]), max(high_y, points[i, 1])
    side = max(high_x - low_x, high_y - low_y, 1e-300)
    scale = (2.0**_BITS - 1.0) / side
    for i in range(n):
        x, y = np.uint64((points[i, 0] - low_x) * scale), np.uint64((points[i, 1] - low_y) * scale)
        codes[i] = _spread(x) | (_spread(y) << np.uint64(1))
    return side


@compiled
def build_tree(codes, sorted_points, side, tree):
    """Fill a tree over points that are sorted along the curve, with their codes; return the number of cells.

    Centres are means of points, summed from the cells inside, from the last cell to the first.
    """
    n = sorted_points.shape[0]
    stack = np.empty((4 * (_BITS + 2), 4), np.int64)
    parent = np.full(tree.x.shape[0], -1, np.int32)
    n_cells, top = 0, 1
    stack[0, 0], stack[0, 1], stack[0, 2], stack[0, 3] = 0, n, _BITS, -1
    while top > 0:
        top -= 1
        begin, end, level, outer = stack[top, 0], stack[top, 1], stack[top, 2], stack[top, 3]
        # Levels at which all points are in one quarter have no cell: there are at most twice as many cells as points.
        while level > 0 and (codes[begin] ^ codes[end - 1]) >> np.uint64(2 * (level - 1)) == 0:
            level -= 1
        cell = n_cells
        n_cells += 1
        parent[cell] = outer
        tree.begin[cell], tree.end[cell] = begin, end
        tree.width[cell] = side * 2.0 ** (level - _BITS)
        tree.x[cell], tree.y[cell], tree.after[cell] = 0.0, 0.0, 0
        if end - begin <= _LEAF or level == 0:
            for i in range(begin, end):
                tree.x[cell] += sorted_points[i, 0]
                tree.y[cell] += sorted_points[i, 1]
            continue
        shift = np.uint64(2 * (level - 1))
        right = end
        # Pushed from the last quarter to the first, so that the first is the next cell.
        for quarter in range(3, -1, -1):
            left = begin
            if quarter > 0:
                low, high = begin, right
                while low < high:
                    middle = (low + high) // 2
                    if np.int64((codes[middle] >> shift) & np.uint64(3)) < quarter:
                        low = middle + 1
                    else:
                        high = middle
                left = low
            if left < right:
                stack[top, 0], stack[top, 1], stack[top, 2], stack[top, 3] = left, right, level - 1, cell
                top += 1
            right = left
    for cell in range(n_cells - 1, -1, -1):
        if tree.after[cell] == 0:
            tree.after[cell] = cell + 1
        if parent[cell] >= 0:
            up = parent[cell]
            tree.x[up] += tree.x[cell]
            tree.y[up] += tree.y[cell]
            tree.after[up] = max(tree.after[up], tree.after[cell])
    for cell in range(n_cells):
        number = tree.end[cell] - tree.begin[cell]
        tree.x[cell] /= number
        tree.y[cell] /= number
    return n_cells


@lean
def leaves_of(tree, n_cells, leaves):
    """Set the cells that are not divided; return how many there are."""
    n = 0
    for cell in range(n_cells):
        if tree.after[cell] == cell + 1:
            leaves[n] = cell
            n += 1
    return n


@compiled
def repulsion(first, last, leaves, order, sorted_points, tree, n_cells, openness, force, total):
    """Set Σ w² · difference (``force``) and Σ w (``total``), with w = 1 / (1 + distance²), of some points.

    Points are those of the leaves ``first`` to ``last``. Cells whose width is below ``openness`` times their distance
    from all points of a leaf stand for their points; they are gathered once for a leaf and then added to its points
    side by side, which the processor does in one go.
    """
    others = np.empty((3, _AT_ONCE))
    own = np.empty((5, _LEAF))
    for at in range(first, last):
        leaf = leaves[at]
        # Points too near each other to be divided share a leaf of any size.
        for begin in range(tree.begin[leaf], tree.end[leaf], _LEAF):
            m = min(begin + _LEAF, tree.end[leaf]) - begin
            x, y, reach = 0.0, 0.0, 0.0
            for p in range(m):
                own[0, p], own[1, p] = sorted_points[begin + p, 0], sorted_points[begin + p, 1]
                own[2, p], own[3, p], own[4, p] = 0.0, 0.0, 0.0
                x += own[0, p] / m
                y += own[1, p] / m
            for p in range(m):
                reach = max(reach, math.sqrt((own[0, p] - x) ** 2 + (own[1, p] - y) ** 2))
            n, cell = 0, 0
            while cell < n_cells:
                dx, dy = x - tree.x[cell], y - tree.y[cell]
                gap = math.sqrt(dx * dx + dy * dy) - reach
                if gap > 0.0 and tree.width[cell] < openness * gap:
                    others[0, n], others[1, n] = tree.x[cell], tree.y[cell]
                    others[2, n] = tree.end[cell] - tree.begin[cell]
                    n += 1
                elif tree.after[cell] > cell + 1:
                    cell += 1
                    continue
                else:
                    for j in range(tree.begin[cell], tree.end[cell]):
                        if n == _AT_ONCE:
                            _add_repulsion(others, n, own, m)
                            n = 0
                        others[0, n], others[1, n], others[2, n] = sorted_points[j, 0], sorted_points[j, 1], 1.0
                        n += 1
                cell = tree.after[cell]
                if n == _AT_ONCE:
                    _add_repulsion(others, n, own, m)
                    n = 0
            _add_repulsion(others, n, own, m)
            for p in range(m):
                i = order[begin + p]
                # A point is among its own others, without force, but with a weight of one.
                force[i, 0], force[i, 1], total[i] = own[2, p], own[3, p], own[4, p] - 1.0


@lean
def _add_repulsion(others, n, own, m):
    """Add ``n`` others to the forces (rows 2 and 3) and weights (row 4) of ``m`` points."""
    for o in range(n):
        x, y, number = others[0, o], others[1, o], others[2, o]
        for p in range(m):
            dx, dy = own[0, p] - x, own[1, p] - y
            w = 1.0 / (1.0 + dx * dx + dy * dy)
            each = number * w
            own[4, p] += each
            own[2, p] += each * w * dx
            own[3, p] += each * w * dy


@lean
def attraction(first, last, start, other, probability, points, force):
    """Set Σ p · w · difference over the neighbours of some points."""
    for i in range(first, last):
        x, y = points[i, 0], points[i, 1]
        fx, fy = 0.0, 0.0
        for at in range(start[i], start[i + 1]):
            dx, dy = x - points[other[at], 0], y - points[other[at], 1]
            w = probability[at] / (1.0 + dx * dx + dy * dy)
            fx += w * dx
            fy += w * dy
        force[i, 0], force[i, 1] = fx, fy


@lean
def descend(first, last, rate, momentum, longest, gradient, points, velocity, gain):
    """Move some points down their gradient by delta-bar-delta with momentum; no step is longer than ``longest``."""
    for i in range(first, last):
        for c in range(2):
            g = gradient[i, c]
            same = (g > 0.0) == (velocity[i, c] > 0.0)
            gain[i, c] = max(gain[i, c] * 0.8 if same else gain[i, c] + 0.2, _SMALLEST_GAIN)
            velocity[i, c] = momentum * velocity[i, c] - rate * gain[i, c] * g
        length = math.sqrt(velocity[i, 0] * velocity[i, 0] + velocity[i, 1] * velocity[i, 1])
        if length > longest:
            velocity[i, 0] *= longest / length
            velocity[i, 1] *= longest / length
        points[i, 0] += velocity[i, 0]
        points[i, 1] += velocity[i, 1]


@lean
def exact_repulsion(points, force, total):
    """``repulsion`` of all points, pair by pair, for a few of them."""
    n = points.shape[0]
    for i in range(n):
        force[i, 0], force[i, 1], total[i] = 0.0, 0.0, 0.0
    for i in range(n):
        for j in range(i):
            dx, dy = points[i, 0] - points[j, 0], points[i, 1] - points[j, 1]
            w = 1.0 / (1.0 + dx * dx + dy * dy)
            total[i] += 2.0 * w
            fx, fy = w * w * dx, w * w * dy
            force[i, 0] += fx
            force[i, 1] += fy
            force[j, 0] -= fx
            force[j, 1] -= fy


@compiled
def settle(n_steps, pull, rate, momentum, longest, start, other, probability, points, velocity, gain):
    """Make some steps with a few points, without a tree. Changes ``points``, ``velocity`` and ``gain``."""
    n = points.shape[0]
    push, gradient, total = np.empty((n, 2)), np.empty((n, 2)), np.empty(n)
    for _ in range(n_steps):
        exact_repulsion(points, push, total)
        attraction(0, n, start, other, probability, points, gradient)
        z = 0.0
        for i in range(n):
            z += total[i]
        z = max(z, 1e-300)
        for i in range(n):
            for c in range(2):
                gradient[i, c] = 4.0 * (pull * gradient[i, c] - push[i, c] / z)
        descend(0, n, rate, momentum, longest, gradient, points, velocity, gain)
