"""Sizes and times of a store: saving, loading, opening, a second model, a label; the section of docs/store.md.

    python -m benchmarks.store papers.topoi

The file has a model with its corpus. It is copied to a folder that goes again: nothing is changed in it. Times of
writing are of the processor, after one small model that compiles and warms; those of reading are medians.
"""

from __future__ import annotations

import argparse
import statistics
import tempfile
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import topoi

from .report import Report, add_json

TURNS, SWEEPS, LABELS = 5, 20, 20
STORE = {
    "documents": "documents|,",
    "authors": "authors|,",
    "tokens": "tokens|,",
    "n_topics": "K",
    "text": "MB of text|.0f",
}
COLUMNS = {"step": "step", "cpu": "CPU s|.3f", "seconds": "s|.4f", "size": "MB|,.0f"}


class Reader(threading.Thread):
    """Somebody who asks a file for its labels again and again, and remembers the longest wait."""

    def __init__(self, path: Path) -> None:
        super().__init__(daemon=True)
        self.longest, self.asked, self._path, self._over = 0.0, 0, path, threading.Event()

    def run(self) -> None:
        """Ask until ``stop``."""
        with topoi.open_store(self._path) as store:
            while not self._over.wait(0.005):
                begin = time.perf_counter()
                store.sql("SELECT count(*) FROM label")
                self.longest, self.asked = max(self.longest, time.perf_counter() - begin), self.asked + 1

    def stop(self) -> None:
        """Ask no more."""
        self._over.set()
        self.join()


def timed(step: str, do: Callable[[], Any]) -> dict[str, Any]:
    """A row with the seconds of the processor and of the clock."""
    begin, processor = time.perf_counter(), time.process_time()
    do()
    return {"step": step, "cpu": time.process_time() - processor, "seconds": time.perf_counter() - begin}


def typical(step: str, do: Callable[[int], Any], turns: int) -> dict[str, Any]:
    """The same, as medians over some turns after a first."""
    rows = [timed(step, lambda i=i: do(i)) for i in range(turns + 1)][1:]
    return {"step": step} | {key: statistics.median(row[key] for row in rows) for key in ("cpu", "seconds")}


def measured(path: Path, folder: Path) -> list[dict[str, Any]]:
    """All steps, in the order in which somebody takes them."""
    model = topoi.load(path)
    corpus, new = model.corpus_, folder / "new.topoi"
    small = topoi.LDA(2, n_iter=2, random_state=0).fit(topoi.Corpus.from_texts(["sun star", "cell gene"] * 3, min_df=1))
    small.save(folder / "warm.topoi")
    rows = [timed("save into a new file", lambda: model.save(new)) | {"size": new.stat().st_size / 1e6}]
    rows.append(typical("`topoi.load`", lambda _: topoi.load(new), TURNS))
    rows.append(typical("`topoi.open_store`", lambda _: topoi.open_store(new).close(), TURNS))
    other = topoi.LDA(model.n_topics, n_iter=SWEEPS, n_jobs=2, random_state=0).fit(corpus)
    before, reader = new.stat().st_size, Reader(new)
    reader.start()
    rows.append(timed(f"add an LDA of as many topics, {SWEEPS} sweeps", lambda: other.save(new, name="LDA")))
    reader.stop()
    rows[-1]["size"] = (new.stat().st_size - before) / 1e6
    rows.append({"step": "longest wait of a reader meanwhile", "seconds": reader.longest})
    with topoi.open_store(new) as store:
        rows.append(typical("name a topic", lambda i: store.set_label("LDA", 0, f"name {i}"), LABELS))
    return rows


def main() -> None:
    """Take the steps, and print a table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("file", type=Path, help="a model with its corpus")
    add_json(parser)
    given, report = parser.parse_args(), Report()
    view = topoi.view(given.file)
    with topoi.open_store(given.file) as store:
        corpus = store.corpus()
    facts = {"documents": corpus.n_docs, "authors": corpus.n_authors, "tokens": corpus.n_tokens}
    text = sum(len(corpus[d].text.encode()) for d in range(corpus.n_docs)) / 1e6
    report.section("store", "The store", [facts | {"n_topics": view.n_topics, "text": text}], STORE)
    with tempfile.TemporaryDirectory() as folder:
        report.section("steps", "Steps", measured(given.file, Path(folder)), COLUMNS)
    report.write(given.json)


if __name__ == "__main__":
    main()
