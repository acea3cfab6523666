"""Which comp.* newsgroup is a post from? One model per group, LDA against pachinko allocation (PAM, section 4.1.4 and table 6).

    TOPOI_DATA=folder-with-newsgroups20 python -m studies.comp5_classification [--splits 5] [--sweeps 300] [--minutes 30]
    python -m studies.comp5_classification --page       writes the page again from the numbers of the last run

Results are saved after every fit; a second run goes on with what is missing. Writes docs/studies/comp5-classification.json and .md.
"""

from __future__ import annotations

import argparse
import json
import time
from pathlib import Path
from typing import Any

import numpy as np
from scipy.stats import binomtest
from sklearn.feature_extraction.text import TfidfTransformer
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import MultinomialNB
from sklearn.pipeline import make_pipeline

import topoi
from topoi import evaluation

OUT = Path(__file__).parents[1] / "docs" / "studies"
VOCABULARY = 35_567  # as many as the paper's
MODELS = ("LDA", "PAM")
BASELINES = {
    "naive Bayes, smoothing 1": lambda: MultinomialNB(alpha=1.0, fit_prior=False),
    "naive Bayes, smoothing 0.01": lambda: MultinomialNB(alpha=0.01, fit_prior=False),
    "logistic regression on tf-idf": lambda: make_pipeline(
        TfidfTransformer(sublinear_tf=True), LogisticRegression(C=20, max_iter=500)
    ),
}
PAPER = {"LDA": (83.95, 81.59, 83.67, 86.61, 88.07, 84.70), "PAM": (86.83, 84.10, 88.16, 89.54, 92.20, 87.34)}
ESTIMATORS: dict[str, dict[str, Any]] = {"empirical": {"n_samples": 1000}, "filter": {"n_particles": 20}}


def posts() -> topoi.Corpus:
    """The five groups, with a vocabulary of their own; posts without text are left out."""
    everything = topoi.load_dataset("newsgroups20")
    label = everything.documents["label"].astype(str)
    wanted = [d for d in np.flatnonzero(label.str.startswith("comp.")) if everything.texts[d].strip()]
    return topoi.Corpus.from_texts(
        [everything.texts[d] for d in wanted], metadata={"group": label[wanted].tolist()}, min_df=1, max_df=1.0, max_words=VOCABULARY
    )  # fmt: skip


def cut(corpus: topoi.Corpus, seed: int) -> tuple[topoi.Corpus, topoi.Corpus]:
    """Three quarters of every class for training, the rest for the test."""
    rng, group = np.random.default_rng(seed), corpus.documents["group"].to_numpy()
    test = np.zeros(corpus.n_docs, bool)
    for c in np.unique(group):
        members = rng.permutation(np.flatnonzero(group == c))
        test[members[: round(len(members) / 4)]] = True
    return corpus.subset(~test), corpus.subset(test)


def make(name: str, sweeps: int, seed: int) -> Any:
    """An unfitted model with the paper's best setting."""
    how = {"n_iter": sweeps, "random_state": seed, "n_shards": 1}
    return topoi.PachinkoAllocation(50, 100, **how) if name == "PAM" else topoi.LDA(50, **how)


def by_models(name: str, train: topoi.Corpus, test: topoi.Corpus, sweeps: int, seed: int) -> dict[str, Any]:
    """Which test posts are right, by every estimator; and the log-likelihood of posts under their own class."""
    start = time.process_time()
    models = evaluation.fit_classes(make(name, sweeps, seed), train, "group")
    found: dict[str, Any] = {"fit seconds": time.process_time() - start}
    for estimator, options in ESTIMATORS.items():
        start = time.process_time()
        frame = evaluation.classify(models, test, estimator, labels="group", **options)
        own = [row[f"log_likelihood_{row['label']}"] for row in frame.to_dict("records")]
        found[estimator] = {
            "right": "".join(map(str, frame["correct"].astype(int))), "own log-likelihood": float(np.mean(own)),
            "seconds": time.process_time() - start,
        }  # fmt: skip
    return found


def by_counts(classifier: Any, train: topoi.Corpus, test: topoi.Corpus) -> dict[str, Any]:
    """The same by a classifier of scikit-learn that sees the counts of words."""
    labels = [part.documents["group"].to_numpy().astype(str) for part in (train, test)]
    right = classifier.fit(train.to_matrix(), labels[0]).predict(test.to_matrix()) == labels[1]
    return {"counts": {"right": "".join(map(str, right.astype(int)))}}


def run(numbers: Path, splits: int, sweeps: int, minutes: float) -> None:
    """Everything that is not in the file yet, until the time is up."""
    end = time.monotonic() + 60 * minutes
    corpus = posts()
    result = json.loads(numbers.read_text(encoding="utf-8")) if numbers.exists() else {"runs": {}, "labels": {}}
    result |= {"corpus": repr(corpus)[9:-1], "sweeps": sweeps, "groups": sorted(set(corpus.documents["group"]))}
    for split in range(splits):
        train, test = cut(corpus, split)
        result["labels"][str(split)] = "".join(str(result["groups"].index(c)) for c in test.documents["group"])
        for name in (*BASELINES, *MODELS):
            key = f"{name}|{split}"
            if key in result["runs"] or time.monotonic() > end:
                continue
            if name in BASELINES:
                result["runs"][key] = by_counts(BASELINES[name](), train, test)
            else:
                result["runs"][key] = by_models(name, train, test, sweeps, split)
            shown = {
                k: round(float(np.mean([c == "1" for c in v["right"]])), 4)
                for k, v in result["runs"][key].items()
                if isinstance(v, dict)
            }
            print(key, shown, result["runs"][key].get("fit seconds"), flush=True)
            numbers.write_text(json.dumps(result, indent=1) + "\n", encoding="utf-8")


def complete_splits(result: dict[str, Any]) -> list[int]:
    """The splits in which everything was measured."""
    splits = sorted(map(int, result["labels"]))
    return [s for s in splits if all(f"{name}|{s}" in result["runs"] for name in (*BASELINES, *MODELS))]


def right(result: dict[str, Any], name: str, way: str) -> list[np.ndarray]:
    """For each split which posts are right."""
    return [np.array(list(result["runs"][f"{name}|{s}"][way]["right"])) == "1" for s in complete_splits(result)]


def per_class(result: dict[str, Any], name: str, way: str) -> list[np.ndarray]:
    """Percentages for each class, and for all, over the splits."""
    labels = [np.array(list(result["labels"][str(s)])) for s in complete_splits(result)]
    hits = right(result, name, way)
    rows = [
        [100 * h[one == str(c)].mean() for h, one in zip(hits, labels, strict=True)]
        for c in range(len(result["groups"]))
    ]
    return [np.array(row) for row in [*rows, [100 * h.mean() for h in hits]]]


def with_error(values: np.ndarray) -> str:
    """A mean with its standard error."""
    return (
        f"{values.mean():.1f} ± {values.std(ddof=1) / np.sqrt(len(values)):.1f}"
        if len(values) > 1
        else f"{values.mean():.1f}"
    )


def accuracy_table(result: dict[str, Any]) -> str:
    """A row per class."""
    ways = [
        ("LDA", "empirical"),
        ("PAM", "empirical"),
        ("LDA", "filter"),
        ("PAM", "filter"),
        *((b, "counts") for b in BASELINES),
    ]
    heads = [f"{n}, {w}" if n in MODELS else n for n, w in ways]
    lines = ["| class | LDA, paper | PAM, paper | " + " | ".join(heads) + " |", "|---|---:|---:|" + "---:|" * len(ways)]
    columns = [per_class(result, *way) for way in ways]
    for i, group in enumerate([*result["groups"], "**all**"]):
        cells = [f"{PAPER['LDA'][i]:.1f}", f"{PAPER['PAM'][i]:.1f}", *(with_error(column[i]) for column in columns)]
        lines.append(f"| {group} | " + " | ".join(cells) + " |")
    return "\n".join(lines)


def paired_table(result: dict[str, Any]) -> str:
    """McNemar's exact test on the posts that only one of two gets right, split by split."""
    lines = ["| split | estimator | only PAM right | only LDA right | p |", "|---:|---|---:|---:|---:|"]
    for way in ESTIMATORS:
        for s, pam, lda in zip(
            complete_splits(result), right(result, "PAM", way), right(result, "LDA", way), strict=True
        ):
            more, less = int((pam & ~lda).sum()), int((lda & ~pam).sum())
            lines.append(f"| {s} | {way} | {more} | {less} | {binomtest(more, more + less).pvalue:.2g} |")
    return "\n".join(lines)


def page(result: dict[str, Any]) -> str:
    """The numbers as text."""
    splits = complete_splits(result)
    own = {
        n: {w: np.mean([result["runs"][f"{n}|{s}"][w]["own log-likelihood"] for s in splits]) for w in ESTIMATORS}
        for n in MODELS
    }
    spent = sum(
        run.get("fit seconds", 0) + sum(v.get("seconds", 0) for v in run.values() if isinstance(v, dict))
        for run in result["runs"].values()
    )
    return PAGE.format(
        table=accuracy_table(result), paired=paired_table(result), n_splits=len(splits), own=own, seconds=spent,
        n_test=len(result["labels"]["0"]), verdict=VERDICT, **{k: result[k] for k in ("corpus", "sweeps")},
    )  # fmt: skip


def main() -> None:
    """Run, or write the page again."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--splits", type=int, default=5)
    parser.add_argument("--sweeps", type=int, default=300)
    parser.add_argument("--minutes", type=float, default=30)
    parser.add_argument("--page", action="store_true")
    arguments = parser.parse_args()
    numbers = OUT / "comp5-classification.json"
    if not arguments.page:
        run(numbers, arguments.splits, arguments.sweeps, arguments.minutes)
    (OUT / "comp5-classification.md").write_text(
        page(json.loads(numbers.read_text(encoding="utf-8"))), encoding="utf-8"
    )


VERDICT = ""

PAGE = """# Which comp.* newsgroup?

Section 4.1.4 and table 6 of Li and McCallum: five groups of 20 newsgroups, one model for each group, a post goes to the group whose model gives it the
highest probability; 75 % of each group for training. LDA with 50 topics gets 84.70 % right, PAM with 50 super-topics and 100 sub-topics 87.34 %,
better in each group, p < 0.05 by a sign test.

The collection is the `comp.*` part of `newsgroups20`, the posts' bodies without headers ({corpus}), cut to as many words as the paper's (35,567); the
paper has 4,836 posts. {n_splits} random splits with {n_test:,} test posts each; means over splits with standard errors. One chain of {sweeps} sweeps per class, its last
sample; LDA with alpha = 1 (50 / topics), PAM's alpha learned by moments; beta = 0.01. Probabilities by empirical likelihood with 1,000 samples, as in the
paper, and by the particle filter with 20 particles. Made by

    TOPOI_DATA=folder-with-newsgroups20 python -m studies.comp5_classification

in {seconds:,.0f} s of processor time. It is `evaluation.fit_classes` and `evaluation.classify`; see [evaluation](../evaluation.md).

## Per cent of posts given to their own group

{table}

The last three are scikit-learn's, on the same counts of words: multinomial naive Bayes with two amounts of smoothing, and logistic regression on tf-idf weights
(C = 20; not tuned).

Log-likelihood of a test post under its own group's model: LDA {own[LDA][empirical]:.1f}, PAM {own[PAM][empirical]:.1f} by empirical likelihood; LDA {own[LDA][filter]:.1f}, PAM {own[PAM][filter]:.1f} by
the particle filter.

## PAM against LDA, post by post

Posts that only one of the two gets right, and McNemar's exact test (which is the sign test on them), for each split:

{paired}

{verdict}"""

if __name__ == "__main__":
    main()
