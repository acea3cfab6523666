"""Mistakes that the tests of this folder must notice: what it is, file, right line, wrong line.

Tried by ``studies/broken_kernels.py``.
"""

FAMILY = "src/topoi/models/aspect/"
FIXED_TOPICS = "src/topoi/models/fixed_topics/"
CORRECTED = FIXED_TOPICS + "corrected.py"
EP = FIXED_TOPICS + "ep.py"
IMPORTANCE = FIXED_TOPICS + "importance.py"
INFERENCE = FIXED_TOPICS + "inference.py"
LEARNING = FAMILY + "learning.py"
UPDATES = FAMILY + "updates.py"
VB = FIXED_TOPICS + "vb.py"
DIRICHLET = "src/topoi/kernels/dirichlet.py"
SPECIAL = "src/topoi/kernels/special.py"
TESTS = ["test_corrected.py", "test_inference.py", "test_learning.py", "test_importance.py", "test_estimator.py"]
MISTAKES = [
    ("EP: the variance of shares left out", EP, "below = (varied + choice * whole) * whole", "below = varied * whole"),
    ("EP: one word too few in the variance", EP, "((size + 2.0) * whole * varied - below)", "((size + 1.0) * whole * varied - below)"),
    ("EP: the site is not taken out", EP, "            g = doubles.sub(now, site)\n", "            g = now\n"),
    ("EP: copies of a word not counted", EP, "doubles.mul(doubles.splat(bags.times[i]), step)", "step"),
    ("EP: the second of a pair has the first one's sums", EP, "scratch.scale[k - first], scratch.grow[k - first] = inverse1, factor1", "scratch.scale[k - first], scratch.grow[k - first] = inverse0, factor0"),
    ("EP: failed steps are not undone", EP, "doubles.store(sites, (i - at) * width + a, doubles.load(scratch.before, (i - first) * width + a))", "pass"),
    ("EP: cavities may be negative", EP, "if doubles.smallest(least) >= 0.0 and change < np.inf:", "if change < np.inf:"),
    ("EP: skipped words not counted", EP, "                skipped += 1\n", "                skipped += 0\n"),
    ("EP: evidence without the terms' integrals", EP, "(math.log(mass / without) + log_beta(g, n) - whole)", "(log_beta(g, n) - whole)"),
    ("EP: evidence without the prior", EP, "result = whole - log_beta(parameters.alpha, n)", "result = whole"),
    ("EP: no cavity, no height", EP, "(math.log(mass / total) - height)", "(math.log(mass / total) + 50.0)"),
    ("EP: warm sites are thrown away", EP, "if not (warm and kept) or not set_posterior", "if True or not set_posterior"),
    ("VB: mean instead of geometric mean", VB, "weight[a] = math.exp(weight[a] - largest)", "weight[a] = gamma[a]"),
    ("VB: prior forgotten", VB, "new[a] = parameters.alpha[a] + new[a] * weight[a]", "new[a] = 1e-9 + new[a] * weight[a]"),
    ("VB: bound without the expected logs", VB, "result -= (new[a] - parameters.alpha[a]) * (digamma(gamma[a]) - largest)", "result -= 0.0"),
    ("digamma: a term of the series", SPECIAL, "1.0 / 252", "1.0 / 225"),
    ("M-step: the curvature left out", UPDATES, "factor = doubles.add(first, doubles.mul(second, spread))", "factor = doubles.add(first, second)"),
    ("M-step: the cursor stays", UPDATES, "            _add_second_order(p, w, count[i], gamma, d, width, new)\n            cursor[w] += 1", "            _add_second_order(p, w, count[i], gamma, d, width, new)\n            cursor[w] = by_word.start[w + 1]"),
    ("M-step: counts ignored", UPDATES, "_add_tilted(p, w, count[i], gamma", "_add_tilted(p, w, 1.0, gamma"),
    ("M-step: cavity not used", UPDATES, "g = doubles.sub(doubles.load(gamma, d * width + a), doubles.load(sites, j * width + a))\n        given", "g = doubles.load(gamma, d * width + a)\n        given"),
    ("learning: sites of the wrong part", LEARNING, "at = 0 if self.keeps_sites else int(bags.doc_start[first])", "at = 0"),
    ("learning: dead aspects lose their words", LEARNING, "words = np.where(alive, words / np.where(alive, total, 1.0), old)", "words = words / np.maximum(total, 1e-300)"),
    ("learning: alpha by the mean, not the log", LEARNING, "mean_log = (digamma(gamma) - digamma(gamma.sum(axis=1, keepdims=True))).mean(axis=0)", "mean_log = np.log(gamma / gamma.sum(axis=1, keepdims=True)).mean(axis=0)"),
    ("Newton: wrong sign of what is shared", DIRICHLET, "step = (gradient + shared) / curve", "step = (gradient - shared) / curve"),
    ("importance: half the weight of the proposal", IMPORTANCE, "beyond = log_rest + _log_density(draw, gamma[d], n, norm) - prior", "beyond = log_rest + 0.5 * (_log_density(draw, gamma[d], n, norm) - prior)"),
    ("importance: draws from the prior not counted", IMPORTANCE, "math.log(math.exp(log_share - top) + math.exp(beyond - top))", "math.log(math.exp(beyond - top) + 1e-300)"),
    ("importance: standard error of one draw", IMPORTANCE, "math.sqrt(variance / max(n_samples - 1, 1)) / mean", "math.sqrt(variance) / mean"),
    ("corrected: pairs of one word counted as of two", CORRECTED, "bags.times[i] * (bags.times[i] - 1.0) / 2.0 if i == j", "bags.times[i] * bags.times[i] / 2.0 if i == j"),
    ("corrected: both words from the same aspect forgotten", CORRECTED, "first * second + both", "first * second"),
    ("corrected: the sum's own difference forgotten", CORRECTED, "(grown - mixed_difference(total, mine, other))", "grown"),
    ("corrected: means without the second word", CORRECTED, "(p[a] * second + q[a] * first + 2.0 * p[a] * q[a]) / mass", "(p[a] * second + q[a] * first) / mass"),
    ("corrected: sites match the cavity, not the term", CORRECTED, "+ p[a] / mass - digamma(size + 1.0)", "- digamma(size)"),
    ("corrected: a site moves with all copies", CORRECTED, "sites[j, a] += step / times", "sites[j, a] += step"),
    ("corrected: expansion of the wrong order", SPECIAL, "(b * b + c * c) / 24.0 * bend", "0.0 * bend"),
    ("gamma: shape not taken down", SPECIAL, "+ math.log(1.0 - uniform(stream)) / shape", ""),
    ("inference: impossible words leave evidence", INFERENCE, "found[impossible] = -np.inf if evidence else np.nan", "pass"),
]  # fmt: skip
