"""The hierarchical Dirichlet process and probabilistic latent semantic indexing beside LDA, on held-out documents.

    python -m studies.learned_topics [--corpus nips12-abstracts] [--beta 0.1] [--topics 20 40 80]

A tenth of the documents is held out. Perplexity integrates each new document's mixture out (for PLSI under the Dirichlet
fitted to its training mixtures); completion predicts every second word from the others, with topics held fixed; "folded
in" plugs in the mixture that suits the scored words best, which is no prediction.
"""

from __future__ import annotations

import argparse
import time
from typing import Any

import numpy as np

import topoi
from topoi.evaluation.completion import fixed_completion


def row(name: str, model: Any, train: topoi.Corpus, test: topoi.Corpus, n_topics: str) -> str:
    """A line of the table."""
    begin = time.process_time()
    model.fit(train)
    seconds = time.process_time() - begin
    observed = np.arange(test.n_tokens) % 2 == 0
    completion = float(np.exp(-fixed_completion(model, test, observed).sum() / (~observed).sum()))
    folded = f"{model.perplexity(test, estimator='folded-in'):,.0f}" if isinstance(model, topoi.PLSI) else "–"
    topics = n_topics or str(model.n_topics_)
    return f"| {name} | {topics} | {model.perplexity(test):,.0f} | {completion:,.0f} | {folded} | {seconds:.0f} |"


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--corpus", default="nips12-abstracts")
    parser.add_argument("--beta", type=float, default=0.1)
    parser.add_argument("--topics", type=int, nargs="+", default=[20, 40, 80])
    parser.add_argument("--sweeps", type=int, default=500)
    arguments = parser.parse_args()
    train, test = topoi.load_dataset(arguments.corpus).split(test_size=0.1, random_state=0)
    print(f"{train.n_docs:,} documents, {train.n_tokens:,} tokens; {test.n_docs:,} held out\n")
    print("| model | topics | perplexity | completion | folded in | seconds |\n|---|---|---|---|---|---|")
    common = {"random_state": 0, "progress": False}
    gibbs = common | {"n_iter": arguments.sweeps, "beta": arguments.beta, "n_jobs": 1}
    for start in (1, 20, 100):
        hdp = topoi.HierarchicalDirichletProcess(start, **gibbs)
        print(row(f"HDP from {start}", hdp, train, test, ""), flush=True)
    for k in arguments.topics:
        print(
            row("LDA, alpha learned", topoi.LDA(k, prior="paper", learn_alpha=True, **gibbs), train, test, str(k)),
            flush=True,
        )
    for k in arguments.topics:
        for tempered in (False, True):
            plsi = topoi.PLSI(k, smoothing=arguments.beta, tempered=tempered, n_iter=arguments.sweeps, **common)
            print(row(f"PLSI{', tempered' if tempered else ''}", plsi, train, test, str(k)), flush=True)


if __name__ == "__main__":
    main()
