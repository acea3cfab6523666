"""Mistakes that the tests of this folder must notice: what it is, file, right line, wrong line.

Tried by ``studies/broken_kernels.py``.
"""

FAMILY = "src/topoi/models/kernel_topic/"
EVIDENCE = FAMILY + "evidence.py"
FITTING = FAMILY + "fitting.py"
FOLDING_IN = FAMILY + "folding_in.py"
GAUSSIAN_PROCESS = FAMILY + "gaussian_process.py"
GP_ITERATIVE = FAMILY + "gp_iterative.py"
KERNELS = FAMILY + "kernels.py"
LAPLACE_BRIDGE = FAMILY + "laplace_bridge.py"
LARGE_PROCESS = FAMILY + "large_process.py"
STRUCTURED_OPERATORS = FAMILY + "structured_operators.py"
TESTS = [
    "test_word_shares.py",
    "test_laplace_bridge.py",
    "test_gaussian_process.py",
    "test_evidence.py",
    "test_learning.py",
    "test_structured_operators.py",
    "test_gp_iterative.py",
    "test_folding_in.py",
    "test_large.py",
    "test_estimator.py",
]
MISTAKES = [
    ("kernel: a word's own share stays in the counts", KERNELS, "(max(word_topic[w, k] - own, 0.0) + beta)", "(max(word_topic[w, k], 0.0) + beta)"),
    ("kernel: copies of a word not counted", KERNELS, "change = n * (share - shares[i, k])", "change = share - shares[i, k]"),
    ("kernel: the bridge as printed", LAPLACE_BRIDGE, "own = mean + logsumexp(-mean", "own = -mean + logsumexp(-mean"),
    ("kernel: sites without their bend", GAUSSIAN_PROCESS, "return Sites(weight, total, bent + counts - weight)", "return Sites(weight, total, weight + counts - weight)"),
    ("kernel: topics not coupled in the mean", GAUSSIAN_PROCESS, "back[:, k] + gain[k] @ common", "back[:, k]"),
    ("kernel: evidence without the coupling's determinant", GAUSSIAN_PROCESS, "+ 2.0 * np.log(np.diag(joint)).sum() - np.log(sites.total).sum()", ""),
    ("kernel: bands without the other topics", GAUSSIAN_PROCESS, "shared = np.einsum(\"ij,ij->j\", one, other)", "shared = 0.0 * one[0]"),
    ("kernel: slope of the evidence without the coupling", EVIDENCE, "- found.gain[k] + half.T @ half", "- found.gain[k]"),
    ("kernel: no priors of hyper-parameters", EVIDENCE, "away = np.zeros_like(x) if about is None else (x - about) / _PRIOR_SPREAD", "away = np.zeros_like(x)"),
    ("kernel: pairs that share a name have nothing beyond", STRUCTURED_OPERATORS, "return self.kernel.profile(near) - self.kernel.profile(far)", "return 0.0 * near"),
    ("kernel: what the factor leaves is lost", STRUCTURED_OPERATORS, "        found += self.rest[:, None] * columns\n", ""),
    ("kernel: Newton without the prior's pull", GP_ITERATIVE, "slope = counts - weight - a", "slope = counts - weight"),
    ("kernel: steps that stop too early", GP_ITERATIVE, "_STEP_TOLERANCE, _START_TOLERANCE, _MOST_ITERATIONS = 1e-6, 1e-9, 400", "_STEP_TOLERANCE, _START_TOLERANCE, _MOST_ITERATIONS = 1e-1, 1e-1, 1"),
    ("kernel: topics not coupled in covariances", LARGE_PROCESS, "found = seen @ np.linalg.solve(gain.sum(axis=0), seen.T)", "found = 0.0 * seen @ seen.T"),
    ("kernel: words all alike are thought to tell topics", FOLDING_IN, "        bend[d] += weighed[mine].T @ r[mine]\n", "        pass\n"),
    ("kernel: a draw of y without the words' part", GAUSSIAN_PROCESS, "linear=noise + np.stack(", "linear=0.0 * noise + np.stack("),
    ("kernel: a draw of y without the prior's part", GAUSSIAN_PROCESS, "cholesky.solve(factor, factor @ plain[:, k])", "cholesky.solve(factor, 0.0 * plain[:, k])"),
    ("kernel: noise learned at the mode", FITTING, "y = self.y + self._deviation(", "y = self.y + 0.0 * self._deviation("),
    ("kernel: noise of many documents learned at the mode", LARGE_PROCESS, "found[docs] = deviation(", "found[docs] = 0.0 * deviation("),
    ("kernel: topics drawn without their words", KERNELS, "total += side[d, k] * (word_topic[w, k] + beta) / (topic[k] + beta_sum)", "total += side[d, k]"),
    ("kernel: folding in without the belief", FOLDING_IN, "slope = counts - total[:, None] * mixture - here.pull(now)", "slope = counts - total[:, None] * mixture"),
]  # fmt: skip
