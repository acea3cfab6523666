"""Mistakes that the tests of this folder must notice: what it is, file, right line, wrong line.

Tried by ``studies/broken_kernels.py``.
"""

FAMILY = "src/topoi/models/hdp/"
KERNELS = FAMILY + "kernels.py"
POSTERIOR = FAMILY + "posterior.py"
SAMPLER = FAMILY + "sampler.py"
NAMED = FAMILY + "named.py"
TESTS = ["test_sampler.py", "test_geweke.py", "test_model.py", "test_guidance.py"]
MISTAKES = [
    ("hdp: own word still counted", KERNELS, "np.float32(counts.word_topic[w, k0]) - _ONE + words.beta[w]", "np.float32(counts.word_topic[w, k0]) + words.beta[w]"),
    ("hdp: own topic still counted in the document", KERNELS, "scratch.row[k0] - _ONE + weights[k0]", "scratch.row[k0] + weights[k0]"),
    ("hdp: no new topics", KERNELS, "n = min(n_topics + 1, most)\n        _open", "n = n_topics\n        _open"),
    ("hdp: the new topic takes the whole stick", KERNELS, "weights[n_topics] = rest * (1.0 - kept)", "weights[n_topics] = rest"),
    ("hdp: sticks broken by the wrong beta", KERNELS, "math.log(1.0 - uniform(stream)) / gamma", "math.log(1.0 - uniform(stream)) * gamma"),
    ("hdp: a new topic's side not set", KERNELS, "            _set_side(weights, scratch, k)\n        _close", "            if k < n_topics - 1:\n                _set_side(weights, scratch, k)\n        _close"),
    ("hdp: the next new topic's side not set", KERNELS, "_set_side(weights, scratch, n_topics)", "pass"),
    ("hdp: more topics than allowed", KERNELS, "n = min(n_topics + 1, most)\n        _open", "n = n_topics + 1\n        _open"),
    ("hdp: a table for every token", KERNELS, "uniform(stream) * (weight + number[k]) < weight", "True"),
    ("hdp: documents share their tables", KERNELS, "            number[topic[i]] = 0\n    return tables", "            number[topic[i]] += 0\n    return tables"),
    ("hdp: gamma without its prior's rate", KERNELS, "return math.exp(log_gamma(stream, shape)) / rate\n\n\n@compiled\ndef draw_gamma_named", "return math.exp(log_gamma(stream, shape))\n\n\n@compiled\ndef draw_gamma_named"),
    ("hdp: gamma's mixture always the larger", KERNELS, "(0.0 if uniform(stream) * (1.0 + odds) < odds else 1.0)", "0.0"),
    ("hdp: alpha's second auxiliary variable forgotten", KERNELS, "shape -= 1.0 if uniform(stream) * (lengths[d] + alpha) < lengths[d] else 0.0", "shape -= 0.0"),
    ("hdp: alpha's first auxiliary variable of another beta", KERNELS, "rate -= _log_beta(alpha + 1.0,", "rate -= _log_beta(alpha,"),
    ("hdp: shares without new topics", KERNELS, "parameters[n] = gamma", "parameters[n] = 1e-9"),
    ("hdp: columns not moved with the topics", KERNELS, "counts.word_topic[w, j] = row[order[j]]", "counts.word_topic[w, j] = row[j]"),
    ("hdp: weights not moved with the topics", SAMPLER, "weights[: len(order)] = priors.weights[order]", "weights[: len(order)] = priors.weights[: len(order)]"),
    ("hdp: samples not renumbered", SAMPLER, "chain.samples = {s: _renumbered(sample, place, topic)", "chain.samples = {s: sample"),
    ("hdp: samples of dead topics kept under their old number", KERNELS, "found[i] = topic[i] if k < 0 else k", "found[i] = sample[i] if k < 0 else k"),
    ("hdp: a wider table loses the weight of new topics", SAMPLER, "wide[: n_topics + 1] = weights[: n_topics + 1]", "wide[:n_topics] = weights[:n_topics]"),
    ("hdp: shares drawn given another alpha", SAMPLER, "weights[: n_topics + 1] = alpha * kernels", "weights[: n_topics + 1] = priors.alpha * kernels"),
    ("hdp: new documents have an even prior", POSTERIOR, "make_priors(chain.priors.means,", "make_priors(np.full(n_topics, chain.priors.means.mean()),"),
    ("hdp, named: no phantom tables", SAMPLER, "tables[:n_named] += 1", "tables[:n_named] += 0"),
    ("hdp, named: gamma as if no topic had a name", KERNELS, "_log_beta(gamma + n_named, np", "_log_beta(gamma, np"),
    ("hdp, named: named topics count as found by gamma", SAMPLER, "sizes = n_named, n_topics - n_named, n_tables", "sizes = n_named, n_topics, n_tables"),
    ("hdp, named: topics with a name are numbered by size too", SAMPLER, "order = np.concatenate([np.arange(n_named), order])", "order = np.concatenate([np.arange(n_named)[::-1], order])"),
    ("hdp, named: pinned words in new topics", NAMED, "own = given.banned_word[given.banned_topic == min(k, self.number)]", "own = given.banned_word[given.banned_topic == k]"),
    ("hdp, named: totals without what is banned", NAMED, "topic[first:last] += self.totals(last)[first:]", "topic[first:last] += np.maximum(self.totals(last)[first:], 0.0)"),
    ("hdp, named: labels of another document", KERNELS, "if words.sets[words.doc_set[d], k] == _ZERO:\n            scratch.inverses.now[k] = _ZERO", "if words.sets[words.doc_set[0], k] == _ZERO:\n            scratch.inverses.now[k] = _ZERO"),
    ("hdp, named: a document's labels hold for the next", KERNELS, "        _close_document(words, counts, scratch, d)\n", ""),
    ("hdp, named: mixtures have the prior of topics that labels shut", POSTERIOR, "kind = LabelledHdpPosterior if told is not None and told.limits_documents else cls", "kind = cls"),
    ("hdp, named: probabilities without phantoms", POSTERIOR, "phantoms=None if told is None else told.phantoms", "phantoms=None"),
]  # fmt: skip
