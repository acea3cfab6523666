"""Memory of ``save``: simulated corpora that are large in one way each, saved in a process of its own.

``python -m benchmarks.saving`` takes corpora of a tenth of the size; ``python -m benchmarks.saving 1`` the whole.
"""

from __future__ import annotations

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
N_TOPICS = 100


def simulated(n_tokens: int, n_docs: int, n_words: int) -> topoi.Corpus:
    """Words with frequencies as Zipf has them; every word occurs."""
    rng = np.random.default_rng(0)
    rare = np.exp(rng.random(n_tokens, np.float32) * np.float32(np.log(n_words))).astype(np.int32)
    tokens = np.minimum(rare, n_words - 1)
    del rare
    tokens[:: max(n_tokens // n_words, 1)][:n_words] = np.arange(min(n_words, n_tokens), dtype=np.int32)
    vocabulary = Vocabulary([f"word{w}" for w in range(n_words)], Analyzer())
    return topoi.Corpus(
        tokens=tokens,
        doc_start=np.linspace(0, n_tokens, n_docs + 1).astype(np.int64),
        vocabulary=vocabulary,
        doc_author=np.zeros(0, np.int32),
        doc_author_start=np.zeros(n_docs + 1, np.int64),
        authors=[],
    )


def status(name: str) -> int:
    """A size of this process in bytes, as Linux tells it."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) * 1024 for line in lines if line.startswith(name))


def child(case: str, scale: float) -> dict[str, float]:
    """What the process does: fit, note its size, save, note its peak."""
    n_tokens, n_docs, n_words = (max(int(n * scale), 1) for n in CASES[case])
    model = topoi.LDA(N_TOPICS, n_iter=1, random_state=0).fit(simulated(n_tokens, n_docs, n_words))
    with tempfile.TemporaryDirectory() as folder:
        warm = topoi.LDA(2, n_iter=1, random_state=0).fit([[1, 2], [2, 1]])
        warm.save(Path(folder) / "warm.topoi")
        Path("/proc/self/clear_refs").write_text("5")  # forget the peak until now (Linux)
        before, start = status("VmRSS"), time.perf_counter()
        model.save(Path(folder) / "large.topoi")
        seconds = time.perf_counter() - start
        size = (Path(folder) / "large.topoi").stat().st_size
    return {"before": before, "peak": status("VmHWM"), "seconds": seconds, "file": size}


def main() -> None:
    scale = float(sys.argv[1]) if len(sys.argv) > 1 else 0.1
    chosen = sys.argv[2:] or list(CASES)
    print(f"{'corpus':<20}{'before MB':>12}{'peak MB':>12}{'added MB':>12}{'file MB':>12}{'seconds':>10}")
    for case in chosen:
        command = [sys.executable, "-m", "benchmarks.saving", "child", case, str(scale)]
        done = subprocess.run(command, capture_output=True, text=True, check=True)
        found = json.loads(done.stdout.splitlines()[-1])
        sizes = (found["before"], found["peak"], found["peak"] - found["before"], found["file"])
        print(f"{case:<20}" + "".join(f"{size / 1e6:>12,.0f}" for size in sizes) + f"{found['seconds']:>10.1f}")


if __name__ == "__main__":
    if sys.argv[1:2] == ["child"]:
        print(json.dumps(child(sys.argv[2], float(sys.argv[3]))))
    else:
        main()
