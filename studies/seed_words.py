"""Seed words on six newsgroups: what topics become, against the strength of their seeds.

    TOPOI_DATA=folder python -m studies.seed_words [--seeds 0 1]

LDA with the default priors on every third post of the twenty newsgroups. Six topics are seeded with four words each, one
for each of six groups; the strength of a seed is a part of the mean size of a topic. A topic has taken up its seeds if
its share of a post tells the posts of its group from all others (area under the ROC curve). Fits without seeds have the
best of all their topics for each group. Writes docs/studies/seed-words.json and seed-words.md.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

import numpy as np

import topoi

FOLDER = Path(__file__).parents[1] / "docs/studies"
SEEDS = {
    "sci.space": ["space", "orbit", "nasa", "shuttle"],
    "rec.autos": ["car", "cars", "engine", "dealer"],
    "sci.med": ["doctor", "disease", "patients", "medical"],
    "rec.sport.hockey": ["hockey", "nhl", "puck", "leafs"],
    "talk.politics.guns": ["gun", "guns", "weapons", "firearms"],
    "sci.crypt": ["encryption", "key", "clipper", "chip"],
}
PARTS = (None, 0.001, 0.005, 0.01, 0.02, 0.05, 0.2)
TOPICS = (20, 60)
HEAD = """# Seed words against their strength

LDA with default priors on every third post of the twenty newsgroups ({n_docs:,} posts, {n_tokens:,} words), {sweeps} sweeps, means over {n_seeds} seeds of the random numbers and six seeded topics: one for each of
{groups}, four seed words each. Made by

    TOPOI_DATA=folder python -m studies.seed_words --seeds {seeds}

*strength*: phantom tokens of each seed word, as a part of the mean size of a topic. *area*: how often a post of the group has more of its topic than a post of another group. *purity*: the group's part of the topic. *of the group*: the topic's share of
the group's posts. *seeds first*: how many of the topic's four leading words are seeds. *elsewhere*: seed words among the ten leading words of any other topic. *agreed*: the topic's share of the seed words' tokens. *NPMI*: coherence of the topic's ten leading
words, and of all topics. In the first line of each part nothing is seeded, and each group has the topic with the largest area.

| K | strength | phantoms | area | purity | of the group | seeds first | elsewhere | agreed | NPMI | NPMI of all |
|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|
"""


def area(score: np.ndarray, of_group: np.ndarray) -> float:
    """Area under the ROC curve: how often a post of the group has more of the topic than one of another."""
    order = np.argsort(score, kind="stable")
    rank = np.empty(len(score))
    _, first, times = np.unique(score[order], return_index=True, return_counts=True)
    rank[order] = np.repeat(first + (times + 1) / 2, times)
    n = int(of_group.sum())
    return float((rank[of_group].sum() - n * (n + 1) / 2) / (n * (len(score) - n)))


def measure(corpus: topoi.Corpus, n_topics: int, part: float | None, seed: int, n_iter: int) -> list[dict[str, Any]]:
    """Fit once, and look at the topics of all groups."""
    strength = None if part is None else max(round(part * corpus.n_tokens / n_topics), 1)
    told = {} if strength is None else {"seeds": SEEDS, "seed_strength": strength}
    model = topoi.LDA(n_topics, n_iter=n_iter, random_state=seed, progress=False, **told).fit(corpus)
    shares, label = model.doc_topic_, corpus.documents["label"].to_numpy()
    words, report = model.top_words(10), model.guidance_report()
    npmi = topoi.evaluation.coherence(model, corpus, measure="npmi").set_index("topic")["coherence"]
    rows = []
    for number, (group, seeds) in enumerate(SEEDS.items()):
        of_group = label == group
        k = number
        if strength is None:
            k = int(np.argmax([area(shares[:, j], of_group) for j in range(n_topics)]))
        mine = words["topic"] == k
        own = report[report["topic"] == k]
        rows.append(
            {
                "n_topics": n_topics,
                "part": part,
                "strength": strength,
                "group": group,
                "area": area(shares[:, k], of_group),
                "purity": float(shares[of_group, k].sum() / shares[:, k].sum()),
                "share": float(shares[of_group, k].mean()),
                "first": len(set(words["word"][mine & (words["rank"] <= 4)]) & set(seeds)),
                "elsewhere": len(words[~mine & words["word"].isin(seeds)]),
                "agreed": float(own["share"].mean()) if len(own) else None,
                "npmi": float(npmi[k]),
                "npmi_of_all": float(npmi.mean()),
                "words": " ".join(words["word"][mine]),
            }
        )
    return rows


def line(rows: list[dict[str, Any]]) -> str:
    """A row of the table: means over groups and seeds."""
    mean = {name: np.mean([row[name] for row in rows if row[name] is not None] or [np.nan]) for name in rows[0]
            if name not in ("group", "words", "part", "strength")}  # fmt: skip
    first = rows[0]
    part = "none" if first["part"] is None else f"{first['part']:.1%}"
    agreed = "" if first["part"] is None else f"{mean['agreed']:.2f}"
    return (
        f"| {first['n_topics']} | {part} | {first['strength'] or ''} | {mean['area']:.3f} | {mean['purity']:.2f} | "
        f"{mean['share']:.2f} | {mean['first']:.1f} | {mean['elsewhere']:.1f} | {agreed} | {mean['npmi']:.3f} | "
        f"{mean['npmi_of_all']:.3f} |"
    )


def main() -> None:
    """Run all strengths and seeds."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, nargs="+", default=[0, 1])
    parser.add_argument("--sweeps", type=int, default=150)
    arguments = parser.parse_args()
    corpus = topoi.load_dataset("newsgroups20", min_df=5).subset(slice(0, None, 3))
    every, table = [], []
    for n_topics in TOPICS:
        for part in PARTS:
            found = [row for s in arguments.seeds for row in measure(corpus, n_topics, part, s, arguments.sweeps)]
            every += found
            table.append(line(found))
            print(table[-1], found[0]["words"], flush=True)
    head = HEAD.format(
        n_docs=corpus.n_docs,
        n_tokens=corpus.n_tokens,
        sweeps=arguments.sweeps,
        n_seeds=len(arguments.seeds),
        groups=", ".join(SEEDS),
        seeds=" ".join(map(str, arguments.seeds)),
    )
    (FOLDER / "seed-words.md").write_text(head + "\n".join(table) + "\n")
    (FOLDER / "seed-words.json").write_text(json.dumps({"sweeps": arguments.sweeps, "rows": every}, indent=1) + "\n")


if __name__ == "__main__":
    main()
