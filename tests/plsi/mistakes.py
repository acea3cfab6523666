"""Mistakes that the tests of this folder must notice: what it is, file, right line, wrong line.

Tried by ``studies/broken_kernels.py``.
"""

FAMILY = "src/topoi/models/plsi/"
FITTING = FAMILY + "fitting.py"
KERNELS = FAMILY + "kernels.py"
MODEL = FAMILY + "model.py"
POSTERIOR = FAMILY + "posterior.py"
TESTS = ["test_em.py", "test_model.py"]
MISTAKES = [
    ("plsi: counts of words ignored", KERNELS, "scale = times[i] / total", "scale = 1.0 / total"),
    ("plsi: documents' tokens not added", KERNELS, "by_document[d, k] += scale * part[k]", "by_document[d, k] = scale * part[k]"),
    ("plsi: topics not normalised", KERNELS, "(by_word[w, k] + smoothing) / total", "by_word[w, k] + smoothing"),
    ("plsi: mixtures ignored in the E-step", KERNELS, "part[k] = word_topic[w, k] * mixture[k]", "part[k] = word_topic[w, k]"),
    ("plsi: power without effect", KERNELS, "part[k] = part[k] ** power", "part[k] = part[k]"),
    ("plsi: the last topics left out of sums", KERNELS, "for k in range(n - n % 4, n):", "for k in range(n, n):"),
    ("plsi: smoothing forgotten in the sum", KERNELS, "total += by_word[w, k] + smoothing", "total += by_word[w, k]"),
    ("plsi: folding in by one step", KERNELS, "for _ in range(n_steps):", "for _ in range(1):"),
    ("plsi: a document begins where the last ended", KERNELS, "doc_topic[d, k] = 1.0 / n_topics", "doc_topic[d, k] = doc_topic[d - 1, k] if d else 1.0 / n_topics"),
    ("plsi: words held out are trained on", FITTING, "_without_zeros(bags, bags.times - held)", "bags"),
    ("plsi: the power never lowered", FITTING, "state.power * self.plan.cooling, False", "state.power, False"),
    ("plsi: tempered EM keeps the last state, not the best", FITTING, "words, mixtures = state.kept or (state.word_topic, state.doc_topic)\n        if", "words, mixtures = state.word_topic, state.doc_topic\n        if"),
    ("plsi: the worst start is kept", MODEL, "best = max(range", "best = min(range"),
    ("plsi: blocks overlap", FITTING, "by_word, by_document[first:last])", "by_word, by_document[: last - first])"),
    ("plsi: new documents have an even prior", POSTERIOR, "return maximise_polya(counts, start, _STEPS, 1e-3, 1e3)", "return np.ones_like(start)"),
]  # fmt: skip
