"""Who wrote a paper that was held out? True authors among all, by topics, by words, and by mixtures of both.

    TOPOI_DATA=folder-with-corpora python -m studies.expertise [--topics 100] [--sweeps 200] [--only nips12]
    python -m studies.expertise --page       writes the page again from the numbers of the last run

Numbers are saved after every corpus; with ``--only`` those of the other corpora stay, if they have the same settings. Writes
docs/studies/expertise.json and .md.
"""

from __future__ import annotations

import argparse
import json
import time
from pathlib import Path
from typing import Any

import numpy as np

import topoi
from topoi.retrieval.ranking import Evidence, Settings, Units, scores
from topoi.retrieval.terms import Terms

OUT = Path(__file__).parents[1] / "docs" / "studies"
# Corpus and number of test documents.
CORPORA = (("nips12-abstracts", 170), ("nips12", 170))
WEIGHTS = (0.3, 0.5, 0.7, 0.9)
# That of the papers; studies.mixture_weight looks at others.
MU = 1000.0


def ways() -> dict[str, tuple[str, Settings]]:
    """Each way to score authors: a method and its settings."""
    found = {"topics": ("topics", Settings(average="products")), "words": ("language", Settings(mu=MU))}
    found |= {f"mixture {weight}": ("mixture", Settings(weight=weight, mu=MU)) for weight in WEIGHTS}
    return found


def reciprocal_ranks(search: topoi.Search, test: topoi.Corpus, method: str, settings: Settings) -> list[float]:
    """For each test document, one over the rank of its best placed true author among all authors."""
    units, found = Units(search.index, authors=True), []
    for d in range(test.n_docs):
        words, times = np.unique(test.tokens[test.doc_start[d] : test.doc_start[d + 1]], return_counts=True)
        own = test.doc_author[test.doc_author_start[d] : test.doc_author_start[d + 1]]
        if not len(words) or not len(own):
            continue
        terms = Terms(words.astype(np.int64), times.astype(np.float64), np.zeros(0, np.int64))
        score = scores(units, Evidence(search.index, terms, search.topics), method, settings)
        score[units.lengths == 0] = -np.inf
        found.append(1.0 / (1 + int((score > score[own].max()).sum())))
    return found


def measure(name: str, n_test: int, options: Any) -> dict[str, Any]:
    """Fit to the training part, and rank the authors of the test part."""
    corpus = topoi.load_dataset(name, text=["title", "text"], min_df=5)
    train, test = corpus.split(n_test, random_state=0, known_authors=True)
    settings, start = {"n_iter": options.sweeps, "random_state": 0, "n_jobs": 1}, time.process_time()
    models = {
        "author-topic": topoi.AuthorTopicModel(options.topics, prior="paper", **settings).fit(train),
        "LDA": topoi.LDA(options.topics, prior="paper", **settings).fit(train),
    }
    rows = []
    for label, model in models.items():
        for way, (method, setting) in ways().items():
            each = reciprocal_ranks(topoi.Search(model), test, method, setting)
            first = float(np.mean(np.array(each) == 1.0))
            rows.append({"model": label, "way": way, "mrr": float(np.mean(each)), "first": first})
            print(name, rows[-1], flush=True)
    seconds = time.process_time() - start
    return {"corpus": repr(train)[9:-1], "n_test": test.n_docs, "seconds": seconds, "rows": rows}


def table(result: dict[str, Any]) -> str:
    """The numbers of a corpus as text."""
    head = "| model | score | mean reciprocal rank | true author first |\n|---|---|---:|---:|"
    lines = [f"| {r['model']} | {r['way']} | {r['mrr']:.3f} | {r['first']:.1%} |" for r in result["rows"]]
    return "\n".join([head, *lines])


def page(result: dict[str, Any]) -> str:
    """The whole page."""
    corpora = result["corpora"]
    parts = [f"## {name}\n\n{r['corpus']}; {r['n_test']} test papers, whose authors all have others.\n\n{table(r)}"
             for name, r in corpora.items()]  # fmt: skip
    seconds = sum(each["seconds"] for each in corpora.values())
    first = {(n, r["model"], r["way"]): r["first"] for n, each in corpora.items() for r in each["rows"]}
    times = [share / first[n, model, "topics"] for (n, model, way), share in first.items() if way == "mixture 0.7"]
    n_test = min(each["n_test"] for each in corpora.values())
    return PAGE.format(
        tables="\n\n".join(parts), seconds=seconds, least=min(times), most=max(times), n_test=n_test, error=50 / n_test**0.5, **result["options"]
    )  # fmt: skip


def kept(numbers: Path, settings: dict[str, int]) -> dict[str, Any]:
    """The numbers of earlier runs; none if those had other settings."""
    result: dict[str, Any] = json.loads(numbers.read_text(encoding="utf-8")) if numbers.exists() else {}
    return result if result.get("options") == settings else {"options": settings, "corpora": {}}


def main() -> None:
    """Run, or write the page again."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--topics", type=int, default=100)
    parser.add_argument("--sweeps", type=int, default=200)
    names = [name for name, _ in CORPORA]
    parser.add_argument("--only", nargs="*", default=names, choices=names)
    parser.add_argument("--page", action="store_true")
    options = parser.parse_args()
    numbers = OUT / "expertise.json"
    if not options.page:
        result = kept(numbers, {"topics": options.topics, "sweeps": options.sweeps})
        for name, n_test in CORPORA:
            if name in options.only:
                result["corpora"][name] = measure(name, n_test, options)
                result["corpora"] = {each: result["corpora"][each] for each in names if each in result["corpora"]}
                numbers.write_text(json.dumps(result, indent=1) + "\n", encoding="utf-8")
    (OUT / "expertise.md").write_text(page(json.loads(numbers.read_text(encoding="utf-8"))), encoding="utf-8")


PAGE = """# Who knows what a paper is about

A held-out paper should find its own authors among all authors of the other papers: a yardstick for reviewers' scores that needs no judgements. K = {topics}, {sweeps} sweeps, one chain,
defaults otherwise. Made by

    TOPOI_DATA=folder python -m studies.expertise --topics {topics} --sweeps {sweeps}

in {seconds:,.0f} s of processor time.

*topics*: the paper's probability under an author's mixture of topics (with LDA, the mean of the author's papers' mixtures), as `recommend_reviewers` scored before. *words*: under all the
author's papers together, smoothed with mu = 1000. *mixture*: both, word by word; the number is the weight of the words.

{tables}

The mixture at 0.7 puts a true author first {least:.1f} to {most:.1f} times as often as topics alone. With whole papers it is above the words alone; with abstracts, which give each author few words, the words alone are a little
ahead of it. With {n_test} papers a share has a standard error of up to {error:.0f} points, so that neighbouring weights are not told apart. Nothing was chosen by these numbers. The defaults of `topoi.Search` are from [another study](mixture-weight.md), which looks at mu as well.
"""

if __name__ == "__main__":
    main()
