"""Eight topics of NIPS 1987–1999 with their words and authors (Rosen-Zvi et al. 2009, figure 1).

    TOPOI_DATA=folder-with-nips12 python -m studies.nips_topics [--sweeps 500]

Writes docs/studies/nips-topics.md.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import topoi

OUT = Path(__file__).parents[1] / "docs" / "studies" / "nips-topics.md"
# One telling word for each of the paper's six topics of content in figure 1, and two of our own.
TELLING = ["retina", "handwritten", "kernel", "ica", "bayesian", "reinforcement", "control", "boltzmann"]


def telling_topics(model: topoi.AuthorTopicModel) -> list[int]:
    """For each telling word the topic in which it has the highest probability; each topic once."""
    chosen: list[int] = []
    for word in TELLING:
        column = model.topic_word_[:, model.vocabulary_.index(word)].copy()
        column[chosen] = -1
        chosen.append(int(column.argmax()))
    return chosen


def topic_table(model: topoi.AuthorTopicModel, k: int) -> str:
    """One topic: ten words, the ten authors with most of its words, the ten with the highest P(author | topic)."""
    words = model.top_words(10, topic=k)
    columns = [model.top_authors(10, topic=k, by=by) for by in ("words", "mixture")]
    rows = [
        f"**Topic {k}**",
        "",
        "| word | P | author, by share of words | P | words | author, by mixture | P | words |",
        "|---|---:|---|---:|---:|---|---:|---:|",
    ]
    for w, *authors in zip(words.itertuples(), *(c.itertuples() for c in columns), strict=True):
        cells = " | ".join(f"{a.author} | {a.probability:.4f} | {a.n_words}" for a in authors)
        rows.append(f"| {w.word} | {w.probability:.4f} | {cells} |")
    return "\n".join(rows)


def main() -> None:
    """Fit one chain to the whole collection and write the page."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sweeps", type=int, default=500)
    sweeps = parser.parse_args().sweeps
    corpus = topoi.load_dataset("nips12", min_df=5)
    options = {"n_iter": sweeps, "n_shards": 1, "random_state": 0, "evaluate_every": sweeps}
    model = topoi.AuthorTopicModel(100, alpha=0.5, beta=0.01, **options).fit(corpus)
    seconds = corpus.n_tokens / model.fit_info_["tokens_per_second"]
    tables = "\n\n".join(topic_table(model, k) for k in telling_topics(model))
    OUT.parent.mkdir(parents=True, exist_ok=True)
    page = PAGE.format(corpus=repr(corpus)[9:-1], sweeps=sweeps, seconds=seconds, tables=tables)
    OUT.write_text(page, encoding="utf-8")
    print(f"{seconds:.3f} s a sweep; wrote {OUT.name}")


PAGE = """# Eight topics of NIPS

The collection of the author-topic papers ({corpus}; words in at least five
papers, English stop words removed; the papers have 13,649 words and 2,301,375 tokens), K = 100, alpha = 0.5, beta = 0.01, one
chain of {sweeps} sweeps, {seconds:.2f} s a sweep on one thread (the paper: 22 s). Made by

    TOPOI_DATA=folder-with-nips12 python -m studies.nips_topics --sweeps {sweeps}

Topics are chosen by one telling word each, after figure 1 of Rosen-Zvi et al. (2009). The text is OCR, and names are
"surname, initial", so namesakes are one author.

Two ways to rank a topic's authors stand side by side. The paper's appendix B defines P(author | topic) with all authors equally
productive: the mixtures, normalised over authors (`top_authors(by="mixture")`). But the figures printed in its figure 1
(Scholkopf 0.077, Smola 0.069, Singh 0.129) are of the size of an author's share of the topic's *words* (`by="words"`), and
its authors are those who write much; by the formula, people with a single paper on one subject come first. We read figure 1
as made with shares of words.

{tables}
"""

if __name__ == "__main__":
    main()
