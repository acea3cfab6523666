"""Mistakes that the tests of this folder must notice: what it is, file, right line, wrong line.

Tried by ``studies/broken_kernels.py``.
"""

FAMILY = "src/topoi/models/dmr/"
DESIGN = FAMILY + "design.py"
DRAWS = FAMILY + "draws.py"
GROUPING = FAMILY + "grouping.py"
LIKELIHOOD = FAMILY + "likelihood.py"
POSTERIOR = FAMILY + "posterior.py"
PREDICTION = FAMILY + "prediction.py"
REFITTING = FAMILY + "refitting.py"
SELECTION = FAMILY + "selection.py"
SIMULATE = FAMILY + "simulate.py"
STATE = FAMILY + "state.py"
WORK = FAMILY + "work.py"
EQUATIONS = "src/topoi/models/author_topic/equations.py"
KERNELS = "src/topoi/models/author_topic/kernels.py"
WORD_LISTS = "src/topoi/models/author_topic/word_lists.py"
MODELS_DRAWS = "src/topoi/models/draws.py"
TESTS = [
    "test_likelihood.py",
    "test_design.py",
    "test_sampler.py",
    "test_word_lists.py",
    "test_simulate.py",
    "test_draws.py",
    "test_estimator.py",
    "test_guidance.py",
]
MISTAKES = [
    ("regression: all documents have the first one's alpha", KERNELS, "priors.alpha[:] = alpha[d]", "priors.alpha[:] = alpha[0]"),
    ("regression, many topics: all documents have the first one's alpha", WORD_LISTS, "priors.alpha[:] = alpha[d]", "priors.alpha[:] = alpha[0]"),
    ("regression, plain: all documents have the first one's alpha", EQUATIONS, "priors.alpha[:] = alpha[d]", "priors.alpha[:] = alpha[0]"),
    ("regression: shards begin with the first document's alpha", WORK, "self.here = slice(first, first + len", "self.here = slice(0, len"),
    ("regression: slope of the sum forgotten", LIKELIHOOD, "slope[d, k] = -alpha[d, k] * by_whole", "slope[d, k] = 0.0"),
    ("regression: slope by alpha, not its logarithm", LIKELIHOOD, "slope[d, k] += cells.times[i] * alpha[d, k] * by_own", "slope[d, k] += cells.times[i] * by_own"),
    ("regression: lengths of a group counted once", LIKELIHOOD, "by_whole += cells.total_times[i] * by_total", "by_whole += by_total"),
    ("regression: counts of a group curve once", LIKELIHOOD, "np.subtract.at(own, (group, cells.topic), cells.times * bend)", "own[group, cells.topic] -= cells.times * bend"),
    ("regression: groups of another order", GROUPING, "group = place[group.reshape(-1)]", "group = group.reshape(-1)"),
    ("regression: blocks have all lengths", LIKELIHOOD, "cells.total[totals],", "cells.total,"),
    ("regression: a factor too few", LIKELIHOOD, "for j in range(int(n)):", "for j in range(int(n) - 1):"),
    ("regression: prior without its mean", LIKELIHOOD, "away = coefficients - self.prior.mean", "away = coefficients"),
    ("regression: topics' shared curvature forgotten", LIKELIHOOD, "weight = -shared * alpha[:, k] * alpha[:, other] + (own", "weight = (own"),
    ("regression: first slope left out of the curvature", LIKELIHOOD, "bend = a * (psi(a + n) - psi(a)) + a**2", "bend = a**2"),
    ("regression: numbers not standardised", DESIGN, "((found - self.column.mean) / self.column.deviation)", "(found - self.column.mean)"),
    ("regression: bumps of another width", DESIGN, "- self.centres) / self.width) ** 2)", "- self.centres) / 2.0 / self.width) ** 2)"),
    ("regression: the chosen variance not kept", STATE, "chain.priors = self.priors(found, beta, variance, draws=draws)", "chain.priors = self.priors(found, beta, priors.variance, draws=draws)"),
    ("regression: new documents have the mean alpha", POSTERIOR, "document_range(documents, d, d + 1))[0]", "documents).mean(axis=0)"),
    ("regression: documents' shares smoothed by the mean alpha", POSTERIOR, "rows[:, : self.n_topics] = self.alphas(part)", "rows[:, : self.n_topics] = self.alpha"),
    ("regression: stored documents have the mean alpha", POSTERIOR, "return priors._replace(alpha=row, alpha_sum=math.fsum(row.tolist()))", "return priors"),
    ("regression: a checkpoint forgets the coefficients", STATE, "\"coefficients\": priors.coefficients,", "\"coefficients\": self.plan.mean,"),
    ("regression: the worst width is chosen", SELECTION, "max(int(np.argmax(found)) - 1, 0)", "max(int(np.argmin(found)) - 1, 0)"),
    ("regression: left-out documents are trained on", SELECTION, "np.flatnonzero(fold != number)", "np.flatnonzero(fold >= 0)"),
    ("regression: refitted to the topics of the joint fit", REFITTING, "cells, spread = sampler.cells(topic),", "cells, spread = sampler.fitted_cells(chain),"),
    ("regression: metadata shape the topics of a refit", REFITTING, "copy.priors = twin.priors(np.log(alpha)[:, None], beta, 1.0)", "copy.priors = chain.priors"),
    ("regression: simulated documents have the mean alpha", SIMULATE, "dirichlet_rows(rng, row, 1)[0] for row in alpha", "dirichlet_rows(rng, alpha.mean(axis=0), 1)[0] for row in alpha"),
    ("regression: simulated coefficients by variance, not deviation", SIMULATE, "np.sqrt(prior.variance) * rng", "prior.variance * rng"),
    ("regression: standard errors without the prior", LIKELIHOOD, "        whole[k, :, k] += precision\n", ""),
    ("regression: bands without the coefficients' errors", PREDICTION, "here + unseen[d] * np.eye(len(here)), noise)", "here * 1e-9 + unseen[d] * np.eye(len(here)), noise)"),
    ("draws: ends always accepted", DRAWS, "accepted = bool(_log_uniform(rng) < gain)", "accepted = True"),
    ("draws: momentum left out of the gain", DRAWS, "before = value - 0.5 * float((momentum**2).sum())", "before = value"),
    ("draws: of the first half as well", MODELS_DRAWS, "second_half = 2 * self.sweeps >= self.sweeps[:1].sum() + self.sweeps[-1:].sum()", "second_half = self.sweeps >= 0"),
    ("draws: correlated ones taken for independent", PREDICTION, "    return n_draws / tau\n", "    return float(n_draws)\n"),
    ("draws: errors without Student's t", PREDICTION, "* stdtrit(worth - 1.0, 0.95) / ndtri(0.95)", "* 1.0"),
    ("regression, guided: alphas of all topics in the likelihood", LIKELIHOOD, "alpha = _within(cells.limits, np.exp(np.clip(linear", "alpha = _within(None, np.exp(np.clip(linear"),
    ("regression, guided: limits of other documents in a block", LIKELIHOOD, "cells.limits.some(slice(first, last)),", "cells.limits.some(slice(0, last - first)),"),
    ("regression, guided: curvature with topics that are shut", LIKELIHOOD, "alpha = alpha_rows(design, coefficients, cells.limits)", "alpha = alpha_rows(design, coefficients)"),
    ("regression, guided: groups with several sets of topics", GROUPING, "* len(limits.sets) + limits.row", "* len(limits.sets)"),
    ("regression, guided: left-out documents with all topics", SELECTION, "alpha_rows(design[left], coefficients, test.limits)", "alpha_rows(design[left], coefficients)"),
    ("regression, guided: documents draw from topics that are shut", STATE, "rows[:, : self.n_topics] = self.limits.masked(rows[:, : self.n_topics])", "self.limits.masked(rows[:, : self.n_topics])"),
    ("regression, guided: learned as if there were no limits", STATE, "_replace(limits=self.limits)", "_replace(limits=None)"),
    ("regression, guided: a refit without guidance", REFITTING, "len(chain.shards), sampler.guidance)", "len(chain.shards))"),
    ("regression, guided: one alpha from all topics", REFITTING, "design, together = grouped(same_rows(sampler.design, cells.limits), sampler.design, cells)", "design, together = sampler.design, cells._replace(limits=None)"),
]  # fmt: skip
