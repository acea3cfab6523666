"""Simulated corpora with known shares: what intervals of trends, of differences between groups and of shares hold.

    python -m studies.band_coverage [--corpora 30] [--only trends|moves|groups|shares|writers|super_topics]

Documents of a year (or of a group) have topic mixtures that scatter about the year's mean, which is the truth. An LDA is
fitted, its topics are matched with the true ones by their words, and intervals of probability 0.9 are compared with the
truth: by the number of documents of a year, for the difference between two groups, and for groups that do not differ, where
the share of p-values below 0.05 is the level of the test. Beside it, the differences that a regression (DMR) on the group
predicts, as stm users would take them.

Rises and falls: shares of the earliest and of the latest tenth of all words, and the change, in collections whose topics
move and in others where they stay, so that any change that is found clear is so by chance.

Single shares: of authors with few and many words (author-topic model), of short and long documents (LDA, and all other
families that know intervals), whose true mixtures are drawn from the prior that the model is given, and of topics in all
words of collections of few and many documents, whose truth is the mean mixture that documents scatter about. For
documents of LDA also: how much of the posterior itself, the mixture of Betas over the samples, the intervals hold.
Super-topics of pachinko allocation: shares of short and long documents, and of all words of small and large collections,
for planted super-topics that were found; their sizes also if all are equally large, as the root's prior has it.
Numbers go to docs/studies/band-coverage.json; ``--only`` leaves the others in it as they are.
"""

from __future__ import annotations

import argparse
import json
import time
from pathlib import Path

import numpy as np
from scipy.optimize import linear_sum_assignment
from scipy.special import betainc

import topoi
from topoi.analysis.trends import tenth, topic_moves

TARGET = Path(__file__).parents[1] / "docs" / "studies" / "band-coverage.json"
N_TOPICS, N_WORDS, LENGTH = 8, 400, 60
SIZES = (1, 2, 3, 5, 10, 20, 50)
CONCENTRATION = 2.0
FOUND = 0.9
AUTHOR_DOCUMENTS, DOCUMENT_WORDS, COLLECTIONS = (1, 2, 5, 10, 20), (10, 30, 100, 300), (20, 50, 200, 500)
# Shares that a reader looks at: shown as this much or more.
LARGE = 0.05
# Super-topics, and their Dirichlet parameters.
N_SUPER, ROOT_ALPHA = 3, np.array([0.3, 0.25, 0.2])


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


def moves(seed: int, size: int, moving: bool) -> list[dict]:
    """Forty years of ``size`` documents: shares of the first and the last tenth of all words, and the change."""
    rng = np.random.default_rng([7, seed, size, moving])
    truth, n_years = topics(rng), 40
    drift = 0.6 * moving * rng.standard_normal(N_TOPICS)
    means = rng.dirichlet(np.full(N_TOPICS, 5.0)) * np.exp(np.linspace(-1, 1, n_years)[:, None] * drift)
    means /= means.sum(axis=1, keepdims=True)
    year = np.repeat(np.arange(n_years), size)
    model = fit(topoi.Corpus.from_tokens(texts(rng, truth, means[year]), dates=(1900 + year).tolist()), seed)
    found, cosine = matched(model, truth)
    trend = topoi.topic_trends(model)
    words = trend.groupby("year")["n_words"].sum().to_numpy()
    taken = {"first": words * tenth(words), "last": words * tenth(words, -1)}
    real = {name: each @ means / each.sum() for name, each in taken.items()}
    frame, rows = topic_moves(model, trend).set_index("topic"), []
    for k in np.flatnonzero(cosine >= FOUND):
        row, change = frame.loc[found[k]], real["last"][k] - real["first"][k]
        held = [row[f"{name}_lower"] <= real[name][k] <= row[f"{name}_upper"] for name in real]
        width = np.mean([row[f"{name}_upper"] - row[f"{name}_lower"] for name in real])
        of_change = bool(row["lower"] <= change <= row["upper"])
        wrong = row["direction"] != 0 and (not moving or np.sign(change) != row["direction"])
        rows.append({"held": float(np.mean(held)), "width": float(width), "held_change": of_change})
        rows[-1] |= {"clear": bool(row["direction"]), "wrong": bool(wrong)}
    return rows


def all_moves(n: int) -> dict[str, object]:
    """Coverage of rises and falls, and how many topics that stay are said to move."""
    result = {}
    for size in (2, 10):
        for moving in (True, False):
            rows = [row for seed in range(n) for row in moves(seed, size, moving)]
            means = {name: round(float(np.mean([row[name] for row in rows])), 3) for name in rows[0]}
            name = f"{size} documents a year, topics {'move' if moving else 'stay'}"
            result[name] = {"topics": len(rows), **means}
            print(name, result[name], flush=True)
    return {"moves": {"corpora": n, **result}}


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
    out: dict[str, list] = {"held": [], "held_shares": [], "p": [], "ours": [], "dmr": [], "truth": []}
    for k in np.flatnonzero((cosine >= FOUND) & (near >= FOUND)):
        difference, row = means[0, k] - means[1, k], frame.loc[found[k]]
        out["held"].append(bool(row["lower"] <= difference <= row["upper"]))
        for i, name in enumerate(("share", "other_share")):
            out["held_shares"].append(bool(row[f"{name}_lower"] <= means[i, k] <= row[f"{name}_upper"]))
        out["p"].append(float(row["p_value"]))
        out["ours"].append(float(row["difference"]))
        out["dmr"].append(float(curve.loc[where[k], "s0"] - curve.loc[where[k], "s1"]))
        out["truth"].append(float(difference))
    return out


def words_of(rng: np.random.Generator, distribution: np.ndarray, n: int) -> list[str]:
    """Words drawn from a distribution."""
    return [f"w{word:03d}" for word in rng.choice(N_WORDS, n, p=distribution)]


def held_rows(size: int, frame, shown: str, found: np.ndarray, cosine: np.ndarray, truth: np.ndarray) -> list[dict]:
    """Whether each interval of a frame by topic holds the truth, for topics that were found."""
    rows = []
    for k in np.flatnonzero(cosine >= FOUND):
        row = frame.loc[found[k]]
        held, width = row["lower"] <= truth[k] <= row["upper"], row["upper"] - row["lower"]
        rows.append({"size": size, "held": bool(held), "width": float(width), "large": bool(row[shown] >= LARGE)})
    return rows


def authors(seed: int) -> list[dict]:
    """One corpus of 60 authors, twelve of each size; two of five documents have a second author."""
    rng = np.random.default_rng([3, seed])
    truth, sizes = topics(rng), np.repeat(AUTHOR_DOCUMENTS, 12)
    mixtures = rng.dirichlet(np.full(N_TOPICS, CONCENTRATION / N_TOPICS), len(sizes))
    tokens, names = [], []
    for a in np.repeat(np.arange(len(sizes)), sizes):
        others = np.flatnonzero(np.arange(len(sizes)) != a)
        mine = [a] if rng.random() < 0.6 else [a, rng.choice(others, p=sizes[others] / sizes[others].sum())]
        tokens.append(
            words_of(rng, mixtures[mine].mean(axis=0) @ truth, max(int(rng.lognormal(np.log(LENGTH), 0.4)), 5))
        )
        names.append([f"a{each:02d}" for each in mine])
    corpus = topoi.Corpus.from_tokens(tokens, authors=names)
    alpha = CONCENTRATION / N_TOPICS
    model = topoi.AuthorTopicModel(N_TOPICS, alpha=alpha, beta=0.05, n_iter=300, random_state=seed).fit(corpus)
    found, cosine = matched(model, truth)
    rows = []
    for a, size in enumerate(sizes):
        frame = model.author_topics(f"a{a:02d}").set_index("topic")
        rows += held_rows(int(size), frame, "probability", found, cosine, mixtures[a])
    return rows


def writers(seed: int) -> list[dict]:
    """One corpus of 40 authors and 240 documents of several lengths by two or three of them: who wrote the words."""
    rng = np.random.default_rng([8, seed])
    truth, sizes = topics(rng), np.repeat(DOCUMENT_WORDS, 60)
    mixtures = rng.dirichlet(np.full(N_TOPICS, CONCENTRATION / N_TOPICS), 40)
    tokens, names, parts = [], [], []
    for n in sizes:
        mine = rng.choice(40, rng.integers(2, 4), replace=False)
        author = rng.integers(0, len(mine), n)
        tokens.append([words_of(rng, mixtures[mine[a]] @ truth, 1)[0] for a in author])
        names.append([f"a{each:02d}" for each in mine])
        parts.append(np.bincount(author, minlength=len(mine)) / n)
    corpus = topoi.Corpus.from_tokens(tokens, authors=names)
    alpha = CONCENTRATION / N_TOPICS
    model = topoi.AuthorTopicModel(N_TOPICS, alpha=alpha, beta=0.05, n_iter=300, random_state=seed).fit(corpus)
    rows = []
    for d, (n, part) in enumerate(zip(sizes, parts, strict=True)):
        moments = model.chains_[0].writer_moments(d).some(slice(len(part)))
        rows += held_shares(int(n), part, moments.mean, *moments.interval())
    return rows


def all_writers(n: int) -> dict[str, object]:
    """Coverage of the shares of documents' authors."""
    found = {"corpora": n, **by_size([row for seed in range(n) for row in writers(seed)], DOCUMENT_WORDS)}
    print("writers", json.dumps(found), flush=True)
    return {"writers": found}


def documents(seed: int, make, with_mass: bool = False) -> tuple[list[dict], list[float]]:
    """One corpus of 240 documents, sixty of each length, and the posterior's mass in the intervals."""
    rng = np.random.default_rng([4, seed])
    truth, sizes = topics(rng), np.repeat(DOCUMENT_WORDS, 60)
    mixtures = rng.dirichlet(np.full(N_TOPICS, CONCENTRATION / N_TOPICS), len(sizes))
    tokens = [words_of(rng, mixture @ truth, n) for mixture, n in zip(mixtures, sizes, strict=True)]
    years = rng.integers(1900, 1990, len(sizes)).tolist()
    model = make(seed).fit(topoi.Corpus.from_tokens(tokens, dates=years))
    found, cosine = matched(model, truth)
    rows, mass = [], []
    for d, size in enumerate(sizes):
        frame = topoi.document_topics(model, d).set_index("topic").sort_index()
        rows += held_rows(int(size), frame, "share", found, cosine, mixtures[d])
        mass += posterior_mass(model.chains_[0], d, frame) if with_mass else []
    return rows, mass


def posterior_mass(chain, document: int, frame) -> list[float]:
    """Probability that the mixture of Betas gives to the intervals of a document's large shares."""
    samples = chain.source.topic_samples(document, document + 1)
    weight = np.stack([np.bincount(each, minlength=N_TOPICS) for each in samples]) + chain.alpha
    rest = weight.sum(axis=1, keepdims=True) - weight
    inside = betainc(weight, rest, frame["upper"].to_numpy()) - betainc(weight, rest, frame["lower"].to_numpy())
    return inside.mean(axis=0)[frame["share"].to_numpy() >= LARGE].tolist()


def collections(seed: int, size: int) -> list[dict]:
    """One collection of some documents, whose mixtures scatter about one mean."""
    rng = np.random.default_rng([5, seed, size])
    truth, mean = topics(rng), rng.dirichlet(np.full(N_TOPICS, 5.0))
    model = fit(topoi.Corpus.from_tokens(texts(rng, truth, np.tile(mean, (size, 1)))), seed)
    found, cosine = matched(model, truth)
    return held_rows(size, model.topic_sizes().set_index("topic"), "share", found, cosine, mean)


def super_topics(seed: int, lengths: np.ndarray, root: np.ndarray = ROOT_ALPHA) -> tuple[list[dict], list[dict]]:
    """Shares of super-topics in documents of these lengths, and in all their words: whether intervals hold the truth.

    Each super-topic has three topics; the first two share one. They are matched by the shares of topics in their
    learned alpha. ``root`` is the true Dirichlet parameter of the root; the model is given its mean, for all alike.
    """
    rng = np.random.default_rng([6, seed, len(lengths)])
    truth, weights = topics(rng), np.full((N_SUPER, N_TOPICS), 0.02)
    weights[[0, 0, 0, 1, 1, 1, 2, 2, 2], [0, 1, 2, 2, 3, 4, 5, 6, 7]] = 1.0
    mixtures = rng.dirichlet(root, len(lengths))
    tokens = []
    for mixture, n in zip(mixtures, lengths, strict=True):
        below = np.array([rng.dirichlet(row) for row in weights])
        tokens.append(words_of(rng, mixture @ below @ truth, n))
    model = topoi.PachinkoAllocation(
        N_SUPER, N_TOPICS, root_alpha=root.mean(), beta=0.05, n_iter=500, random_state=seed
    ).fit(topoi.Corpus.from_tokens(tokens))
    drawn = model.edges()["share"].to_numpy()[N_SUPER:].reshape(N_SUPER, N_TOPICS)[:, matched(model, truth)[0]]
    unit = [each / np.linalg.norm(each, axis=1, keepdims=True) for each in (weights, drawn)]
    cosine = unit[0] @ unit[1].T
    _, place = linear_sum_assignment(-cosine)
    kept = np.flatnonzero(cosine[np.arange(N_SUPER), place] >= FOUND)
    rows = []
    for d, n in enumerate(lengths):
        moments = model.chains_[0].document_node_moments(d).some(1 + place[kept])
        rows += held_shares(int(n), mixtures[d, kept], moments.mean, *moments.interval())
    sizes = model.node_sizes().iloc[place[kept]]
    ends = (sizes[name].to_numpy() for name in ("share", "lower", "upper"))
    return rows, held_shares(len(lengths), (root / root.sum())[kept], *ends)


def held_shares(size: int, truth: np.ndarray, share: np.ndarray, lower: np.ndarray, upper: np.ndarray) -> list[dict]:
    """Whether each interval holds the truth, for shares in arrays."""
    return [
        {"size": size, "held": bool(low <= p <= high), "width": float(high - low), "large": bool(mean >= LARGE)}
        for p, mean, low, high in zip(truth, share, lower, upper, strict=True)
    ]


def all_super_topics(n: int) -> dict[str, object]:
    """Coverage of super-topics' shares of documents, and of all words."""
    each = [super_topics(seed, np.repeat(DOCUMENT_WORDS, 60)) for seed in range(n)]
    documents_ = by_size([row for rows, _ in each for row in rows], DOCUMENT_WORDS)
    sizes, even = (
        [
            row
            for seed in range(n)
            for size in COLLECTIONS[1:]
            for row in super_topics(seed, np.full(size, LENGTH), root)[1]
        ]
        for root in (ROOT_ALPHA, np.full(N_SUPER, ROOT_ALPHA.mean()))
    )
    found = {
        "corpora": n,
        "super_topics_found": sum(len(whole) for _, whole in each),
        "documents": documents_,
        "sizes": by_size(sizes, COLLECTIONS[1:]),
        "sizes_if_even": by_size(even, COLLECTIONS[1:]),
    }
    print(json.dumps(found), flush=True)
    return {"super_topics": found}


FAMILIES = {
    "LDA": lambda seed: topoi.LDA(N_TOPICS, alpha=CONCENTRATION / N_TOPICS, beta=0.05, n_iter=300, random_state=seed),
    "DirichletMultinomialRegression": lambda seed: topoi.DirichletMultinomialRegression(
        N_TOPICS, features=["year"], beta=0.05, n_iter=300, random_state=seed
    ),
    "PachinkoAllocation": lambda seed: topoi.PachinkoAllocation(4, N_TOPICS, beta=0.05, n_iter=300, random_state=seed),
    "CorrelatedTopicModel": lambda seed: topoi.CorrelatedTopicModel(N_TOPICS, beta=0.05, n_iter=300, random_state=seed),
    "AspectModel": lambda seed: topoi.AspectModel(N_TOPICS, random_state=seed),
    "KernelTopicModel": lambda seed: topoi.KernelTopicModel(
        N_TOPICS, features=["year"], beta=0.05, n_iter=200, random_state=seed
    ),
}


def by_size(rows: list[dict], sizes: tuple[int, ...]) -> dict[str, dict[str, float]]:
    """Intervals of each size: how many, how many hold the truth, also among large shares, and their mean width."""
    out = {}
    for size in sizes:
        mine = [row for row in rows if row["size"] == size]
        large = [row for row in mine if row["large"]]
        out[str(size)] = {
            "intervals": len(mine),
            "held": round(float(np.mean([row["held"] for row in mine])), 3) if mine else None,
            "large": len(large),
            "held_large": round(float(np.mean([row["held"] for row in large])), 3) if large else None,
            "width_large": round(float(np.mean([row["width"] for row in large])), 3) if large else None,
        }
    return out


def shares(n: int) -> dict[str, object]:
    """Coverage of intervals of single shares."""
    found: dict[str, object] = {"corpora": n}
    found["authors"] = by_size([row for seed in range(n) for row in authors(seed)], AUTHOR_DOCUMENTS)
    print("authors", json.dumps(found["authors"]), flush=True)
    sizes = [row for seed in range(n) for size in COLLECTIONS for row in collections(seed, size)]
    found["sizes"] = by_size(sizes, COLLECTIONS)
    print("sizes", json.dumps(found["sizes"]), flush=True)
    found["documents"], some = {}, max(n // 3, 1)
    for family, make in FAMILIES.items():
        plain = family == "LDA"
        each = [documents(seed, make, plain) for seed in range(n if plain else some)]
        found["documents"][family] = by_size([row for rows, _ in each for row in rows], DOCUMENT_WORDS)
        print(family, json.dumps(found["documents"][family]), flush=True)
        if plain:
            mass = np.concatenate([mass for _, mass in each])
            marks = dict(
                zip(("5%", "median", "95%"), np.quantile(mass, (0.05, 0.5, 0.95)).round(3).tolist(), strict=True)
            )
            found["posterior_mass"] = {"mean": round(float(mass.mean()), 3), **marks}
            print("mass", found["posterior_mass"], flush=True)
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--corpora", type=int, default=30)
    parser.add_argument("--only", choices=("trends", "moves", "groups", "shares", "writers", "super_topics"))
    given = parser.parse_args()
    result = json.loads(TARGET.read_text(encoding="utf-8")) if given.only else {}
    parts = {
        "trends": all_trends,
        "moves": all_moves,
        "groups": all_groups,
        "shares": lambda n: {"shares": shares(n)},
        "writers": all_writers,
        "super_topics": all_super_topics,
    }
    for name, part in parts.items():
        if given.only in (None, name):
            began = time.process_time()
            result |= part(given.corpora)
            result[f"seconds_of_{name}"] = round(time.process_time() - began)
    TARGET.write_text(json.dumps(result, indent=1) + "\n", encoding="utf-8")


def all_trends(n: int) -> dict[str, object]:
    """Coverage of trends by the number of documents of a year."""
    rows = [row for seed in range(n) for row in trends(seed)]
    held = {
        str(size): {
            "intervals": len(mine := [row for row in rows if row["documents"] == size]),
            "held": round(float(np.mean([row["held"] for row in mine])), 3),
            "width": round(float(np.mean([row["width"] for row in mine])), 3),
        }
        for size in SIZES
    }
    print("documents of a year, intervals, held, mean width")
    for size, each in held.items():
        print(f"{size:>4} {each['intervals']:>6} {each['held']:.3f} {each['width']:.3f}", flush=True)
    return {"corpora": n, "trends": held}


def all_groups(n: int) -> dict[str, object]:
    """Coverage of differences between groups, and the level of their test."""
    result: dict[str, object] = {}
    for differ in (True, False):
        parts = [groups(seed, differ) for seed in range(n)]
        held, shares_, p, ours, dmr, truth = (
            np.concatenate([part[name] for part in parts])
            for name in ("held", "held_shares", "p", "ours", "dmr", "truth")
        )
        found = {
            "intervals": len(held),
            "held": round(float(held.mean()), 3),
            "held_shares": round(float(shares_.mean()), 3),
            "p_below_0.05": round(float((p <= 0.05).mean()), 3),
            "p_below_0.1": round(float((p <= 0.1).mean()), 3),
            "error_of_difference": round(float(np.sqrt(np.mean((ours - truth) ** 2))), 4),
            "error_of_dmr": round(float(np.sqrt(np.mean((dmr - truth) ** 2))), 4),
            "correlation_with_dmr": round(float(np.corrcoef(ours, dmr)[0, 1]), 3),
        }
        result["groups that differ" if differ else "groups that do not"] = found
        print("differ" if differ else "same  ", found, flush=True)
    return result


if __name__ == "__main__":
    main()
