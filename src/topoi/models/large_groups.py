"""Resampled shares of groups of any size: the smaller ones document by document, the larger ones by their moments.

The Bayesian bootstrap of ``resampling`` weights every document anew in every replicate. In a group of a thousand
documents or more the weighted share of a topic is, in each posterior draw, very nearly a shifted gamma variable with
the same mean, variance and skewness: normal where many documents have the topic, exponential where one has most of it,
as the weights are. These follow from sums over documents, so that one pass through the draws is enough.
"""

# numba infers the types of compiled loops.
# mypy: allow-untyped-defs, allow-incomplete-defs, no-check-untyped-defs
from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from topoi.corpus.pieces import row_positions
from topoi.kernels.jit import lean
from topoi.models.resampling import EXTRA, Block, Draw, Draws, Groups, resample

# Groups of so many documents are large.
LARGE = 1000
# Documents of the collection at hand from which those are drawn that small groups get beside their own.
_POOL = 2000

Array = NDArray[np.float64]


def resampled_shares(groups: Groups, draws: Draws, n_replicates: int, seed: int) -> Array:
    """Shares of columns in replicates of all groups: groups × columns × replicates.

    Examples
    --------
    >>> import numpy as np
    >>> from topoi.models.large_groups import resampled_shares
    >>> from topoi.models.resampling import Groups, one_draw
    >>> counts = np.random.default_rng(0).multinomial(9, [0.3, 0.7], 3000).astype(float)
    >>> shares = resampled_shares(Groups(np.arange(3000) % 2, counts.sum(axis=1), 2), one_draw(counts), 400, 0)
    >>> shares.shape, shares.mean(axis=2).round(1).tolist()
    ((2, 2, 400), [[0.3, 0.7], [0.3, 0.7]])
    """
    sizes = np.bincount(groups.of[(groups.of >= 0) & (groups.lengths > 0)], minlength=groups.n)
    if not (sizes >= LARGE).any():
        return resample(groups, draws, n_replicates=n_replicates, seed=seed).shares
    small = sizes < LARGE
    rows = _kept_rows(groups, small, seed)
    sums, kept = _one_pass(groups, draws, rows)
    of = np.where(small[groups.of[rows]], groups.of[rows], groups.n)
    shares = np.empty((groups.n, draws.n_columns, n_replicates))
    if small.any():
        found = resample(Groups(of, groups.lengths[rows], groups.n + 1), kept, None, n_replicates, seed).shares
        shares[small] = found[:-1][small]
    for g in np.flatnonzero(~small):
        shares[g] = _gamma_shares(sums, groups, int(g), n_replicates, np.random.default_rng([seed, int(g)]))
    return shares


def _kept_rows(groups: Groups, small: NDArray[np.bool_], seed: int) -> NDArray[np.int64]:
    """Documents that are resampled one by one: those of small groups, and some of all others; ascending."""
    inside = np.flatnonzero((groups.of >= 0) & (groups.lengths > 0))
    if not small.any():
        return inside[:0]
    others = inside[~small[groups.of[inside]]]
    chosen = np.random.default_rng([seed, len(inside)]).permutation(len(others))[:_POOL]
    return np.sort(np.concatenate((inside[small[groups.of[inside]]], others[chosen])))


def _one_pass(groups: Groups, draws: Draws, rows: NDArray[np.int64]) -> tuple[Array, Draws]:
    """Sums of powers of counts, draws × groups × columns × 6, and the draws of some documents, held in memory."""
    sums = np.zeros((draws.n_draws, groups.n, draws.n_columns, 6))
    pieces: list[list[Draw]] = [[] for _ in range(draws.n_draws)]
    for first, each in draws.blocks():
        n_docs = len(each[0].start) - 1
        here = slice(first, first + n_docs)
        mine = rows[slice(*np.searchsorted(rows, (first, first + n_docs)))] - first
        for s, draw in enumerate(each):
            add_powers(draw.start, draw.column, draw.number, groups.of[here], groups.lengths[here], sums[s])
            at, start = row_positions(draw.start, mine)
            pieces[s].append(Draw(start, draw.column[at], draw.number[at]))
    block = Block(0, [_joined(each) for each in pieces])
    return sums, Draws(draws.n_draws, draws.n_columns, lambda: iter([block]))


def _joined(pieces: list[Draw]) -> Draw:
    lengths = np.concatenate([np.diff(piece.start) for piece in pieces])
    start = np.concatenate(([0], np.cumsum(lengths))).astype(np.int64)
    return Draw(start, *(np.concatenate([piece[i] for piece in pieces]) for i in (1, 2)))


@lean
def add_powers(start, column, number, group, lengths, sums):
    """Add n, nL, n², n³, n²L and nL² of documents with n words of a column among L to their groups' sums."""
    for d in range(start.shape[0] - 1):
        g, size = group[d], lengths[d]
        if g < 0 or size <= 0.0:
            continue
        for i in range(start[d], start[d + 1]):
            n = np.float64(number[i])
            row = sums[g, column[i]]
            row[0] += n
            row[1] += n * size
            row[2] += n * n
            row[3] += n * n * n
            row[4] += n * n * size
            row[5] += n * size * size


def _gamma_shares(sums: Array, groups: Groups, g: int, n_replicates: int, rng: np.random.Generator) -> Array:
    """Shares of a large group: columns × replicates; replicate r is of draw r modulo their number.

    With weights whose mean is one, a share is s + Σ w r / Σ L to first order, where r = n − s L. Exponential weights
    have the cumulants 1, 1, 2.
    """
    inside = (groups.of >= 0) & (groups.lengths > 0)
    own, others = groups.lengths[groups.of == g], groups.lengths[inside]
    total = float(own.sum())
    turn = np.arange(n_replicates) % len(sums)
    shares = np.empty((sums.shape[2], n_replicates))
    for s in range(len(sums)):
        share = sums[s, g, :, 0] / total
        second, third = _residual_powers(sums[s, g], share, own)
        # Documents of the collection that every group gets beside its own, with weights of mean square two.
        pool = sums[s].sum(axis=0)
        mean = EXTRA * (pool[:, 0] - share * others.sum()) / len(others)
        second = second + 2 * EXTRA * _residual_powers(pool, share, others)[0] / len(others)
        mine = turn == s
        noise = _standard_gamma(third, second, int(mine.sum()), rng)
        shares[:, mine] = share[:, None] + (mean[:, None] + np.sqrt(second)[:, None] * noise) / total
    return np.clip(shares, 0.0, 1.0)


def _residual_powers(sums: Array, share: Array, lengths: Array) -> tuple[Array, Array]:
    """Σ (n − share · L)² and Σ (n − share · L)³ over documents, per column."""
    _, product, square, cube, square_length, length_square = sums.T
    second = square - 2 * share * product + share**2 * (lengths**2).sum()
    third = cube - 3 * share * square_length + 3 * share**2 * length_square - share**3 * (lengths**3).sum()
    return np.maximum(second, 0.0), third


def _standard_gamma(third: Array, second: Array, n: int, rng: np.random.Generator) -> Any:
    """Gamma variables of mean zero, variance one and skewness 2 · third / second^1.5: columns × n."""
    with np.errstate(divide="ignore", invalid="ignore"):
        skewness = np.nan_to_num(2.0 * third / second**1.5, posinf=0.0, neginf=0.0)
    # A document alone gives an exponential variable, of skewness 2; below 0.001 a gamma is normal to all digits shown.
    size = np.clip(np.abs(skewness), 1e-3, 2.0)
    shape = (4.0 / size**2)[:, None]
    drawn = (rng.standard_gamma(np.broadcast_to(shape, (len(size), n))) - shape) / np.sqrt(shape)
    return np.where(skewness < 0, -1.0, 1.0)[:, None] * drawn
