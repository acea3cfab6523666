"""Names cut to initials: are the most surprising papers under a name another person's? (AT09, section 5.1 and table II.)

    TOPOI_DATA=folder-with-acl-abstracts python -m studies.initials [--sweeps 200]
    python -m studies.initials --page       writes the page again from the numbers of the last run

In CiteSeer a name is a first initial and a surname. Here whole names are cut to that, so that it is known whose each paper is.
Writes docs/studies/initials.json and .md.
"""

from __future__ import annotations

import argparse
import json
import re
import unicodedata
from collections import Counter
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from sklearn.metrics import roc_auc_score

import topoi

OUT = Path(__file__).parents[1] / "docs" / "studies"
PAPERS = (15, 60)  # of a name: the papers' tables have names of 15 to 57


class Name(NamedTuple):
    """A name of an initial and a surname, its documents, and which of them are not of its main person."""

    name: str
    main: str
    documents: np.ndarray
    foreign: np.ndarray


def first_and_last(name: str) -> tuple[str, str]:
    """The first name and the surname, without accents, points and case; a single word has no first name."""
    plain = unicodedata.normalize("NFKD", name).encode("ascii", "ignore").decode().lower()
    parts = re.sub(r"[^a-z\- ]", "", plain).split()
    return (parts[0], parts[-1]) if len(parts) > 1 else ("", parts[0] if parts else name)


def initial(name: str) -> str:
    """First initial and surname; names that have no such form stay as they are."""
    first, last = first_and_last(name)
    return f"{first[0]} {last}" if first.strip("-") and last else name


def people(names: list[str]) -> dict[str, str]:
    """Whose each full name is: first names of which one begins the other (Chris, Christopher; C) are one person's."""
    whose: dict[str, str] = {}
    for name in sorted(names, key=lambda n: (-len(first_and_last(n)[0]), n)):
        first = first_and_last(name)[0]
        same = [person for person in dict.fromkeys(whose.values()) if first_and_last(person)[0].startswith(first)]
        whose[name] = same[0] if same else name
    return whose


def cut(corpus: topoi.Corpus) -> tuple[topoi.Corpus, list[list[str]]]:
    """The corpus with names cut to initials, and the full names of each document's authors."""
    full = corpus.author_lists()
    lists = [list(dict.fromkeys(initial(name) for name in names)) for names in full]
    authors = sorted({name for names in lists for name in names})
    number = {name: i for i, name in enumerate(authors)}
    return topoi.Corpus(
        tokens=corpus.tokens, doc_start=corpus.doc_start, vocabulary=corpus.vocabulary, documents=corpus.documents,
        doc_author=np.array([number[name] for names in lists for name in names], corpus.doc_author.dtype),
        doc_author_start=np.r_[0, np.cumsum([len(names) for names in lists])].astype(corpus.doc_author_start.dtype),
        authors=np.array(authors, dtype=corpus.authors.dtype),
    ), full  # fmt: skip


def names_of_several(full: list[list[str]], least: int, most: int) -> list[Name]:
    """Names of so many papers, most of which are one person's and at least one somebody else's."""
    papers: dict[str, list[tuple[int, str]]] = {}
    for d, names in enumerate(full):
        for name in names:
            papers.setdefault(initial(name), []).append((d, name))
    chosen = []
    for short, own in sorted(papers.items()):
        documents = sorted({d for d, _ in own})
        if not least <= len(documents) <= most:
            continue
        whose = people(sorted({name for _, name in own}))
        main = Counter(whose[name] for _, name in own).most_common(1)[0][0]
        of_main = {d for d, name in own if whose[name] == main}
        foreign = np.array([d not in of_main for d in documents])
        if foreign.any() and foreign.mean() < 0.5:
            chosen.append(Name(short, main, np.array(documents), foreign))
    return chosen


def run(sweeps: int) -> dict[str, Any]:
    """Cut, fit, and rank the papers of each name."""
    whole = topoi.load_dataset("acl-abstracts", min_df=5)
    corpus, full = cut(whole)
    names = names_of_several(full, *PAPERS)
    model = topoi.AuthorTopicModel(
        300, prior="paper", beta=0.01, n_iter=sweeps, n_shards=1, average=False, random_state=0, progress=False
    ).fit(corpus)
    rows = []
    for name in names:
        frame = topoi.unusual_documents(model, author=name.name).dropna(subset="perplexity")
        foreign = np.isin(frame["document"], name.documents[name.foreign])
        if 0 < foreign.sum() < len(foreign):
            auc = roc_auc_score(foreign, frame["perplexity"])
            rows.append({
                "name": name.name, "papers": len(frame), "foreign": int(foreign.sum()),
                "first": bool(foreign[0]), "in_two": bool(foreign[:2].any()), "both": bool(foreign[:2].all()), "auc": round(float(auc), 4),
            })  # fmt: skip
    return {"corpus": repr(corpus)[9:-1], "people": whole.n_authors, "sweeps": sweeps, "names": rows}


def measured(rows: list[dict[str, Any]]) -> dict[str, float]:
    """How often the first of the list is foreign, how often it would be by chance, and the mean AUC."""
    share = np.array([row["foreign"] / row["papers"] for row in rows])
    first = np.array([row["first"] for row in rows], float)
    return {
        "names": len(rows), "papers": float(np.mean([row["papers"] for row in rows])), "first": float(first.mean()),
        "error": float(first.std(ddof=1) / np.sqrt(len(first))), "by_chance": float(share.mean()),
        "in_two": float(np.mean([row["in_two"] for row in rows])), "auc": float(np.mean([row["auc"] for row in rows])),
    }  # fmt: skip


def page(result: dict[str, Any]) -> str:
    """The numbers as text."""
    rows = result["names"]
    kinds = {
        "all": rows,
        "one foreign paper": [row for row in rows if row["foreign"] == 1],
        "two or three": [row for row in rows if 2 <= row["foreign"] <= 3],
        "four or more": [row for row in rows if row["foreign"] >= 4],
    }
    lines = [
        "| foreign papers under the name | names | papers of a name, mean | a foreign paper is first | by chance | among the first two | AUC |",
        "|---|---:|---:|---:|---:|---:|---:|",
    ]
    for kind, some in kinds.items():
        m = measured(some)
        lines.append(
            f"| {kind} | {m['names']} | {m['papers']:.0f} | {100 * m['first']:.0f} % ± {100 * m['error']:.0f} % | {100 * m['by_chance']:.0f} % | {100 * m['in_two']:.0f} % | {m['auc']:.2f} |"
        )
    return PAGE.format(table="\n".join(lines), least=PAPERS[0], most=PAPERS[1], **result)


def main() -> None:
    """Run, or write the page again."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sweeps", type=int, default=200)
    parser.add_argument("--page", action="store_true")
    arguments = parser.parse_args()
    numbers = OUT / "initials.json"
    if not arguments.page:
        numbers.write_text(json.dumps(run(arguments.sweeps), indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    (OUT / "initials.md").write_text(page(json.loads(numbers.read_text(encoding="utf-8"))), encoding="utf-8")


PAGE = """# Names cut to initials

In the CiteSeer collection of Rosen-Zvi et al. (2009) an author is a first initial and a surname. For four names (table II), of which most papers are one
person's, the paper finds that the most surprising papers are by other people. Are they for other names, too?

`acl-abstracts` has whole names ({people:,} of them). Here they are cut to an initial and a surname: {corpus}.
It is then known whose each paper is. The names taken are all with {least} to {most} papers, most of them one person's and at least one somebody else's;
the paper's four lists are of such names. First names of which one begins the other (Chris, Christopher) count as one person.
The model is the paper's: 300 topics, alpha = 50/300, beta = 0.01, one chain of {sweeps} sweeps, where the paper averages ten of 2,000.
`topoi.unusual_documents` ranks the papers of a name.

{table}

*First* is the share of names whose most surprising paper is foreign, with its standard error; *by chance* the mean share of foreign papers under a name.
AUC is the probability that a foreign paper ranks above one of the main person's.

[Namesakes](namesakes.md) does the same with names merged on purpose, which gives the foreign papers at random and shows more ways to rank. What is the same there and
here: all papers are of one field, so that a stranger's paper is less strange than in a collection of all computer science.

Each name is in [initials.json](initials.json). Made by

    TOPOI_DATA=folder-with-acl-abstracts python -m studies.initials --sweeps {sweeps}
"""

if __name__ == "__main__":
    main()
