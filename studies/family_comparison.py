"""All families, and LDA of two other packages, on three corpora by one measure after the other (``topoi.evaluation.compare``).

    TOPOI_DATA=folder python -m studies.family_comparison [--only cranfield] [--topics 40] [--sweeps 100] [--chains 2]
    TOPOI_DATA=folder python -m studies.family_comparison --single      only LDA with one chain, the rest as it was
    python -m studies.family_comparison --page       writes the page again from the numbers of the last run

gensim and tomotopy are left out if they are not installed. Numbers are saved after every corpus; with ``--only`` those of the
others stay, if they have the same settings. Writes docs/studies/family-comparison.json and .md.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import math
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

import topoi
from topoi.evaluation import compare, stability
from topoi.evaluation.resources import Usage, measured

OUT = Path(__file__).parents[1] / "docs" / "studies"
NAME = "family-comparison"
N_DOCS, N_TEST = 800, 80
# The tutorial of gensim's LdaModel.
GENSIM = {"alpha": "auto", "eta": "auto", "passes": 20, "iterations": 400, "eval_every": None}


CORPORA: dict[str, Callable[[], topoi.Corpus]] = {
    "cranfield": lambda: topoi.load_dataset("cranfield", text=["title", "text"]),
    "nips12-abstracts": lambda: topoi.load_dataset("nips12-abstracts"),
    "state-of-the-union": lambda: topoi.load_dataset("state-of-the-union", unit="passage"),
}


def some_documents(corpus: topoi.Corpus) -> topoi.Corpus:
    """So many documents at random; those without a year have the median."""
    some = corpus.subset(np.sort(np.random.default_rng(0).choice(corpus.n_docs, N_DOCS, replace=False)))
    year = some.documents["year"]
    some.documents["year"] = year.fillna(int(year.median()))
    return some


def families(options: Any) -> dict[str, Any]:
    """Every family with its defaults, but for topics, sweeps and chains."""
    common = {"random_state": 0, "n_jobs": 1}
    gibbs = common | {"n_iter": options.sweeps, "n_chains": options.chains}
    k = options.topics
    return {
        "LDA": topoi.LDA(k, prior="paper", **gibbs),
        "LDA, alpha learned": topoi.LDA(k, prior="paper", learn_alpha="asymmetric", **gibbs),
        "author-topic": topoi.AuthorTopicModel(k, prior="paper", **gibbs),
        "regression on year": topoi.DirichletMultinomialRegression(k, features=["year"], **gibbs),
        "kernel on year": topoi.KernelTopicModel(
            k, features=["year"], n_iter=options.sweeps, n_warmup=options.sweeps // 2, solver="iterative", **common
        ),
        "pachinko": topoi.PachinkoAllocation(n_super=k // 2, n_sub=k, **gibbs),
        "correlated": topoi.CorrelatedTopicModel(k, **gibbs),
        "HDP": topoi.HierarchicalDirichletProcess(**gibbs),
        "aspect": topoi.AspectModel(k, **common),
        "PLSI": topoi.PLSI(k, **common),
        "PLSI, smoothing 0.01": topoi.PLSI(k, smoothing=0.01, **common),
    }


def as_words(corpus: topoi.Corpus) -> list[list[str]]:
    """Documents as lists of words."""
    words = [str(word) for word in corpus.words]
    return [[words[w] for w in part] for part in np.split(corpus.tokens, corpus.doc_start[1:-1])]


def with_tomotopy(train: topoi.Corpus, options: Any, seed: int) -> topoi.AspectModel:
    """tomotopy's LDA with its defaults, which learn alpha every ten sweeps: its topics and alpha."""
    import tomotopy

    model = tomotopy.LDAModel(k=options.topics, seed=seed + 1)
    for words in as_words(train):
        if words:
            model.add_doc(words)
    model.train(options.sweeps, workers=1)
    column = {word: w for w, word in enumerate(model.used_vocabs)}
    topics = np.array([model.get_topic_word_dist(k) for k in range(model.k)], np.float64)
    # A word that no training document has has the smoothing that a word without counts has.
    unseen = topics.min(axis=1, keepdims=True)
    each = [topics[:, [column[word]]] if word in column else unseen for word in map(str, train.words)]
    return fixed(np.hstack(each), np.asarray(model.alpha, np.float64), train)


def with_gensim(train: topoi.Corpus, options: Any, seed: int) -> topoi.AspectModel:
    """gensim's LDA with the settings of its tutorial: its topics and alpha."""
    from gensim.models import LdaModel

    matrix = train.to_matrix().tocsr()
    bags = [list(zip(row.indices.tolist(), row.data.tolist(), strict=True)) for row in matrix]
    names = {w: str(word) for w, word in enumerate(train.words)}
    model = LdaModel(bags, options.topics, id2word=names, random_state=seed, **GENSIM)
    return fixed(np.asarray(model.get_topics(), np.float64), np.asarray(model.alpha, np.float64), train)


def fixed(topic_word: Any, alpha: Any, train: topoi.Corpus) -> topoi.AspectModel:
    """Topics and alpha of another package as a model that the same code can judge."""
    topic_word = np.maximum(topic_word, 1e-12)
    shares = topic_word / topic_word.sum(axis=1, keepdims=True)
    return topoi.AspectModel.from_parameters(shares, alpha, [str(word) for word in train.words])


PEERS = {"tomotopy": with_tomotopy, "gensim": with_gensim}


def parts(name: str) -> tuple[topoi.Corpus, topoi.Corpus, topoi.Corpus]:
    """Some documents of a corpus, and those to fit to and to judge by."""
    corpus = some_documents(CORPORA[name]())
    return corpus, *corpus.split(N_TEST, random_state=0, known_authors=True)


def single(name: str, options: Any) -> list[dict[str, Any]]:
    """LDA with one chain, as the other packages have: means over samples, the last sample, and both as aspect models."""
    _, train, test = parts(name)
    settings = {"learn_alpha": "asymmetric", "n_iter": options.sweeps, "random_state": 0, "n_jobs": 1}
    mean = topoi.LDA(options.topics, prior="paper", **settings).fit(train)
    last = topoi.LDA(options.topics, prior="paper", average=False, **settings).fit(train)
    models = {
        "LDA, alpha learned, one chain": mean,
        "the same topics as an aspect model": fixed(mean.topic_word_, mean.alpha_, train),
        "its last sample": last,
        "its last sample as an aspect model": fixed(last.topic_word_, last.alpha_, train),
    }
    rows = {row["name"]: row for row in compare(models, train, test).to_dict("records")}
    return [rows[label] for label in models]


def measure(name: str, options: Any) -> dict[str, Any]:
    """All models of one corpus."""
    start = time.process_time()
    corpus, train, test = parts(name)
    models, usage, stable = families(options), dict[str, Usage](), dict[str, float]()
    for peer, fit in PEERS.items():
        if importlib.util.find_spec(peer):
            with measured() as usage[f"{peer} LDA"]:
                models[f"{peer} LDA"] = fit(train, options, 0)
            pair = [models[f"{peer} LDA"], fit(train, options, 1)]
            stable[f"{peer} LDA"] = float(stability(pair, 10).attrs["overlap"])
            print(name, peer, usage[f"{peer} LDA"], flush=True)
    warm(corpus, options)
    frame = compare(models, train, test)
    rows = frame.to_dict("records")
    for row in rows:
        if row["name"] in usage:
            used = usage[row["name"]]
            row |= {
                "seconds": used.seconds,
                "peak_mb": used.peak_mb,
                "stability": stable[row["name"]],
                "state_mb": None,
            }
    print(frame.to_string(), flush=True)
    return {"corpus": repr(corpus)[9:-1], "n_test": test.n_docs, "n_words": int(frame["n_words"].iloc[0]),
            "seconds": time.process_time() - start, "rows": rows, "single": single(name, options)}  # fmt: skip


def warm(corpus: topoi.Corpus, options: Any) -> None:
    """Compile whatever a fit needs, so that no fit is charged for it."""
    few = corpus.subset(range(40))
    small = argparse.Namespace(topics=4, sweeps=3, chains=options.chains)
    for model in families(small).values():
        model.fit(few)


def number(value: Any, form: str, none: str = "–") -> str:
    """A number as text, or a dash."""
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return none
    return "∞" if value == math.inf else "−∞" if value == -math.inf else f"{value:{form}}"


def likelihood_table(result: dict[str, Any]) -> str:
    """What a model predicts."""
    lines = [
        "| model | topics | perplexity | log likelihood per word | to the best | second estimator | log likelihood by it | completion |",
        "|---|---:|---:|---:|---:|---|---:|---:|",
    ]
    for row in result["rows"]:
        first = with_error(row["log_likelihood"], row["log_likelihood_error"])
        second = with_error(row["second_log_likelihood"], row["second_error"])
        to_best = "" if row["verdict"] == "best" else with_error(row["difference"], row["difference_error"], 3)
        cells = [
            str(row["n_topics"]), number(row["perplexity"], ",.0f"), first, to_best,
            row["second_estimator"], second, number(row["completion_perplexity"], ",.0f"),
        ]  # fmt: skip
        lines.append(f"| {row['name']} | " + " | ".join(cells) + " |")
    return "\n".join(lines)


def with_error(value: Any, error: Any, digits: int = 4) -> str:
    """A number with its standard error, if it has one."""
    shown = number(value, f".{digits}f")
    stated = number(error, f".{digits}f", "")
    return f"{shown} ± {stated}" if stated and shown not in ("–", "−∞") else shown


def topic_table(result: dict[str, Any]) -> str:
    """What topics are like, and what a fit costs."""
    lines = [
        "| model | NPMI | C_V | exclusivity | diversity | stability | seconds | peak MB | kept MB |",
        "|---|" + "---:|" * 8,
    ]
    forms = {"npmi": ".3f", "c_v": ".3f", "exclusivity": ".3f", "diversity": ".2f", "stability": ".2f",
             "seconds": ",.1f", "peak_mb": ",.0f", "state_mb": ",.1f"}  # fmt: skip
    for row in result["rows"]:
        cells = [number(row[name], form) for name, form in forms.items()]
        lines.append(f"| {row['name']} | " + " | ".join(cells) + " |")
    return "\n".join(lines)


def single_table(results: dict[str, Any]) -> str:
    """LDA of three packages with one chain each: perplexity and completion on every corpus."""
    lines = [
        "| | " + " | ".join(f"{name}: perplexity | completion" for name in results) + " |",
        "|---|" + "---:|---:|" * len(results),
    ]
    rows = [{row["name"]: row for row in [*result["single"], *result["rows"]]} for result in results.values()]
    names = [row["name"] for row in next(iter(results.values()))["single"]]
    for label in (*names, *(f"{peer} LDA" for peer in PEERS if f"{peer} LDA" in rows[0])):
        cells = [f"{each[label]['perplexity']:,.0f} | {each[label]['completion_perplexity']:,.0f}" for each in rows]
        lines.append(f"| {label} | " + " | ".join(cells) + " |")
    return "\n".join(lines)


def page(result: dict[str, Any]) -> str:
    """The whole page."""
    tables = [
        f"## {name}\n\n{r['corpus']}; {r['n_test']} held-out documents, {r['n_words']:,} words.\n\n{likelihood_table(r)}\n\n{topic_table(r)}"
        for name, r in result["corpora"].items()
    ]
    seconds = sum(each["seconds"] for each in result["corpora"].values())
    return PAGE.format(tables="\n\n".join(tables), single=single_table(result["corpora"]), seconds=seconds, verdict=PAGE_VERDICT.format(**page_numbers(result)), n_docs=N_DOCS, **result["options"])  # fmt: skip


def page_numbers(result: dict[str, Any]) -> dict[str, Any]:
    """Numbers of the conclusions."""
    corpora = [{row["name"]: row for row in each["rows"]} for each in result["corpora"].values()]
    mixed = ("HDP", "correlated", "pachinko", "kernel on year", "regression on year")
    learned = [rows["LDA, alpha learned"]["log_likelihood"] for rows in corpora]
    ahead = [rows[name]["log_likelihood"] - lda for rows, lda in zip(corpora, learned, strict=True) for name in mixed]
    fixed = [lda - rows["LDA"]["log_likelihood"] for rows, lda in zip(corpora, learned, strict=True)]
    sizes = [rows["HDP"]["n_topics"] for rows in corpora]
    repeated = [
        rows[name]["diversity"] for rows in corpora for name in rows if name.startswith(("aspect", "PLSI", "gensim"))
    ]
    return {
        "least": min(ahead), "most": max(ahead), "fixed_least": min(fixed), "fixed_most": max(fixed), "fewest": min(sizes), "largest": max(sizes),
        "diversity": max(repeated), "n_test": next(iter(result["corpora"].values()))["n_test"], "n_train": N_DOCS - next(iter(result["corpora"].values()))["n_test"],
        "first": sum(max(rows, key=lambda name, rows=rows: rows[name]["log_likelihood"]) == "HDP" for rows in corpora), "n": len(corpora), **result["options"],
    }  # fmt: skip


def kept(numbers: Path, settings: dict[str, int]) -> dict[str, Any]:
    """The numbers of earlier runs; none if those had other settings."""
    result: dict[str, Any] = json.loads(numbers.read_text(encoding="utf-8")) if numbers.exists() else {}
    return result if result.get("options") == settings else {"options": settings, "corpora": {}}


def without_nan(value: Any) -> Any:
    """The same with null for NaN, which JSON does not have; infinities become strings."""
    if isinstance(value, dict):
        return {key: without_nan(each) for key, each in value.items()}
    if isinstance(value, list):
        return [without_nan(each) for each in value]
    if isinstance(value, float) and math.isnan(value):
        return None
    return str(value) if isinstance(value, float) and math.isinf(value) else value


def with_infinities(row: dict[str, Any]) -> dict[str, Any]:
    """The reverse: strings that stand for infinities as numbers."""
    return {key: float(value) if value in ("inf", "-inf") else value for key, value in row.items()}


def main() -> None:
    """Run, or write the page again."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--topics", type=int, default=40)
    parser.add_argument("--sweeps", type=int, default=100)
    parser.add_argument("--chains", type=int, default=2)
    parser.add_argument("--only", nargs="*", default=list(CORPORA), choices=list(CORPORA))
    parser.add_argument("--single", action="store_true")
    parser.add_argument("--page", action="store_true")
    options = parser.parse_args()
    numbers = OUT / f"{NAME}.json"
    if not options.page:
        result = kept(numbers, {name: getattr(options, name) for name in ("topics", "sweeps", "chains")})
        for name in options.only:
            if options.single:
                result["corpora"][name]["single"] = without_nan(single(name, options))
            else:
                result["corpora"][name] = without_nan(measure(name, options))
            result["corpora"] = {each: result["corpora"][each] for each in CORPORA if each in result["corpora"]}
            numbers.write_text(json.dumps(result, indent=1) + "\n", encoding="utf-8")
    result = json.loads(numbers.read_text(encoding="utf-8"))
    for each in result["corpora"].values():
        each["rows"] = [with_infinities(row) for row in each["rows"]]
    (OUT / f"{NAME}.md").write_text(page(result), encoding="utf-8")


PAGE_VERDICT = """## What to conclude

* **How mixtures are distributed matters more than who samples them.** HDP, correlated topics, pachinko allocation and the two models that know the year are {least:.2f} to {most:.2f} nats a word ahead of LDA with learned alpha, over the three corpora; LDA with learned alpha is {fixed_least:.2f} to {fixed_most:.2f} ahead of LDA with alpha = 50 / topics.
* **Metadata help where they say something.** The year puts the kernel model first on two centuries of speeches; on abstracts of one to three decades it and the regression rank among the models without metadata. The author-topic model, which has to explain a document by its authors' mixtures alone, is behind LDA everywhere.
* **LDA is LDA.** With one chain, tomotopy is a little ahead of topoi's last sample on two corpora and behind on the third; the mean over samples, which topoi takes by default, has a lower perplexity than tomotopy on all three (completion: on two). gensim's variational fit is behind both on all three.
* **Completion agrees.** HDP predicts the other half of a document best on two corpora; on the third correlated topics and the kernel model are level, and correlated topics are second on these two. LDA with a fixed alpha and author-topic models are behind LDA with a learned one on all three.
* **Likelihood and readable topics are different things.** HDP has the best likelihood on {first} of {n} corpora, and on all of them the lowest NPMI: it has {fewest} to {largest} topics, many of a few words, where the others have {topics}. The kernel model, whose words are shared softly, has the highest NPMI on all three. Leading words of the aspect model, PLSI and gensim repeat most
  (diversity of {diversity:.2f} or less).
* **PLSI without smoothing** gives a new word no probability at all, and so none to most documents; with 0.01 it is a model like the others, near the end of the list.

## What not to conclude

* That HDP is the best model: it chose {fewest} to {largest} topics where the others were given {topics}. With as many topics others come near it ([NIPS abstracts](nips-abstracts-likelihood.md)).
* That differences of 0.01 or 0.02 are real: errors are over {n_test} documents of one split, and say nothing about other seeds. {sweeps} sweeps are few, and so are {n_train} training documents.
* Anything of speed: the machine was busy, two chains were fitted for some and one for others, and the kernel model ran a tenth of its usual sweeps. Peaks of memory are rises above what Python already held; for small fits after larger ones they are zero. [Benchmarks](../benchmarks.md) are for that.
* That the defaults are beyond doubt: those of correlated topics and of the aspect model were chosen on NIPS abstracts, and these {n_test} may be among them.

The first estimator is the particle filter but for the kernel model (importance sampling). Where the second is far below it, for HDP, pachinko allocation, gensim and PLSI, alpha is small, and draws that do not look at the document miss it. For PLSI without smoothing the second is finite only because impossible words count as 1e-300.
"""

PAGE = """# All families side by side

`topoi.evaluation.compare` on three corpora: every family with its defaults, K = {topics} (pachinko: {topics} sub-topics under half as many super-topics; HDP finds its own number), {sweeps} sweeps and {chains} chains for those that are sampled;
the aspect model and PLSI run until they have converged, or as long as their defaults allow; the kernel model, whose default of 1,000 sweeps would take longest by far, has {sweeps} too, half of them before the first step of its process, and the iterative solver. Of each corpus {n_docs} documents at random. LDA of two other packages is judged by the same code: their topics and alpha as an `AspectModel` with known parameters. tomotopy has its
defaults and as many sweeps, one chain; gensim the settings of its tutorial (`alpha="auto"`, `eta="auto"`, 20 passes, 400 iterations). One thread each; other work ran on the machine, so that seconds (of the wall) are rough. Made by

    TOPOI_DATA=folder python -m studies.family_comparison --topics {topics} --sweeps {sweeps} --chains {chains}

in {seconds:,.0f} s of processor time. What the columns are: [evaluation](../evaluation.md#comparing-models). Log likelihoods are per word, in nats; the error of the first is of the estimator, that of the difference is paired over documents. The second estimator's error is missing where it could not state one (alpha
below 1, too few samples that count); where both differ the higher one is nearer to the truth. Stability of the other packages is that of two seeds.

{tables}

## LDA of three packages, one chain each

The comparison above is unequal in one respect: the sampled families have two chains, whose probabilities are averaged; the other packages have one. So here is LDA with one chain, as means over samples of its second half or as its last sample, which is what tomotopy gives. The same topics and alpha
as an aspect model with known parameters, which is how the other packages are judged, are the same model: their numbers differ by what Gibbs sampling and expectation propagation say of the same mixtures, half a percent of the completion or less. (Completion holds topics fixed in all families. Topics that go on learning from a new document's
observed words, as Rosen-Zvi et al. let them, expect a new word again: `log_completion(…, learn_topics=True)`.)

{single}

{verdict}"""

if __name__ == "__main__":
    main()
