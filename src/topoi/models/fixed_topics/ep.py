"""Expectation propagation for documents' mixtures of aspects, compiled (Minka and Lafferty 2002, section 4.2).

Each word's term t(λ) = Σ p(w|a) λ_a is approximated by s Π λ_a^β_a, a *site*; the posterior is then a Dirichlet with
γ_a = α_a + Σ n_w β_wa. A site is updated from its *cavity* γ − β, the posterior without it: the Dirichlet that has
the mean and variance of t(λ) Dir(λ | cavity) gives γ', and γ' − cavity the new β.

With r_a = p_a g_a / Σ p g for the cavity g with sum S, the paper's moments (23, 24) have the mean
m_a = (g_a + r_a) / (S + 1) and variances whose sum is (Σ m(1−m) + Σ r(1−r) / (S+1)) / (S+2). No term is a
difference of large numbers, and equation 25 becomes γ' = m · ((S+2) / (1 + Σ r(1−r) / ((S+1) Σ m(1−m))) − 1).

Rows of aspects are padded with zeros to whole vectors, which changes no sum.
"""

# numba infers the types of compiled loops.
# mypy: allow-untyped-defs, allow-incomplete-defs, no-check-untyped-defs
from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from topoi.kernels import doubles
from topoi.kernels.jit import compiled, inlined, lean
from topoi.kernels.special import log_beta
from topoi.models.fixed_topics.vb import best_bound

# Below this spread a document's mixture is practically known, and rounding determines the moments.
_CERTAIN = 1e-13
# Below this spread a difference of sums would have lost too many digits.
_NEARLY_KNOWN = 1e-3
# Largest share that a step may take from a parameter of the posterior.
LARGEST_FALL = 0.95
# Number of words whose sites are updated from the same posterior, so that none waits for another's result.
BLOCK = 16
_START_PASSES = 2
_PATIENCE, _LEAST_DAMPING = 4, 1.0 / 64
SMALLER = 0.4


class Rule(NamedTuple):
    """Stopping rule of inference: at most ``max_passes`` over a document, or until no change exceeds ``tolerance``.

    ``damping`` multiplies every change of a site; it is halved when changes do not become smaller. ``attempts`` is the
    number of restarts, each with smaller steps, of a document that has not converged.
    """

    tolerance: float
    max_passes: int
    damping: float = 1.0
    attempts: int = 3


class Outcome(NamedTuple):
    """Report on each document: passes, words skipped in the last of them, and its largest change."""

    passes: np.ndarray
    skipped: np.ndarray
    change: np.ndarray


class Scratch(NamedTuple):
    """Scratch space for updates.

    The change of the posterior (then its new value), previous sites, and two numbers of each word of a block:
    1 / Σ p g and the factor of γ'.
    """

    moved: np.ndarray
    before: np.ndarray
    scale: np.ndarray
    grow: np.ndarray


@inlined
def factor_of(size, varied, choice):
    """Factor of γ' = factor · (g + r), from Σ g, Σ m(whole − m) and Σ r(1−r) with m = g + r (equation 25)."""
    whole = size + 1.0
    # One division instead of two: this number is on the critical path.
    below = (varied + choice * whole) * whole
    factor = ((size + 2.0) * whole * varied - below) / (below * whole)
    return factor if varied > _CERTAIN * whole * whole else 1.0


@inlined
def match_moments(p, w0, w1, gamma, d, sites, j0, j1, width, least):
    """Moments of t(λ) Dir(λ | cavity) for two independent sites at a time (equations 17, 23 to 25).

    Returns 1 / Σ p g and the factor of γ' = factor · (g + r) for both; and the smaller of ``least`` and all of g, which
    tells whether these are Dirichlets. One pass gives all sums; Σ m(whole − m) is then a difference, which is exact
    enough unless the mixture is nearly known.
    """
    nothing = doubles.splat(0.0)
    total0, mass0, square0, mixed0, chosen0 = nothing, nothing, nothing, nothing, nothing
    total1, mass1, square1, mixed1, chosen1 = nothing, nothing, nothing, nothing, nothing
    for a in range(0, width, doubles.N_LANES):
        now = doubles.load(gamma, d * width + a)
        g0 = doubles.sub(now, doubles.load(sites, j0 * width + a))
        g1 = doubles.sub(now, doubles.load(sites, j1 * width + a))
        t0 = doubles.mul(doubles.load(p, w0 * width + a), g0)
        t1 = doubles.mul(doubles.load(p, w1 * width + a), g1)
        total0, total1 = doubles.add(total0, g0), doubles.add(total1, g1)
        mass0, mass1 = doubles.add(mass0, t0), doubles.add(mass1, t1)
        square0, square1 = doubles.add(square0, doubles.mul(g0, g0)), doubles.add(square1, doubles.mul(g1, g1))
        mixed0, mixed1 = doubles.add(mixed0, doubles.mul(g0, t0)), doubles.add(mixed1, doubles.mul(g1, t1))
        chosen0, chosen1 = doubles.add(chosen0, doubles.mul(t0, t0)), doubles.add(chosen1, doubles.mul(t1, t1))
        least = doubles.smaller(least, doubles.smaller(g0, g1))
    size0, inverse0 = doubles.total(total0), 1.0 / doubles.total(mass0)
    size1, inverse1 = doubles.total(total1), 1.0 / doubles.total(mass1)
    sums0 = doubles.total(square0), doubles.total(mixed0), doubles.total(chosen0)
    sums1 = doubles.total(square1), doubles.total(mixed1), doubles.total(chosen1)
    varied0, choice0 = spread_of(size0, inverse0, sums0)
    varied1, choice1 = spread_of(size1, inverse1, sums1)
    if varied0 < _NEARLY_KNOWN * (size0 + 1.0) * (size0 + 1.0):
        varied0, choice0 = spread_again(p, w0, gamma, d, sites, j0, width, size0, inverse0)
    if varied1 < _NEARLY_KNOWN * (size1 + 1.0) * (size1 + 1.0):
        varied1, choice1 = spread_again(p, w1, gamma, d, sites, j1, width, size1, inverse1)
    return inverse0, factor_of(size0, varied0, choice0), inverse1, factor_of(size1, varied1, choice1), least


@inlined
def spread_of(size, inverse, sums):
    """Σ m(whole − m) and Σ r(1−r) from Σ g², Σ p g² and Σ (p g)²."""
    squares, mixed, chosen = sums
    chosen *= inverse * inverse
    return (size + 1.0) * (size + 1.0) - (squares + 2.0 * inverse * mixed + chosen), 1.0 - chosen


@lean
def spread_again(p, w, gamma, d, sites, j, width, size, inverse):
    """``spread_of`` summed term by term, where the difference would be lost in rounding."""
    varied, choice = doubles.splat(0.0), doubles.splat(0.0)
    one, scale, whole = doubles.splat(1.0), doubles.splat(inverse), doubles.splat(size + 1.0)
    for a in range(0, width, doubles.N_LANES):
        g = doubles.sub(doubles.load(gamma, d * width + a), doubles.load(sites, j * width + a))
        r = doubles.mul(doubles.mul(doubles.load(p, w * width + a), g), scale)
        m = doubles.add(g, r)
        varied = doubles.add(varied, doubles.mul(m, doubles.sub(whole, m)))
        choice = doubles.add(choice, doubles.mul(r, doubles.sub(one, r)))
    return doubles.total(varied), doubles.total(choice)


@lean
def try_block(bags, d, parameters, gamma, sites, at, first, last, damping, scratch):
    """Update the sites of entries ``first`` to ``last``, all from the same posterior, and then the posterior.

    A full step (``damping`` 1) changes all n copies of a site at once (equations 18 and 21). Returns the sum of the
    squares of all undamped changes, or -1 if a cavity or the new posterior is not positive; everything is then left as
    it was. O(entries × aspects), without special functions.
    """
    p, width = parameters.word_aspect, parameters.alpha.shape[0]
    least, squares, damp = doubles.splat(np.inf), doubles.splat(0.0), doubles.splat(damping)
    for i in range(first, last, 2):
        # The last of an odd number is computed twice.
        k = min(i + 1, last - 1)
        w0, w1, j0, j1 = bags.row[i], bags.row[k], i - at, k - at
        inverse0, factor0, inverse1, factor1, least = match_moments(p, w0, w1, gamma, d, sites, j0, j1, width, least)
        scratch.scale[i - first], scratch.grow[i - first] = inverse0, factor0
        scratch.scale[k - first], scratch.grow[k - first] = inverse1, factor1
    for a in range(0, width, doubles.N_LANES):
        now, moved = doubles.load(gamma, d * width + a), doubles.splat(0.0)
        for i in range(first, last):
            site = doubles.load(sites, (i - at) * width + a)
            doubles.store(scratch.before, (i - first) * width + a, site)
            g = doubles.sub(now, site)
            chance = doubles.mul(doubles.load(p, bags.row[i] * width + a), g)
            r = doubles.mul(chance, doubles.splat(scratch.scale[i - first]))
            step = doubles.sub(doubles.mul(doubles.splat(scratch.grow[i - first]), doubles.add(g, r)), now)
            squares = doubles.add(squares, doubles.mul(step, step))
            step = doubles.mul(damp, step)
            doubles.store(sites, (i - at) * width + a, doubles.add(site, step))
            moved = doubles.add(moved, doubles.mul(doubles.splat(bags.times[i]), step))
        doubles.store(scratch.moved, a, moved)
    most = doubles.splat(LARGEST_FALL)
    for a in range(0, width, doubles.N_LANES):
        now, moved = doubles.load(gamma, d * width + a), doubles.load(scratch.moved, a)
        least = doubles.smaller(least, doubles.add(doubles.mul(most, now), moved))
        doubles.store(scratch.moved, a, doubles.add(now, moved))
    change = doubles.total(squares)
    if doubles.smallest(least) >= 0.0 and change < np.inf:
        for a in range(0, width, doubles.N_LANES):
            doubles.store(gamma, d * width + a, doubles.load(scratch.moved, a))
        return change
    for i in range(first, last):
        for a in range(0, width, doubles.N_LANES):
            doubles.store(sites, (i - at) * width + a, doubles.load(scratch.before, (i - first) * width + a))
    return -1.0


@lean
def one_pass(bags, d, parameters, gamma, sites, at, damping, block, scratch):
    """Update the sites of all words of a document; return the words skipped and the total size of the full steps.

    Entry i of the bags has row i − ``at`` of ``sites``. Words are updated in blocks, one by one where that fails, and
    as a last resort with a step of 1 / n, the paper's safest, which sets the posterior to the matched one.
    """
    skipped, change = 0, 0.0
    for first in range(bags.doc_start[d], bags.doc_start[d + 1], block):
        last = min(first + block, bags.doc_start[d + 1])
        squares = try_block(bags, d, parameters, gamma, sites, at, first, last, damping, scratch)
        if squares >= 0.0:
            change += squares
            continue
        for i in range(first, last):
            squares = try_block(bags, d, parameters, gamma, sites, at, i, i + 1, damping, scratch)
            if squares < 0.0 and bags.times[i] > 1.0:
                safe = damping / bags.times[i]
                squares = try_block(bags, d, parameters, gamma, sites, at, i, i + 1, safe, scratch)
            if squares < 0.0:
                skipped += 1
            else:
                change += squares
    return skipped, math.sqrt(change)


@lean
def set_posterior(bags, d, alpha, sites, at, gamma, row):
    """Set a row of ``gamma`` to γ = α + Σ n β (equation 16); return whether it is a Dirichlet."""
    width = alpha.shape[0]
    for a in range(0, width, doubles.N_LANES):
        doubles.store(gamma, row * width + a, doubles.load(alpha, a))
    for i in range(bags.doc_start[d], bags.doc_start[d + 1]):
        copies = doubles.splat(bags.times[i])
        for a in range(0, width, doubles.N_LANES):
            more = doubles.mul(copies, doubles.load(sites, (i - at) * width + a))
            doubles.store(gamma, row * width + a, doubles.add(doubles.load(gamma, row * width + a), more))
    least = np.inf
    for a in range(width):
        if alpha[a] > 0.0:
            least = min(least, gamma[row, a])
    return least > 0.0


@lean
def start_sites(bags, d, parameters, remembered, sites, at, gamma):
    """Initialise the sites by splitting each word among aspects by a point estimate, so that every cavity is positive.

    The mixture is that of the document's posterior if ``remembered``, else of the prior. With initial sites of zero, as
    in the paper, the first passes skip words and long documents need many more.
    """
    width = parameters.alpha.shape[0]
    if not remembered:
        for a in range(width):
            gamma[d, a] = parameters.alpha[a]
    for _ in range(_START_PASSES):
        for i in range(bags.doc_start[d], bags.doc_start[d + 1]):
            mass = 0.0
            for a in range(width):
                sites[i - at, a] = parameters.word_aspect[bags.row[i], a] * gamma[d, a]
                mass += sites[i - at, a]
            scale = 1.0 / mass if mass > 0.0 else 0.0
            for a in range(width):
                sites[i - at, a] *= scale
        set_posterior(bags, d, parameters.alpha, sites, at, gamma, d)


@inlined
def slow_down(change, best, since, damping):
    """Halve the steps if changes have not decreased for some passes; return the best change, passes since, damping."""
    if change < 0.9 * best:
        return change, 0, damping
    if since + 1 < _PATIENCE:
        return best, since + 1, damping
    return change, 0, max(0.5 * damping, _LEAST_DAMPING)


@lean
def converge(bags, d, parameters, rule, damping, block, gamma, sites, at, scratch):
    """Iterate over one document's words until sites converge; return passes, words skipped, largest change."""
    best, since = np.inf, 0
    passes, skipped, change = 0, 0, 0.0
    while passes < rule.max_passes:
        passes += 1
        skipped, change = one_pass(bags, d, parameters, gamma, sites, at, damping, block, scratch)
        if change < rule.tolerance:
            break
        best, since, damping = slow_down(change, best, since, damping)
    return passes, skipped, change


@lean
def settle(bags, d, parameters, rule, kept, warm, gamma, sites, at, scratch):
    """Find sites and posterior of one document; return passes, words skipped in the last, largest change.

    Where mixtures are nearly pure (small alpha), sites may not converge, or words may be skipped for good. Smaller
    steps, word by word, help many such documents.
    """
    passes, skipped, change = 0, 0, 0.0
    damping, block = rule.damping, BLOCK
    for _ in range(rule.attempts):
        if not (warm and kept) or not set_posterior(bags, d, parameters.alpha, sites, at, gamma, d):
            start_sites(bags, d, parameters, warm and not kept, sites, at, gamma)
        more, skipped, change = converge(bags, d, parameters, rule, damping, block, gamma, sites, at, scratch)
        passes += more
        if skipped == 0 and change < rule.tolerance:
            break
        warm, damping, block = False, SMALLER * damping, 1
    # Recompute from the sites, to remove rounding errors accumulated over the passes.
    if set_posterior(bags, d, parameters.alpha, sites, at, scratch.before, 0):
        for a in range(parameters.alpha.shape[0]):
            gamma[d, a] = scratch.before[0, a]
    return passes, skipped, change


@compiled
def infer_documents(bags, parameters, rule, first, last, kept, warm, wanted, sites, gamma, evidence, outcome):
    """Infer documents ``first`` to ``last``: posteriors into ``gamma``, estimates of log p into ``evidence``.

    ``sites`` has a row for every entry if ``kept``, else it is ignored. With ``warm``, a document starts from its sites
    or, where they are not kept, from its posterior. Evidence is computed if ``wanted``; for a document with skipped
    words, whose estimate is rough, it is never below the variational bound.
    """
    width = parameters.alpha.shape[0]
    scratch = Scratch(np.zeros(width), np.zeros((BLOCK, width)), np.zeros(BLOCK), np.zeros(BLOCK))
    longest = 0
    if not kept:
        for d in range(first, last):
            longest = max(longest, bags.doc_start[d + 1] - bags.doc_start[d])
    room = sites if kept else np.empty((longest, width))
    for d in range(first, last):
        at = 0 if kept else bags.doc_start[d]
        passes, skipped, change = settle(bags, d, parameters, rule, kept, warm, gamma, room, at, scratch)
        if wanted:
            evidence[d], more = settled_evidence(bags, d, parameters, rule, gamma, room, at, scratch)
            passes += more
            if skipped > 0:
                evidence[d] = max(evidence[d], best_bound(bags, d, parameters, rule, gamma[d].copy(), scratch.before))
        outcome.passes[d], outcome.skipped[d], outcome.change[d] = passes, skipped, change


@lean
def log_evidence(bags, d, parameters, gamma, sites, at, g):
    """Log of the integral of the approximation (equations 20 and 22), an estimate of log p(document).

    O(words × aspects) logarithms of Γ. A site whose cavity is no Dirichlet gets the height of its term at the
    posterior's mean instead. Minus infinity if a word has no probability in any aspect.
    """
    n = parameters.n_aspects
    whole = log_beta(gamma[d], n)
    result = whole - log_beta(parameters.alpha, n)
    total = 0.0
    for a in range(n):
        total += gamma[d, a]
    for i in range(bags.doc_start[d], bags.doc_start[d + 1]):
        p = parameters.word_aspect[bags.row[i]]
        least, mass, without, height = np.inf, 0.0, 0.0, 0.0
        for a in range(n):
            g[a] = gamma[d, a] - sites[i - at, a]
            least = min(least, g[a])
            mass += p[a] * g[a]
            without += g[a]
        if least > 0.0:
            if mass <= 0.0:
                return -np.inf
            result += bags.times[i] * (math.log(mass / without) + log_beta(g, n) - whole)
        else:
            mass = 0.0
            for a in range(n):
                mass += p[a] * gamma[d, a]
                height += sites[i - at, a] * math.log(gamma[d, a] / total)
            if mass <= 0.0:
                return -np.inf
            result += bags.times[i] * (math.log(mass / total) - height)
    return result


@lean
def settled_evidence(bags, d, parameters, rule, gamma, sites, at, scratch):
    """Evidence after it has converged: sites may converge before a sum over all words does."""
    value, before, passes = log_evidence(bags, d, parameters, gamma, sites, at, scratch.moved), np.inf, 0
    while passes < rule.max_passes and abs(value - before) > rule.tolerance * abs(value):
        one_pass(bags, d, parameters, gamma, sites, at, SMALLER * rule.damping, 1, scratch)
        before, value = value, log_evidence(bags, d, parameters, gamma, sites, at, scratch.moved)
        passes += 1
    return value, passes
