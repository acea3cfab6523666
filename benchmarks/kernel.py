"""Kernel topic models: time of a sweep, a step and the evidence, and memory, against the number of documents."""

from __future__ import annotations

import gc
import json
import subprocess
import sys
from collections.abc import Callable
from typing import Any

import numpy as np

import topoi
from topoi.corpus.datasets import dataset_names
from topoi.models.bags import Bags
from topoi.models.kernel_topic.evidence import Hyper, Layout, evidence_and_gradient
from topoi.models.kernel_topic.fitting import Counts, Schedule, each_topic, first_y, softmax
from topoi.models.kernel_topic.gaussian_process import serially, sites_at
from topoi.models.kernel_topic.large_process import LargeProcess, some_documents, some_sites
from topoi.models.kernel_topic.solvers import set_up

from .report import Report, progress
from .settings import Settings
from .timing import timed

N_TOPICS, WARM_SWEEPS = 20, 10
DOCUMENTS = (1000, 2500, 5000, 10_000, 20_000)
COLUMNS = {
    "corpus": "corpus",
    "documents": "D",
    "solver": "solver",
    "sweep": "sweep s|.3f",
    "step": "Newton step s|.3f",
    "iterations": "iterations|.0f",
    "evidence": "evidence s|.2f",
    "bands": "100 bands s|.2f",
    "peak": "peak MB|.0f",
}
REMARK = (
    "K = 20, year and authors, one thread, CPU time: a sweep over all words; a Newton step and its iterations;\n"
    "one evaluation of the evidence with its gradient, of all documents or of blocks; predictions with bands of 100\n"
    "documents. Each row is a process of its own; its peak, once the corpus is read, includes Python and the compiler."
)


def main(corpora: dict[str, topoi.Corpus], settings: Settings, report: Report) -> None:
    """The State of the Union by speeches, then abstracts, if ``$TOPOI_DATA`` holds them."""
    wanted = [("state-of-the-union", 0)]
    if "acl-abstracts" in dataset_names():
        wanted += [("acl-abstracts", n) for n in (DOCUMENTS[:1] if settings.quick else DOCUMENTS)]
    rows = []
    for name, n_docs in wanted:
        progress(f"kernel topic model, {name}, {n_docs or 'all'} documents")
        rows.append(_in_a_process_of_its_own(name, n_docs))
    report.section("kernel", "Kernel topic models against the number of documents", rows, COLUMNS, REMARK)


def _in_a_process_of_its_own(name: str, n_docs: int) -> dict[str, Any]:
    command = [sys.executable, "-m", "benchmarks.kernel", name, str(n_docs)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(f"{' '.join(command)} failed:\n{done.stderr}")
    return dict(json.loads(done.stdout.splitlines()[-1]))


def measured(name: str, n_docs: int) -> dict[str, Any]:
    """Build what a fit has, and time its parts one by one."""
    from .memory import forget_peak, peak  # noqa: PLC0415 - psutil is asked for only here

    corpus = some_corpus(name, n_docs)
    gc.collect()
    forget_peak()
    setup = set_up(corpus, ["year", "authors"], None, "auto", "laplace")
    hyper = Hyper(setup.shape, np.ones(N_TOPICS), np.full(N_TOPICS, 0.5))
    counts = Counts(Bags.from_corpus(corpus), corpus.n_words, N_TOPICS, 0, 0.01)
    for _ in range(WARM_SWEEPS):
        counts.sweep(np.full_like(counts.doc_topic, 0.5), True)
    counts.recount()
    schedule = Schedule(1, 0, 1, 1, 1, 0, False, True)
    with each_topic(1, N_TOPICS):
        process = setup.process(hyper, first_y(counts.doc_topic), schedule, serially)
        process.step(counts.doc_topic, 1)
        before = process.info.get("solver_iterations", 0)
        step = timed(lambda: process.step(counts.doc_topic, 1)).cpu
        iterations = process.info.get("solver_iterations", 0) - before
        evidence = timed(_evidence(process, counts.doc_topic)).cpu
        posterior = setup.posterior(process.hyper, process.y, process.a, counts.doc_topic, 1)
        some = setup.shape.coordinates[:100]
        if not setup.large:
            posterior.solution  # noqa: B018 - made once, not for each prediction
        bands = timed(lambda: posterior.new(some, True)).cpu
    sweep = min(timed(lambda: counts.sweep(softmax(process.y), False)).cpu for _ in range(3))
    return {
        "corpus": name,
        "documents": corpus.n_docs,
        "solver": setup.solver,
        "sweep": sweep,
        "step": step,
        "iterations": iterations,
        "evidence": evidence,
        "bands": bands,
        "peak": peak() / 2**20,
    }


def _evidence(process: Any, counts: np.ndarray) -> Callable[[], Any]:
    """One evaluation, as the process's own learning does it."""
    sites, hyper = sites_at(process.y, counts), process.hyper
    layout = Layout(len(hyper.shape.theta), N_TOPICS, False)
    at = layout.pack(hyper)
    if not isinstance(process, LargeProcess):
        return lambda: evidence_and_gradient(at, layout, hyper, sites)
    parts = [(hyper._replace(shape=some_documents(hyper.shape, b)), some_sites(sites, b)) for b in process.blocks]
    return lambda: [evidence_and_gradient(at, layout, part, some) for part, some in parts]


def some_corpus(name: str, n_docs: int) -> topoi.Corpus:
    """Documents at random, the 5,000 commonest words."""
    if name == "state-of-the-union":
        return topoi.load_dataset(name, unit="speech", max_words=5000)
    corpus = topoi.load_dataset(name, max_words=5000)
    return corpus.subset(np.sort(np.random.default_rng(0).permutation(corpus.n_docs)[:n_docs]))


if __name__ == "__main__":
    print(json.dumps(measured(sys.argv[1], int(sys.argv[2]))))
