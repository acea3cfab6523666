"""What a token of the four-level pachinko model costs, and how much of it lists of the words' sub-topics could save.

    TOPOI_DATA=~/corpora python -m benchmarks.many_subtopics [--topics 300 1000] [--supers 20]

The scan over sub-topics is what lists would make shorter. Patches, which change the document's side of every sub-topic
when a token changes its super-topic, would stay. Both are timed in loops of their own at the state after some sweeps of
every fourth ACL abstract. The last column is the sweep's time over that without the scan: no list can save more.
"""

from __future__ import annotations

import argparse
from typing import Any

import numpy as np

import topoi
from topoi.kernels.jit import compiled, lean
from topoi.kernels.random import new_stream
from topoi.models.author_topic.listed_words import mean_word_lines
from topoi.models.pachinko import four_level

from .many_topics import corpora
from .report import Report, add_json, progress
from .timing import timed

COLUMNS = {
    "n_super": "super",
    "n_topics": "sub",
    "sweep": "sweep",
    "lines": "lines|.1f",
    "without": "no list|.2f",
    "changed": "super changes|.2f",
    "token": "token, ns|.0f",
    "scan": "scan, ns|.0f",
    "patch": "patch, ns|.0f",
    "limit": "limit|.2f",
}


@lean
def _scans(tokens, paths, counts, priors, scratch):
    total = np.float32(0.0)
    for i in range(len(tokens)):
        s0, k0, w = np.int64(paths.path[i]), np.int64(paths.topic[i]), np.int64(tokens[i])
        four_level._scan_subs(
            counts.word_topic, w * counts.word_topic.shape[1], priors.beta[w], scratch, s0, np.float32(0.1), k0
        )
        total += scratch.running[k0]
    return total


@lean
def _patches(paths, scratch):
    for i in range(1, len(paths.path)):
        s0, s = np.int64(paths.path[i - 1]), np.int64(paths.path[i])
        four_level._patch_sides(scratch, s0, s, np.float32(1e-9), np.float32(-1e-9))


@compiled
def scans(tokens, paths, counts, priors, n_super):
    """Scan all sub-topics once for every token."""
    return _scans(tokens, paths, counts, priors, four_level.make_scratch(counts, priors, n_super))


@compiled
def patches(paths, counts, priors, n_super):
    """Patch all sides once for every token."""
    _patches(paths, four_level.make_scratch(counts, priors, n_super))


def measured(corpus: topoi.Corpus, n_super: int, n_sub: int, n_sweeps: int) -> dict[str, Any]:
    """Nanoseconds per token, after some sweeps."""
    progress(f"{n_super} super-topics, {n_sub} sub-topics")
    model = topoi.PachinkoAllocation(n_super, n_sub, n_iter=1, random_state=0, learn_alpha=False).fit(corpus)
    chain, documents = model._chains[0], model._sampler.documents
    paths, counts, priors, n = chain.shards[0], chain.counts, chain.priors, corpus.n_tokens

    def sweep(number: int) -> float:
        work = lambda: four_level.sweep_four_level(  # noqa: E731
            documents, paths, counts, priors, n_super, new_stream(1, number)
        )
        return timed(work).cpu / n * 1e9

    for number in range(n_sweeps):
        sweep(number)
    before = paths.path.copy()
    token = min(sweep(n_sweeps + i) for i in range(3))
    changed = float((before != paths.path).mean())
    tokens, times = documents.tokens, np.bincount(corpus.tokens, minlength=corpus.n_words)
    lines, without = mean_word_lines(tokens, times, counts)
    each = []
    for work in (
        lambda: scans(tokens, paths, counts, priors, n_super),
        lambda: patches(paths, counts, priors, n_super),
    ):
        work()
        each.append(min(timed(work).cpu for _ in range(3)) / n * 1e9)
    found = {"n_super": n_super, "n_topics": n_sub, "sweep": n_sweeps, "lines": lines, "without": without}
    spent = {"changed": changed, "token": token, "scan": each[0], "patch": each[1] * changed}
    return found | spent | {"limit": token / max(token - each[0], 1e-9)}


def main() -> None:
    """Measure every number of sub-topics."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--topics", type=int, nargs="+", default=(100, 300, 1000))
    parser.add_argument("--supers", type=int, nargs="+", default=(10, 50))
    parser.add_argument("--sweeps", type=int, default=20)
    add_json(parser)
    arguments, report = parser.parse_args(), Report()
    corpus = corpora()["acl-abstracts/4"]()
    sizes = [(n_super, n_sub) for n_super in arguments.supers for n_sub in arguments.topics]
    rows = [measured(corpus, n_super, n_sub, arguments.sweeps) for n_super, n_sub in sizes]
    report.section("costs", "Four levels: acl-abstracts/4, one thread", rows, COLUMNS)
    report.write(arguments.json)


if __name__ == "__main__":
    main()
