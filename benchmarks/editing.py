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
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

import topoi
from benchmarks.corpora import simulated


def timed(run: Callable[[], Any]) -> str:
    """Seconds of a call by the wall clock, and those of the processor."""
    began = time.perf_counter(), time.process_time()
    run()
    return f"{time.perf_counter() - began[0]:.2f} ({time.process_time() - began[1]:.2f})"


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


def main() -> None:
    """Print a line per edit."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("corpus", nargs="?", default="simulated")
    parser.add_argument("-k", "--topics", type=int, default=100)
    parser.add_argument("-i", "--iterations", type=int, default=100)
    parser.add_argument("-j", "--jobs", type=int, default=1)
    parser.add_argument("--sweeps", type=int, default=20)
    parser.add_argument("--keep", type=Path)
    parser.add_argument("--in-store", action="store_true", help="leave out the edits in memory")
    parser.add_argument("--only", nargs="*", help="kinds of edits, by their first words")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        path = fitted(given.corpus, given.topics, given.iterations, given.jobs, given.keep or Path(folder) / "a.topoi")
        place = Path(folder) / "edited.topoi"
        place.write_bytes(path.read_bytes())
        if not given.in_store:
            in_memory(path, given.jobs, given.sweeps, given.only)
        in_store(place, given.jobs, given.sweeps, given.only)


def chosen(model: Any, only: Sequence[str] | None) -> dict[str, Callable[[Any], Any]]:
    """The edits that are asked for."""
    return {name: edit for name, edit in edits(model).items() if not only or name.split()[0] in only}


def in_memory(path: Path, jobs: int, sweeps: int, only: Sequence[str] | None) -> None:
    """Time edits of a model in memory."""
    model = topoi.load(path).set_params(n_jobs=jobs, progress=False)
    corpus = model.corpus_
    print(f"{corpus.n_docs:,} documents, {corpus.n_tokens:,} tokens, {model.n_topics} topics", flush=True)
    resumed = timed(lambda: topoi.load(path).resume(sweeps))
    print(f"{sweeps} sweeps of resume: {resumed} s, loading included", flush=True)
    editor = topoi.edit(model)
    for name, edit in chosen(model, only).items():
        tried = timed(lambda edit=edit: edit(editor))  # type: ignore[misc]
        shown = timed(editor.preview)
        done = timed(lambda: editor.commit(sweeps))
        undone = timed(editor.undo)
        print(f"{name}: call {tried}, preview {shown}, commit {done}, undo {undone} s", flush=True)


def in_store(place: Path, jobs: int, sweeps: int, only: Sequence[str] | None) -> None:
    """Time an edit of a model in a store; what a preview has sampled, a commit does not sample again."""
    stored = topoi.edit(place)
    stored.model.set_params(n_jobs=jobs, progress=False)
    name, edit = next(iter(chosen(stored.model, only).items()))
    edit(stored)
    shown = timed(stored.preview)
    done = timed(lambda: stored.commit(sweeps))
    size = place.stat().st_size / 1e6
    undone = timed(stored.undo)
    print(f"{name}, in a store of {size:.0f} MB: preview {shown}, commit and save {done}, undo {undone} s", flush=True)


if __name__ == "__main__":
    main()
