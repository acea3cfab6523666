"""Break the kernels on purpose, one mistake at a time, and see which test notices.

    python -m studies.broken_kernels [--only WORD] [--record FILE]

Each mistake is made in a copy of the project; the tests of the mistake's family run against the copy, and the slow ones if
no other notices it. The last column is the first test that failed; a mistake that no test notices is printed as NOT NOTICED
and the exit code is 1.

studies/noticed.json, or another file, is written after each mistake: the test that noticed it is run first the next time,
and the others only if it passes, which takes a fraction of the time. A run that was broken off goes on where it ended: a
mistake is not tried again while the file that it is made in and the file of the test that noticed it stay the same
(``--anew`` tries all again).
"""

from __future__ import annotations

import argparse
import ast
import hashlib
import json
import os
import re
import runpy
import shutil
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from queue import Queue
from threading import Lock
from typing import NamedTuple

ROOT = Path(__file__).parents[1]
NOTICED = ROOT / "studies" / "noticed.json"
# Times longer than the unbroken project took, compilation included, before tests count as never ending: a mistake can make
# a sampler loop for ever. And the seconds that they may take in any case.
_SLOWER, _LEAST_SECONDS = 5, 180
# Seconds that the slow tests of a family may take.
_SLOW_SECONDS = 1800
# pytest's exit codes for a test that is not there, and the form of what it prints of one that failed.
_NO_SUCH_TEST = (4, 5)
_IS_TEST = re.compile(r"[\w/]+\.py::\S")
# Tests that are tried one by one on a mistake that is new, before all are run.
_TRIED = 2
TESTS = {
    "author_topic": [
        "test_conditional.py",
        "test_enumeration.py",
        "test_geweke.py",
        "test_likelihood.py",
        "test_chains.py",
        "test_pruned.py",
    ],
    "pachinko": [
        "test_conditional.py",
        "test_blocks.py",
        "test_pruned.py",
        "test_chains.py",
        "test_learning.py",
        "test_likelihood.py",
        "test_enumeration.py",
        "test_geweke.py",
        "test_guidance.py",
        "test_limits.py",
    ],
    "evaluation": ["test_heldout.py", "test_likelihoods.py"],
    "models": ["test_word_lists.py", "test_sparse_fits.py"],
}
PLAIN = "src/topoi/models/author_topic/equations.py"
KERNELS = "src/topoi/models/author_topic/kernels.py"
COUNTS = "src/topoi/kernels/counts.py"
WORDS = "src/topoi/models/author_topic/word_major.py"
PARTICLES = "src/topoi/models/fixed_topics/particles.py"
INFERENCE = "src/topoi/models/author_topic/inference.py"
DRAW = "src/topoi/kernels/draw.py"
LANES = "src/topoi/kernels/lanes.py"
SHARDS = "src/topoi/engine/shards.py"
PACHINKO = "src/topoi/models/pachinko/"
BLOCKS, STATE_OF_PATHS = PACHINKO + "blocks.py", PACHINKO + "state.py"
PATHS, GRAPH = PACHINKO + "equations.py", "src/topoi/models/graph.py"
FOUR, GENERAL = PACHINKO + "four_level.py", PACHINKO + "general.py"
LIMITS, LIMITED_LEARNING, WORK_OF_PATHS = (PACHINKO + name for name in ("limits.py", "limited_learning.py", "work.py"))
FILTER, FOLDING, LEARNING = PACHINKO + "likelihood.py", PACHINKO + "inference.py", PACHINKO + "learning.py"
MOMENTS = "src/topoi/kernels/moments.py"
BAGS = "src/topoi/kernels/bags.py"
EVALUATION = "src/topoi/evaluation/"
AUTHOR_PRIOR, NODE_PRIOR = "src/topoi/models/author_topic/posterior.py", PACHINKO + "posterior.py"
SPARSE = "src/topoi/models/sparse/"
PRUNED, OPEN_PATHS, ENTERING = SPARSE + "pruned.py", SPARSE + "pruned_equations.py", SPARSE + "pruned.py"
SPARSE_WORDS, SCHEME = SPARSE + "words.py", SPARSE + "scheme.py"
LISTS = "src/topoi/kernels/word_lists.py"


class Mistake(NamedTuple):
    """One wrong line in place of a right one."""

    what: str
    file: str
    right: str
    wrong: str
    family: str = "author_topic"


MISTAKES = [
    Mistake("plain: the token's author is not taken out", PLAIN, "counts.author[a] += step", "counts.author[a] += 0"),
    Mistake("plain: alpha forgotten", PLAIN, "counts.author_topic[a, k]) + priors.alpha[k])", "counts.author_topic[a, k]) + 0.1)"),
    Mistake("plain: topics not normalised", PLAIN, "word / (counts.topic[k] + priors.beta_sum) * side", "word * side"),
    Mistake("plain: weights of authors ignored", PLAIN, "return documents.author_weight[p] * share", "return share"),
    Mistake("lanes: own word still counted", KERNELS, "np.float32(counts.word_topic[w, k0]) - _ONE + priors.beta[w]", "np.float32(counts.word_topic[w, k0]) + priors.beta[w]"),
    Mistake("lanes: own topic still counted", KERNELS, "scratch.inverses.less[k0]", "scratch.inverses.now[k0]"),
    Mistake("lanes: own author's total still counted (two)", KERNELS, "scale0 = scratch.reduced[0] if q0 == 0", "scale0 = scratch.scales[0] if q0 == 0"),
    Mistake("lanes: own author's total still counted (many)", KERNELS, "scratch.scales[q0] = scratch.reduced[q0]\n    side", "scratch.scales[q0] = scratch.scales[q0]\n    side"),
    Mistake("lanes: own topic scanned twice", DRAW, "lanes.zero_where_equal(weight, k, lanes.splat(np.float32(own)))", "weight"),
    Mistake("lanes: third author forgotten", KERNELS, "lanes.mul(lanes.splat(scales[2]), lanes.load(sides, 2 * width + j))", "lanes.mul(lanes.splat(scales[2]), lanes.load(sides, width + j))"),
    Mistake("lanes: further authors forgotten", KERNELS, "for q in range(3, n_slots):", "for q in range(4, n_slots):"),
    Mistake("lanes: one of two authors drawn uniformly", KERNELS, "np.int64(share0 <= high_float(bits) * (share0 + share1))", "np.int64(_ONE <= high_float(bits) * (_ONE + _ONE))"),
    Mistake("lanes: one of many authors drawn uniformly", KERNELS, "total += scratch.scales[p] * (np.float32(scratch.rows[p, k]) - left_out + alpha[k])", "total += _ONE"),
    Mistake("lanes: author drawn with the token counted", KERNELS, "left_out = _ONE if (p == q0 and k == k0) else _ZERO", "left_out = _ZERO"),
    Mistake("lanes: factor of the new author not refreshed", KERNELS, "scratch.scales[q] = scratch.raised[q]", "scratch.scales[q] = scratch.scales[q]"),
    Mistake("lanes: reduced factor not refreshed", KERNELS, "scratch.reduced[q0] = _author_scale(documents, counts, priors, first + q0, -1)", "scratch.reduced[q0] = scratch.reduced[q0]"),
    Mistake("lanes: private author not recounted", KERNELS, "    recount_private_author(documents, assignments, counts, d)\n    first = documents.author_start[d]\n    n_slots", "    first = documents.author_start[d]\n    n_slots"),
    Mistake("counts: inverse not refreshed", COUNTS, "inverses.now[k] = inverses.more[k]", "inverses.now[k] = inverses.now[k]"),
    Mistake("counts: inverse with one less not refreshed", COUNTS, "inverses.less[k0] = inverse(topic[k0] - 1, beta_sum)", "inverses.less[k0] = inverses.less[k0]"),
    Mistake("draw: own weight left out of the search", DRAW, "own_block - 8 * group, extra, target", "own_block - 8 * group, _ZERO, target"),
    Mistake("draw: lane and block share their bits", DRAW, "target = low_float(bits)", "target = high_float(bits)"),
    Mistake("draw: groups of eight off by one", DRAW, "(8 * first + 7) + lane", "(8 * first + 6) + lane"),
    Mistake("lanes: prefix sums miss a step", LANES, "for step in (1, 4):", "for step in (1,):"),
    Mistake("word order: own document count kept", WORDS, "np.float32(doc_topic[d, k0]) - _ONE + priors.alpha[k0]", "np.float32(doc_topic[d, k0]) + priors.alpha[k0]"),
    Mistake("word order: documents' counts not moved", WORDS, "doc_topic[d, k] += np.uint16(1)\n            word_topic", "doc_topic[d, k] += np.uint16(0)\n            word_topic"),
    Mistake("word order: side of the new topic stale", WORDS, "side[k] = (np.float32(word_topic[w, k]) + beta[w]) * inverses.now[k]", "side[k] = side[k]"),
    Mistake("filter: particles' weights not updated", PARTICLES, "weight[p] *= mass[p] / estimate", "weight[p] *= 1.0"),
    Mistake("filter: prior of the private author forgotten", PARTICLES, "scale * (number[k] + alpha[k])", "scale * (number[k] + 1.0)"),
    Mistake("filter: moved tokens counted twice", PARTICLES, "number[p, old] -= 1.0", "number[p, old] -= 0.0"),
    Mistake("fold-in: own tokens not added", INFERENCE, "assignments.topic[i], small.author[assignments.slot[i]], 1)", "assignments.topic[i], small.author[assignments.slot[i]], 0)"),
    Mistake("shards: differences against the wrong base", SHARDS, "total[i] += changed[i] - base[i]", "total[i] = changed[i]"),
]  # fmt: skip

PACHINKO_MISTAKES = [
    Mistake("paths: a node's choice to draw words forgotten", PATHS, "return reach[v] * share(tally, priors, v, graph.emit_slot[v])", "return reach[v]"),
    Mistake("paths: wrong normaliser of a node", PATHS, "/ (tally.total[u] + priors.alpha_sum[u])", "/ (tally.total[u] + 1.0)"),
    Mistake("paths: parent drawn without what reaches it", PATHS, "shares[j - first] = reach[u] * share(", "shares[j - first] = share("),
    Mistake("paths: numbers of paths overlap", GRAPH, "upto += n_paths[number[parent]]", "upto += 1"),
    Mistake("four levels: own pair still counted", FOUR, "np.float32(scratch.number[s0, k] - left_out)", "np.float32(scratch.number[s0, k])"),
    Mistake("four levels: own super-topic's total still counted", FOUR, "return scratch.less[s0] * (np.float32", "return scratch.scale[s0] * (np.float32"),
    Mistake("four levels: other sub-topics see the token", FOUR, "step = scratch.less[s0] - scratch.scale[s0]\n", "step = _ZERO\n"),
    Mistake("four levels: own topic's total still counted", FOUR, "scratch.inverses.less[k0] * own_side", "scratch.inverses.now[k0] * own_side"),
    Mistake("four levels: sides not patched", FOUR, "        _patch_sides(scratch, s0, s, scratch.less[s0] - scratch.scale[s0], step)\n", ""),
    Mistake("four levels: new pair not in its side", FOUR, "side + step * pair + scale", "side + step * pair"),
    Mistake("four levels: old side without its new factor", FOUR, "side0 + step * pair0", "side0"),
    Mistake("four levels: raised factor stale", FOUR, "scratch.scale[s] = scratch.more[s]\n    scratch.more[s] = _factor(priors, s, scratch.total[s] + 1)", "scratch.scale[s] = scratch.more[s]"),
    Mistake("four levels: a document's counts stay behind", FOUR, "        scratch.number[s, k] = 0\n", ""),
    Mistake("any graph: nodes below not summed anew", GENERAL, "scratch.stale[graph.below[at]] = True", "scratch.stale[graph.below[at]] = scratch.stale[graph.below[at]]"),
    Mistake("any graph: words drawn at a node not counted", GENERAL, "scratch.emit[v] += step", "scratch.emit[v] += 0.0"),
    Mistake("any graph: a node's total not counted", GENERAL, "        scratch.total[u] += step\n", ""),
    Mistake("any graph: own word still counted", GENERAL, "np.float32(counts.word_topic[w, k0]) - _ONE + priors.beta[w]", "np.float32(counts.word_topic[w, k0]) + priors.beta[w]"),
    Mistake("any graph: side of the old topic stale", GENERAL, "            _set_sides(scratch, k0)  #", "            pass  #"),
    Mistake("pachinko filter: particles' weights not updated", FILTER, "weight[p] *= mass[p] / estimate", "weight[p] *= 1.0"),
    Mistake("pachinko filter: sides of a copied particle kept", FILTER, "particles.side[p] = side[source]", "particles.side[p] = side[p]"),
    Mistake("pachinko filter: new pair not in its side", FILTER, "particles.side[p, k] += before * (", "particles.side[p, k] += 0.0 * ("),
    Mistake("blocks: root's parameters forgotten", BLOCKS, "(n + root[s]) / (n + alpha_sum[s])\n    return", "(n + 1.0) / (n + alpha_sum[s])\n    return"),
    Mistake("blocks: earlier tokens of the sub-topic not counted", BLOCKS, "step[n, s] * (here + alpha[k, s])", "step[n, s] * alpha[k, s]"),
    Mistake("blocks: super-topics in use are open to others", BLOCKS, "s == s0 or room.total[s] == 0 else 0.0", "s == s0 or room.total[s] == 0 else 1.0"),
    Mistake("blocks: the super-topic left stays closed", BLOCKS, "room.total[s0] = 0", "room.total[s0] += 0"),
    Mistake("blocks: counts not cleared", BLOCKS, "room.number[paths.topic[room.order[j]]] = 0", "room.number[paths.topic[room.order[j]]] += 0"),
    Mistake("blocks: never rescaled", BLOCKS, "if n % room.cadence == room.cadence - 1:", "if n < 0:"),
    Mistake("pachinko fold-in: own tokens not added", FOLDING, "move_word(rows, small.tokens[i], paths.topic[i], 1)", "move_word(rows, small.tokens[i], paths.topic[i], 0)"),
    Mistake("moments: multinomial noise left in", MOMENTS, "return (1.0 - noise) / (ratio - noise) - 1.0", "return 1.0 / ratio - 1.0"),
    Mistake("learning: the root is learned too", LEARNING, "for u in range(1, len(graph.n_paths)):", "for u in range(len(graph.n_paths)):"),
    Mistake("guided paths: a new topic keeps the old one's path", PATHS, "if before[i] != paths.topic[i]:", "if before[i] < 0:"),
    Mistake("guided paths: phantoms not counted again", STATE_OF_PATHS, "self.guidance.phantoms.add_to(chain.counts, chain.priors.beta)", "pass"),
    Mistake("guided paths: log joint with the phantoms' own part", STATE_OF_PATHS, "found if told is None else found - told", "found if told is None else found + 0 * told"),
    Mistake("guided paths: probabilities without phantoms", NODE_PRIOR, "phantoms=None if sampler.guidance is None else sampler.guidance.phantoms", "phantoms=None"),
    Mistake("guided paths: means have the phantoms twice", STATE_OF_PATHS, "if len(averaged) == 1 and self.guidance is None:", "if len(averaged) == 1:"),
    Mistake("guided paths: new documents begin with banned words", FOLDING, "        if k != k0:\n            paths.topic[i] = k\n", "        if k < 0:\n            paths.topic[i] = k\n"),
    Mistake("labelled paths: super-topics without an allowed topic stay open", LIMITS, "|= found[:, v : v + 1]", "|= True"),
    Mistake("labelled paths: sums over all children", LIMITS, "priors.alpha_sum[u] if whole else (total", "priors.alpha_sum[u] if True else (total"),
    Mistake("labelled paths: closed slots keep their alpha", LIMITS, "given.alpha[slot] if _is_open(limits, row, slot) else np.float32(0.0)", "given.alpha[slot]"),
    Mistake("labelled paths: four levels divide by the sum over all sub-topics", FOUR, "        priors.alpha_sum[u] = limits.alpha_sum[row, u]\n", "        priors.alpha_sum[u] += 0.0\n"),
    Mistake("labelled paths: closed sub-topics keep their pairs", FOUR, "scratch.pair[s, k] = _ZERO if was_open else _alpha(", "scratch.pair[s, k] = _alpha("),
    Mistake("labelled paths: what the document before could not have stays closed", FOUR, "_change_set(priors, scratch, limits, row, limits.doc_set[d])", "_change_set(priors, scratch, limits, -1, limits.doc_set[d])"),
    Mistake("labelled paths: any graph has the limits of its first document", GENERAL, "            row = limits.doc_set[d]\n            limit_priors(limits, row, priors, own)", "            row = limits.doc_set[d]\n            limit_priors(limits, limits.doc_set[0], priors, own)"),
    Mistake("labelled paths: blocks divide by the sum over all sub-topics", BLOCKS, "room.alpha_sum[s] = limits.alpha_sum[row, 1 + s]", "room.alpha_sum[s] += 0.0"),
    Mistake("labelled paths: log joint as if all were allowed", PATHS, "_log_document(documents, d, paths, own, graph, tally, result)", "_log_document(documents, d, paths, priors, graph, tally, result)"),
    Mistake("labelled paths: shards have the limits of the first documents", STATE_OF_PATHS, "self.limits.some(slice(first, last))", "self.limits.some(slice(0, last - first))"),
    Mistake("labelled paths: workers forget limits", WORK_OF_PATHS, 'limits = None if sets is None else TopicLimits(', 'limits = None if True else TopicLimits('),
    Mistake("labelled paths: mixtures with other documents' topics", NODE_PRIOR, "self.limits.some(slice(first, last)).of", "self.limits.some(slice(0, last - first)).of"),
    Mistake("labelled paths: words of a document labelled as if it were new", NODE_PRIOR, "return priors if self.limits is None else self.limits.priors_of(priors, document)", "return priors"),
    Mistake("labelled paths: moments as if all children were open", LIMITED_LEARNING, "np.vstack((is_open[used], np.ones((1, n), bool)))", "np.vstack((is_open[used] | True, np.ones((1, n), bool)))"),
    Mistake("labelled paths: moments with one sum for all sets", LIMITED_LEARNING, "np.exp(middle) * mass + 1.0", "np.exp(middle) + 1.0"),
    Mistake("labelled paths: likelihood as if all children were open", LIMITED_LEARNING, "np.vstack((is_open, np.ones((1, n), bool)))[row]", "np.vstack((is_open | True, np.ones((1, n), bool)))[row]"),
]  # fmt: skip
EVALUATION_MISTAKES = [
    Mistake("bags: always the first topic's share", BAGS, "share = mixtures[s, k]", "share = mixtures[s, 0]"),
    Mistake("bags: repeated words count once", BAGS, "each[s] += times[i] * log_words", "each[s] += log_words"),
    Mistake("prior: what is known of authors forgotten", AUTHOR_PRIOR, "counts = self.counts.author_topic[a, : self.n_topics] if known else 0.0", "counts = 0.0"),
    Mistake("prior: weights of authors ignored", AUTHOR_PRIOR, "weights / weights.sum()", "np.full(len(weights), 1.0 / len(weights))"),
    Mistake("prior: authors share their draws", AUTHOR_PRIOR, "np.random.default_rng((*name, a))", "np.random.default_rng(name)"),
    Mistake("prior: a node's own words forgotten", NODE_PRIOR, "reach[:, u] = shares[:, -1]", "pass"),
    Mistake("prior: what reaches a node ignored", NODE_PRIOR, "shares = reach[:, u, None] * dirichlet_rows", "shares = dirichlet_rows"),
    Mistake("empirical: the same samples in every block", EVALUATION + "empirical.py", "(seed, chain.index, first)", "(seed, chain.index, 0)"),
    Mistake("empirical: second moment for variance", EVALUATION + "empirical.py", "sums.squares - sums.total**2 / n_samples", "sums.squares"),
    Mistake("empirical: chains added, not averaged", EVALUATION + "empirical.py", "everything.total / (n_samples * n_chains)", "everything.total / n_samples"),
    Mistake("left to right: particles without weights", EVALUATION + "particles.py", "(model.n_jobs), 0.0, weighted", "(model.n_jobs), 0.0, False"),
    Mistake("left to right: a moved token stays in the counts", PARTICLES, "                    total[p] -= 1.0\n", ""),
    Mistake("left to right, any graph: a moved token stays in the counts", FILTER, "particles.topic[p, j], particles.path[p, j], -1)", "particles.topic[p, j], particles.path[p, j], 0)"),
    Mistake("classes judged by different words", EVALUATION + "classification.py", "log_likelihoods(model, same, estimator", "log_likelihoods(model, corpus, estimator"),
    Mistake("priors of classes forgotten", EVALUATION + "classification.py", "posterior = scores + weight[:, None]", "posterior = scores"),
    Mistake("bits by the natural logarithm", EVALUATION + "measures.py", "-log_p.sum() / np.log(2.0) / total", "-log_p.sum() / total"),
]  # fmt: skip
MISTAKES += [mistake._replace(family="pachinko") for mistake in PACHINKO_MISTAKES]
MISTAKES += [mistake._replace(family="evaluation") for mistake in EVALUATION_MISTAKES]

PRUNED_MISTAKES = {
    "pachinko": [
        Mistake("pruned: an emptied super-topic stays open", PRUNED, "return open_factor(priors, s, n) if n > 0 else 0.0", "return open_factor(priors, s, n)"),
        Mistake("pruned: the document's sub-topics forgotten", PRUNED, "if scratch.stamp[k] != mark:", "if scratch.stamp[k] != mark and False:"),
        Mistake("pruned: sub-topics of both counted twice", PRUNED, "        scratch.stamp[k] = mark\n", ""),
        Mistake("pruned: own sub-topic kept when emptied", PRUNED, "if rest == 0 and scratch.sub_total[k0] == 1:", "if False:"),
        Mistake("pruned: own pair still counted", PRUNED, "(scratch.pair[s, k0] - 1.0)", "scratch.pair[s, k0]"),
        Mistake("pruned: other sub-topics see the token", PRUNED, "(scratch.base[k] + step * scratch.pair[s0, k])", "scratch.base[k]"),
        Mistake("pruned: sums not patched", PRUNED, "scratch.base[j] += step0 * scratch.pair[s0, j] + step * scratch.pair[s, j]", "scratch.base[j] += step0 * scratch.pair[s0, j]"),
        Mistake("pruned: inverse of the new topic stale", PRUNED, "    set_inverse(counts, priors, scratch, k0)\n    set_inverse(counts, priors, scratch, k)\n\n\n@compiled\ndef sweep_pruned", "    set_inverse(counts, priors, scratch, k0)\n\n\n@compiled\ndef sweep_pruned"),
        Mistake("pruned: what one super-topic sees kept for another", PRUNED, "            seen_by = -1\n            patches", "            patches"),
        Mistake("entering: the factor of a super-topic stale", ENTERING, "        scratch.base[j] += step * scratch.pair[s, j]\n", "        pass\n"),
        Mistake("any graph, pruned: closed nodes open", OPEN_PATHS, "if u == 0 or everywhere or tally.total[u] > 0.0:", "if True:"),
        Mistake("any graph, pruned: the document's topics forgotten", OPEN_PATHS, "or (not entering and room.in_document[k] > 0)", ""),
        Mistake("any graph, entering: a new word has no topics", OPEN_PATHS, "every_topic = counts.length[w] == 0 if entering else everywhere", "every_topic = everywhere"),
    ],
    "author_topic": [
        Mistake("LDA pruned: own topic kept in the document when emptied", SPARSE_WORDS, "total += (number + alpha if number > 0 else 0.0)", "total += (number + alpha)"),
        Mistake("LDA pruned: alpha of the document's own topics forgotten", SPARSE_WORDS, "alpha = np.float64(priors.alpha[k]) if row == 0 else 0.0", "alpha = 0.0"),
        Mistake("LDA pruned: the word's mass sees the token", SPARSE_WORDS, "        return word.sizes[1], mass + priors.alpha[k0] * own\n", "        return word.sizes[1], word.mass[0]\n"),
        Mistake("LDA pruned: the word's mass not moved", SPARSE_WORDS, "        word.mass[0] -= priors.alpha[k] * phi(priors, word, w, k)\n", "        pass\n"),
        Mistake("LDA pruned: lists not sorted again", SPARSE_WORDS, "while at > first and counts.entry_topic[at - 1] > k:", "while False:"),
    ],
    "models": [
        Mistake("lists: an emptied topic stays", LISTS, "    if counts.entry_number[at] > 0:\n        return\n", "    if True:\n        return\n"),
        Mistake("lists: new topics appended, not inserted", LISTS, "_insert(counts, w, k, at, 1)", "_insert(counts, w, k, counts.start[w] + counts.length[w], 1)"),
        Mistake("growth: documents in their own order", SCHEME, "return np.argsort(keys, kind=\"stable\").astype(np.uint32)", "return np.arange(n_docs).astype(np.uint32)"),
        Mistake("growth: new documents not counted in", SCHEME, "state.n_in = max(state.n_in, documents_in(self.n_docs, chain.sweep))", "pass"),
        Mistake("growth: a checkpoint forgets the order", SCHEME, "if not state.whole:\n            arrays |=", "if False:\n            arrays |="),
        Mistake("shards: lists not counted anew", SCHEME, "            self.recount(chain)\n\n        return finish", "            pass\n\n        return finish"),
    ],
}  # fmt: skip
MISTAKES += [mistake._replace(family=family) for family, each in PRUNED_MISTAKES.items() for mistake in each]

TESTS["samples"] = ["test_averages.py", "test_settled.py"]
TESTS["updating"] = ["test_updating.py"]
TESTS["editing"] = ["test_editing.py"]
FOLDERS = {"samples": "models", "filter": "evaluation", "updating": "models", "editing": "models"}
TESTS["filter"] = ["test_one_quantity.py"]
SAMPLE_MISTAKES = [
    Mistake("averages: one sample lost", "src/topoi/models/averages.py", "return Averaged([*samples, last], sweeps", "return Averaged([*samples[1:], last], sweeps"),
    Mistake("averages: topics that changed are averaged", "src/topoi/models/averages.py", "settled(sample, last, topics, scratch) if len(topics) else sample", "sample"),
    Mistake("averages: samples of the first half", "src/topoi/engine/samples.py", "first = -(-(sweep // 2 + 2) // step) * step - 1", "first = step - 1"),
]  # fmt: skip
MISTAKES += [mistake._replace(family="samples") for mistake in SAMPLE_MISTAKES]
GROWING, UPDATING, SPARES = (f"src/topoi/models/{name}.py" for name in ("growing", "updating", "spare_topics"))
UPDATE_MISTAKES = [
    Mistake("update: old documents are sampled first", GROWING, "sampler.sample(chain, shard, chain.counts, stream)", "sampler.sample(chain, 0, chain.counts, stream)"),
    Mistake("update: old assignments forgotten", GROWING, "arrays[name][:n_tokens] = old[name]", "arrays[name][:0] = old[name][:0]"),
    Mistake("update: every sweep draws the same numbers", GROWING, "_STREAM + key + number", "_STREAM + key"),
    Mistake("update: documents change places", GROWING, "back = np.argsort(order)", "back = order"),
    Mistake("update: spare topics weigh as much as others", GROWING, "part * median", "median"),
    Mistake("update: samples of other documents", "src/topoi/engine/gibbs.py", "wanted = retained(sweep, chain.since)", "wanted = retained(sweep)"),
    Mistake("update: sweeps begin anew", UPDATING, "schedule = wide._schedule(last, model._seed)", "schedule = wide._schedule(n_iter, model._seed)"),
    Mistake("update: coefficients of the wrong names", "src/topoi/models/dmr/state.py", "[place[label] for label in old.terms.labels]", ": before.shape[1]"),
    Mistake("spare: nothing to begin with", UPDATING, 'arrays["topic"][at] = k if like is None else like', 'arrays["topic"][at] = 0'),
    Mistake("spare: tokens are not given back", SPARES, "range(_GIVING_STEPS if len(at) else 0)", "range(0)"),
    Mistake("spare: the half that is scored is seen", SPARES, "((first, second), (second, first))", "((first, first), (second, second))"),
    Mistake("spare: every topic earns its place", "src/topoi/models/update_report.py", "gain.mean > _ERRORS * gain.error", "gain.mean > -1.0"),
]  # fmt: skip
MISTAKES += [mistake._replace(family="updating") for mistake in UPDATE_MISTAKES]
DRAFT, SPLITTING, PREVIEW = (f"src/topoi/models/editing/{name}.py" for name in ("draft", "splitting", "preview"))
EDIT_MISTAKES = [
    Mistake("split: mixtures are not counted", SPLITTING, "here * (row_topic[r, m] + alpha[r, m])", "here * alpha[r, m]"),
    Mistake("split: sizes of topics are not counted", SPLITTING, "/ (topic[m] + beta_sum[m])", "/ beta_sum[m]"),
    Mistake("split: the token itself is counted", SPLITTING, "row_topic[r, m] -= 1.0", "row_topic[r, m] -= 0.0"),
    Mistake("split: beta of the words that occur alone", SPLITTING, "np.full(len(topics), prior.sum())", "np.full(len(topics), prior[words].sum())"),
    Mistake("split: private authors are one", "src/topoi/models/author_topic/state.py", "np.where(author < self.lists.n_shared, author, author + doc)", "author"),
    Mistake("split: alpha of other documents", "src/topoi/models/dmr/state.py", "rows[docs][:, topics]", "rows[: len(docs)][:, topics]"),
    Mistake("split: super-topics of all documents are one", "src/topoi/models/pachinko/state.py", "doc * self.n_super + arrays", "0 * doc + arrays"),
    Mistake("merge: the topic that is gone comes back", DRAFT, "self._tell(rules.retired, k, kept)", "self._restart()"),
    Mistake("edit: documents change places", DRAFT, "back = np.argsort(order)", "back = order"),
    Mistake("edit: all documents are sampled first", DRAFT, "rest = np.flatnonzero(~self.documents)", "rest, docs = docs[:0], np.arange(n_docs)"),
    Mistake("preview: noise counts as movement", PREVIEW, "    moved = net.moved - noise\n", "    moved = net.moved\n"),
    Mistake("preview: words that come back count as moved", PREVIEW, "self.moved = np.bincount(self._doc, np.maximum(gain, 0)", "self.moved = np.bincount(self._doc, np.abs(gain)"),
    Mistake("look: words of the state before", DRAFT, 'now = sampler.to_arrays(running[0])["topic"]', "now = before"),
    Mistake("edit: sweeps begin anew", DRAFT, "edited._schedule(self.sweep + n_iter, self.seed)", "edited._schedule(n_iter, self.seed)"),
]  # fmt: skip
MISTAKES += [mistake._replace(family="editing") for mistake in EDIT_MISTAKES]
DELTAS, WORKER, CLUSTER, REMOTE = (
    f"src/topoi/engine/cluster/{name}.py" for name in ("deltas", "worker", "sampling", "remote")
)
TESTS["cluster"] = ["test_crew.py", "test_cluster.py", "test_cluster_losses.py"]
FOLDERS["cluster"] = "engine"
CLUSTER_MISTAKES = [
    Mistake("cluster: a worker that died while it was prepared ends the fit", "src/topoi/engine/cluster/crew.py", "if not isinstance(error, KilledWorker):", "if True:"),
    Mistake("cluster: changes of one shard lost", DELTAS, "for piece in pieces:\n            _add(total", "for piece in pieces[1:]:\n            _add(total"),
    Mistake("cluster: large changes cut off", DELTAS, "    if most > np.iinfo(np.int8).max:\n", "    if most > 10**9:\n"),
    Mistake("cluster: large negative sums cut off", DELTAS, "most = max(most, abs(difference[i]))", "most = max(most, difference[i])"),
    Mistake("cluster: the last change is left out", DELTAS, "n_changed += change != 0", "n_changed += change > 0"),
    Mistake("cluster: a worker's shards are taken twice", REMOTE, "if other == home]", "if other >= home]"),
    Mistake("cluster: assignments are taken as they arrive", CLUSTER, "                arrived += [(chain", "                for s, a in zip(some, found, strict=True):\n                    self._take(chain, s, a)\n                arrived += [(chain"),
    Mistake("cluster: workers forget labels", "src/topoi/models/author_topic/work.py", 'None if sets is None else (sets, arrays["allowed_of"])', "None"),
    Mistake("cluster: workers forget limits of regressions", "src/topoi/models/dmr/work.py", "*= self.allowed[0][self.allowed[1]]", "*= 1.0"),
    Mistake("cluster: workers keep banned cells of an older beta", REMOTE, "        self._current = set()\n\n    def _scattered", "        pass\n\n    def _scattered"),
    Mistake("cluster: ranges of another length", DELTAS, "zip(bounds(flat.size, len(pieces)), pieces", "zip(bounds(flat.size, len(pieces))[::-1], pieces"),
    Mistake("cluster: all shards draw the same numbers", WORKER, "new_stream(job.seed, chain, sweep, shard)", "new_stream(job.seed, chain, sweep, 0)"),
    Mistake("cluster: shards see each other's changes", WORKER, "np.copyto(mine, array)", "pass"),
    Mistake("cluster: counts are those of the sweep before", WORKER, "            apply(counts, pieces)\n        elif", "        elif"),
    Mistake("cluster: a state from another sweep is used", WORKER, "if at == sweep and work is not None:", "if work is not None and state is not None:"),
    Mistake("cluster: lost states begin at the root", WORKER, "if sweep != root or (given is None", "if (given is None"),
    Mistake("cluster: priors are not sent again", REMOTE, "they are sent when they are needed.\"\"\"\n        self._priors = []", "they are sent when they are needed.\"\"\""),
    Mistake("cluster: counts are not restored", CLUSTER, "                array[...] = old\n", "                pass\n"),
    Mistake("cluster: workers are trusted after a loss", REMOTE, "        self._resident, self._current = set(), set()\n        for future", "        for future"),
    Mistake("cluster: a root without its assignments", CLUSTER, "            self._remote.save(c, sweep)\n", "            pass\n"),
    Mistake("cluster: samples of an earlier sweep", CLUSTER, "                if wanted:\n                    self._collect(sweep)\n", ""),
    Mistake("cluster: terms of the log joint in another order", CLUSTER, "joints.append(sum(terms[1:], terms[0]))", "joints.append(sum(terms[::-1]))"),
]  # fmt: skip
MISTAKES += [mistake._replace(family="cluster") for mistake in CLUSTER_MISTAKES]
FILTERING = "src/topoi/models/filtering.py"
FILTER_MISTAKES = [
    Mistake("filter: runs with the same seed", FILTERING, "np.random.SeedSequence((seed, n_particles, run))", "np.random.SeedSequence((seed, n_particles))"),
    Mistake("filter: errors of one run, not of the mean", FILTERING, "error = _spread(each) / np.sqrt(_RUNS)", "error = _spread(each) / _RUNS"),
    Mistake("filter: particles never grow", FILTERING, "2 * wanted[rows], 0)", "0, 0)"),
    Mistake("filter: estimates not weighed by their particles", FILTERING, "found + np.log(n))", "found)"),
]  # fmt: skip
MISTAKES += [mistake._replace(family="filter") for mistake in FILTER_MISTAKES]


TOPIC_LISTS = "src/topoi/models/author_topic/topic_lists.py"
LINES = "src/topoi/models/author_topic/lines.py"
TESTS["topic_lists"] = ["test_topic_lists.py"]
FOLDERS["topic_lists"] = "author_topic"
LIST_MISTAKES = [
    Mistake("topic lists: own word still counted", TOPIC_LISTS, "np.float32(word_topic[w, k0]) - _ONE + beta", "np.float32(word_topic[w, k0]) + beta"),
    Mistake("topic lists: own topic's total still counted", TOPIC_LISTS, "- _ONE + beta) * word.inverses.less[k0]", "- _ONE + beta) * word.inverses.now[k0]"),
    Mistake("topic lists: own token still in the list", TOPIC_LISTS, "np.float32(lists.line[own_at + 16]) - _ONE + word.alpha[k0]", "np.float32(lists.line[own_at + 16]) + word.alpha[k0]"),
    Mistake("topic lists: own topic counted outside too", TOPIC_LISTS, "(own + inside + (word.mass[rest] - mass0))", "(own + inside + word.mass[rest])"),
    Mistake("topic lists: own topic drawn outside", TOPIC_LISTS, "        word.mass[k0 >> PART_BITS] -= mass0\n", ""),
    Mistake("topic lists: numbers of a list ignored", TOPIC_LISTS, "lanes.mul(number, lanes.gather(word.phi, lists.line, at))", "lanes.gather(word.phi, lists.line, at)"),
    Mistake("topic lists: only the first line is searched", TOPIC_LISTS, "line += word.listed[16 * j + lane] <= bound", "line += 0"),
    Mistake("topic lists: lanes before the drawn one not taken off", TOPIC_LISTS, "bound -= lanes.get(upto, lane) - lanes.get(sums, lane)", "bound -= _ZERO"),
    Mistake("topic lists: parts before the drawn one not taken off", TOPIC_LISTS, "        left -= word.mass[s]\n", ""),
    Mistake("topic lists: alpha forgotten outside", TOPIC_LISTS, "lanes.mul(lanes.load(word.alpha, first + j), lanes.load(word.phi, first + j))", "lanes.load(word.phi, first + j)"),
    Mistake("topic lists: an emptied place keeps its topic", LINES, "    if lists.line[at + 16] == 0:\n", "    if False:\n"),
    Mistake("topic lists: a new topic not searched in the list", LINES, "    at = find(lists, d, k)\n    if at < 0:", "    at = -1\n    if at < 0:"),
    Mistake("topic lists: mass of moved tokens stale", TOPIC_LISTS, "        word.mass[rest] += change\n", ""),
    Mistake("topic lists: mass of a part stale", TOPIC_LISTS, "    word.mass[k >> PART_BITS] += change\n", ""),
    Mistake("topic lists: a word's topics stay open", TOPIC_LISTS, "    for j in range(n_opened):\n", "    for j in range(0):\n"),
    Mistake("topic lists: topics of new tokens stay open", TOPIC_LISTS, "    for i in range(first, last):\n        k = np.int64(topic_of[i])\n", "    for i in range(first, first):\n        k = np.int64(topic_of[i])\n"),
    Mistake("topic lists: another word's beta", TOPIC_LISTS, "if r % _REFRESH == 0 or priors.beta[runs.word[r - 1]] != beta:", "if r % _REFRESH == 0:"),
    Mistake("topic lists: tokens lost when the kernel changes", "src/topoi/models/author_topic/shards.py", "        self.topic[:] = topic[order]\n", "        self.topic[:] = topic\n"),
]  # fmt: skip
MISTAKES += [mistake._replace(family="topic_lists") for mistake in LIST_MISTAKES]

WORD_LISTS, LISTED_WORDS = (
    "src/topoi/models/author_topic/word_lists.py",
    "src/topoi/models/author_topic/listed_words.py",
)
TESTS["word_lists"] = ["test_word_lists.py"]
FOLDERS["word_lists"] = "author_topic"
WORD_LIST_MISTAKES = [
    Mistake("word lists: own word still counted", WORD_LISTS, "word = (number - _ONE + priors.beta[w])", "word = (number + priors.beta[w])"),
    Mistake("word lists: own topic's total still counted", WORD_LISTS, "* document.inverses.less[k0]", "* document.inverses.now[k0]"),
    Mistake("word lists: own token still its author's", WORD_LISTS, "document.bound[q] * (number - own + priors.alpha[k])", "document.bound[q] * (number + priors.alpha[k])"),
    Mistake("word lists: own topic counted outside too", WORD_LISTS, "priors.beta[w] * (document.mass[-1] - side0)\n    kept", "priors.beta[w] * document.mass[-1]\n    kept"),
    Mistake("word lists: own topic drawn outside", WORD_LISTS, "    document.mass[k0 >> PART_BITS] -= side0\n", ""),
    Mistake("word lists: numbers of a list ignored", WORD_LISTS, "lanes.mul(number, lanes.gather(document.side, lists.line, at))", "lanes.gather(document.side, lists.line, at)"),
    Mistake("word lists: groups of eight lines never passed", WORD_LISTS, "line += 8 * (listed[16 * j + lane] <= bound)", "line += 0"),
    Mistake("word lists: only the first line of eight is searched", WORD_LISTS, "        line += listed[16 * j + lane] <= bound\n", "        line += 0\n"),
    Mistake("word lists: lanes before the drawn one not taken off", WORD_LISTS, "bound - (lanes.get(upto, lane) - lanes.get(sums, lane))", "bound"),
    Mistake("word lists: parts before the drawn one not taken off", WORD_LISTS, "        left -= document.mass[s]\n", ""),
    Mistake("word lists: every pair is kept", WORD_LISTS, "return q, low_float(bits) * document.bound[q] < factor", "return q, True"),
    Mistake("word lists: bounds outlast lost tokens", WORD_LISTS, "if document.stale[0] or counts.author[author] - 1.0 < document.fewest[q0]:", "if document.stale[0]:"),
    Mistake("word lists: the own author's bound counts the token", WORD_LISTS, "            document.fewest[q] = n - 1.0\n", ""),
    Mistake("word lists: the own author's factor counts the token", WORD_LISTS, "-1.0 if q == q0 else 0.0)\n    return q", "0.0)\n    return q"),
    Mistake("word lists: the left topic's side stale", WORD_LISTS, "    _set_side(documents, d, counts, priors, document, k0)\n", ""),
    Mistake("word lists: the joined topic's side stale", WORD_LISTS, "        _set_side(documents, d, counts, priors, document, k)\n", "        pass\n"),
    Mistake("word lists: mass of moved tokens stale", WORD_LISTS, "    document.mass[-1] += change\n", ""),
    Mistake("word lists: mass of a part stale", WORD_LISTS, "    document.mass[k >> PART_BITS] += change\n", ""),
    Mistake("word lists: documents open with the last one's side", WORD_LISTS, "    document.stale[0] = 1\n    for i", "    for i"),
    Mistake("word lists: authors' totals never move", WORD_LISTS, "        counts.author[after] += 1.0\n", ""),
    Mistake("word lists: a word's joined topic not counted", WORD_LISTS, "        lines.add(lists, w, k)\n", "        pass\n"),
    Mistake("word lists: tokens of other shards forgotten", LISTED_WORDS, "    for w in range(times.shape[0]):\n        if lists.first[w] >= 0 and here", "    for w in range(0):\n        if lists.first[w] >= 0 and here"),
    Mistake("word lists: left topics stay in the counts", LISTED_WORDS, "word_topic[w, words.before[n]] = _ZERO", "pass"),
    Mistake("word lists: sixteen bits may overflow", LISTED_WORDS, "if here[w] > 0 and times[w] <= _LARGEST_UINT16:", "if here[w] > 0:"),
]  # fmt: skip
MISTAKES += [mistake._replace(family="word_lists") for mistake in WORD_LIST_MISTAKES]

DIRICHLET, PRIORS = "src/topoi/kernels/dirichlet.py", "src/topoi/models/author_topic/priors.py"
TESTS["priors"] = ["test_dirichlet.py", "test_priors.py"]
FOLDERS["priors"] = "author_topic"
PRIOR_MISTAKES = [
    Mistake("learning: the prior's rate forgotten", DIRICHLET, ".sum() + prior.rate", ".sum()"),
    Mistake("learning: the prior pulls each parameter as if it were the sum", DIRICHLET, "pull = (prior.shape - 1.0) / total", "pull = (prior.shape - 1.0) / alpha"),
    Mistake("learning: the prior's pull once, not for each parameter", DIRICHLET, "(gains.sum() + histogram.n_columns * pull)", "(gains.sum() + pull)"),
    Mistake("learning: the mode is shape over rate", DIRICHLET, "pull = (prior.shape - 1.0) / total", "pull = prior.shape / total"),
    Mistake("priors: as many authors, no more weight", PRIORS, "_around(PAPER_SUM, _LEAST_WORTH + n_authors)", "_around(PAPER_SUM, _LEAST_WORTH)"),
    Mistake("priors: alpha that is given is learned", PRIORS, 'prior == "auto" and alpha is None and', 'prior == "auto" and'),
    Mistake("priors: an update decides about private authors anew", "src/topoi/models/author_topic/estimator.py", "self.get_params(deep=False) | chosen)._make_sampler", "self.get_params(deep=False))._make_sampler"),
    Mistake("priors: a file does not say what was decided", "src/topoi/models/author_topic/estimator.py", "return super()._settings_of_fit() | chosen", "return super()._settings_of_fit()"),
]  # fmt: skip
MISTAKES += [mistake._replace(family="priors") for mistake in PRIOR_MISTAKES]

PHANTOMS, TOLD, GUIDED_START = (
    f"src/topoi/{path}.py" for path in ("models/guidance/phantoms", "models/guidance/documents", "kernels/guided")
)
AUTHOR_STATE = "src/topoi/models/author_topic/state.py"
TESTS["guidance"] = ["test_guidance.py"]
FOLDERS["guidance"] = "models"
GUIDANCE_MISTAKES = [
    Mistake("guidance: phantoms forgotten in topics' totals", PHANTOMS, "counts.topic[...] += self.totals(beta)\n        self._ban", "self._ban"),
    Mistake("guidance: beta of banned words still in the totals", PHANTOMS, "found - np.rint(lost / _GRID) * _GRID", "found"),
    Mistake("guidance: stored documents have all topics", AUTHOR_PRIOR, "np.where(shares == 0.0, np.inf, rows.topic)", "rows.topic"),
    Mistake("guidance: banned words keep their beta", PHANTOMS, "= -np.asarray(beta, np.float32)[self.banned_word]\n", "= 0.0\n"),
    Mistake("guidance: phantoms forgotten after a recount", AUTHOR_STATE, "            self.guidance.phantoms.add_to(chain.counts, chain.priors.beta)\n", "            pass\n"),
    Mistake("guidance: bans keep an old beta", AUTHOR_STATE, "            self.guidance.phantoms.change_beta(chain.counts, before.beta, chain.priors.beta)\n", "            pass\n"),
    Mistake("guidance: phantoms are data for beta", AUTHOR_STATE, "here = words[w] & topics[k]", "here = values > 0"),
    Mistake("guidance: the log joint counts phantoms", AUTHOR_STATE, "found - told.phantoms.log_constant(priors.beta, priors.beta_sum)", "found"),
    Mistake("guidance: labels ignored by the kernel", KERNELS, "scratch.sides[q, k] = side * scratch.allowed[k]", "scratch.sides[q, k] = side"),
    Mistake("guidance: labels of the document before", KERNELS, "        _allow(scratch, sets, doc_set[d])\n        _sweep_document", "        _sweep_document"),
    Mistake("guidance: tokens begin where they may not be", GUIDED_START, "weights[j] = allowed[j] if own[j] >= 0 else 0.0", "weights[j] = 1.0"),
    Mistake("guidance: restored chains are not repaired", AUTHOR_STATE, "topic = self.guidance.repaired(self._corpus, topic, (0, index, 0))", "pass"),
    Mistake("guidance: labels do not follow their documents", TOLD, "values = [given.get(key) for key in corpus.documents[\"id\"].tolist()]", "values = [*given.values(), *[None] * corpus.n_docs][: corpus.n_docs]"),
    Mistake("guidance: a topic that may not be had is drawn for a pair of authors", KERNELS, "            k = k0\n            q = q0\n", "            pass\n"),
    Mistake("guidance: a view forgets phantoms", "src/topoi/store/counts.py", "        if not rows:\n            return None\n        shape", "        if True:\n            return None\n        shape"),
    Mistake("guidance: mixtures of labelled documents have all topics", AUTHOR_PRIOR, "return np.asarray(self.alpha * told.allowed[told.doc_set[first:last]])", "return np.broadcast_to(self.alpha, (last - first, self.n_topics))"),
]  # fmt: skip
MISTAKES += [mistake._replace(family="guidance") for mistake in GUIDANCE_MISTAKES]


def add_mistakes_of_families() -> None:
    """Read ``tests/<family>/mistakes.py``: ``TESTS``, the files that must notice, and ``MISTAKES``."""
    for path in sorted((ROOT / "tests").glob("*/mistakes.py")):
        family, given = path.parent.name, runpy.run_path(str(path))
        TESTS[family] = given["TESTS"]
        MISTAKES.extend(Mistake(*mistake, family=family) for mistake in given["MISTAKES"])


add_mistakes_of_families()


class Project:
    """A copy of the project whose compiled kernels are kept from one mistake to the next, where that is safe.

    numba compiles a kernel anew when its own file changes, but not when a helper from another file does. So a mistake
    takes away what was compiled from its file and from every file that imports that one, however indirectly.
    """

    def __init__(self, folder: Path, root: Path = ROOT, *ignored: str) -> None:
        self.folder = folder
        self.importers = _importers()
        self.seconds: dict[str, float] = {}  # per family: that the unbroken tests took
        for part in ("src", "studies", "tests"):  # tests of studies import them
            shutil.copytree(root / part, folder / part, ignore=shutil.ignore_patterns(*ignored or ["__pycache__"]))
        shutil.copy2(root / "pyproject.toml", folder)

    def copy(self, folder: Path) -> Project:
        """Another copy, with all that has been compiled."""
        other = Project(folder, self.folder, "*.pyc")
        other.seconds = self.seconds
        return other

    def check_unbroken(self, family: str) -> None:
        """Run a family's tests with no mistake in place, and keep the time that they take."""
        started = time.monotonic()
        if failure := self.first_failure(family, seconds=3600):
            raise SystemExit(f"the unbroken project fails: {failure}")
        self.seconds[family] = time.monotonic() - started

    def first_failure(self, family: str, seconds: float, only: Sequence[str] = (), marked: str = "not slow") -> str:
        """The first test of a family that fails, or an empty string; tests that do not end in so many seconds fail.

        ``only`` are tests to run in place of all that are ``marked`` so, as earlier answers have them.
        """
        environment = {name: value for name, value in os.environ.items() if name != "NUMBA_CACHE_DIR"}
        folder = f"tests/{FOLDERS.get(family, family)}"
        tests = only or TESTS[family]
        try:
            result = subprocess.run(
                [
                    sys.executable,
                    "-m",
                    "pytest",
                    "-x",
                    "-q",
                    "--no-header",
                    *("-m", "slow or not slow" if only else marked),
                    *(f"{folder}/{test}" for test in tests),
                ],
                cwd=self.folder,
                env=environment | {"PYTHONPATH": str(self.folder / "src"), "PYTHONDONTWRITEBYTECODE": "1"},
                capture_output=True,
                text=True,
                check=False,
                timeout=seconds,
            )
        except subprocess.TimeoutExpired:
            # Slow tests may be slow for another reason.
            return "" if marked == "slow" else f"the tests did not end in {seconds:.0f} s"
        if result.returncode == 0:
            return ""
        if (only or marked == "slow") and result.returncode in _NO_SUCH_TEST:  # none, or of another name now
            return ""
        found = re.search(r"^(?:FAILED|ERROR) (\S+\.py(?:::.+?)?)(?: - .*)?$", result.stdout, re.MULTILINE)
        return (
            found[1].removeprefix(f"{folder}/")
            if found
            else "the tests did not run: " + result.stdout[-300:] + result.stderr[-300:]
        )

    def notice(self, mistake: Mistake, likely: Sequence[str] = ()) -> str:
        """The first test that fails with the mistake in place, or an empty string; the mistake is taken back.

        ``likely`` are the tests to try first, one after the other.
        """
        path = self.folder / mistake.file
        right = path.read_text(encoding="utf-8")
        if mistake.right not in right:
            raise SystemExit(f"{mistake.file} no longer has the line of {mistake.what!r}: bring this list up to date")
        times = path.stat()
        self._forget_compiled(mistake.file, keep=True)
        path.write_text(right.replace(mistake.right, mistake.wrong), encoding="utf-8")
        most = max(_LEAST_SECONDS, _SLOWER * self.seconds[mistake.family])
        try:
            for test in likely:
                if failure := self.first_failure(mistake.family, most, [test]):
                    return failure
            return self.first_failure(mistake.family, most) or self.first_failure(
                mistake.family, _SLOW_SECONDS, marked="slow"
            )
        finally:
            path.write_text(right, encoding="utf-8")
            os.utime(path, ns=(times.st_atime_ns, times.st_mtime_ns))
            self._forget_compiled(mistake.file, keep=False)

    def _forget_compiled(self, file: str, *, keep: bool) -> None:
        """Set aside what was compiled from a file and its importers (keep), or put that back in place of what is there."""
        aside = self.folder / "aside"
        if keep:
            aside.mkdir()
        for compiled in self._compiled_from(file):
            if keep:
                target = aside / compiled.relative_to(self.folder)
                target.parent.mkdir(parents=True, exist_ok=True)
                compiled.replace(target)
            else:
                compiled.unlink()
        if not keep:
            for compiled in aside.rglob("*.nb?"):
                compiled.replace(self.folder / compiled.relative_to(aside))
            shutil.rmtree(aside)

    def _compiled_from(self, file: str) -> list[Path]:
        """What numba has made of a file and its importers; of all tests, whose own kernels may call anything."""
        found = list((self.folder / "tests").rglob("*.nb[ic]"))
        for name in self.importers[file]:
            path = self.folder / name
            found += (path.parent / "__pycache__").glob(f"{path.stem}.*.nb[ic]")
        return found


def _importers() -> dict[str, set[str]]:
    """Per source file: itself and every source file that imports it, directly or through others."""
    files = {_module(path): str(path.relative_to(ROOT)) for path in (ROOT / "src").rglob("*.py")}
    direct: dict[str, set[str]] = {file: set() for file in files.values()}
    for file in files.values():
        for name in _imported(ast.parse((ROOT / file).read_text(encoding="utf-8"))):
            if name in files:
                direct[files[name]].add(file)
    return {file: _reach(file, direct) for file in direct}


def _imported(tree: ast.Module) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield node.module
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def _reach(file: str, direct: dict[str, set[str]]) -> set[str]:
    reached, waiting = {file}, [file]
    while waiting:
        new = direct[waiting.pop()] - reached
        reached |= new
        waiting.extend(new)
    return reached


def _module(path: Path) -> str:
    parts = path.relative_to(ROOT / "src").with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


class Record:
    """Which test noticed each mistake the last time, and in which state of the files; kept in a file."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.found: dict[str, dict[str, str]] = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
        self._lock = Lock()

    def is_known(self, mistake: Mistake) -> bool:
        """Whether a test has noticed the mistake, and neither its file nor that of the mistake is another one now."""
        row = self.found.get(_name(mistake), {})
        return bool(row.get("noticed_by")) and row.get("digest") == digest_of(mistake, row["noticed_by"])

    def likely(self, mistake: Mistake) -> list[str]:
        """The test that noticed the mistake the last time; of a new one, those that noticed most in its file or family."""
        known = self.found.get(_name(mistake), {}).get("noticed_by", "")
        if known:
            return [known] if _IS_TEST.match(known) else []
        alike = [other for other in MISTAKES if other.family == mistake.family]
        near = Counter(self._noticed_by(other) for other in alike if other.file == mistake.file)
        all_of_them = Counter(self._noticed_by(other) for other in alike)
        tests = [
            test for test, _ in (near.most_common(_TRIED) + all_of_them.most_common(_TRIED)) if _IS_TEST.match(test)
        ]
        return list(dict.fromkeys(tests))[:_TRIED]

    def _noticed_by(self, mistake: Mistake) -> str:
        return self.found.get(_name(mistake), {}).get("noticed_by", "")

    def add(self, mistake: Mistake, test: str) -> None:
        """Keep what noticed a mistake."""
        with self._lock:
            self.found[_name(mistake)] = {"noticed_by": test, "digest": digest_of(mistake, test)}
            self.path.write_text(json.dumps(self.found, indent=1, sort_keys=True) + "\n", encoding="utf-8")


def _name(mistake: Mistake) -> str:
    return f"{mistake.family}: {mistake.what}"


def digest_of(mistake: Mistake, noticed_by: str, root: Path = ROOT) -> str:
    """Digest of a mistake, the file that it is made in, and the file of the test that noticed it (or all of the family)."""
    folder = root / "tests" / FOLDERS.get(mistake.family, mistake.family)
    tests = [noticed_by.partition("::")[0]] if _IS_TEST.match(noticed_by) else TESTS[mistake.family]
    digest = hashlib.sha256("\0".join(mistake).encode())
    for path in (root / mistake.file, *(folder / test for test in tests)):
        digest.update(b"\0" + (path.read_bytes() if path.exists() else b""))
    return digest.hexdigest()[:16]


def main() -> None:
    """Run every mistake, and the unbroken project first."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", default="", help="only mistakes whose description has this in it")
    parser.add_argument("--family", default="", choices=["", *TESTS], help="only mistakes in this family")
    parser.add_argument("--jobs", type=int, default=1, help="so many at a time, each in a copy of its own")
    parser.add_argument("--record", type=Path, default=NOTICED, metavar="FILE", help="what noticed each mistake before")
    parser.add_argument("--anew", action="store_true", help="also those that were noticed before")
    parser.add_argument("--families", action="store_true", help="only print the families, as JSON")
    arguments = parser.parse_args()
    if arguments.families:
        print(json.dumps(list(TESTS)))
        return
    chosen = [mistake for mistake in MISTAKES if arguments.only in mistake.what and arguments.family in mistake.family]
    record = Record(arguments.record)
    waiting = [mistake for mistake in chosen if arguments.anew or not record.is_known(mistake)]
    unnoticed = 0
    for mistake, failure in _tried(waiting, arguments.jobs, record):
        unnoticed += not failure
        print(f"{mistake.what:55s} {failure or 'NOT NOTICED'}", flush=True)
    before = f" ({len(chosen) - len(waiting)} noticed in earlier runs)" if len(waiting) < len(chosen) else ""
    print(f"{len(chosen)} mistakes, {unnoticed} not noticed{before}")
    sys.exit(unnoticed > 0)


def _tried(mistakes: list[Mistake], n_jobs: int, record: Record) -> Iterator[tuple[Mistake, str]]:
    """Every mistake with the test that notices it, or an empty string; several at a time, in order."""
    with tempfile.TemporaryDirectory() as name, ThreadPoolExecutor(n_jobs) as pool:
        first = Project(Path(name) / "0")
        for family in dict.fromkeys(mistake.family for mistake in mistakes):
            first.check_unbroken(family)
        free = Queue[Project]()
        for project in (first, *(first.copy(Path(name) / str(job)) for job in range(1, n_jobs))):
            free.put(project)

        def notice(mistake: Mistake) -> str:
            project = free.get()
            try:
                failure = project.notice(mistake, record.likely(mistake))
            finally:
                free.put(project)
            record.add(mistake, failure)
            return failure

        yield from zip(mistakes, pool.map(notice, mistakes), strict=True)


if __name__ == "__main__":
    main()
