"""Memory of ``save``: simulated corpora that are large in one way each, saved in a process of its own.

``python -m benchmarks.saving`` takes corpora of a tenth of the size; ``python -m benchmarks.saving 1`` the whole, and
``python -m benchmarks.saving 1 "many words"`` one of them. A model has 100 topics and is fitted for ten sweeps, of
which five are averaged. Memory is what the process holds, beyond the fitted model and its corpus, at its peak (Linux).
"""

from __future__ import annotations

import ctypes
import gc
import itertools
import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

import topoi
from topoi.corpus.tokenize import Analyzer
from topoi.corpus.vocabulary import Vocabulary

# Tokens, documents and distinct words.
CASES = {
    "many tokens": (47_700_000, 62_000, 50_000),
    "one long document": (5_000_000, 1, 50_000),
    "many words": (10_000_000, 20_000, 2_000_000),
}
N_TOPICS, N_ITER = 100, 10


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
    """What the process does: fit, note its size, save, note its peak."""
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
    return {"before": before, "peak": status("VmHWM"), "seconds": seconds, "processor": processor, "file": size}


def main() -> None:
    scale = float(sys.argv[1]) if len(sys.argv) > 1 else 0.1
    chosen = sys.argv[2:] or list(CASES)
    columns = ("model MB", "peak MB", "added MB", "file MB", "seconds", "processor")
    print(f"{'corpus':<20}" + "".join(f"{column:>12}" for column in columns))
    for case in chosen:
        command = [sys.executable, "-m", "benchmarks.saving", "child", case, str(scale)]
        done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True)
        found = json.loads(done.stdout.splitlines()[-1])
        sizes = (found["before"], found["peak"], found["peak"] - found["before"], found["file"])
        times = (found["seconds"], found["processor"])
        shown = [f"{size / 1e6:>12,.0f}" for size in sizes] + [f"{seconds:>12.1f}" for seconds in times]
        print(f"{case:<20}" + "".join(shown), flush=True)


if __name__ == "__main__":
    if sys.argv[1:2] == ["child"]:
        print(json.dumps(child(sys.argv[2], float(sys.argv[3]))))
    else:
        main()
