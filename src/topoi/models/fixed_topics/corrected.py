"""Second-order correction of expectation propagation by pairs of words, for evidence and means; compiled.

With every word's site q(λ) is a Dirichlet. F = t(λ) / site(λ), scaled to mean one under q, is the part of a word's term
that its site leaves out. The exact integral is that of expectation propagation times E_q[Π F]. Each pair of these
factors has a closed form, because two terms times a Dirichlet are a mixture of Dirichlets; so

    log p ≈ log p_EP + Σ over pairs of words  log E_q[F F'],

the second-order correction of Paquet, Winther and Opper (JMLR 2009) with logarithms in place of differences. Means
follow in the same way, as ratios of such estimates. It works best with sites that match E[log λ], the projection that
defines expectation propagation, instead of the mean and variance that are cheaper to match.
"""

# numba infers the types of compiled loops.
# mypy: allow-untyped-defs, allow-incomplete-defs, no-check-untyped-defs
from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from topoi.kernels.jit import compiled, lean
from topoi.kernels.special import digamma, mixed_difference, trigamma
from topoi.models.fixed_topics.ep import (
    BLOCK,
    LARGEST_FALL,
    SMALLER,
    Scratch,
    log_evidence,
    set_posterior,
    settle,
    slow_down,
    start_sites,
)

_NEWTON_STEPS, _NEWTON_TOLERANCE = 100, 1e-12
# A Dirichlet with a parameter near zero has much of its weight at an edge, where the ratio to q is far from its mean:
# pairs that leave such a parameter do more harm than good.
_LEAST_CAVITY = 0.15
# Largest share that a step of Newton's method may take from a parameter.
_LEAST_LEFT = 0.2


class Room(NamedTuple):
    """Scratch rows of aspects; for each word of a document its term's mean (a log) and the mixture with its term."""

    cavity: np.ndarray
    target: np.ndarray
    matched: np.ndarray
    norm: np.ndarray
    tilted: np.ndarray


@lean
def project(target, n, found):
    """Set ``found`` to the Dirichlet with E[log λ] = ``target``, by Newton's method that starts from it.

    The likelihood of a Dirichlet is concave and its Hessian a diagonal plus a constant: O(aspects) a step.
    """
    for _ in range(_NEWTON_STEPS):
        size = 0.0
        for a in range(n):
            size += found[a]
        common, bend = digamma(size), trigamma(size)
        above, below = 0.0, 1.0 / bend
        for a in range(n):
            curve = trigamma(found[a])
            above += (target[a] - digamma(found[a]) + common) / curve
            below -= 1.0 / curve
        shift, largest = above / below, 0.0
        for a in range(n):
            slope = target[a] - digamma(found[a]) + common
            new = max(found[a] + (slope + shift) / trigamma(found[a]), _LEAST_LEFT * found[a])
            largest = max(largest, abs(new - found[a]) / found[a])
            found[a] = new
        if largest < _NEWTON_TOLERANCE:
            break


@lean
def set_cavity(gamma, d, sites, j, n, cavity):
    """Set ``cavity`` to the posterior without one site; return whether it is a Dirichlet."""
    least = np.inf
    for a in range(n):
        cavity[a] = gamma[d, a] - sites[j, a]
        least = min(least, cavity[a])
    return least > 0.0


@lean
def match_logs(p, gamma, d, n, room):
    """Set ``room.matched`` to the Dirichlet with the E[log λ] of t(λ) Dir(λ | cavity)."""
    mass, size = 0.0, 0.0
    for a in range(n):
        mass += p[a] * room.cavity[a]
        size += room.cavity[a]
    for a in range(n):
        room.target[a] = digamma(room.cavity[a]) + p[a] / mass - digamma(size + 1.0)
        room.matched[a] = gamma[d, a]
    project(room.target, n, room.matched)


@lean
def move(gamma, d, sites, j, n, matched, damping, times):
    """Move a site and the posterior: all copies at once or, if that goes too far, only one, or not at all.

    Returns whether it moved.
    """
    for copies in (times, 1.0):
        inside = copies <= times
        for a in range(n):
            step = damping * copies * (matched[a] - gamma[d, a])
            inside = inside and gamma[d, a] + step >= (1.0 - LARGEST_FALL) * gamma[d, a]
        if inside:
            for a in range(n):
                step = damping * copies * (matched[a] - gamma[d, a])
                sites[j, a] += step / times
                gamma[d, a] += step
            return True
    return False


@lean
def log_pass(bags, d, parameters, gamma, sites, at, damping, room):
    """Update the sites of all words of a document one by one; return the words skipped and size of the full step."""
    n, skipped, change = parameters.n_aspects, 0, 0.0
    for i in range(bags.doc_start[d], bags.doc_start[d + 1]):
        if not set_cavity(gamma, d, sites, i - at, n, room.cavity):
            skipped += 1
            continue
        match_logs(parameters.word_aspect[bags.row[i]], gamma, d, n, room)
        squares = 0.0
        for a in range(n):
            squares += (room.matched[a] - gamma[d, a]) ** 2
        if move(gamma, d, sites, i - at, n, room.matched, damping, bags.times[i]):
            change += squares
        else:
            skipped += 1
    return skipped, math.sqrt(change)


@lean
def settle_logs(bags, d, parameters, rule, gamma, sites, at, room):
    """Iterate sites until they match E[log λ]; return passes, words skipped in the last, largest change."""
    passes, skipped, change, damping = 0, 0, 0.0, rule.damping
    for attempt in range(rule.attempts):
        if attempt > 0:
            start_sites(bags, d, parameters, False, sites, at, gamma)
        best, since, now = np.inf, 0, damping
        for _ in range(rule.max_passes):
            passes += 1
            skipped, change = log_pass(bags, d, parameters, gamma, sites, at, now, room)
            if change < rule.tolerance:
                break
            best, since, now = slow_down(change, best, since, now)
        if skipped == 0 and change < rule.tolerance:
            break
        damping *= SMALLER
    return passes, skipped, change


@lean
def describe_terms(bags, d, parameters, gamma, sites, at, room):
    """Set each word's log mean of its term and its mixture; return whether all cavities are Dirichlets."""
    n, begin = parameters.n_aspects, bags.doc_start[d]
    for i in range(begin, bags.doc_start[d + 1]):
        if not set_cavity(gamma, d, sites, i - at, n, room.cavity):
            return False
        p, mass, size = parameters.word_aspect[bags.row[i]], 0.0, 0.0
        for a in range(n):
            mass += p[a] * room.cavity[a]
            size += room.cavity[a]
        room.norm[i - begin] = math.log(mass / size)
        for a in range(n):
            room.tilted[i - begin, a] = room.cavity[a] * (1.0 + p[a] / mass) / (size + 1.0)
    return True


@lean
def pairs_add(bags, d, parameters, gamma, sites, at, room, mean):
    """Return Σ log E_q[F F'] over pairs of words; set ``mean`` to the logs of the corrected means up to a constant.

    A pair that would leave next to nothing of some aspect is left out. O(distinct words² × aspects).
    """
    n, begin, last = parameters.n_aspects, bags.doc_start[d], bags.doc_start[d + 1]
    total, result = 0.0, 0.0
    for a in range(n):
        total += gamma[d, a]
    for a in range(n):
        mean[a] = math.log(gamma[d, a] / total)
        for i in range(begin, last):
            mean[a] += bags.times[i] * math.log(room.tilted[i - begin, a] * total / gamma[d, a])
    for i in range(begin, last):
        p = parameters.word_aspect[bags.row[i]]
        for j in range(i, last):
            pairs = bags.times[i] * (bags.times[i] - 1.0) / 2.0 if i == j else bags.times[i] * bags.times[j]
            if pairs == 0.0:
                continue
            q, least, first, second, both = parameters.word_aspect[bags.row[j]], np.inf, 0.0, 0.0, 0.0
            mine, other = 0.0, 0.0
            for a in range(n):
                g = gamma[d, a] - sites[i - at, a] - sites[j - at, a]
                room.cavity[a] = g
                least = min(least, g)
                mine += sites[i - at, a]
                other += sites[j - at, a]
                first += p[a] * g
                second += q[a] * g
                both += p[a] * q[a] * g
            if least <= _LEAST_CAVITY:
                continue
            size, mass = total - mine - other, first * second + both
            grown = math.log(mass / (size * (size + 1.0))) - room.norm[i - begin] - room.norm[j - begin]
            for a in range(n):
                grown += mixed_difference(gamma[d, a], sites[i - at, a], sites[j - at, a])
            result += pairs * (grown - mixed_difference(total, mine, other))
            for a in range(n):
                more = (p[a] * second + q[a] * first + 2.0 * p[a] * q[a]) / mass
                here = room.cavity[a] * (1.0 + more) / (size + 2.0)
                apart = room.tilted[i - begin, a] * room.tilted[j - begin, a]
                mean[a] += pairs * math.log(here * gamma[d, a] / (total * apart))
    return result


@lean
def normalise_logs(logs, n):
    """Convert logs, known up to a constant, to shares."""
    largest, total = -np.inf, 0.0
    for a in range(n):
        largest = max(largest, logs[a])
    for a in range(n):
        logs[a] = math.exp(logs[a] - largest)
        total += logs[a]
    for a in range(n):
        logs[a] /= total


@compiled
def infer_documents(bags, parameters, rule, first, last, gamma, evidence, mean, outcome):
    """Set ``evidence`` and ``mean`` to corrected estimates for documents ``first`` to ``last``.

    ``gamma`` is left with the Dirichlets that match E[log λ]. Where sites do not converge, or a cavity is no Dirichlet,
    the estimates are uncorrected, from the sites as they are.
    """
    n, width = parameters.n_aspects, parameters.alpha.shape[0]
    scratch = Scratch(np.zeros(width), np.zeros((BLOCK, width)), np.zeros(BLOCK), np.zeros(BLOCK))
    longest = 0
    for d in range(first, last):
        longest = max(longest, bags.doc_start[d + 1] - bags.doc_start[d])
    sites = np.empty((longest, width))
    room = Room(np.zeros(width), np.zeros(width), np.zeros(width), np.zeros(longest), np.zeros((longest, width)))
    for d in range(first, last):
        at = bags.doc_start[d]
        settle(bags, d, parameters, rule, False, False, gamma, sites, at, scratch)
        passes, skipped, change = settle_logs(bags, d, parameters, rule, gamma, sites, at, room)
        set_posterior(bags, d, parameters.alpha, sites, at, gamma, d)
        evidence[d] = log_evidence(bags, d, parameters, gamma, sites, at, scratch.moved)
        for a in range(n):
            mean[d, a] = math.log(gamma[d, a])
        if describe_terms(bags, d, parameters, gamma, sites, at, room):
            evidence[d] += pairs_add(bags, d, parameters, gamma, sites, at, room, mean[d])
        normalise_logs(mean[d], n)
        outcome.passes[d], outcome.skipped[d], outcome.change[d] = passes, skipped, change
