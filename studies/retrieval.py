"""Search on two test collections and for known items: language models, topic models, mixtures (PAM 3.3, AT09 6.5).

    TOPOI_DATA=folder-with-cranfield-and-cacm python -m studies.retrieval [--topics 100] [--chains 2] [--sweeps 200] [--kernel-topics 20]
    python -m studies.retrieval --page       writes the page again from the numbers of the last run

Writes docs/studies/retrieval.json and .md.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import time
from pathlib import Path
from typing import Any

import numpy as np

import topoi
from topoi.retrieval.judged import Question, read_judgements, read_queries
from topoi.retrieval.measures import compare_methods, measure_run, precision_recall, search_run

OUT = Path(__file__).parents[1] / "docs" / "studies"
COLLECTIONS = ("cranfield", "cacm")
KNOWN_ITEMS = ("nips12-abstracts", "wikipedia-science")
WEIGHTS = (0.5, 0.7, 0.8, 0.9)
# The papers' smoothing and weight; topoi's own defaults were chosen by studies.mixture_weight.
MU, PAPERS_WEIGHT = 1000.0, 0.7
BASELINE = "language model"


def fit_all(corpus: topoi.Corpus, options: Any, pachinko: bool = True) -> dict[str, Any]:
    """The topic models, each with its defaults but for the number of topics."""
    settings = {"n_iter": options.sweeps, "n_chains": options.chains, "random_state": 0, "n_jobs": 2}
    models = {"LDA": topoi.LDA(options.topics, prior="paper", **settings).fit(corpus)}
    if corpus.n_authors:
        models["author-topic"] = topoi.AuthorTopicModel(options.topics, prior="paper", **settings).fit(corpus)
    if pachinko:
        models["pachinko"] = topoi.PachinkoAllocation(n_super=20, n_sub=options.topics, **settings).fit(corpus)
    if options.kernel_topics and "year" in corpus.documents:
        kernel = topoi.KernelTopicModel(options.kernel_topics, features=["year"], n_iter=40, random_state=0, n_jobs=2)
        models["kernel"] = kernel.fit(with_all_years(corpus))
    return models


def with_all_years(corpus: topoi.Corpus) -> topoi.Corpus:
    """The same documents; those without a year have the median."""
    full = corpus.subset(slice(None))
    year = full.documents["year"]
    full.documents["year"] = year.fillna(int(year.median()))
    return full


def searches(corpus: topoi.Corpus, models: dict[str, Any]) -> dict[str, tuple[topoi.Search, str]]:
    """Each method's name, with a search and the method that it uses."""
    plain, papers = topoi.Search(corpus, mu=MU), {"mu": MU, "weight": PAPERS_WEIGHT}
    found = {
        "BM25": (plain, "bm25"),
        "BM25, positive idf": (topoi.Search(corpus, idf="positive"), "bm25"),
        BASELINE: (plain, "language"),
    }
    for name, model in models.items():
        found[name] = (topoi.Search(corpus, model), "topics")
        for weight in WEIGHTS:
            found[f"{name}, mixture {weight}"] = (topoi.Search(corpus, model, weight=weight, mu=MU), "mixture")
        if len(model.chains_) > 1:
            products = topoi.Search(corpus, model, average="products", **papers)
            found[f"{name}, mixture 0.7 of products"] = (products, "mixture")
        if name == "author-topic":
            by_authors = topoi.Search(corpus, model, mixtures="authors", **papers)
            found[f"{name}, by authors"] = (by_authors, "topics")
            found[f"{name}, by authors, mixture 0.7"] = (by_authors, "mixture")
    return found


def judged(name: str, options: Any) -> dict[str, Any]:
    """Measures of all methods on a test collection."""
    folder = Path(os.environ["TOPOI_DATA"])
    corpus = topoi.load_dataset(name, text=["title", "text"])
    queries = read_queries(folder / f"{name}-queries.jsonl.gz")
    judgements = read_judgements(folder / f"{name}-qrels.tsv")
    start = time.perf_counter()
    models = fit_all(corpus, options)
    seconds = time.perf_counter() - start
    runs = {label: search_run(search, queries, how) for label, (search, how) in searches(corpus, models).items()}
    compared = compare_methods(runs, judgements, BASELINE)
    rows = []
    for row in compared.to_dict("records"):
        each = measure_run(runs[row["method"]], judgements, ["P@10", "nDCG"]).groupby("measure")["value"].mean()
        curve = precision_recall(runs[row["method"]], judgements)["precision"].round(4).tolist()
        rows.append(row | {"P@10": each["P@10"], "nDCG": each["nDCG"], "precision": curve})
    return {"corpus": repr(corpus)[9:-1], "n_queries": int(compared["n_queries"].iloc[0]), "seconds": seconds,
            "rows": rows}  # fmt: skip


def known_items(name: str, options: Any, n: int = 200) -> dict[str, Any]:
    """Mean reciprocal rank of the one document whose title is the query, among texts without titles."""
    corpus = topoi.load_dataset(name)
    random = np.random.default_rng(0)
    chosen = np.sort(random.choice(corpus.n_docs, min(n, corpus.n_docs), replace=False))
    queries = [Question(str(d), str(corpus.documents["title"][d])) for d in chosen]
    found = searches(corpus, fit_all(corpus, options, pachinko=False))
    rows = []
    for label, (search, how) in found.items():
        each = [reciprocal_rank(search, query, how) for query in queries]
        rows.append({"method": label, "mrr": float(np.mean(each))})
    return {"corpus": repr(corpus)[9:-1], "n_queries": len(queries), "rows": rows}


def reciprocal_rank(search: topoi.Search, query: Question, how: str) -> float:
    """One over the rank of the document whose number is the query's id; 0 if it is not among the first 1000."""
    documents = search.ranked(query.text, n=1000, method=how)["document"].to_numpy()
    at = np.flatnonzero(documents == int(query.id))
    return 1.0 / (1 + int(at[0])) if len(at) else 0.0


def table(result: dict[str, Any]) -> str:
    """The numbers of a test collection as text."""
    head = (
        "| method | MAP | P@10 | nDCG | difference in MAP from the language model | p |\n|---|---:|---:|---:|---:|---:|"
    )
    lines = [
        f"| {r['method']} | {r['mean']:.4f} | {r['P@10']:.3f} | {r['nDCG']:.3f} | {r['difference']:+.4f} | {_p(r['p'])} |"
        for r in result["rows"]
    ]
    return "\n".join([head, *lines])


def _p(value: float | None) -> str:
    if value is None or value != value:
        return "–"
    return "< 0.0001" if value < 0.0001 else f"{value:.4f}"


def known_table(results: dict[str, Any]) -> str:
    """Mean reciprocal ranks of known items, a column per collection."""
    names = list(results)
    of = {name: {row["method"]: row["mrr"] for row in results[name]["rows"]} for name in names}
    labels = list(dict.fromkeys(label for name in names for label in of[name]))
    lines = [f"| {a} | " + " | ".join(f"{of[n][a]:.3f}" if a in of[n] else "–" for n in names) + " |" for a in labels]
    return "\n".join([f"| method | {' | '.join(names)} |", "|---|" + "---:|" * len(names), *lines])


def page(result: dict[str, Any]) -> str:
    """The whole page."""
    parts = [f"## {name}\n\n{r['corpus']}; {r['n_queries']} judged queries.\n\n{table(r)}"
             for name, r in result["collections"].items()]  # fmt: skip
    at = {name: {row["method"]: row["mrr"] for row in r["rows"]} for name, r in result["known"].items()}
    gaps = [mrr - of["language model"] for of in at.values() for method, mrr in of.items() if "mixture" in method]
    words = int(re.search(r"([\d,]+) tokens", result["collections"]["cacm"]["corpus"])[1].replace(",", ""))
    documents = int(re.match(r"[\d,]+", result["collections"]["cacm"]["corpus"])[0].replace(",", ""))
    return PAGE.format(
        tables="\n\n".join(parts), known=known_table(result["known"]), below=-min(gaps), above=max(gaps), length=words / documents, **result["options"]
    )  # fmt: skip


def main() -> None:
    """Run, or write the page again."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--topics", type=int, default=100)
    parser.add_argument("--kernel-topics", type=int, default=0, help="0: no kernel topic model, which takes longest")
    parser.add_argument("--chains", type=int, default=2)
    parser.add_argument("--sweeps", type=int, default=200)
    parser.add_argument("--page", action="store_true")
    options = parser.parse_args()
    numbers = OUT / "retrieval.json"
    if not options.page:
        settings = {name: value for name, value in vars(options).items() if name != "page"}
        result: dict[str, Any] = {"options": settings, "collections": {}, "known": {}}
        for name in COLLECTIONS:
            result["collections"][name] = judged(name, options)
            print(table(result["collections"][name]), flush=True)
        for name in KNOWN_ITEMS:
            result["known"][name] = known_items(name, options)
            print(known_table(result["known"]), flush=True)
        numbers.write_text(json.dumps(result, indent=1).replace("NaN", "null") + "\n", encoding="utf-8")
    (OUT / "retrieval.md").write_text(page(json.loads(numbers.read_text(encoding="utf-8"))), encoding="utf-8")


PAGE = """# Search on Cranfield and CACM

Title and text are indexed, English stop words left out, words not stemmed. K = {topics} topics, {chains} chains of {sweeps} sweeps, 20 super-topics for pachinko; everything else as by default. Made by

    TOPOI_DATA=folder python -m studies.retrieval --topics {topics} --chains {chains} --sweeps {sweeps}

A document of grade 1 or more is relevant (Cranfield's grade −1 is not). The language model is query likelihood with Dirichlet smoothing, mu = 1000. A mixture's
number is the weight of the language model. mu, 0.7, k1 = 2 and b = 0.75 are the papers', and were not chosen by these numbers; the default, a document's own mixture and not its authors', was. p is that of a two-sided paired t-test of
average precision against the language model, over queries.

{tables}

## Known items

A document's title is the query, and the texts are indexed without titles: mean reciprocal rank of that document, 200 at random.

{known}

## What it shows

On Cranfield every mixture is above the language model (p < 0.001), and has a higher mean than BM25 but for LDA at 0.9. On CACM, whose documents have {length:.0f} words on average and say little about their
topics, the language model needs more weight: at 0.9 all three mixtures are above it (p < 0.01), at 0.7 none with certainty. On both the best mixture is one with pachinko. No topic model alone beats the language model with certainty.
A document's own mixture does better than the mean of its authors', which is why it is the default. Averaging chains word by word is at least as good as averaging products, but for author-topic on CACM. For known items
mixtures are between {below:.3f} below the language model and {above:.3f} above it, and BM25 does best on the short texts, which mu = 1000 smooths a lot.

All of this is with the papers' mu = 1000. topoi's own defaults were [chosen](mixture-weight.md) on half of these queries and other questions, and judged on the other half.
"""

if __name__ == "__main__":
    main()
