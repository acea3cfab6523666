"""The paper's sparse scheme beside the exact samplers: seconds, memory, paths considered, held-out likelihood.

Each fit runs alone in a process of its own (``python -m benchmarks.sparse …``), so that its peak memory is its own; all
learn from the same nine tenths of the documents and are judged by the perplexity of the others.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np

import topoi
from topoi.corpus.datasets import dataset_names

from .corpora import compact, load, save
from .memory import forget_peak, peak
from .report import Report, progress
from .settings import Settings

SCHEMES: dict[str, Any] = {"exact": False, "counts": "counts", "pruned": "pruned", "sparse": True}
MODELS = ("800", "50x100", "100x800")
QUICK_MODELS = ("20", "5x20")
COLUMNS = {
    "corpus": "corpus",
    "model": "model",
    "scheme": "sparse=",
    "sweeps": "sweeps",
    "exact_sweep": "CPU s/exact sweep|.2f",
    "pruned_sweep": "CPU s/pruned sweep|.2f",
    "total": "CPU s in all|.0f",
    "peak": "peak MB|.0f",
    "counts": "counts MB|.1f",
    "paths": "paths/token|.0f",
    "perplexity": "held-out perplexity|.0f",
}
REMARK = (
    "CPU s/sweep: medians of the last ten sweeps of each kind, learning of alpha left out. CPU s in all: the fit.\n"
    "peak: of the process, the corpus and imports included. counts: words by topics, of one chain. paths: considered\n"
    "by a token's draw in the last pruned sweep; an exact one considers all. Perplexity: of the first 500 of every\n"
    "tenth document, which no fit has seen; lower is better; one seed."
)
_OTHER = 10


def make_model(name: str, sparse: Any, n_iter: int) -> Any:
    """LDA of so many topics, or the four-level model of such widths; both learn alpha."""
    options = {"sparse": sparse, "n_iter": n_iter, "n_shards": 1, "random_state": 0, "evaluate_every": 10**9}
    if "x" not in name:
        return topoi.LDA(int(name), prior="paper", learn_alpha=True, alpha=0.1, **options)
    return topoi.PachinkoAllocation(*map(int, name.split("x")), **options)


class Clock:
    """Processor seconds of every sweep, without what follows it, and which of them were pruned."""

    def __init__(self, sampler: Any):
        self.seconds: list[float] = []
        self.pruned: list[bool] = []
        self._sampler, self._sample = sampler, sampler.sample
        sampler.sample = self

    def __call__(self, chain: Any, *arguments: Any) -> None:
        self.pruned.append(bool(self._sampler.sparse) and self._sampler._pruned(chain.sweep))
        before = time.process_time()
        self._sample(chain, *arguments)
        self.seconds.append(time.process_time() - before)


def child(path: Path, name: str, scheme: str, n_iter: int) -> dict[str, Any]:
    """Fit one model by one scheme, and say what it took."""
    corpus = load(path)
    held_out = np.arange(corpus.n_docs) % _OTHER == 0
    train, test = corpus.subset(np.flatnonzero(~held_out)), corpus.subset(np.flatnonzero(held_out)[:500])
    del corpus
    make_model(name, SCHEMES[scheme], 30).fit(train.subset(slice(0, 120)))  # compiles
    model = make_model(name, SCHEMES[scheme], n_iter)
    clocks: list[Clock] = []
    make = model._make_sampler

    def timed(*arguments: Any) -> Any:
        sampler = make(*arguments)
        clocks.append(Clock(sampler))
        return sampler

    model._make_sampler = timed
    forget_peak()
    before = time.process_time()
    model.fit(train)
    total, largest = time.process_time() - before, peak()
    seconds, pruned = np.array(clocks[0].seconds), np.array(clocks[0].pruned)
    return {
        "exact_sweep": float(np.median(seconds[~pruned][-10:])),
        "pruned_sweep": float(np.median(seconds[pruned][-10:])) if pruned.any() else None,
        "total": total,
        "peak": largest / 1e6,
        "counts": sum(array.nbytes for array in model.chains_[0].counts) / 1e6,
        "paths": model.fit_info_.get("paths_per_token"),
        "perplexity": float(model.perplexity(test, average="tokens", n_particles=20)),
    }


def acl_abstracts() -> topoi.Corpus | None:
    """Every fourth abstract of computational linguistics; None if ``$TOPOI_DATA`` does not hold them."""
    if "acl-abstracts" not in dataset_names():
        return None
    corpus = topoi.load_dataset("acl-abstracts")
    return compact(corpus.subset(np.arange(0, corpus.n_docs, 4)))


def main(corpora: dict[str, topoi.Corpus], settings: Settings, report: Report) -> None:
    """All schemes and models on the simulated corpus and on a quarter of ``acl-abstracts``."""
    chosen = {name: corpus for name, corpus in corpora.items() if name != "nips12"}
    real = None if settings.quick else acl_abstracts()
    if real is not None:
        chosen["acl-abstracts / 4"] = real
    n_iter = 36 if settings.quick else 60
    for name, corpus in chosen.items():
        rows = []
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "corpus.npz"
            save(corpus, path)
            for model in QUICK_MODELS if settings.quick else MODELS:
                for scheme in SCHEMES:
                    progress(f"sparse: {name}, {model}: {scheme}")
                    command = [sys.executable, "-m", "benchmarks.sparse", str(path), model, scheme, str(n_iter)]
                    done = subprocess.run(command, capture_output=True, text=True, check=True)
                    label = f"pachinko {model}" if "x" in model else f"LDA {model}"
                    where = {"corpus": name, "model": label, "scheme": repr(SCHEMES[scheme]), "sweeps": n_iter}
                    rows.append(where | json.loads(done.stdout))
        report.section("sparse", f"The sparse scheme on {name}, one thread", rows, COLUMNS, REMARK)


if __name__ == "__main__":
    print(json.dumps(child(Path(sys.argv[1]), sys.argv[2], sys.argv[3], int(sys.argv[4]))))
