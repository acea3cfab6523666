"""Weight of words against topics in a mixture: one default for queries, authors of papers, and similar papers.

    TOPOI_DATA=folder-with-corpora python -m studies.mixture_weight [--topics 100] [--sweeps 200]
    python -m studies.mixture_weight --page       writes the page again from the numbers of the last run

Half of the questions of each yardstick choose the weight, the other half judge it. Writes
docs/studies/mixture-weight.json and .md.
"""

from __future__ import annotations

import argparse
import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.stats import ttest_rel

import topoi
from topoi.models.mixing import MU, WEIGHT
from topoi.retrieval.judged import read_judgements, read_queries
from topoi.retrieval.ranking import Evidence, Units
from topoi.retrieval.terms import Terms, find_terms

OUT = Path(__file__).parents[1] / "docs" / "studies"
JUDGED = ("cranfield", "cacm")
# Corpus, number of documents (None: all), and of papers that are held out.
HELD_OUT = (("nips12-abstracts", None, 170), ("nips12", None, 170), ("acl-abstracts", 6_000, 150))
# Corpora that took no part in the choice: all their questions judge.
UNSEEN = ("acl-abstracts",)
# 0: topics alone; 1: words alone.
WEIGHTS = (0.0, 0.3, 0.5, 0.6, 0.7, 0.75, 0.8, 0.85, 0.9, 0.95, 1.0)
MUS = (100.0, 300.0, 1000.0, 3000.0)
KINDS = {"judged queries": "queries", "authors of held-out papers": "authors", "papers by the same authors": "papers"}
_DEPTH = 1000
_TERMS_AT_ONCE = 64

Values = dict[tuple[float, float], list[float]]


class Yardstick(NamedTuple):
    """Each question's measure by mu and weight, and by topics' distances if documents are compared."""

    corpus: str
    kind: str
    model: str
    values: Values
    distances: list[float]


def grid_scores(units: Units, evidence: Evidence) -> Iterator[tuple[tuple[float, float], NDArray[np.float32]]]:
    """Scores of all units for every mu and weight; words and topics are looked up once."""
    totals = {(mu, weight): np.zeros(len(units.lengths), np.float32) for mu in MUS for weight in WEIGHTS}
    for first in range(0, len(evidence.weights), _TERMS_AT_ONCE):
        part = slice(first, first + _TERMS_AT_ONCE)
        counts = units.counts(evidence.postings[part]) / evidence.background[part]
        topics = np.mean(list(units.topic_ratios(evidence, part)), axis=0).astype(np.float32)
        times = evidence.weights[part].astype(np.float32)
        for mu in MUS:
            language = ((counts + mu) / (units.lengths + mu)[:, None]).astype(np.float32)
            for weight in WEIGHTS:
                mixed = np.float32(weight) * language + np.float32(1 - weight) * topics
                totals[mu, weight] += np.log(np.maximum(mixed, np.float32(1e-30))) @ times
    yield from totals.items()


def average_precision(score: NDArray[Any], relevant: NDArray[np.int64]) -> float:
    """Average precision of the first thousand."""
    order = np.argsort(-score, kind="stable")[:_DEPTH]
    hits = np.flatnonzero(np.isin(order, relevant))
    return float(np.sum(np.arange(1, len(hits) + 1) / (hits + 1)) / len(relevant))


def reciprocal_rank(score: NDArray[Any], right: NDArray[np.int64]) -> float:
    """One over the rank of the best placed right answer."""
    return 1.0 / (1 + int((score > score[right].max()).sum()))


def judged(name: str, options: Any) -> Iterator[Yardstick]:
    """Average precision of judged queries."""
    folder = Path(os.environ["TOPOI_DATA"])
    corpus = topoi.load_dataset(name, text=["title", "text"])
    settings = {"n_iter": options.sweeps, "n_chains": 2, "random_state": 0, "n_jobs": options.jobs}
    models = {
        "LDA": topoi.LDA(options.topics, prior="paper", **settings),
        "author-topic": topoi.AuthorTopicModel(options.topics, prior="paper", **settings),
        "pachinko": topoi.PachinkoAllocation(n_super=20, n_sub=options.topics, **settings),
    }
    place = {str(d): at for at, d in enumerate(corpus.documents["id"])}
    grades = read_judgements(folder / f"{name}-qrels.tsv")
    relevant = grades[(grades["grade"] > 0) & grades["document"].isin(place)].groupby("query")["document"].agg(list)
    queries = [q for q in read_queries(folder / f"{name}-queries.jsonl.gz") if q.id in relevant.index]
    for label, model in models.items():
        search = topoi.Search(model.fit(corpus))
        units, values = Units(search.index), _empty()
        for query in queries:
            evidence = Evidence(search.index, find_terms(search.index, query.text, query.authors), search.topics)
            right = np.array([place[d] for d in relevant[query.id]])
            for at, score in grid_scores(units, evidence):
                score[units.lengths == 0] = -np.inf
                values[at].append(average_precision(score, right))
        yield Yardstick(name, "judged queries", label, values, [])


def held_out(name: str, n_docs: int | None, n_test: int, options: Any) -> Iterator[Yardstick]:
    """Reciprocal ranks, for held-out papers, of their authors and of the first other paper by one of these."""
    corpus = topoi.load_dataset(name, text=["title", "text"], min_df=5)
    if n_docs is not None:
        corpus = corpus.subset(np.sort(np.random.default_rng(0).choice(corpus.n_docs, n_docs, replace=False)))
    train, test = corpus.split(n_test, random_state=0, known_authors=True)
    settings = {"n_iter": options.sweeps, "random_state": 0, "n_jobs": options.jobs}
    models = {"author-topic": topoi.AuthorTopicModel(options.topics, prior="paper", **settings),
              "LDA": topoi.LDA(options.topics, prior="paper", **settings)}  # fmt: skip
    for label, model in models.items():
        search = topoi.Search(model.fit(train))
        papers = _by_topics(model, test) if label == "LDA" else []
        for of_authors in (True, False):
            found = _ranks(search, test, of_authors)
            what = "authors of held-out papers" if of_authors else "papers by the same authors"
            yield Yardstick(name, what, label, found, [] if of_authors else papers)


def _questions(test: topoi.Corpus) -> Iterator[tuple[Terms, NDArray[np.int64], int]]:
    for d in range(test.n_docs):
        words, times = np.unique(test.tokens[test.doc_start[d] : test.doc_start[d + 1]], return_counts=True)
        own = test.doc_author[test.doc_author_start[d] : test.doc_author_start[d + 1]]
        if len(words) and len(own):
            yield Terms(words.astype(np.int64), times.astype(np.float64), np.zeros(0, np.int64)), own, d


def _papers_of(search: topoi.Search, authors: NDArray[np.int64]) -> NDArray[np.int64]:
    return np.unique(np.concatenate([search.index.catalogue.author_documents(int(a)) for a in authors]))


def _ranks(search: topoi.Search, test: topoi.Corpus, of_authors: bool) -> Values:
    units, values = Units(search.index, of_authors), _empty()
    for terms, own, _ in _questions(test):
        right = own if of_authors else _papers_of(search, own)
        for at, score in grid_scores(units, Evidence(search.index, terms, search.topics)):
            score[units.lengths == 0] = -np.inf
            values[at].append(reciprocal_rank(score, right))
    return values


def _by_topics(model: Any, test: topoi.Corpus) -> list[float]:
    """Reciprocal ranks by Jensen-Shannon distance between shares of topics."""
    search, documents = topoi.Search(model), model.chains_[0].documents.unsmoothed()
    alpha, mixtures, found = model.chains_[0].alpha, np.asarray(model.transform(test)), []
    for terms, own, d in _questions(test):
        counts = np.maximum(mixtures[d] * (terms.n + alpha.sum()) - alpha, 0)
        distance = documents.distances(counts / counts.sum(), "jensen-shannon")
        distance[model.chains_[0].documents.totals == 0] = np.inf
        found.append(reciprocal_rank(-distance, _papers_of(search, own)))
    return found


def _empty() -> Values:
    return {(mu, weight): [] for mu in MUS for weight in WEIGHTS}


def halves(n: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Questions that choose, and questions that judge."""
    order = np.random.default_rng(0).permutation(n)
    return order[: n // 2], order[n // 2 :]


def _mean(values: NDArray[Any]) -> float | None:
    return round(float(values.mean()), 4) if len(values) else None


def summary(one: Yardstick) -> dict[str, Any]:
    """Means of both halves at each mu and weight, and of the second half the difference from words alone, tested."""
    n = len(one.values[MUS[0], 1.0])
    first, second = (np.zeros(0, np.int64), np.arange(n)) if one.corpus in UNSEEN else halves(n)
    at = {f"{mu:g} {weight:g}": np.array(found) for (mu, weight), found in one.values.items()}
    tests = {}
    for key, found in at.items():
        words = at[f"{key.split()[0]} 1"]
        same = np.array_equal(found[second], words[second])
        tests[key] = 1.0 if same else float(ttest_rel(found[second], words[second]).pvalue)
    return {
        "corpus": one.corpus, "kind": one.kind, "model": one.model, "n": [len(first), len(second)],
        "chooses": {key: _mean(found[first]) for key, found in at.items()},
        "judges": {key: _mean(found[second]) for key, found in at.items()},
        "p": {key: round(p, 5) for key, p in tests.items()},
        "distances": round(float(np.mean(np.array(one.distances)[second])), 4) if one.distances else None,
    }  # fmt: skip


def goodness(rows: list[dict[str, Any]], half: str) -> dict[str, float]:
    """Measure as a part of the best at any weight and mu: mean over kinds of question of the means of their yardsticks."""
    parts: dict[str, list[dict[str, float]]] = {kind: [] for kind in KINDS}
    for row in (row for row in rows if row["corpus"] not in UNSEEN):
        best = max(row[half].values())
        parts[row["kind"]].append({key: value / best for key, value in row[half].items()})
    keys = rows[0][half]
    return {key: float(np.mean([np.mean([each[key] for each in of]) for of in parts.values() if of])) for key in keys}


def choice_table(rows: list[dict[str, Any]]) -> str:
    """Goodness of each weight and mu on the half that chooses, and on the other."""
    first, second = goodness(rows, "chooses"), goodness(rows, "judges")
    lines = [
        f"| {mu:g} | "
        + " | ".join(f"{first[f'{mu:g} {w:g}']:.3f}, {second[f'{mu:g} {w:g}']:.3f}" for w in WEIGHTS)
        + " |"
        for mu in MUS
    ]
    head = "| mu | " + " | ".join(f"{w:g}" for w in WEIGHTS) + " |\n|---:|" + "---:|" * len(WEIGHTS)
    return "\n".join([head, *lines])


def result_table(rows: list[dict[str, Any]]) -> str:
    """The second half at the default, beside words alone, topics alone, and the papers' weight."""
    default, words = f"{MU:g} {WEIGHT:g}", f"{MU:g} 1"
    lines = []
    for row in rows:
        of, p = row["judges"], row["p"][default]
        cells = [of[f"{MU:g} 0"], of[words], of["1000 1"], of["1000 0.7"], of[default]]
        distance = "–" if row["distances"] is None else f"{row['distances']:.3f}"
        test = "< 0.001" if p < 0.001 else f"{p:.3f}"
        numbers = " | ".join(f"{cell:.3f}" for cell in cells)
        lines.append(
            f"| {row['corpus']}, {row['kind']} | {row['model']} | {row['n'][1]} | {distance} | {numbers} | {test} |"
        )
    head = (
        "| question | model | number | distance of topics | topics | words | words, mu 1000 | 0.7, mu 1000 | default | p, default and words |\n"
        "|---|---|---:|---:|---:|---:|---:|---:|---:|---:|"
    )
    return "\n".join([head, *lines])


def page(result: dict[str, Any]) -> str:
    """The whole page."""
    rows, at = result["rows"], goodness(result["rows"], "chooses")
    best = max(at, key=lambda key: at[key])
    at_mu = max((key for key in at if key.startswith("1000 ")), key=lambda key: at[key])
    tables = {"choice": choice_table(rows), "results": result_table(rows)}
    chosen = {
        "best": best.replace(" ", ", weight "),
        "at_mu": at_mu.split()[1],
        "weight": f"{WEIGHT:g}",
        "mu": f"{MU:g}",
    }
    default, words, topics = f"{MU:g} {WEIGHT:g}", f"{MU:g} 1", f"{MU:g} 0"
    unseen = [row for row in rows if row["corpus"] in UNSEEN]
    said = "; ".join(
        f"{row['kind']}, {row['model']}, {row['judges'][default]:.3f} and {row['judges'][words]:.3f}" for row in unseen
    )
    times = [row["judges"][way] / row["judges"][topics] for row in unseen for way in (default, words)]
    queries = min(row["n"][1] for row in rows if row["corpus"] == "cacm")
    return PAGE.format(**tables, **chosen, **result["options"], unseen=said, times=min(times), queries=queries)


def yardsticks(options: Any) -> Iterator[Yardstick]:
    """All questions."""
    for name in JUDGED:
        yield from judged(name, options)
    for name, n_docs, n_test in HELD_OUT:
        yield from held_out(name, n_docs, n_test, options)


def main() -> None:
    """Run, or write the page again."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--topics", type=int, default=100)
    parser.add_argument("--sweeps", type=int, default=200)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--page", action="store_true")
    options = parser.parse_args()
    numbers = OUT / "mixture-weight.json"
    if not options.page:
        result: dict[str, Any] = {"options": {"topics": options.topics, "sweeps": options.sweeps}, "rows": []}
        for one in yardsticks(options):
            result["rows"].append(summary(one))
            print(one.corpus, one.kind, one.model, flush=True)
            numbers.write_text(json.dumps(result, indent=1) + "\n", encoding="utf-8")
    (OUT / "mixture-weight.md").write_text(page(json.loads(numbers.read_text(encoding="utf-8"))), encoding="utf-8")


PAGE = """# Words and topics: how much each counts

`topoi.Search`, `similar_documents`, `likely_authors` and `recommend_reviewers` mix P(word | document or author) of a language model and of a topic model, word by word.
Which weight for the words, and how much smoothing (mu), serves all of them? Three kinds of question, K = {topics}, {sweeps} sweeps, defaults otherwise; made by

    TOPOI_DATA=folder python -m studies.mixture_weight --topics {topics} --sweeps {sweeps}

* **judged queries**: average precision on Cranfield and CACM (two chains);
* **authors of held-out papers**: reciprocal rank of the first true author among all authors, of papers whose authors all have others (nips12, its abstracts, 6,000 of the
  ACL abstracts);
* **papers by the same authors**: reciprocal rank of the first training paper that shares an author with a held-out paper.

Of each kind, a random half of the questions was used to choose, and the other half to judge. The ACL abstracts took no part in the choice: all their questions judge. A choice's figure is its measure divided by the best of that row of questions at any weight and mu, averaged
over models and corpora, then over the three kinds of question.

## The choice

Each cell: the half that chose, the half that judges. Columns are weights of the language model (0: topics alone, 1: words alone).

{choice}

On the half that chose, mu {best} is best; with the papers' mu = 1000, weight {at_mu}. The default is weight {weight}, mu {mu}.

## The questions that judge

Means of the measure. *distance of topics*: Jensen-Shannon, by which `similar_documents` ranked before. p is that of a two-sided paired t-test of the default against words alone at the same mu.

{results}

At the same mu the defaults are above words alone on every row of judged queries (p < 0.05 but for author-topic on CACM, where {queries} queries judge) and of whole papers; on the NIPS abstracts they are higher for
authors, and no different for papers. For authors of abstracts, who have few words each, words alone with the papers' mu = 1000 are best. Topics alone are behind the default everywhere, and so is the distance of
topics. On the ACL abstracts, which took no part in the choice, the default and words alone differ little ({unseen}), and both have at least {times:.1f} times the
measure of topics alone. Weight and mu were chosen among the values of the first table only, by the mean of three kinds of question: for one kind alone another choice is a few per cent better.
"""

if __name__ == "__main__":
    main()
