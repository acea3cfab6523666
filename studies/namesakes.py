"""Do the most surprising documents under a name belong to somebody else? (AT04, section 4.3 and tables 1 to 3.)

    TOPOI_DATA=folder-with-acl-abstracts-and-nips12 python -m studies.namesakes [--pairs 200] [--sweeps 300] [--kept folder]
    python -m studies.namesakes --page       writes the page again from the numbers of the last run

Names are merged on purpose: some papers of one author are put under another's name before the fit, and unusual_documents has to
find them. ``--kept`` keeps the fits as checkpoints, which a second run continues. Writes docs/studies/namesakes.json and .md.
"""

from __future__ import annotations

import argparse
import json
import re
from collections import Counter
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from scipy.special import logsumexp
from sklearn.metrics import roc_auc_score

import topoi

OUT = Path(__file__).parents[1] / "docs" / "studies"
SCORES = {
    "perplexity": "perplexity, as `unusual_documents` ranks",
    "left out": "the same, each document left out of the counts that judge it",
    "relative": "perplexity over that of the whole collection's mixture",
    "both": "left out and relative",
}
SHOWN = (6, 4)  # most surprising and most typical papers of a table
SIGNS = ("first over median", "widest gap in the upper half", "standard deviation")
PRONE = (0.0, 0.0005, 0.005, 0.05, 0.3, 100.0)  # bounds of expected namesakes


class Collection(NamedTuple):
    """A data set and how it is used: fits of ``pairs / rounds`` merged names for each number of foreign papers."""

    name: str
    topics: int
    least: int  # papers that the owner of a name has
    foreign: tuple[int, ...]  # papers of somebody else under it
    rounds: int


COLLECTIONS = (
    Collection("acl-abstracts", 300, 15, (1, 3, 10), 1),
    Collection("nips12", 100, 6, (1, 3), 4),
)


class Merged(NamedTuple):
    """Some papers of another author under an author's name."""

    author: int
    other: int
    foreign: tuple[int, ...]


class Options(NamedTuple):
    """How long the fits are, and where they are kept."""

    sweeps: int
    chains: int
    seed: int
    kept: Path | None


def papers_by_author(corpus: topoi.Corpus) -> list[np.ndarray]:
    """Positions of each author's documents."""
    document = np.repeat(np.arange(corpus.n_docs), np.diff(corpus.doc_author_start))
    order = np.argsort(corpus.doc_author, kind="stable")
    ends = np.cumsum(np.bincount(corpus.doc_author, minlength=corpus.n_authors))
    return np.split(document[order], ends[:-1])


def choose_merged(papers: list[np.ndarray], n: int, least: int, foreign: tuple[int, ...], seed: int) -> list[Merged]:
    """For each number of foreign papers, ``n`` random pairs of authors without a paper together; nobody twice."""
    random = np.random.default_rng(seed)
    sizes = np.array([len(own) for own in papers])
    hosts = random.permutation(np.flatnonzero(sizes >= least))[: n * len(foreign)]
    if len(hosts) < n * len(foreign):
        raise SystemExit(f"only {len(hosts)} authors have {least} papers")
    taken = set(hosts.tolist())
    merged = []
    for i, host in enumerate(hosts.tolist()):
        n_foreign = foreign[i // n]
        candidates = np.flatnonzero(sizes >= n_foreign)
        while True:
            other = int(random.choice(candidates))
            if other not in taken and not set(papers[host].tolist()) & set(papers[other].tolist()):
                break
        taken.add(other)
        some = random.choice(papers[other], n_foreign, replace=False)
        merged.append(Merged(host, other, tuple(sorted(some.tolist()))))
    return merged


def merge(corpus: topoi.Corpus, merged: list[Merged]) -> topoi.Corpus:
    """The corpus with the foreign papers under the other name."""
    author = corpus.doc_author.copy()
    for host, other, foreign in merged:
        for d in foreign:
            names = author[slice(*corpus.doc_author_start[d : d + 2])]
            names[names == other] = host
    return topoi.Corpus(
        tokens=corpus.tokens, doc_start=corpus.doc_start, vocabulary=corpus.vocabulary, doc_author=author,
        doc_author_start=corpus.doc_author_start, authors=corpus.authors, documents=corpus.documents,
    )  # fmt: skip


def fit(corpus: topoi.Corpus, n_topics: int, options: Options, name: str) -> topoi.AuthorTopicModel:
    """The paper's alpha, 50 / K; exact."""
    sweeps, chains, seed, kept = options
    checkpoint = None if kept is None else kept / f"{name}-{seed}.checkpoint"
    settings = {"n_iter": sweeps, "n_chains": chains, "n_shards": 1, "random_state": seed, "checkpoint": checkpoint}
    # A document's own words are taken out of one sample, the last.
    return topoi.AuthorTopicModel(n_topics, prior="paper", beta=0.01, average=False, **settings).fit(corpus)


def left_out(model: Any, author: int, documents: np.ndarray) -> np.ndarray:
    """Log probability of each training document under its author alone, without its own words in the counts.

    The same estimate as ``unusual_documents``, except that what the document itself has put into the author's mixture
    and into the topics is taken away first.
    """
    corpus = model.corpus_
    totals = []
    for chain in model.chains_:
        n_topics = chain.n_topics
        mixture = chain.counts.author_topic[author, :n_topics] + chain.alpha
        total = []
        for d in documents:
            here = slice(*corpus.doc_start[d : d + 2])
            topic = chain.assignments.topic[here]
            names = corpus.doc_author[slice(*corpus.doc_author_start[d : d + 2])]
            own = np.bincount(topic[names[chain.assignments.slot[here]] == author], minlength=n_topics)
            words, place = np.unique(corpus.tokens[here], return_inverse=True)
            counts = chain.counts.word_topic[words, :n_topics] + chain.beta[words, None]
            np.subtract.at(counts, (place, topic), 1)
            rest = chain.counts.topic - np.bincount(topic, minlength=n_topics) + chain.priors.beta_sum
            theta = (mixture - own) / (mixture - own).sum()
            total.append(np.log((counts / rest) @ theta)[place].sum())
        totals.append(total)
    return log_mean_exp(np.array(totals))


def by_everyone(model: Any, documents: np.ndarray) -> np.ndarray:
    """Log probability of each document under the whole collection's mixture of topics."""
    part = model.corpus_.subset(documents)
    words, place = np.unique(part.tokens, return_inverse=True)
    document = np.repeat(np.arange(part.n_docs), part.doc_lengths)
    totals = []
    for chain in model.chains_:
        mixture = chain.counts.topic / chain.counts.topic.sum()
        log_p = np.log(mixture @ chain.topic_word[:, words])
        totals.append(np.bincount(document, log_p[place], part.n_docs))
    return log_mean_exp(np.array(totals))


def log_mean_exp(values: np.ndarray) -> np.ndarray:
    """Chains' probabilities averaged, in logarithms."""
    return logsumexp(values, axis=0) - np.log(len(values))


def found(score: np.ndarray, foreign: np.ndarray) -> dict[str, float]:
    """How well a score puts the foreign papers first: AUC, precision among as many as there are, whether one is first."""
    order = np.argsort(-score, kind="stable")
    n = int(foreign.sum())
    return {
        "auc": roc_auc_score(foreign, score),
        "precision": foreign[order[:n]].mean(),
        "first": float(foreign[order[0]]),
    }


def signs(log_perplexity: np.ndarray) -> dict[str, float]:
    """What one could look at to suspect a name: how far the first stands out, the widest gap, the spread."""
    ordered = np.sort(log_perplexity)[::-1]
    upper = ordered[: max(2, len(ordered) // 2 + 1)]
    values = (ordered[0] - np.median(ordered), -np.diff(upper).min(), ordered.std())
    return dict(zip(SIGNS, map(float, values), strict=True))


def merged_scores(model: Any, plain: Any, case: Merged) -> list[dict[str, Any]]:
    """How well each score finds one name's foreign papers."""
    name = plain.authors_[case.author]
    frame = topoi.unusual_documents(model, author=name)
    documents, n_words = frame["document"].to_numpy(), frame["n_words"].to_numpy()
    foreign = np.isin(documents, case.foreign)
    everyone = by_everyone(model, documents) / n_words
    perplexity = np.log(frame["perplexity"].to_numpy())
    without = -left_out(model, case.author, documents) / n_words
    scores = {
        "perplexity": perplexity,
        "left out": without,
        "relative": perplexity + everyone,
        "both": without + everyone,
    }
    p, q = plain.author_topic_[[case.author, case.other]]
    before = np.log(topoi.unusual_documents(plain, author=name)["perplexity"].to_numpy())
    about = {
        "foreign": len(case.foreign), "papers": len(documents), "distance": float(((p - q) * np.log(p / q)).sum()),
        **{f"{s} merged": v for s, v in signs(perplexity).items()}, **{f"{s} before": v for s, v in signs(before).items()},
    }  # fmt: skip
    return [{"score": score, **about, **found(values, foreign)} for score, values in scores.items()]


def experiment(collection: Collection, plain: Any, n_pairs: int, options: Options) -> pd.DataFrame:
    """Merge, fit and score, one row per name and score."""
    corpus = plain.corpus_
    papers = papers_by_author(corpus)
    rows = []
    for i in range(collection.rounds):
        seed = options.seed + i
        cases = choose_merged(papers, n_pairs // collection.rounds, collection.least, collection.foreign, seed)
        model = fit(merge(corpus, cases), collection.topics, options._replace(seed=seed), f"{collection.name}-merged")
        rows += [row for case in cases for row in merged_scores(model, plain, case)]
    return pd.DataFrame(rows)


def summary(frame: pd.DataFrame) -> dict[str, Any]:
    """The numbers of the page, by number of foreign papers."""
    result = {}
    for n, part in frame.groupby("foreign"):
        scores = {}
        for score, rows in part.groupby("score"):
            scores[score] = {
                m: [rows[m].mean(), rows[m].std() / np.sqrt(len(rows))] for m in ("auc", "precision", "first")
            }
        rows = part[part["score"] == "perplexity"]
        third = pd.qcut(rows["distance"], 3, labels=False)
        truth = np.repeat([1, 0], len(rows))
        result[str(n)] = {
            "names": len(rows), "papers": float(rows["papers"].mean()), "by_chance": float((n / rows["papers"]).mean()),
            "scores": scores,
            "thirds": [
                {"low": float(r["distance"].min()), "high": float(r["distance"].max()), "auc": float(r["auc"].mean())}
                for r in (rows[third == i] for i in range(3))
            ],
            "signs": {s: roc_auc_score(truth, np.r_[rows[f"{s} merged"], rows[f"{s} before"]]) for s in SIGNS},
        }  # fmt: skip
    return result


def expected_namesakes(corpus: topoi.Corpus) -> np.ndarray:
    """For names of two words, how many authors would have them if first and last names were independent."""
    parts = [name.split() for name in corpus.authors]
    first, last = Counter(p[0] for p in parts if len(p) > 1), Counter(p[-1] for p in parts if len(p) > 1)
    return np.array([first[p[0]] * last[p[-1]] / len(parts) if len(p) == 2 else 0.0 for p in parts])


def circles(lists: list[list[str]], name: str, documents: list[int]) -> np.ndarray:
    """The number of each document's circle: documents linked by co-authors in common. Circle 0 is the largest."""
    circle = {d: {d} for d in documents}
    seen: dict[str, int] = {}
    for d in documents:
        for other in set(lists[d]) - {name}:
            joined = circle[d] | circle[seen.setdefault(other, d)]
            for e in joined:
                circle[e] = joined
    label = np.array([min(circle[d]) for d in documents])
    values, first, sizes = np.unique(label, return_index=True, return_counts=True)
    rank = {values[i]: r for r, i in enumerate(sorted(range(len(values)), key=lambda i: (-sizes[i], first[i])))}
    return np.array([rank[value] for value in label])


def real_names(plain: Any, least: int) -> tuple[pd.DataFrame, dict[int, pd.DataFrame]]:
    """Names with enough papers: whether papers outside the largest circle of co-authors are the surprising ones."""
    corpus = plain.corpus_
    lists, prone = corpus.author_lists(), expected_namesakes(corpus)
    rows, frames = [], {}
    for a, own in enumerate(papers_by_author(corpus)):
        if len(own) < least:
            continue
        frame = topoi.unusual_documents(plain, author=corpus.authors[a])
        documents = frame["document"].to_numpy()
        frame["circle"] = circles(lists, corpus.authors[a], documents.tolist())
        frame["relative"] = np.log(frame["perplexity"]) + by_everyone(plain, documents) / frame["n_words"]
        outside = (frame["circle"] > 0).to_numpy()
        spread = float(np.log(frame["perplexity"]).std())
        row = {"author": a, "prone": prone[a], "papers": len(frame), "outside": outside.mean(), "spread": spread}
        if 0 < outside.mean() <= 0.5:
            row |= {f"{m} perplexity": v for m, v in found(frame["perplexity"].to_numpy(), outside).items()}
            row |= {f"{m} relative": v for m, v in found(frame["relative"].to_numpy(), outside).items()}
            frames[a] = frame
        rows.append(row)
    return pd.DataFrame(rows), frames


def table_of(plain: Any, frame: pd.DataFrame, author: int, prone: float) -> dict[str, Any]:
    """A name's most surprising and most typical papers."""
    corpus, name = plain.corpus_, str(plain.authors_[author])
    lists = corpus.author_lists()
    rank = (-frame["relative"]).rank(method="first").astype(int)
    size = frame["circle"].map(frame["circle"].value_counts())
    outside = (frame["circle"] > 0).to_numpy()
    rows = []
    for i in [*range(SHOWN[0]), *range(len(frame) - SHOWN[1], len(frame))]:
        at = frame.iloc[i]
        with_whom = [other for other in lists[at["document"]] if other != name]
        rows.append({
            "rank": i + 1, "relative_rank": int(rank.iloc[i]), "perplexity": float(at["perplexity"]), "id": at["id"],
            "year": int(at["year"]), "title": at["title"], "circle": int(at["circle"]), "circle_size": int(size.iloc[i]),
            "with": with_whom[:2] + ["…"] * (len(with_whom) > 3) + with_whom[2:][-1:],
        })  # fmt: skip
    return {
        "name": name, "papers": len(frame), "expected": prone, "median": float(frame["perplexity"].median()),
        "main_circle": int((~outside).sum()), "n_circles": int(frame["circle"].max()) + 1, "rows": rows,
        "auc": [float(roc_auc_score(outside, frame[score])) for score in ("perplexity", "relative")],
    }  # fmt: skip


def run(n_pairs: int, options: Options) -> dict[str, Any]:
    """Both collections, and three real names."""
    result: dict[str, Any] = {"pairs": n_pairs, "sweeps": options.sweeps, "chains": options.chains, "collections": {}}
    for collection in COLLECTIONS:
        corpus = topoi.load_dataset(collection.name, min_df=5)
        plain = fit(corpus, collection.topics, options, f"{collection.name}-plain")
        frame = experiment(collection, plain, n_pairs, options)
        result["collections"][collection.name] = {
            "corpus": repr(corpus)[9:-1], "least": collection.least, "topics": collection.topics, "results": summary(frame),
            "words": float(np.median(corpus.doc_lengths)),
        }  # fmt: skip
        if collection.name == "acl-abstracts":
            rows, frames = real_names(plain, collection.least)
            chosen = rows[rows["author"].isin(list(frames))].sort_values("prone", ascending=False, kind="stable")[:3]
            result["tables"] = [
                table_of(plain, frames[a], a, float(p)) for a, p in zip(chosen["author"], chosen["prone"], strict=True)
            ]
            widest = rows.sort_values("spread", ascending=False, kind="stable")[:5]
            result["widest_spread"] = [str(plain.authors_[a]) for a in widest["author"]]
            result["real"] = by_proneness(rows.dropna())
    return result


def by_proneness(rows: pd.DataFrame) -> list[dict[str, float]]:
    """Names binned by expected namesakes."""
    bins = pd.cut(rows["prone"], PRONE, right=False, labels=False)
    return [
        {"low": PRONE[i], "high": PRONE[i + 1], "names": len(part)}
        | {
            m: float(part[m].mean())
            for m in ("outside", "auc perplexity", "auc relative", "first perplexity", "first relative")
        }
        for i, part in rows.groupby(bins)
    ]


def score_table(collection: dict[str, Any]) -> str:
    """AUC, precision and hits for each number of foreign papers and each score."""
    lines = [
        "| foreign papers | of papers (mean) | ranked by | AUC | precision | a foreign one is first |",
        "|---:|---:|---|---:|---:|---:|",
    ]
    for n, part in collection["results"].items():
        for i, (score, title) in enumerate(SCORES.items()):
            auc, precision, first = (part["scores"][score][m] for m in ("auc", "precision", "first"))
            start = f"| {n} | {part['papers']:.0f}" if i == 0 else "| |"
            cells = f"{auc[0]:.2f} ± {auc[1]:.2f} | {precision[0]:.0%} ± {precision[1]:.0%} | {first[0]:.0%} ± {first[1]:.0%}"
            lines.append(f"{start} | {title} | {cells} |")
        lines.append(f"| | | *by chance* | 0.50 | {part['by_chance']:.0%} | {part['by_chance']:.0%} |")
    return "\n".join(lines)


def thirds_table(collections: dict[str, Any]) -> str:
    """AUC by how different the two authors are."""
    lines = ["| | foreign papers | alike | middle | different |", "|---|---:|---:|---:|---:|"]
    for name, collection in collections.items():
        for n, part in collection["results"].items():
            lines.append(f"| {name} | {n} | " + " | ".join(f"{third['auc']:.2f}" for third in part["thirds"]) + " |")
    return "\n".join(lines)


def signs_table(collections: dict[str, Any]) -> str:
    """AUC with which a sign tells merged names from the same names unmerged."""
    lines = ["| | foreign papers | " + " | ".join(SIGNS) + " |", "|---|---:|" + "---:|" * len(SIGNS)]
    for name, collection in collections.items():
        for n, part in collection["results"].items():
            lines.append(f"| {name} | {n} | " + " | ".join(f"{part['signs'][s]:.2f}" for s in SIGNS) + " |")
    return "\n".join(lines)


def name_table(table: dict[str, Any]) -> str:
    """One name, as the tables of the paper."""
    lines = [
        f"**{table['name']}**, {table['papers']} papers, {table['main_circle']} of them in the largest of {table['n_circles']} circles;"
        f" {table['expected']:.1f} authors expected to have the name",
        "",
        "| perplexity | year | title | with | circle | by relative perplexity |",
        "|---:|---|---|---|---|---:|",
    ]
    for i, row in enumerate(table["rows"]):
        if i == SHOWN[0]:
            lines.append(f"| {table['median']:,.0f} | | *median* | | | |")
        circle = "main" if row["circle"] == 0 else f"another, of {row['circle_size']}"
        cells = (
            f"{row['perplexity']:,.0f}",
            row["year"],
            row["title"],
            ", ".join(row["with"]),
            circle,
            f"{row['relative_rank']}.",
        )
        lines.append("| " + " | ".join(str(cell).replace("|", "\\|") for cell in cells) + " |")
    return "\n".join(lines)


def real_table(bins: list[dict[str, float]]) -> str:
    """Names by expected namesakes."""
    lines = [
        "| expected namesakes | names | papers outside the main circle | AUC, perplexity | AUC, relative | first is outside, perplexity | relative |",
        "|---|---:|---:|---:|---:|---:|---:|",
    ]
    for part in bins:
        title = f"{part['low']:g} and more" if part is bins[-1] else f"{part['low']:g} to {part['high']:g}"
        shares = " | ".join(f"{part[m]:.0%}" for m in ("first perplexity", "first relative"))
        lines.append(
            f"| {title} | {part['names']} | {part['outside']:.0%} | {part['auc perplexity']:.2f} | {part['auc relative']:.2f} | {shares} |"
        )
    return "\n".join(lines)


def page(result: dict[str, Any]) -> str:
    """The numbers as text."""
    acl, nips = (result["collections"][c.name] for c in COLLECTIONS)
    values = {
        "acl": acl, "nips": nips, "acl_table": score_table(acl), "nips_table": score_table(nips),
        "thirds_table": thirds_table(result["collections"]), "signs_table": signs_table(result["collections"]),
        "real_table": real_table(result["real"]), "names": result["tables"],
        "ten": acl["results"]["10"]["scores"]["perplexity"]["auc"][0],
        **{f"table{i}": name_table(table) for i, table in enumerate(result["tables"])},
    }  # fmt: skip
    ones = {name: part["results"]["1"] for name, part in (("acl", acl), ("nips", nips))}
    values |= {f"{name}_first": 100 * one["scores"]["perplexity"]["first"][0] for name, one in ones.items()}
    values |= {f"{name}_chance": 100 * one["by_chance"] for name, one in ones.items()}
    text = PAGE.format(widest=", ".join(result["widest_spread"]), **result, **values)
    return re.sub(r"(?<=\d)%", " %", text)


def main() -> None:
    """Run, or write the page again."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pairs", type=int, default=200)
    parser.add_argument("--sweeps", type=int, default=300)
    parser.add_argument("--chains", type=int, default=2)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--kept", type=Path)
    parser.add_argument("--out", type=Path, default=OUT)
    parser.add_argument("--page", action="store_true")
    arguments = parser.parse_args()
    out = arguments.out
    numbers = out / "namesakes.json"
    if not arguments.page:
        out.mkdir(parents=True, exist_ok=True)
        result = run(arguments.pairs, Options(arguments.sweeps, arguments.chains, arguments.seed, arguments.kept))
        numbers.write_text(json.dumps(result, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    result = json.loads(numbers.read_text(encoding="utf-8"))
    (out / "namesakes.md").write_text(page(result), encoding="utf-8")


PAGE = """# Namesakes

Steyvers et al. (2004, tables 1 to 3) and Rosen-Zvi et al. (2009, table II) list an author's papers by how surprising they are under that author's mixture of topics.
For M. Jordan and T. Mitchell, and in the second paper for D. Koller and S. Russell, the first ones were by other people of the same name. `topoi.unusual_documents` makes such lists, and
[Questions](../questions.md) shows two from NIPS that work. This page asks how often they do.

## Names merged on purpose

Some papers of one author are put under the name of another, with whom the first has never written; the model is fitted, and the papers under the
name are ranked. {pairs} random names for each number of foreign papers, on two collections:

* `acl-abstracts`: {acl[corpus]}; abstracts of {acl[words]:.0f} words (median), {acl[topics]} topics; owners of a name have at least {acl[least]} papers;
* `nips12`: {nips[corpus]}; whole papers of {nips[words]:,.0f} words, {nips[topics]} topics; at least {nips[least]} papers.

Alpha = 50/K, beta = 0.01, {chains} chains of {sweeps} sweeps. AUC is the probability that a foreign paper ranks above one of the owner's; precision is the
share of foreign papers among the first one, three or ten. Means over names with standard errors.

### acl-abstracts

{acl_table}

### nips12

{nips_table}

**The ranking works, but it is a hint, not a proof.** With one foreign paper it is the first of the list for {acl_first:.0f} % of the names of abstracts and for {nips_first:.0f} %
of the names of whole papers; by chance it would be for {acl_chance:.0f} and {nips_chance:.0f} %.

**The more foreign papers, the worse.** They become part of the mixture that judges them. With ten under a name of abstracts the AUC is
{ten:.2f}: a second person who has written a large part of the papers is not unusual but one half of the "author".

**A document's own influence on the score hardly matters.** Leaving each one out of the counts that judge it changes nothing for abstracts, where all documents
profit alike, and a little for one foreign paper among whole papers, because there one document is a larger part of the mixture.

**Dividing by the perplexity under the whole collection's mixture of topics helps a little everywhere.** Plain perplexity is also high for documents with
rare words, whoever wrote them. Relative perplexity asks whether this author explains the document better than
anybody would. It is not what `unusual_documents` reports today.

The more different the two people are, the better (AUC of perplexity; thirds of the pairs by symmetrised KL of their mixtures before merging):

{thirds_table}

### Can one see from a list that a name is two people?

AUC with which three numbers tell the merged names from the same names before merging:

{signs_table}

**Hardly.** A wide gap after the first papers, as in the lists of Moore and Brown from NIPS, is no reliable sign: in abstracts the widest gap tells
nothing. A list says which papers to look at first, if there are two people; it does not say whether there are.

## Three real names

Which names belong to several people can be guessed from names alone: how many authors would have this first and this last name, if the two were
independent. The three highest of the names of two words with at least {acl[least]} papers in `acl-abstracts`, provided that there is one main body of
work: the largest *circle* of papers, linked by co-authors in common, has at least half of them, but not all. (The names with the widest spread of
perplexities, {widest}, are not common ones: that rule finds people of several interests.) The last column is the rank by
relative perplexity. Who is who is our reading of titles and co-authors; the data have no affiliations.

{table0}

{table1}

{table2}

* **{names[0][name]}: nobody to find.** The papers fit one person: speech and translation for languages of few resources. The two outside the main
  circle (ranks 7 and 8) are the earliest, on the same subject with another co-author. What surprises are toolkits and a language model, beside
  the reports of shared tasks that make up most of the rest.
* **{names[1][name]}: found.** The main circle is one person's work on dialogue systems. Four of the six most surprising papers are outside it, on testing
  language models, captions of images, relations between characters and molecules, without a co-author in common: to all appearance other people. The
  other two are on dialogue and the main person's. Papers outside the circle come first with an AUC of {names[1][auc][0]:.2f}; by relative perplexity {names[1][auc][1]:.2f}.
* **{names[2][name]}: too many people.** The most typical papers are on translation, by one person. Of the six most surprising, four look like other
  people's (linking entities, prompting, memory in dialogue, meaning representations) and two like newer interests of the translator (minimal pairs, watermarks).
  But common co-authors have joined several people into the main circle, and a paper on semantic roles by the group that wrote the fourth of the list,
  *SUDA-Alibaba*, is among the four most *typical*: with enough papers of their own, namesakes have a place in the mixture.

Over all names with at least {acl[least]} papers and a main circle: do the papers outside it come first?

{real_table}

For names that hardly anybody else can have, papers outside the main circle are hardly more surprising than others; the more common the name, the more they are.
That is the effect of namesakes on real data. It is weak because the circles are a poor guide to people, and because of everything above.

## Summary

Use `unusual_documents` to decide what to read first. Expect it to put a stray paper first in {acl_first:.0f} % (abstracts) or {nips_first:.0f} % (whole papers) of the cases, to
fail where the second person has written much, and to show the same lists for people with more than one interest. Co-authors are better evidence of
who is who than subjects; the model does not use them for this.

All numbers are in [namesakes.json](namesakes.json). What is random is seeded: the same command gives the same numbers. Seven fits take about
twenty minutes of processor time. Made by

    TOPOI_DATA=folder-with-acl-abstracts-and-nips12 python -m studies.namesakes --pairs {pairs} --sweeps {sweeps} --chains {chains}
"""

if __name__ == "__main__":
    main()
