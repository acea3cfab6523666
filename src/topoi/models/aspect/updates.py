"""Contributions of each word to each aspect in the M-step, compiled: words in parallel, each over its documents.

No sum is shared between threads, so their number changes nothing. Documents may come in consecutive parts; a cursor
keeps each word's position in its entries.
"""

# numba infers the types of compiled loops.
# mypy: allow-untyped-defs, allow-incomplete-defs, no-check-untyped-defs
from __future__ import annotations

from topoi.kernels import doubles
from topoi.kernels.jit import compiled, inlined


@inlined
def _add_second_order(p, w, n, gamma, d, width, new):
    """Add n ∫ Dir(λ | γ) p_a λ_a / Σ p λ dλ to second order about the mean (equations 32 to 34)."""
    size, mass, square = doubles.splat(0.0), doubles.splat(0.0), doubles.splat(0.0)
    for a in range(0, width, doubles.N_LANES):
        here, now = doubles.load(p, w * width + a), doubles.load(gamma, d * width + a)
        share = doubles.mul(here, now)
        size, mass = doubles.add(size, now), doubles.add(mass, share)
        square = doubles.add(square, doubles.mul(here, share))
    total, weight, squares = doubles.total(size), doubles.total(mass), doubles.total(square)
    if weight <= 0.0:
        return
    # With Σ_b p_b m_ab = (c + p_a) / (s + 1): x = n p γ (s + 1) / (s (c + p)) · (1 + S / (s + 2)).
    first = doubles.splat(n * (total + 1.0) / total * (1.0 - 1.0 / (total + 2.0)))
    second = doubles.splat(n * (total + 1.0) / total * (total + 1.0) / (total + 2.0))
    c, q, one = doubles.splat(weight), doubles.splat(squares), doubles.splat(1.0)
    for a in range(0, width, doubles.N_LANES):
        here, now = doubles.load(p, w * width + a), doubles.load(gamma, d * width + a)
        inverse = doubles.div(one, doubles.add(c, here))
        spread = doubles.mul(doubles.add(q, doubles.mul(here, here)), doubles.mul(inverse, inverse))
        factor = doubles.add(first, doubles.mul(second, spread))
        given = doubles.mul(doubles.mul(doubles.mul(here, now), inverse), factor)
        doubles.store(new, w * width + a, doubles.add(doubles.load(new, w * width + a), given))


@inlined
def _add_shares(p, w, n, weight, d, width, new):
    """Add n p_a weight_a / Σ p weight: equation 27 where the weights are exp Ψ(γ)."""
    mass = doubles.splat(0.0)
    for a in range(0, width, doubles.N_LANES):
        share = doubles.mul(doubles.load(p, w * width + a), doubles.load(weight, d * width + a))
        mass = doubles.add(mass, share)
    norm = doubles.total(mass)
    if norm <= 0.0:
        return
    scale = doubles.splat(n / norm)
    for a in range(0, width, doubles.N_LANES):
        share = doubles.mul(doubles.load(p, w * width + a), doubles.load(weight, d * width + a))
        given = doubles.mul(scale, share)
        doubles.store(new, w * width + a, doubles.add(doubles.load(new, w * width + a), given))


@inlined
def _add_tilted(p, w, n, gamma, d, sites, j, width, new):
    """Add n times the word's shares under t(λ) Dir(λ | cavity): n p_a g_a / Σ p g, the gradient of the EP evidence.

    Without a valid cavity, the shares under the posterior's mean.
    """
    mass, least = doubles.splat(0.0), doubles.splat(1e300)
    for a in range(0, width, doubles.N_LANES):
        g = doubles.sub(doubles.load(gamma, d * width + a), doubles.load(sites, j * width + a))
        mass = doubles.add(mass, doubles.mul(doubles.load(p, w * width + a), g))
        least = doubles.smaller(least, g)
    if doubles.smallest(least) < 0.0:
        _add_shares(p, w, n, gamma, d, width, new)
        return
    norm = doubles.total(mass)
    if norm <= 0.0:
        return
    scale = doubles.splat(n / norm)
    for a in range(0, width, doubles.N_LANES):
        g = doubles.sub(doubles.load(gamma, d * width + a), doubles.load(sites, j * width + a))
        given = doubles.mul(scale, doubles.mul(doubles.load(p, w * width + a), g))
        doubles.store(new, w * width + a, doubles.add(doubles.load(new, w * width + a), given))


@compiled
def add_second_order(by_word, count, parameters, gamma, first, last, end, cursor, new):
    """Add words ``first`` to ``last``, entries up to document ``end``, to second order; O(entries × aspects)."""
    p, width = parameters.word_aspect, parameters.alpha.shape[0]
    for w in range(first, last):
        while cursor[w] < by_word.start[w + 1] and by_word.doc[cursor[w]] < end:
            d, i = by_word.doc[cursor[w]], by_word.entry[cursor[w]]
            _add_second_order(p, w, count[i], gamma, d, width, new)
            cursor[w] += 1


@compiled
def add_shares(by_word, count, parameters, weight, first, last, end, cursor, new):
    """``add_second_order`` with documents' weights of aspects instead."""
    p, width = parameters.word_aspect, parameters.alpha.shape[0]
    for w in range(first, last):
        while cursor[w] < by_word.start[w + 1] and by_word.doc[cursor[w]] < end:
            d, i = by_word.doc[cursor[w]], by_word.entry[cursor[w]]
            _add_shares(p, w, count[i], weight, d, width, new)
            cursor[w] += 1


@compiled
def add_tilted(by_word, count, parameters, gamma, sites, at, first, last, end, cursor, new):
    """``add_second_order`` with the cavities of EP instead; entry i has row i − ``at`` of ``sites``."""
    p, width = parameters.word_aspect, parameters.alpha.shape[0]
    for w in range(first, last):
        while cursor[w] < by_word.start[w + 1] and by_word.doc[cursor[w]] < end:
            d, i = by_word.doc[cursor[w]], by_word.entry[cursor[w]]
            _add_tilted(p, w, count[i], gamma, d, sites, i - at, width, new)
            cursor[w] += 1
