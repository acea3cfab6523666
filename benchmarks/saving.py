"""Memory of ``save``: simulated corpora that are large in one way each, saved in a process of its own.

``python -m benchmarks.saving`` takes corpora of a tenth of the size; ``python -m benchmarks.saving 1`` the whole, and
``python -m benchmarks.saving 1 "many words"`` one of them. A model has 100 topics and is fitted for ten sweeps, of
which five are averaged. Memory is what the process holds, beyond the fitted model and its corpus, at its peak (Linux).
"""

from __future__ import annotations

import argparse
import ctypes
import gc
import itertools
import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np

import topoi
from topoi.corpus.tokenize import Analyzer
from topoi.corpus.vocabulary import Vocabulary

from .report import Report, add_json, progress

# Tokens, documents and distinct words.
CASES = {
    "many tokens": (47_700_000, 62_000, 50_000),
    "one long document": (5_000_000, 1, 50_000),
    "many words": (10_000_000, 20_000, 2_000_000),
}
N_TOPICS, N_ITER = 100, 10
COLUMNS = {
    "corpus": "corpus",
    "tokens": "tokens|,",
    "before": "model MB|,.0f",
    "peak": "peak MB|,.0f",
    "added": "added MB|,.0f",
    "file": "file MB|,.0f",
    "seconds": "s|.1f",
    "cpu": "CPU s|.1f",
}


def simulated(n_tokens: int, n_docs: int, n_words: int) -> topoi.Corpus:
    """Words with frequencies as Zipf has them, every one of which occurs, with texts in which they stand."""
    rng = np.random.default_rng(0)
    rare = np.exp(rng.random(n_tokens, np.float32) * np.float32(np.log(n_words))).astype(np.int32)
    tokens = np.minimum(rare, n_words - 1)
    del rare
    tokens[:: max(n_tokens // n_words, 1)][:n_words] = np.arange(min(n_words, n_tokens), dtype=np.int32)
    words = [f"word{w}" for w in range(n_words)]
    doc_start = np.linspace(0, n_tokens, n_docs + 1).astype(np.int64)
    lengths = np.array([len(word) for word in words], np.int32)
    texts, starts = [], np.empty(n_tokens, np.int32)
    for first, last in itertools.pairwise(doc_start.tolist()):
        texts.append(" ".join([words[w] for w in tokens[first:last].tolist()]))
        starts[first:last] = np.cumsum(lengths[tokens[first:last]] + 1) - lengths[tokens[first:last]] - 1
    return topoi.Corpus(
        tokens=tokens,
        doc_start=doc_start,
        vocabulary=Vocabulary(words, Analyzer()),
        doc_author=np.zeros(0, np.int32),
        doc_author_start=np.zeros(n_docs + 1, np.int64),
        authors=[],
        token_start=starts,
        token_end=starts + lengths[tokens],
        texts=texts,
    )


def status(name: str) -> int:
    """A size of this process in bytes, as Linux tells it."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) * 1024 for line in lines if line.startswith(name))


def child(case: str, scale: float) -> dict[str, float]:
    """What the process does: fit, note its size, save, note its peak; sizes in MB."""
    n_tokens, n_docs, n_words = (max(int(n * scale), 1) for n in CASES[case])
    with tempfile.TemporaryDirectory() as folder:
        warm = topoi.LDA(12, n_iter=N_ITER, random_state=0).fit(simulated(500, 10, 20))
        warm.save(Path(folder) / "warm.topoi")
        model = topoi.LDA(N_TOPICS, n_iter=N_ITER, random_state=0).fit(simulated(n_tokens, n_docs, n_words))
        gc.collect()
        ctypes.CDLL(None).malloc_trim(0)  # what is free counts as free
        Path("/proc/self/clear_refs").write_text("5")  # forget the peak until now
        before, start, processor = status("VmRSS"), time.perf_counter(), time.process_time()
        model.save(Path(folder) / "large.topoi")
        seconds, processor = time.perf_counter() - start, time.process_time() - processor
        size = (Path(folder) / "large.topoi").stat().st_size
    peak = status("VmHWM")
    sizes = {"before": before, "peak": peak, "added": peak - before, "file": size}
    found = {"tokens": n_tokens} | {name: size / 1e6 for name, size in sizes.items()}
    return found | {"seconds": seconds, "cpu": processor}


def measured(case: str, scale: float) -> dict[str, Any]:
    """A row from a process of its own."""
    progress(case)
    command = [sys.executable, "-m", "benchmarks.saving", "child", case, str(scale)]
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True)
    return {"corpus": case} | json.loads(done.stdout.splitlines()[-1])


def main() -> None:
    """Print a table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("scale", nargs="?", type=float, default=0.1)
    parser.add_argument("corpora", nargs="*", default=list(CASES), help=f"all, if not given: {', '.join(CASES)}")
    add_json(parser)
    given, report = parser.parse_args(), Report()
    rows = [measured(case, given.scale) for case in given.corpora]
    report.section("saving", "Memory of save", rows, COLUMNS)
    report.write(given.json)


if __name__ == "__main__":
    if sys.argv[1:2] == ["child"]:
        print(json.dumps(child(sys.argv[2], float(sys.argv[3]))))
    else:
        main()
