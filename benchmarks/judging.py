"""Coherence beside gensim's, and perplexity against the number of topics: the numbers of docs/evaluation.md.

    TOPOI_DATA=folder python -m benchmarks.judging

Topics are those of LDA, 50 by default, on the abstracts of NIPS. Seconds are of the processor, the least of three for
topoi, which has compiled before; gensim counts once, in one process.
"""

from __future__ import annotations

import argparse
import logging
import time
from typing import Any

import numpy as np
from gensim.corpora import Dictionary
from gensim.models.coherencemodel import CoherenceModel

import topoi
from topoi import evaluation

from .report import Report, add_json, progress

NAMES = {"c_v": "C_V", "npmi": "NPMI", "uci": "UCI", "u_mass": "UMass"}
GENSIM = {"c_v": "c_v", "npmi": "c_npmi", "uci": "c_uci", "u_mass": "u_mass"}
COHERENCE = {"measure": "measure", "topoi": "topoi|.4f", "gensim": "gensim|.4f"}
COHERENCE |= {"seconds": "topoi, CPU s|.3f", "theirs": "gensim, CPU s|.1f"}
TOPICS = {"n_topics": "topics|,", "perplexity": "perplexity|,.0f", "chosen": "chosen"}
SIZES = (20, 50, 100, 200)


def of_gensim(topics: list[list[str]], texts: list[list[str]], measure: str) -> float:
    """gensim's mean coherence."""
    dictionary = Dictionary(texts)
    how = {"corpus": [dictionary.doc2bow(text) for text in texts]} if measure == "u_mass" else {"texts": texts}
    model = CoherenceModel(topics=topics, dictionary=dictionary, coherence=GENSIM[measure], processes=1, **how)
    return float(np.mean(model.get_coherence_per_topic()))


def seconds(do: Any) -> tuple[float, float]:
    """A number and the processor seconds that it took."""
    begin = time.process_time()
    return float(do()), time.process_time() - begin


def coherences(model: Any, corpus: topoi.Corpus) -> list[dict[str, Any]]:
    """Each measure by both."""
    words, start = corpus.words, corpus.doc_start
    texts = [list(words[corpus.tokens[start[d] : start[d + 1]]]) for d in range(corpus.n_docs)]
    topics = [list(rows["word"]) for _, rows in model.top_words(10).groupby("topic", sort=True)]
    rows = []
    for measure, name in NAMES.items():
        progress(name)
        ours = [
            seconds(lambda m=measure: evaluation.coherence(topics, corpus, m)["coherence"].mean()) for _ in range(4)
        ]
        theirs = seconds(lambda m=measure: of_gensim(topics, texts, m))
        row = {"measure": name, "topoi": ours[0][0], "gensim": theirs[0]}
        rows.append(row | {"seconds": min(each[1] for each in ours[1:]), "theirs": theirs[1]})
    return rows


def sizes(corpus: topoi.Corpus, wanted: list[int], sweeps: int) -> list[dict[str, Any]]:
    """Held-out perplexity of each number of topics, one fold."""
    model = topoi.LDA(1, n_iter=sweeps, random_state=0, progress=False)
    found = evaluation.search_topics(corpus, wanted, model, folds=1)
    rows = found.frame[["n_topics", "perplexity", "chosen"]].to_dict("records")
    return [row | {"chosen": "yes" if row["chosen"] else ""} for row in rows]


def main() -> None:
    """Measure, and print both tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--corpus", default="nips12-abstracts")
    parser.add_argument("--topics", type=int, default=50)
    parser.add_argument("--sizes", type=int, nargs="+", default=list(SIZES))
    parser.add_argument("--sweeps", type=int, default=200)
    add_json(parser)
    given, report = parser.parse_args(), Report()
    logging.getLogger("gensim").setLevel(logging.ERROR)
    corpus = topoi.load_dataset(given.corpus)
    model = topoi.LDA(given.topics, n_iter=given.sweeps, random_state=0, progress=False).fit(corpus)
    report.section("coherence", "Coherence", coherences(model, corpus), COHERENCE)
    report.section("sizes", "Numbers of topics", sizes(corpus, given.sizes, given.sweeps), TOPICS)
    report.write(given.json)


if __name__ == "__main__":
    main()
