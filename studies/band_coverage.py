"""Simulated corpora with known shares: what intervals of trends and of differences between groups hold.

    python -m studies.band_coverage [--corpora 20]

Documents of a year (or of a group) have topic mixtures that scatter about the year's mean, which is the truth. An LDA is
fitted, its topics are matched with the true ones by their words, and intervals of probability 0.9 are compared with the
truth: by the number of documents of a year, for the difference between two groups, and for groups that do not differ, where
the share of p-values below 0.05 is the level of the test. Beside it, the differences that a regression (DMR) on the group
predicts, as stm users would take them.
Numbers go to docs/studies/band-coverage.json.
"""

from __future__ import annotations

import argparse
import json
import time
from pathlib import Path

import numpy as np
from scipy.optimize import linear_sum_assignment

import topoi

TARGET = Path(__file__).parents[1] / "docs" / "studies" / "band-coverage.json"
N_TOPICS, N_WORDS, LENGTH = 8, 400, 60
SIZES = (1, 2, 3, 5, 10, 20, 50)
CONCENTRATION = 2.0
FOUND = 0.9


def topics(rng: np.random.Generator) -> np.ndarray:
    """True topics: sparse distributions of words."""
    return rng.dirichlet(np.full(N_WORDS, 0.05), N_TOPICS)


def texts(rng: np.random.Generator, truth: np.ndarray, means: np.ndarray) -> list[list[str]]:
    """A document for each row of means, whose mixture scatters about it."""
    rows = []
    for mean in means:
        mixture = rng.dirichlet(CONCENTRATION * mean + 1e-6)
        n = max(int(rng.lognormal(np.log(LENGTH), 0.4)), 5)
        rows.append([f"w{word:03d}" for word in rng.choice(N_WORDS, n, p=mixture @ truth)])
    return rows


def matched(model: topoi.LDA, truth: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Fitted topic of each true one, and the cosine of their words."""
    words = [int(word[1:]) for word in model.vocabulary_.words]
    fitted = np.zeros((N_TOPICS, N_WORDS))
    fitted[:, words] = model.topic_word_
    unit = [each / np.linalg.norm(each, axis=1, keepdims=True) for each in (truth, fitted)]
    cosine = unit[0] @ unit[1].T
    _, found = linear_sum_assignment(-cosine)
    return found, cosine[np.arange(N_TOPICS), found]


def fit(corpus: topoi.Corpus, seed: int) -> topoi.LDA:
    return topoi.LDA(N_TOPICS, alpha=CONCENTRATION / N_TOPICS, beta=0.05, n_iter=300, random_state=seed).fit(corpus)


def trends(seed: int) -> list[dict[str, float]]:
    """One corpus of 84 years, twelve of each size."""
    rng = np.random.default_rng([1, seed])
    truth, sizes = topics(rng), np.repeat(SIZES, 12)
    usual = rng.dirichlet(np.full(N_TOPICS, 5.0))
    means = usual * np.exp(0.6 * rng.standard_normal((len(sizes), N_TOPICS)))
    means /= means.sum(axis=1, keepdims=True)
    year = np.repeat(np.arange(1900, 1900 + len(sizes)), sizes)
    corpus = topoi.Corpus.from_tokens(texts(rng, truth, means[year - 1900]), dates=year.tolist())
    model = fit(corpus, seed)
    found, cosine = matched(model, truth)
    frame = topoi.topic_trends(model).set_index(["year", "topic"])
    rows = []
    for i, size in enumerate(sizes):
        for k in np.flatnonzero(cosine >= FOUND):
            row = frame.loc[(1900 + i, found[k])]
            held = row["lower"] <= means[i, k] <= row["upper"]
            rows.append({"documents": int(size), "held": bool(held), "width": row["upper"] - row["lower"]})
    return rows


def groups(seed: int, differ: bool) -> dict[str, list]:
    """Two groups of 60 and 140 documents, with the same mean mixtures or not."""
    rng = np.random.default_rng([2, seed, differ])
    truth = topics(rng)
    means = np.tile(rng.dirichlet(np.full(N_TOPICS, 5.0)), (2, 1))
    if differ:
        means[1] *= np.exp(0.6 * rng.standard_normal(N_TOPICS))
        means[1] /= means[1].sum()
    side = np.repeat([0, 1], [60, 140])
    corpus = topoi.Corpus.from_tokens(texts(rng, truth, means[side]), metadata={"side": [f"s{s}" for s in side]})
    model = fit(corpus, seed)
    found, cosine = matched(model, truth)
    frame = topoi.compare_groups(model, "side", n_permutations=199).set_index("topic")
    told = topoi.DirichletMultinomialRegression(
        N_TOPICS, features=["side"], beta=0.05, n_iter=300, random_state=seed
    ).fit(corpus)
    where, near = matched(told, truth)
    curve = topoi.share_curve(told, "side", values=["s0", "s1"]).pivot(index="topic", columns="side", values="mean")
    out: dict[str, list] = {"held": [], "p": [], "ours": [], "dmr": [], "truth": []}
    for k in np.flatnonzero((cosine >= FOUND) & (near >= FOUND)):
        difference, row = means[0, k] - means[1, k], frame.loc[found[k]]
        out["held"].append(bool(row["lower"] <= difference <= row["upper"]))
        out["p"].append(float(row["p_value"]))
        out["ours"].append(float(row["difference"]))
        out["dmr"].append(float(curve.loc[where[k], "s0"] - curve.loc[where[k], "s1"]))
        out["truth"].append(float(difference))
    return out


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--corpora", type=int, default=20)
    n = parser.parse_args().corpora
    began = time.process_time()
    rows = [row for seed in range(n) for row in trends(seed)]
    by_size = {
        str(size): {
            "intervals": len(mine := [row for row in rows if row["documents"] == size]),
            "held": round(float(np.mean([row["held"] for row in mine])), 3),
            "width": round(float(np.mean([row["width"] for row in mine])), 3),
        }
        for size in SIZES
    }
    print("documents of a year, intervals, held, mean width")
    for size, each in by_size.items():
        print(f"{size:>4} {each['intervals']:>6} {each['held']:.3f} {each['width']:.3f}", flush=True)
    result: dict[str, object] = {"corpora": n, "trends": by_size}
    for differ in (True, False):
        parts = [groups(seed, differ) for seed in range(n)]
        held, p, ours, dmr, truth = (
            np.concatenate([part[name] for part in parts]) for name in ("held", "p", "ours", "dmr", "truth")
        )
        found = {
            "intervals": len(held),
            "held": round(float(held.mean()), 3),
            "p_below_0.05": round(float((p <= 0.05).mean()), 3),
            "p_below_0.1": round(float((p <= 0.1).mean()), 3),
            "error_of_difference": round(float(np.sqrt(np.mean((ours - truth) ** 2))), 4),
            "error_of_dmr": round(float(np.sqrt(np.mean((dmr - truth) ** 2))), 4),
            "correlation_with_dmr": round(float(np.corrcoef(ours, dmr)[0, 1]), 3),
        }
        result["groups that differ" if differ else "groups that do not"] = found
        print("differ" if differ else "same  ", found, flush=True)
    result["seconds"] = round(time.process_time() - began)
    TARGET.write_text(json.dumps(result, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
