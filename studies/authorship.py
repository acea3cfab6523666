"""Who wrote it: accuracy and reliability of ``topoi.likely_authors`` on documents that were held out.

    TOPOI_DATA=folder python -m studies.authorship [union] [nips12-abstracts] [r-devel] [--model "author-topic, 50 topics"]
    python -m studies.authorship --page       writes the page again from the numbers of the last run

State of the Union: whole speeches are held out, and whole, or passages of them, are given to one of the presidents: of all,
or of the five in office around that time, so that the subjects of the day do not tell. The other collections: documents
of authors who have others, among all authors. Writes docs/studies/authorship.json and .md.
"""

from __future__ import annotations

import argparse
import json
import warnings
from pathlib import Path
from typing import Any

import numpy as np

import topoi
from topoi.analysis.authorship import author_log_ratios

OUT = Path(__file__).parents[1] / "docs" / "studies"
COLLECTIONS = ("union", "nips12-abstracts", "r-devel")
EDGES = (0.0, 0.1, 0.2, 0.4, 0.6, 0.8, 0.95, 1.0)
MOST = 4000
LENGTHS = {"union": (150, 1000, None), "nips12-abstracts": (30, None), "r-devel": (30, None)}


def collection(name: str, function_words: bool) -> topoi.Corpus:
    """The documents; of a large collection some, evenly spread."""
    options: dict[str, Any] = {"function_words": function_words}
    if name == "union":
        return topoi.load_dataset("state-of-the-union", unit="speech", **options)
    corpus = topoi.load_dataset(name, **options)
    if corpus.n_docs <= MOST:
        return corpus
    return corpus.subset(np.linspace(0, corpus.n_docs - 1, MOST).round().astype(int))


def models(name: str) -> dict[str, tuple[Any, bool]]:
    """What is compared: a model, and whether function words are kept."""
    settings = {"n_iter": 100, "random_state": 0}
    return {
        "author model, beta 0.01": (topoi.AuthorModel(beta=0.01, **settings), False),
        "author model": (topoi.AuthorModel(**settings), False),
        "author model, function words": (topoi.AuthorModel(**settings), True),
        "author-topic, 50 topics": (topoi.AuthorTopicModel(50, prior="paper", **settings), False),
    }


def neighbours(train: topoi.Corpus, author: int) -> np.ndarray:
    """A president, two before and two after, by the year of their first speech, of those with a speech to learn from."""
    doc = np.repeat(np.arange(train.n_docs), np.diff(train.doc_author_start))
    year = np.full(train.n_authors, np.inf)
    np.minimum.at(year, train.doc_author, train.documents["year"].to_numpy(float)[doc])
    order = [a for a in np.argsort(year, kind="stable") if np.isfinite(year[a])]
    at = order.index(author)
    first = min(max(at - 2, 0), len(order) - 5)
    return np.array(sorted(order[first : first + 5]))


def pieces(tokens: np.ndarray, length: int | None) -> list[np.ndarray]:
    """The whole, or its first three passages of a length that do not overlap."""
    if length is None:
        return [tokens]
    return [tokens[i : i + length] for i in range(0, len(tokens) - length + 1, length)][:3]


def ask(model: Any, test: topoi.Corpus, length: int | None, near: bool) -> dict[str, Any]:
    """Who is said to have written the held-out documents, how surely, and whether it is right."""
    train = model.corpus_
    written = np.bincount(train.doc_author, minlength=train.n_authors)
    raw, stated, right = [], [], []
    for d in range(test.n_docs):
        tokens = test.tokens[test.doc_start[d] : test.doc_start[d + 1]]
        own = test.doc_author[test.doc_author_start[d] : test.doc_author_start[d + 1]]
        own = own[written[own] > 0]
        if not len(own):
            continue
        rows = neighbours(train, int(own[0])) if near else np.flatnonzero(written)
        for piece in pieces(tokens, length):
            if not len(piece):
                continue
            score = author_log_ratios(model, *np.unique(piece, return_counts=True))[0][rows]
            log_p = model.author_calibration_.log_probabilities(score, len(piece))
            raw.append(1.0 / np.exp(score - score.max()).sum())
            stated.append(np.exp(log_p.max()))
            right.append(bool(rows[score.argmax()] in own))
    return measures(np.array(raw), np.array(stated), np.array(right))


def measures(raw: np.ndarray, stated: np.ndarray, right: np.ndarray) -> dict[str, Any]:
    """Accuracy, mean stated probability, Brier and log score of the leading author, and the reliability table."""

    def log_score(p: np.ndarray) -> float:
        return -float(np.mean(np.log(np.maximum(np.where(right, p, 1 - p), 1e-6))))

    bins = np.clip(np.searchsorted(EDGES, stated, side="right") - 1, 0, len(EDGES) - 2)
    table = [
        {
            "stated": float(stated[bins == b].mean()),
            "right": float(right[bins == b].mean()),
            "n": int((bins == b).sum()),
        }
        for b in range(len(EDGES) - 1)
        if (bins == b).sum() >= 10
    ]
    return {
        "n": len(right), "right": float(right.mean()), "raw": float(raw.mean()), "stated": float(stated.mean()),
        "brier_raw": float(np.mean((raw - right) ** 2)), "brier": float(np.mean((stated - right) ** 2)),
        "log_raw": log_score(raw), "log": log_score(stated), "table": table,
    }  # fmt: skip


def run(name: str, only: str | None = None) -> list[dict[str, Any]]:
    """All models, or one, on a collection."""
    rows = []
    corpora, size = {}, {}
    for kept in (False, True):
        corpus = collection(name, kept)
        size[kept] = corpus.n_tokens
        share = 40 if name == "union" else 400
        corpora[kept] = corpus.split(test_size=min(share, corpus.n_docs // 4), random_state=0)
    for label, (model, kept) in models(name).items():
        if only not in (None, label):
            continue
        train, test = corpora[kept]
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)
            model.fit(train)
        for length in LENGTHS[name]:
            for near in (False, True) if name == "union" else (False,):
                row = {"collection": name, "model": label, "length": length, "near": near}
                # The same passages: without function words there is less of them.
                n_words = length and round(length * size[kept] / size[True])
                rows.append(row | ask(model, test, n_words, near))
                print(f"{name}, {label}, {length}, near {near}: {rows[-1]}", flush=True)
        rows[-1]["calibration"] = model.author_calibration_.to_plain()
        rows[-1]["beta_weight"] = model.fit_info_.get("beta_weight")
    return rows


def page(rows: list[dict[str, Any]]) -> str:
    """The numbers as text."""
    lines = [
        "| collection | among | words | model | n | right | stated, words independent | stated | Brier | log score |"
    ]
    lines.append("|---|---|---|---|---:|---:|---:|---:|---:|---:|")
    for row in rows:
        among = "5 of that time" if row["near"] else "all"
        lines.append(
            f"| {row['collection']} | {among} | {row['length'] or 'all'} | {row['model']} | {row['n']:,} | "
            f"{row['right']:.1%} | {row['raw']:.1%} | {row['stated']:.1%} | "
            f"{row['brier_raw']:.3f} → {row['brier']:.3f} | {row['log_raw']:.2f} → {row['log']:.2f} |"
        )
    bins = []
    for row in rows:
        if row["model"] != "author model, function words" and row["model"] != "author-topic, 50 topics":
            continue
        cells = ", ".join(f"{b['stated']:.0%} → {b['right']:.0%} ({b['n']})" for b in row["table"])
        among = ", of five" if row["near"] else ""
        bins.append(f"* {row['collection']}{among}, {row['length'] or 'all'} words, {row['model']}: {cells}")
    return PAGE.format(table="\n".join(lines), bins="\n".join(bins))


PAGE = """# Who wrote it: held-out documents

`TOPOI_DATA=folder python -m studies.authorship`. See [authorship](../authorship.md) for what is done. *right*: the leading author is
one of the document's. *stated*: the mean probability of the leading author, first with words taken to be independent draws,
then calibrated. Brier and log score are those of the leading author's probability (the lower the better), before → after calibration.

{table}

Reliability, calibrated: stated → right (number of texts).

{bins}
"""


def main() -> None:
    """Run, and write."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("collections", nargs="*", default=[])
    parser.add_argument("--page", action="store_true")
    parser.add_argument("--model", choices=[*models("")], help="run this one again, and keep the numbers of the others")
    options = parser.parse_args()
    path = OUT / "authorship.json"
    rows = json.loads(path.read_text(encoding="utf-8")) if path.exists() else []
    for name in () if options.page else options.collections or COLLECTIONS:
        kept = [row for row in rows if row["collection"] != name or options.model not in (None, row["model"])]
        rows = kept + run(name, options.model)
    order = [*models("")]
    rows.sort(key=lambda row: (COLLECTIONS.index(row["collection"]), order.index(row["model"])))
    path.write_text(json.dumps(rows, indent=1) + "\n", encoding="utf-8")
    (OUT / "authorship.md").write_text(page(rows), encoding="utf-8")


if __name__ == "__main__":
    main()
