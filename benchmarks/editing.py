"""Seconds of edits by hand, by the wall clock (and of the processor): of a model in memory, and of one in a store.

    python -m benchmarks.editing                          a simulated collection of NIPS size, 100 topics
    python -m benchmarks.editing acl-abstracts -k 300     a collection of $TOPOI_DATA
    python -m benchmarks.editing acl-abstracts -k 300 --keep acl.topoi     the fit is kept, and used the next time
    python -m benchmarks.editing acl-abstracts -k 300 --in-store           only the edit in a store

Each edit is timed: the call, its preview, its commit of twenty sweeps over all documents, the undo.
In the store a commit is also a save of the edited model.
"""

from __future__ import annotations

import argparse
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

import topoi

from .corpora import simulated
from .report import Report, add_json, progress
from .timing import timed

MODEL = {
    "documents": "documents|,",
    "tokens": "tokens|,",
    "n_topics": "K",
    "sweeps": "sweeps",
    "resume": "resume, s|.2f",
    "resume_cpu": "CPU|.2f",
}
COLUMNS = {
    "edit": "edit",
    "call": "call, s|.2f",
    "call_cpu": "CPU|.2f",
    "preview": "preview, s|.2f",
    "preview_cpu": "CPU|.2f",
    "commit": "commit, s|.2f",
    "commit_cpu": "CPU|.2f",
    "undo": "undo, s|.2f",
    "undo_cpu": "CPU|.2f",
}
STORE = {key: heading for key, heading in COLUMNS.items() if not key.startswith("call")} | {"size": "store, MB|.0f"}


def seconds(step: str, run: Callable[[], object]) -> dict[str, float]:
    """Cells of a step: seconds by the wall clock, and those of the processor."""
    wall, cpu = timed(run)
    return {step: wall, f"{step}_cpu": cpu}


def fitted(name: str, n_topics: int, n_iter: int, n_jobs: int, keep: Path) -> Path:
    """A store with a fitted LDA; an existing one is taken as it is."""
    if not keep.exists():
        corpus = simulated() if name == "simulated" else topoi.load_dataset(name)
        model = topoi.LDA(n_topics, n_iter=n_iter, random_state=0, n_jobs=n_jobs, progress=False).fit(corpus)
        model.save(keep)
    return keep


def edits(model: Any) -> dict[str, Callable[[Any], Any]]:
    """An edit of each kind, of the largest topics."""
    first, second, third = np.argsort(-model.chains_[0].topic_totals)[:3].tolist()
    words = model.top_words(3, topic=first)["word"].tolist()
    document = int(np.argmax(model.doc_topic_[:, first]))
    return {
        "merge two": lambda editor: editor.merge(first, second),
        "split one": lambda editor: editor.split(first),
        "ban three words": lambda editor: editor.ban(first, words),
        "pin a word": lambda editor: editor.pin(first, words[:1]),
        "freeze": lambda editor: editor.freeze(third),
        "send a document": lambda editor: editor.send(document, to=second, away_from=first),
    }


def chosen(model: Any, given: argparse.Namespace) -> dict[str, Callable[[Any], Any]]:
    """The edits that are asked for."""
    return {name: edit for name, edit in edits(model).items() if not given.only or name.split()[0] in given.only}


def in_memory(path: Path, given: argparse.Namespace, report: Report) -> None:
    """Time edits of a model in memory."""
    model = topoi.load(path).set_params(n_jobs=given.jobs, progress=False)
    corpus, sweeps = model.corpus_, given.sweeps
    facts = {"documents": corpus.n_docs, "tokens": corpus.n_tokens, "n_topics": model.n_topics, "sweeps": sweeps}
    facts |= seconds("resume", lambda: topoi.load(path).resume(sweeps))
    report.section("model", "The model", [facts], MODEL, "resume: so many sweeps, loading included.")
    editor, rows = topoi.edit(model), []
    for name, edit in chosen(model, given).items():
        progress(name)
        row = {"edit": name} | seconds("call", lambda edit=edit: edit(editor))  # type: ignore[misc]
        row |= seconds("preview", editor.preview)
        row |= seconds("commit", lambda: editor.commit(sweeps))
        rows.append(row | seconds("undo", editor.undo))
    report.section("memory", "Edits of a model in memory", rows, COLUMNS)


def in_store(place: Path, given: argparse.Namespace, report: Report) -> None:
    """Time an edit of a model in a store; what a preview has sampled, a commit does not sample again."""
    stored = topoi.edit(place)
    stored.model.set_params(n_jobs=given.jobs, progress=False)
    name, edit = next(iter(chosen(stored.model, given).items()))
    progress(f"{name}, in a store")
    edit(stored)
    row = {"edit": name} | seconds("preview", stored.preview)
    row |= seconds("commit", lambda: stored.commit(given.sweeps)) | {"size": place.stat().st_size / 1e6}
    row |= seconds("undo", stored.undo)
    report.section("store", "An edit of a model in a store", [row], STORE, "A commit is also a save.")


def main() -> None:
    """Print tables of the edits."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("corpus", nargs="?", default="simulated")
    parser.add_argument("-k", "--topics", type=int, default=100)
    parser.add_argument("-i", "--iterations", type=int, default=100)
    parser.add_argument("-j", "--jobs", type=int, default=1)
    parser.add_argument("--sweeps", type=int, default=20)
    parser.add_argument("--keep", type=Path)
    parser.add_argument("--in-store", action="store_true", help="leave out the edits in memory")
    parser.add_argument("--only", nargs="*", help="kinds of edits, by their first words")
    add_json(parser)
    given, report = parser.parse_args(), Report()
    with tempfile.TemporaryDirectory() as folder:
        path = fitted(given.corpus, given.topics, given.iterations, given.jobs, given.keep or Path(folder) / "a.topoi")
        place = Path(folder) / "edited.topoi"
        place.write_bytes(path.read_bytes())
        if not given.in_store:
            in_memory(path, given, report)
        in_store(place, given, report)
    report.write(given.json)


if __name__ == "__main__":
    main()
