"""Two abstracts glued together and taken apart by author, over 200 random pairs (AT09, section 5.2 and figure 9).

    TOPOI_DATA=folder-with-acl-abstracts python -m studies.glued_abstracts [--pairs 200] [--sweeps 500] [--kept folder]
    python -m studies.glued_abstracts --page       writes the page again from the numbers of the last run

``--kept`` keeps the fits as checkpoints, which a second run continues. Writes docs/studies/glued-abstracts.json, .csv, .md
and .svg.
"""

from __future__ import annotations

import argparse
import json
import re
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from scipy.stats import spearmanr

import topoi
from studies.word_picture import Span, word_picture

OUT = Path(__file__).parents[1] / "docs" / "studies"
LEAST_DOCUMENTS = 6  # at least four are left to learn from when two are held out
SURE = 0.75  # the paper marks words above this probability
SENTENCE_END = re.compile(r"(?<=[.!?])\s+")
# Columns of the rows by which pairs are put into thirds.
DIFFERENCES = {
    "distance": "difference of the two mixtures (symmetrised KL, nats)",
    "words": "words that the model gives the weaker author",
    "strength": "the weaker author's part of the words of their own papers",
}


# Other models of the held-out papers.
VARIATIONS: dict[str, dict[str, Any]] = {
    "alpha 0.02": {"alpha": 0.02},
    "alpha learned": {"learn_alpha": "asymmetric"},
    "100 topics": {"n_topics": 100},
}
KEPT = [
    "model", "kind", "first", "second", "distance", "words_first", "words_second", "strength", "n_words", "right", "expected",
    "right_sentences", "right_halves", "longer", "strangers", "right_everyone",
]  # fmt: skip


class Options(NamedTuple):
    """How long the fits are, and where they are kept."""

    sweeps: int
    seed: int
    kept: Path | None


class Pair(NamedTuple):
    """Two authors who have no paper together, and a paper of each: alone, and with co-authors."""

    authors: tuple[int, int]
    alone: tuple[int, int]
    joint: tuple[int, int]


class Half(NamedTuple):
    """One of the two texts, and who may be its author."""

    text: str
    names: list[str]


def choose_pairs(corpus: topoi.Corpus, n: int, seed: int) -> list[Pair]:
    """Random pairs of authors, nobody twice: six papers or more, at least one alone and one with co-authors.

    Co-authored papers of a pair have no author in common, and no document serves twice.
    """
    lists = [set(corpus.doc_author[a:b].tolist()) for a, b in _edges(corpus.doc_author_start)]
    papers: dict[int, list[int]] = {}
    for d, names in enumerate(lists):
        for a in names:
            papers.setdefault(a, []).append(d)
    pool = sorted(
        a
        for a, own in papers.items()
        if len(own) >= LEAST_DOCUMENTS and 0 < sum(len(lists[d]) == 1 for d in own) < len(own)
    )
    random = np.random.default_rng(seed)
    order = [pool[i] for i in random.permutation(len(pool))]
    pairs: list[Pair] = []
    used: set[int] = set()
    while len(order) >= 2 and len(pairs) < n:
        first, second = order.pop(), order.pop()
        alone = [[d for d in papers[a] if len(lists[d]) == 1] for a in (first, second)]
        joint = [[d for d in papers[a] if len(lists[d]) > 1 and d not in used] for a in (first, second)]
        if set(papers[first]) & set(papers[second]) or not joint[0] or not joint[1]:
            continue
        together = tuple(int(random.choice(some)) for some in joint)
        if lists[together[0]] & lists[together[1]]:
            continue
        pairs.append(Pair((first, second), tuple(int(random.choice(some)) for some in alone), together))
        used.update(together)
    if len(pairs) < n:
        raise SystemExit(f"only {len(pairs)} pairs of authors can be made")
    return pairs


def _edges(start: np.ndarray) -> zip:
    return zip(start[:-1].tolist(), start[1:].tolist(), strict=True)


def take_apart(model: Any, first: Half, second: Half) -> dict[str, float]:
    """Glue two texts, label the words, and measure what goes to the right half's author.

    The model sees one bag of words; only the measurement knows where the first text ends.
    """
    frame, of_first = labelled(model, first, second)
    right = (frame["author"].isin(first.names) == of_first).to_numpy()
    sure = (frame["author_probability"] >= SURE).to_numpy()
    numbers = {
        "n_words": len(frame),
        "right": right.mean(),
        "right_first": right[of_first].mean(),
        "right_second": right[~of_first].mean(),
        "longer": max(of_first.mean(), 1 - of_first.mean()),
    }
    if len(first.names) == len(second.names) == 1:
        p = frame["author_probability"].to_numpy()
        p_right = np.where(right, p, 1 - p)
        numbers |= {
            "expected": p_right.mean(),
            "sure": sure.mean(),
            "right_sure": right[sure].mean() if sure.any() else np.nan,
        }
        sentence = sentence_numbers(first.text + "\n\n" + second.text, frame["start"].to_numpy())
        numbers["right_sentences"] = share_by_group(log_odds(p_right), sentence)
    return {name: float(value) for name, value in numbers.items()}


def labelled(model: Any, first: Half, second: Half) -> tuple[pd.DataFrame, np.ndarray]:
    """The labels of the glued text, and which of its words are the first text's."""
    frame = topoi.label_words(model, first.text + "\n\n" + second.text, authors=[*first.names, *second.names])
    return frame, (frame["start"] < len(first.text)).to_numpy()


def sentence_numbers(text: str, start: np.ndarray) -> np.ndarray:
    """The number of the sentence in which each word stands; an empty line ends one too."""
    begins = [0, *(m.end() for m in SENTENCE_END.finditer(text)), *(m.end() for m in re.finditer(r"\n\n", text))]
    return np.searchsorted(np.unique(begins), start, side="right")


def log_odds(p: np.ndarray) -> np.ndarray:
    """log p / (1 − p), kept finite."""
    p = np.clip(p, 1e-6, 1 - 1e-6)
    return np.log(p / (1 - p))


def share_by_group(evidence: np.ndarray, group: np.ndarray) -> float:
    """The share of words in groups whose summed evidence is for the right author."""
    total = np.bincount(group, evidence)
    return float((total[group] > 0).mean())


def take_apart_word_by_word(model: Any, first: Half, second: Half, rows: tuple[int, int]) -> dict[str, float]:
    """The same without sampling: words, and sentences, to the author whose mixture makes them more probable.

    ``right_halves``: whether the two texts, were it known where the first ends, would go to the right authors.
    """
    text = first.text + "\n\n" + second.text
    encoded = model.vocabulary_.encode([text])
    log_p = np.log(model.author_topic_[list(rows)] @ model.topic_word_[:, encoded.tokens])
    evidence = np.where(encoded.token_start < len(first.text), log_p[0] - log_p[1], log_p[1] - log_p[0])
    sentence = sentence_numbers(text, encoded.token_start)
    return {
        "right_plain": float((evidence > 0).mean()),
        "right_plain_sentences": share_by_group(evidence, sentence),
        "right_halves": float(evidence.sum() > 0),
    }


def measure(model: Any, corpus: topoi.Corpus, pairs: list[Pair]) -> pd.DataFrame:
    """One row per pair and kind of documents."""
    lists, names = corpus.author_lists(), corpus.authors
    rows = []
    for i, pair in enumerate(pairs):
        others = pairs[(i + 1) % len(pairs)].authors  # a pair that has nothing to do with the texts
        about = {"first": names[pair.authors[0]], "second": names[pair.authors[1]]} | pair_numbers(model, pair.authors)
        for kind, documents in (("alone", pair.alone), ("joint", pair.joint)):
            texts = [corpus.texts[d] for d in documents]
            halves = [Half(t, [names[a]]) for t, a in zip(texts, pair.authors, strict=True)]
            strangers = [Half(t, [names[a]]) for t, a in zip(texts, others, strict=True)]
            row = {"kind": kind, **about} | take_apart(model, *halves)
            row |= take_apart_word_by_word(model, *halves, pair.authors)
            row["strangers"] = take_apart(model, *strangers)["right"]
            if kind == "joint":
                everyone = [Half(t, lists[d]) for t, d in zip(texts, documents, strict=True)]
                row["right_everyone"] = take_apart(model, *everyone)["right"]
            rows.append(row)
    return pd.DataFrame(rows)


def pair_numbers(model: Any, authors: tuple[int, int]) -> dict[str, float]:
    """How far apart the two are, and how much the model knows of each."""
    p, q = model.author_topic_[list(authors)]
    sizes = model.chains_[0].counts.author[list(authors)]
    own = np.array([words_of_papers(model.corpus_, a) for a in authors])
    return {
        "distance": float(((p - q) * np.log(p / q)).sum()),
        "words_first": int(sizes[0]),
        "words_second": int(sizes[1]),
        "words": int(sizes.min()),
        "strength": float((sizes / own).min()),
    }


def words_of_papers(corpus: topoi.Corpus, author: int) -> int:
    """All words of an author's training papers, whoever wrote them."""
    entries = np.flatnonzero(corpus.doc_author == author)
    documents = np.searchsorted(corpus.doc_author_start, entries, side="right") - 1
    return int(corpus.doc_lengths[documents].sum())


def mean_and_error(values: pd.Series) -> dict[str, float]:
    """Mean, median, and standard error over pairs."""
    values = values.dropna()
    return {"mean": values.mean(), "median": values.median(), "error": values.std() / np.sqrt(len(values))}


def thirds(frame: pd.DataFrame, column: str) -> list[dict[str, float]]:
    """The share of right words in thirds of the pairs by some column, low to high."""
    third = pd.qcut(frame[column], 3, labels=False)
    parts = [frame[third == i] for i in range(3)]
    return [{"low": float(p[column].min()), "high": float(p[column].max())} | mean_and_error(p["right"]) for p in parts]


def regression(frame: pd.DataFrame) -> dict[str, float]:
    """What one standard deviation of the difference, and of the logarithm of the words, adds to the share of right words."""
    causes = np.column_stack([frame["distance"], np.log(frame["words"])])
    causes = (causes - causes.mean(axis=0)) / causes.std(axis=0)
    slopes = np.linalg.lstsq(causes, frame["right"] - frame["right"].mean(), rcond=None)[0]
    return {"distance": float(slopes[0]), "words": float(slopes[1])}


def summary(frame: pd.DataFrame) -> dict[str, Any]:
    """All numbers of the page for one model and kind of documents."""
    measures = [
        "right", "right_first", "right_second", "expected", "sure", "right_sure", "right_sentences", "right_plain",
        "right_plain_sentences", "right_halves", "longer", "strangers", "right_everyone",
    ]  # fmt: skip
    frame = frame.assign(by_size=frame["words_first"] > frame["words_second"])
    stronger = frame["right_first"].where(frame["by_size"], frame["right_second"])
    weaker = frame["right_second"].where(frame["by_size"], frame["right_first"])
    rank = {c: spearmanr(frame[c], frame["right"]) for c in DIFFERENCES}
    return {
        "all": {m: mean_and_error(frame[m]) for m in measures if frame[m].notna().any()},
        "stronger": mean_and_error(stronger),
        "weaker": mean_and_error(weaker),
        "below_half": int((frame["right"] <= 0.5).sum()),
        "at_least_69": int((frame["right"] >= 0.69).sum()),
        "best": float(frame["right"].max()),
        "worst": float(frame["right"].min()),
        "tenths": [float(frame["right"].quantile(q)) for q in (0.1, 0.9)],
        "strangers_sd": float(frame["strangers"].std()),
        "better_way": {c: mean_and_error(np.maximum(frame[c], 1 - frame[c])) for c in ("right", "strangers")},
        "beats_longer": int((frame["right"] > frame["longer"]).sum()),
        "regression": regression(frame),
        "thirds": {c: thirds(frame, c) for c in DIFFERENCES},
        "spearman": {c: {"rho": r.statistic, "p": r.pvalue} for c, r in rank.items()},
    }


def fit(
    corpus: topoi.Corpus, options: Options, name: str, n_topics: int = 300, **changes: Any
) -> topoi.AuthorTopicModel:
    """The paper's setting for CiteSeer, 300 topics and alpha 50 / K, unless changed; exact, one chain."""
    checkpoint = None if options.kept is None else options.kept / f"glued-{name}-{options.seed}.checkpoint"
    settings = {"n_iter": options.sweeps, "n_shards": 1, "random_state": options.seed, "checkpoint": checkpoint}
    return topoi.AuthorTopicModel(n_topics, prior="paper", beta=0.01, **settings, **changes).fit(corpus)


def run(n_pairs: int, options: Options) -> tuple[dict[str, Any], pd.DataFrame]:
    """Choose the pairs, fit without and with their papers, and measure."""
    corpus = topoi.load_dataset("acl-abstracts", min_df=5)
    pairs = choose_pairs(corpus, n_pairs, options.seed)
    held_out = sorted({d for pair in pairs for d in (*pair.alone, *pair.joint)})
    in_training = np.ones(corpus.n_docs, bool)
    in_training[held_out] = False
    training = corpus.subset(in_training)
    models = {"held-out": fit(training, options, "held-out"), "training": fit(corpus, options, "training")}
    frames = {name: measure(model, corpus, pairs) for name, model in models.items()}
    rows = pd.concat([frame.assign(model=name) for name, frame in frames.items()], ignore_index=True)
    parts = {f"{m} {k}": summary(part) for (m, k), part in rows.groupby(["model", "kind"])}
    result = {
        "corpus": repr(corpus)[9:-1], "pairs": n_pairs, "held_out": len(held_out), "sweeps": options.sweeps,
        "median_papers": float(np.median(np.bincount(corpus.doc_author)[[a for p in pairs for a in p.authors]])),
        "parts": parts, "example": example_of(models["held-out"], corpus, pairs, frames["held-out"]), "variations": {},
    }  # fmt: skip
    for name, changes in VARIATIONS.items():
        frame = measure(fit(training, options, name.replace(" ", "-"), **changes), corpus, pairs)
        alone = frame[frame["kind"] == "alone"]
        result["variations"][name] = {m: mean_and_error(alone[m]) for m in ("right", "right_sentences", "right_halves")}
    return result, rows[KEPT].astype({"n_words": int, "right_halves": int})


def example_of(model: Any, corpus: topoi.Corpus, pairs: list[Pair], frame: pd.DataFrame) -> dict[str, Any]:
    """The pair in the middle, by share of right words in held-out papers written alone: neither a good nor a bad one."""
    alone = frame[frame["kind"] == "alone"].reset_index(drop=True)
    i = int(alone["right"].sort_values(kind="stable").index[len(alone) // 2])
    halves = [Half(corpus.texts[d], [corpus.authors[a]]) for d, a in zip(pairs[i].alone, pairs[i].authors, strict=True)]
    labels, of_first = labelled(model, *halves)
    papers = []
    for half, d, mine, offset in zip(
        halves, pairs[i].alone, (of_first, ~of_first), (0, len(halves[0].text) + 2), strict=True
    ):
        some = labels[mine]
        shown = opening(half.text)
        to_first = np.where(
            some["author"] == halves[0].names[0], some["author_probability"], 1 - some["author_probability"]
        )
        words = [
            [int(s) - offset, int(e) - offset, round(float(p), 3)]
            for s, e, p in zip(some["start"], some["end"], to_first, strict=True)
        ]
        papers.append({
            "author": half.names[0], "title": corpus.documents["title"].iloc[d], "year": int(corpus.documents["year"].iloc[d]),
            "n_words": int(mine.sum()), "right": float((some["author"] == half.names[0]).mean()),
            "text": shown, "words": [w for w in words if w[1] <= len(shown)],
        })  # fmt: skip
    return {"right": float(alone["right"][i]), "distance": float(alone["distance"][i]), "papers": papers}


def opening(text: str, least: int = 220) -> str:
    """The first sentences, until they are long enough: a quotation, not the abstract."""
    for end in SENTENCE_END.finditer(text):
        if end.start() >= least:
            return text[: end.start()]
    return text


def picture(example: dict[str, Any]) -> str:
    """The opening of both abstracts of the example, words coloured by author."""
    names = [paper["author"] for paper in example["papers"]]
    blocks = [
        (
            f"by {p['author']}, {p['year']}: {p['right']:.0%} of {p['n_words']} words right",
            p["text"],
            [Span(*w) for w in p["words"]],
        )
        for p in example["papers"]
    ]
    return word_picture(names, blocks)


def per_cent(value: dict[str, float]) -> str:
    """A mean with its standard error."""
    return f"{value['mean']:.1%} ± {value['error']:.1%}"


def main_table(parts: dict[str, Any]) -> str:
    """One column per kind of document and model."""
    columns = ["held-out alone", "held-out joint", "training alone", "training joint"]
    rows = {
        "**words given to the right author**, mean": ("right", per_cent),
        "the same, median": ("right", lambda v: f"{v['median']:.1%}"),
        "expected share (by probability)": ("expected", per_cent),
        f"share of words labelled with probability ≥ {SURE}": ("sure", per_cent),
        "of those, right": ("right_sure", per_cent),
        "words in sentences given to the right author": ("right_sentences", per_cent),
        "without sampling: words": ("right_plain", per_cent),
        "without sampling: words in sentences": ("right_plain_sentences", per_cent),
        "both abstracts matched to their authors": ("right_halves", per_cent),
        "all authors of both papers as candidates": ("right_everyone", per_cent),
        "*everything to the longer abstract's author*": ("longer", per_cent),
        "*two authors who wrote neither*": ("strangers", per_cent),
    }
    lines = ["| | held-out, alone | held-out, joint | training, alone | training, joint |", "|---|---:|---:|---:|---:|"]
    for name, (measure_name, shown) in rows.items():
        values = [parts[c]["all"].get(measure_name) for c in columns]
        lines.append(f"| {name} | " + " | ".join("" if v is None else shown(v) for v in values) + " |")
    return "\n".join(lines)


def thirds_table(parts: dict[str, Any], columns: tuple[str, str]) -> str:
    """Share of right words in thirds of the pairs."""
    lines = [
        "| pairs in thirds by | range (held-out model) | " + " | ".join(c.replace(" ", ", ") for c in columns) + " |",
        "|---|---|---:|---:|",
    ]
    for column, title in DIFFERENCES.items():
        both = [parts[c]["thirds"][column] for c in columns]
        for i, name in enumerate(("low", "middle", "high")):
            low, high = both[0][i]["low"], both[0][i]["high"]
            shown = f"{low:,.0f}–{high:,.0f}" if high > 20 else f"{low:.2f}–{high:.2f}"
            start = f"{title}: {name}" if i == 0 else name
            lines.append(f"| {start} | {shown} | " + " | ".join(per_cent(b[i]) for b in both) + " |")
        rho = [parts[c]["spearman"][column] for c in columns]
        lines.append(
            "| rank correlation with the share | | "
            + " | ".join(f"{r['rho']:+.2f} (p = {r['p']:.2g})" for r in rho)
            + " |"
        )
    return "\n".join(lines)


def variations_table(result: dict[str, Any]) -> str:
    """Held-out papers written alone, under other models."""
    lines = ["| model | words | words in sentences | both abstracts matched |", "|---|---:|---:|---:|"]
    for name, values in {"as above": result["parts"]["held-out alone"]["all"], **result["variations"]}.items():
        cells = " | ".join(per_cent(values[m]) for m in ("right", "right_sentences", "right_halves"))
        lines.append(f"| {name} | {cells} |")
    return "\n".join(lines)


def page(result: dict[str, Any]) -> str:
    """The numbers as text."""
    parts = result["parts"]
    values = {
        "main_table": main_table(parts),
        "thirds_table": thirds_table(parts, ("held-out alone", "training alone")),
        "held": parts["held-out alone"],
        "joint": parts["held-out joint"],
        "seen": parts["training alone"],
        "shown": result["example"]["papers"],
        "variations_table": variations_table(result),
        "minus_words": -parts["held-out alone"]["regression"]["words"],
        "stronger": per_cent(parts["held-out alone"]["stronger"]),
        "weaker": per_cent(parts["held-out alone"]["weaker"]),
    }
    values["points"] = 100 * values["held"]["all"]["right"]["mean"] - 50
    return re.sub(r"(?<=\d)%", " %", PAGE.format(**result, **values))


def main() -> None:
    """Run, or write the page again."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pairs", type=int, default=200)
    parser.add_argument("--sweeps", type=int, default=500)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--kept", type=Path)
    parser.add_argument("--out", type=Path, default=OUT)
    parser.add_argument("--page", action="store_true")
    arguments = parser.parse_args()
    out = arguments.out
    numbers = out / "glued-abstracts.json"
    if not arguments.page:
        out.mkdir(parents=True, exist_ok=True)
        result, rows = run(arguments.pairs, Options(arguments.sweeps, arguments.seed, arguments.kept))
        numbers.write_text(json.dumps(result, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
        rows.to_csv(out / "glued-abstracts.csv", index=False, float_format="%.3f")
    result = json.loads(numbers.read_text(encoding="utf-8"))
    (out / "glued-abstracts.svg").write_text(picture(result["example"]), encoding="utf-8")
    (out / "glued-abstracts.md").write_text(page(result), encoding="utf-8")


PAGE = """# Two abstracts glued together

Figure 9 of Rosen-Zvi et al. (2009) glues an abstract by Schölkopf to one by Darwiche, tells the model that both wrote the whole, and lets it
say word by word who wrote what: 69 % of Schölkopf's words and 72 % of Darwiche's are given to the right one. That is one pair. Here are
{pairs} random pairs, labelled by `topoi.label_words(model, text, authors=[a, b])`.

The collection is `acl-abstracts` ({corpus}): abstracts as in the paper, of about as many documents as
its CiteSeer, clean text and whole names, where the NIPS collection has OCR, initials and few authors with enough papers.
The model is the paper's, 300 topics, alpha = 50/300, beta = 0.01; one chain of {sweeps} sweeps.

A pair is two random authors of at least six papers (nobody in two pairs) who have no paper together. Two papers of each are taken: one
written *alone*, as we believe the paper's two were, so that there is no doubt whose words they are, and one *joint* with co-authors, none of whom
is an author of the other paper. All {held_out} papers are **held out** of the first model. The second model has seen them in **training**. The
paper speaks of new documents, but does not say that its two abstracts were kept from the model. The same texts are labelled by both.

{main_table}

Means over pairs with their standard errors. A word is right if it goes to the author of the half in which it stands; half of them
would be right by guessing. The last two rows are baselines: giving every word to the author of the longer abstract, which one has to know;
and labelling with two authors of another pair, who have nothing to do with the texts, so that only 50 % can be expected. Single
pairs scatter by {held[strangers_sd]:.0%} around it. Which stranger stands for which half is random, so the mean over many draws is 50 %; this draw is up to three
standard errors lower. If names may be swapped afterwards, strangers reach {held[better_way][strangers][mean]:.0%}, the right authors {held[better_way][right][mean]:.0%}.

## What it shows

**On papers that the model has seen, it does better than the paper's example**: {seen[all][right][mean]:.0%} of the words, at least 69 % in {seen[at_least_69]} of {pairs} pairs.
But there it remembers: a paper written alone has put all its words into its author's mixture.

**On new papers it is right for {held[all][right][mean]:.0%} of the words**, {points:.0f} points better than guessing; at least 69 % in {held[at_least_69]} of {pairs} pairs, half or fewer in {held[below_half]}.
Between the tenth and the ninetieth of a hundred pairs the share is {held[tenths][0]:.0%} to {held[tenths][1]:.0%}. That is no better than giving everything to
the longer abstract's author ({held[all][longer][mean]:.0%}), were that known. Words labelled with a probability of at least 0.75 are right more often, but {held[all][right_sure][mean]:.0%}
is less than the probability promises: **the labels of new texts are too sure**.

**The model knows more than single words can show.** Many words of an abstract (*results*, *method*, *propose*) are anybody's. The paper
guesses that whole sentences would be labelled better, and so it is: with the words' evidence added up by sentence, {held[all][right_sentences][mean]:.0%} of the words of
new papers are in a sentence given to the right author; and if it is known where the first abstract ends, both go to the right authors in
{held[all][right_halves][mean]:.0%} of the pairs. In a reading tool the colour of a passage means something, the colour of a word little.

**Sampling adds nothing here.** Giving each word to the author under whose mixture it is more probable, without any Gibbs sweep, is as good
(*without sampling* in the table).

**The less known author gets too much.** Of the words of the author whom the model knows better, {stronger} are right, of the other's {weaker}
(held-out, alone). With few words a mixture stays near the prior, which has something of every topic, so that words that neither has used go to
whoever is less known. Naming a little-known person among the candidates costs the others.

**Naming all authors helps.** If the candidates for two joint papers are all authors of both, {joint[all][right_everyone][mean]:.0%} of the words go to one of the right
paper's authors, against {joint[all][right][mean]:.0%} if only one of each is named.

## What it depends on

{thirds_table}

How different the two authors are matters. The number of words seems to, but only because authors with more words have sharper mixtures and so are
further apart: in a regression on both, one standard deviation of difference adds {held[regression][distance]:.1%}, one of the logarithm of the words takes away {minus_words:.1%}
(held-out, alone). "Strength" is the part of the words of an author's papers that the model gives to that author rather than to co-authors; it
does not matter visibly. In training papers more words even hurt a little, because one paper is a smaller part of the mixture.

Other models do not change the picture (held-out papers, alone):

{variations_table}

## An example

The pair in the middle of the {pairs}, by the share of right words in held-out papers written alone ({example[right]:.0%}): {shown[0][author]},
"{shown[0][title]}" ({shown[0][year]}), and {shown[1][author]}, "{shown[1][title]}" ({shown[1][year]}). The beginnings of both, with
the model's labels; stronger colour, higher probability; words without colour are stop words or unknown.

![The beginnings of two abstracts, words coloured by author](glued-abstracts.svg)

Numbers for each pair are in [glued-abstracts.csv](glued-abstracts.csv), all others in [glued-abstracts.json](glued-abstracts.json). What is random is
seeded: the same command gives the same numbers. Five fits take about 25 minutes of processor time. Made by

    TOPOI_DATA=folder-with-acl-abstracts python -m studies.glued_abstracts --pairs {pairs} --sweeps {sweeps}
"""

if __name__ == "__main__":
    main()
