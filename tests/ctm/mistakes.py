"""Mistakes that the tests of this folder must notice: what it is, file, right line, wrong line.

Tried by ``studies/broken_kernels.py``.
"""

FAMILY = "src/topoi/models/ctm/"
INFERENCE = FAMILY + "inference.py"
KERNELS = FAMILY + "kernels.py"
NORMAL = FAMILY + "normal.py"
SAMPLER = FAMILY + "sampler.py"
DRAWS = "src/topoi/models/draws.py"
TESTS = ["test_steps.py", "test_model.py", "test_joint.py"]
MISTAKES = [
    ("ctm: own word still counted", KERNELS, "np.float32(counts.word_topic[w, k0]) - _ONE + words.beta[w]", "np.float32(counts.word_topic[w, k0]) + words.beta[w]"),
    ("ctm: own topic still counted", KERNELS, "inverses.less[k0] * (scratch.side", "inverses.now[k0] * (scratch.side"),
    ("ctm: all documents have the first one's eta", KERNELS, "            set_power(state.eta, d, scratch.power)\n        gain", "            set_power(state.eta, 0, scratch.power)\n        gain"),
    ("ctm: sides stale", KERNELS, "            scratch.sides[k] = scratch.side[k] * inverses.now[k]\n", ""),
    ("ctm: components see the others as they were", KERNELS, "pull[j] += (new - now) * precision[k, j]", "pull[j] += 0.0"),
    ("ctm: mean ignored", KERNELS, "apart = eta[d, k] - mean[k]", "apart = eta[d, k]"),
    ("ctm: a topic is its own rival", KERNELS, "rest = total - power[k]", "rest = total"),
    ("ctm: sum of rivals stale", KERNELS, "total = rest + power[k]", "total = total + 0.0"),
    ("ctm: prior twice as narrow", KERNELS, "height = own * x - 0.5 * precision", "height = own * x - precision"),
    ("ctm: proposals always accepted", KERNELS, "<= gap - bound", "<= 1.0"),
    ("ctm: right tail too short", KERNELS, "x = last + math.log(max(v, _TINY)) / fall", "x = last + 0.5 * math.log(max(v, _TINY)) / fall"),
    ("ctm: left tail too short", KERNELS, "x = first + math.log(u / area_left) / rise", "x = first + 0.5 * math.log(u / area_left) / rise"),
    ("ctm: eta not centred", KERNELS, "eta[d, k] -= middle / n_topics", "eta[d, k] -= 0.0"),
    ("ctm: one token too few", KERNELS, "number[np.int64(topic[i])] += 1.0", "number[np.int64(topic[i])] += 0.9"),
    ("ctm: degrees of freedom do not fall", NORMAL, "hyper.freedom + n - np.arange(size)", "hyper.freedom + n + 0 * np.arange(size)"),
    ("ctm: scale of the prior", NORMAL, "hyper.variance * (hyper.freedom - n_topics)", "hyper.variance * hyper.freedom"),
    ("ctm: mean drawn too narrow", NORMAL, "/ math.sqrt(weight)", "/ weight"),
    ("ctm: scatter about zero", NORMAL, " - np.outer(total, total) / weight", ""),
    ("ctm: Bartlett's triangle has no normals", NORMAL, "bartlett = normal + ", "bartlett = 0 * normal + "),
    ("ctm: particles see the word before they predict it", INFERENCE, "_pass(phi, i, eta, p", "_pass(phi, i + 1, eta, p"),
    ("ctm: particles not weighted", INFERENCE, "weight[p] *= mass[p] / estimate", "weight[p] *= 1.0"),
    ("ctm: particles all begin at the mean", INFERENCE, "eta[p, k] += x * root[j, k]", "eta[p, k] += 0.0"),
    ("ctm: survivors forgotten", INFERENCE, "= eta[source, k], shares[source, k]", "= eta[p, k], shares[p, k]"),
    ("ctm: scores without shares", INFERENCE, "scores[i] += weight * scratch.power[k] * wanted[i, k]", "scores[i] += weight * wanted[i, k]"),
    ("ctm: sums of shares never begin anew", SAMPLER, "        shares[:] = 0.0\n", ""),
    ("ctm: draws of other topics are used", DRAWS, "second_half & (self.sweeps > since)", "second_half"),
]  # fmt: skip
