"""A corpus larger than memory: encoding, opening and sweeping it, with the memory that each step takes.

``python -m benchmarks.on_disk [--tokens 5e6 5e7] [--topics 200] [--sweeps 4] [--text] [--memory] [--save]``

Documents of about a hundred words, drawn by a Zipf–Mandelbrot law from 50,000 (the commonest, which a stop list would
have, left out). They are written in the format of a corpus on disk; with ``--text`` as JSON lines, which are encoded,
and the words read are compared with those drawn. ``--memory`` fits the same corpus in memory, too, and compares all
topics; ``--save`` saves the model and its corpus in a store. Every step runs in a process of its own, which reads its
peaks from /proc: Linux only.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

from topoi.corpus.file_columns import FileColumns
from topoi.corpus.folder import open_corpus
from topoi.corpus.folder_writer import describe, seal
from topoi.corpus.report import CorpusReport
from topoi.corpus.vocabulary import Vocabulary

from .report import Report, add_json, progress

COLUMNS = {
    "tokens": "tokens|,d",
    "step": "step",
    "seconds": "s|.1f",
    "processor": "CPU s|.1f",
    "speed": "M tokens/s|.2f",
    "peak": "peak MB|.0f",
    "anonymous": "own MB|.0f",
    "mapped": "of files MB|.0f",
    "disk": "disk bytes/token|.1f",
}
REMARK = (
    "peak: the largest resident size (VmHWM). own: the largest RssAnon. of files: the largest RssFile, pages of\n"
    "mapped files, which the system may drop, the libraries' own (150 MB) among them; both are seen every 20 ms.\n"
    "disk: the folder; of a fit, its files when it ends."
)
_N_WORDS, _OFFSET, _LENGTH = 50_000, 50.0, 100
_N_PLACES = 2**22
_DOCS_AT_ONCE = 20_000
# Bytes that a run needs per token: the folder, a fit's files, and with --text the lines and the texts.
_ROOM, _ROOM_OF_TEXT = 32, 40


def words() -> list[str]:
    """Distinct words of letters."""
    letters = np.array(list("abcdefghijklmnopqrstuvwxyz"))
    numbers = np.arange(_N_WORDS)[:, None] // 26 ** np.arange(4)[::-1] % 26
    return ["x" + "".join(row) + "q" for row in letters[numbers]]


def blocks(n_tokens: int, seed: int = 0) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Documents of about ``n_tokens`` in all: lengths and word ids, a block at a time."""
    rng = np.random.default_rng(seed)
    share = np.cumsum(1.0 / (np.arange(_N_WORDS) + _OFFSET))
    share /= share[-1]
    names = rng.permutation(_N_WORDS).astype(np.int32)  # ids are alphabetical, not by frequency
    # A word has as many places as its share asks for, so that drawing it is drawing a place.
    places = names[np.searchsorted(share, (np.arange(_N_PLACES) + 0.5) / _N_PLACES)]
    left = n_tokens
    while left > 0:
        lengths = np.maximum(rng.poisson(_LENGTH, min(_DOCS_AT_ONCE, -(-left // _LENGTH))), 1)
        left -= int(lengths.sum())
        yield lengths, places[rng.integers(0, _N_PLACES, int(lengths.sum()), np.uint32)]


def drawn(n_tokens: int) -> Iterator[np.ndarray]:
    """Word ids as reading gives them: alphabetical, of the words that occur."""
    occurs = np.zeros(_N_WORDS, bool)
    for _, tokens in blocks(n_tokens):
        occurs[tokens] = True
    ids = np.cumsum(occurs, dtype=np.int32) - 1
    return (ids[tokens] for _, tokens in blocks(n_tokens))


def write_corpus(folder: Path, n_tokens: int) -> None:
    """Write the documents straight in the format of a corpus on disk."""
    folder.mkdir()
    sizes = dict.fromkeys(("documents", "tokens", "texts_bytes", "document_authors"), 0)
    with FileColumns(folder) as columns:
        columns.append("doc_start.i64", [0])
        columns.file("doc_author.i32")
        columns.append("doc_author_start.i64", [0])
        for lengths, tokens in blocks(n_tokens):
            columns.append("tokens.i32", tokens)
            columns.append("doc_start.i64", sizes["tokens"] + np.cumsum(lengths))
            columns.append("doc_author_start.i64", np.zeros(len(lengths)))
            lines = (f'["{sizes["documents"] + d}", null, null, []]\n' for d in range(len(lengths)))
            columns.file("documents.jsonl").write("".join(lines).encode())
            sizes["documents"] += len(lengths)
            sizes["tokens"] += len(tokens)
        report = CorpusReport(source="simulation", n_read=sizes["documents"])
        meta = describe(columns, Vocabulary(words()), [], sizes, report)
    seal(folder, meta)


def write_lines(path: Path, n_tokens: int) -> None:
    """Write the documents as JSON lines."""
    known = np.array(words(), object)
    with path.open("w", encoding="utf-8") as file:
        for lengths, tokens in blocks(n_tokens):
            ends = np.cumsum(lengths)
            texts = known[tokens].tolist()
            for first, last in zip([0, *ends[:-1].tolist()], ends.tolist(), strict=True):
                file.write(f'{{"text": "{" ".join(texts[first:last])}"}}\n')


class Watch:
    """The process's own resident size, looked at every 20 ms while it works."""

    def __init__(self) -> None:
        self.peaks = {"RssAnon": 0, "RssFile": 0}
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._look, daemon=True)

    def __enter__(self) -> Watch:
        Path("/proc/self/clear_refs").write_text("5")  # forget the largest size so far
        self._thread.start()
        self._begun = time.perf_counter(), time.process_time()
        return self

    def __exit__(self, *exception: object) -> None:
        self.seconds, self.processor = time.perf_counter() - self._begun[0], time.process_time() - self._begun[1]
        self._over.set()
        self._thread.join()

    def _look(self) -> None:
        while not self._over.wait(0.02):
            now = status()
            self.peaks = {name: max(size, now[name]) for name, size in self.peaks.items()}

    def row(self, **facts: Any) -> dict[str, Any]:
        """The figures of a table's row."""
        peaks = {"peak": status()["VmHWM"], "anonymous": self.peaks["RssAnon"], "mapped": self.peaks["RssFile"]}
        spent = {"seconds": self.seconds, "processor": self.processor}
        return spent | {name: size / 1e6 for name, size in peaks.items()} | facts


def status() -> dict[str, int]:
    """Sizes in /proc/self/status, in bytes."""
    lines = (line.split() for line in Path("/proc/self/status").read_text().splitlines())
    return {line[0].rstrip(":"): int(line[1]) * 1024 for line in lines if line[-1] == "kB"}


def unnamed() -> int:
    """Bytes of mapped files without a name: those of a fit."""
    lines = Path("/proc/self/maps").read_text().splitlines()
    ranges = (line.split()[0].split("-") for line in lines if line.endswith("(deleted)"))
    return sum(int(last, 16) - int(first, 16) for first, last in ranges)


def encode(lines: str, folder: str) -> dict[str, Any]:
    """Encode JSON lines."""
    import topoi

    with Watch() as watch:
        corpus = topoi.read_corpus(lines, on_disk=folder)
    size = sum(path.stat().st_size for path in Path(folder).iterdir())
    return watch.row(n=corpus.n_tokens, disk=size / corpus.n_tokens)


def opened(folder: str) -> dict[str, Any]:
    """Open a corpus, which checks all ids."""
    with Watch() as watch:
        corpus = open_corpus(folder)
    size = sum(path.stat().st_size for path in Path(folder).iterdir())
    row = watch.row(n=corpus.n_tokens, disk=size / corpus.n_tokens)
    parts = (corpus.tokens[first : first + 2**24] for first in range(0, corpus.n_tokens, 2**24))
    return row | {"words": digest(parts)}


def digest(parts: Iterable[np.ndarray]) -> str:
    """A checksum of arrays, one after the other."""
    found = hashlib.blake2b(digest_size=8)
    for part in parts:
        found.update(np.ascontiguousarray(part).data)
    return found.hexdigest()


def fit(folder: str, n_topics: str, n_sweeps: str, in_memory: str, saves: str) -> dict[str, Any]:
    """Fit LDA; the compiled kernels are there already. Save the model, too, if asked for."""
    import topoi

    corpus = open_corpus(folder)
    settings: dict[str, Any] = {"n_jobs": 2, "random_state": 0, "progress": False, "evaluate_every": 10}
    topoi.LDA(int(n_topics), prior="paper", n_iter=2, **settings).fit(corpus.subset(np.arange(200)))
    if int(in_memory):
        corpus = topoi.Corpus(
            tokens=np.array(corpus.tokens), doc_start=np.array(corpus.doc_start), vocabulary=corpus.vocabulary
        )
    with Watch() as watch:
        model = topoi.LDA(int(n_topics), prior="paper", n_iter=int(n_sweeps), **settings).fit(corpus)
        sizes = model.chains_[0].topic_sizes  # makes the averages of the samples
    used = unnamed()
    topic = model.chains_[0].assignments.topic
    topics = digest(topic[first : first + 2**24] for first in range(0, len(topic), 2**24))
    speed = model.fit_info_["tokens_per_second"] / 1e6
    facts = {"n": corpus.n_tokens, "speed": speed, "disk": used / corpus.n_tokens, "topics": topics}
    row = watch.row(**facts, joint=float(model.trace_.iloc[-1, -1]), size=int(sizes.sum()))
    if int(saves):
        store = Path(folder).with_suffix(".topoi")
        with Watch() as watch:
            model.save(store)
        row["saved"] = watch.row(n=corpus.n_tokens, disk=store.stat().st_size / corpus.n_tokens)
        store.unlink()
    return row


STEPS = {"encode": encode, "open": opened, "fit": fit}


def run(step: str, *given: object) -> dict[str, Any]:
    """Run a step in a process of its own."""
    command = [sys.executable, "-m", "benchmarks.on_disk", "--step", step, *map(str, given)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(f"{' '.join(command)} failed:\n{done.stderr}")
    return dict(json.loads(done.stdout.splitlines()[-1]))


def measure(folder: Path, n_tokens: int, options: argparse.Namespace) -> Iterator[dict[str, Any]]:
    """All steps for one number of tokens."""
    corpus = folder / "zipf.corpus"
    if options.text:
        progress(f"writing {n_tokens:,} tokens as JSON lines")
        lines = folder / "lines.jsonl"
        write_lines(lines, n_tokens)
        progress(f"encoding {lines.stat().st_size / 1e9:.1f} GB")
        yield {"step": "encode JSON lines"} | run("encode", lines, corpus)
        lines.unlink()
    else:
        progress(f"writing {n_tokens:,} tokens")
        write_corpus(corpus, n_tokens)
    found = {"step": "open"} | run("open", corpus)
    yield found
    if options.text:
        alike = found["words"] == digest(drawn(n_tokens))
        progress(f"words read and words drawn {'are the same' if alike else 'DIFFER'}")
    how = options.topics, options.sweeps
    progress(f"fitting: K = {options.topics}, {options.sweeps} sweeps")
    on_disk = {"step": f"fit on disk, {options.sweeps} sweeps"} | run("fit", corpus, *how, 0, int(options.save))
    saved = on_disk.pop("saved", None)
    yield on_disk
    if saved is not None:
        yield {"step": "save"} | saved
    if options.memory:
        progress("the same in memory")
        memory = {"step": "fit in memory"} | run("fit", corpus, *how, 1, 0)
        memory.pop("disk")
        yield memory
        alike = all(on_disk[name] == memory[name] for name in ("topics", "joint"))
        progress(f"topics and log joint {'are the same' if alike else 'DIFFER'}")
    shutil.rmtree(corpus)


def main(words: list[str]) -> int:
    """Measure, print a table, leave nothing."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.on_disk", description=__doc__)
    parser.add_argument("--tokens", type=float, nargs="+", default=[5e6, 5e7])
    parser.add_argument("--topics", type=int, default=200)
    parser.add_argument("--sweeps", type=int, default=4)
    parser.add_argument("--folder", type=Path, help="where to work; the folder for temporary files if not given")
    parser.add_argument("--memory", action="store_true", help="fit in memory, too, and compare")
    parser.add_argument("--save", action="store_true", help="save the model in a store, too")
    parser.add_argument("--text", action="store_true", help="write JSON lines and encode these")
    add_json(parser)
    options = parser.parse_args(words)
    report, rows = Report(), []
    with tempfile.TemporaryDirectory(dir=options.folder, prefix="topoi-on-disk-") as made:
        folder = Path(made)
        for number in map(int, options.tokens):
            needed, free = number * (_ROOM + _ROOM_OF_TEXT * options.text), shutil.disk_usage(folder).free
            if needed > free:
                progress(f"{number:,} tokens need {needed / 1e9:.0f} GB in {folder}; {free / 1e9:.0f} are free")
                return 1
            for row in measure(folder, number, options):
                row |= {"tokens": row["n"], "speed": row.get("speed", row["n"] / row["seconds"] / 1e6)}
                rows.append(row)
                progress(json.dumps(row))
    report.section("on_disk", f"A corpus on disk; LDA, K = {options.topics}, two threads", rows, COLUMNS, REMARK)
    report.write(options.json)
    return 0


if __name__ == "__main__":
    if sys.argv[1:2] == ["--step"]:
        print(json.dumps(STEPS[sys.argv[2]](*sys.argv[3:])))
    else:
        sys.exit(main(sys.argv[1:]))
