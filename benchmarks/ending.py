"""``python -m benchmarks.ending``: seconds from Ctrl-C or SIGTERM to the end of ``topoi fit``, its save included.

Every family is fitted to the State of the Union, passages or (kernel topic models) speeches, as a process of its own
with compiled kernels, and is sent a signal some seconds after it has read them. What could not be saved in time is kept
in a checkpoint, from which the same command goes on. Names of families as
arguments measure these alone. Processor time is that of the process after the signal (Linux).
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import topoi

from .report import progress, table

# What the fit is told, and the unit of its documents.
FITS = {
    "author-topic": (["--topics", "100"], "passage"),
    "lda": (["--topics", "100"], "passage"),
    "pachinko": (["--super", "50", "--sub", "100"], "passage"),
    "aspect": (["--aspects", "50"], "passage"),
    "dmr": (["--topics", "50", "--features", "year:date"], "passage"),
    "dmr, width by cross-validation": (["--topics", "20", "--features", "year:date", "--width", "cv"], "speech"),
    "kernel": (["--topics", "20", "--features", "year:date"], "speech"),
    "kernel, passages": (["--topics", "10", "--features", "year:date"], "passage"),
}
SIGNALS = (signal.SIGINT, signal.SIGTERM)
_WAITS = (5.0, 12.0)
_TICKS = os.sysconf("SC_CLK_TCK")


def documents(folder: Path, unit: str) -> Path:
    """A file of the documents."""
    path = folder / f"{unit}.jsonl"
    if not path.exists():
        corpus = topoi.load_dataset("state-of-the-union", unit=unit)
        frame = corpus.documents[["id", "title", "year"]].assign(text=corpus.texts)
        names = [[str(corpus.authors[a]) for a in corpus.doc_author[first:last]] for first, last in
                 zip(corpus.doc_author_start, corpus.doc_author_start[1:], strict=False)]  # fmt: skip
        frame.assign(authors=names).to_json(path, orient="records", lines=True)
    return path


def processor(pid: int) -> float:
    """Processor seconds of a process so far."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / _TICKS


def end(family: str, source: Path, given: list[str], number: signal.Signals, wait: float) -> dict[str, object]:
    """Start a fit, send it a signal, and measure how long it takes to end."""
    path = source.with_name("model.topoi")
    beside = path.with_name(f"{path.name}.checkpoint")
    path.unlink(missing_ok=True)
    beside.unlink(missing_ok=True)
    command = [sys.executable, "-m", "topoi.cli.start", "fit", str(source), "--model", family.split(",")[0], *given]
    program = subprocess.Popen([*command, "-i", "100000", "-o", str(path)], stderr=subprocess.PIPE, text=True)
    for line in program.stderr or ():  # the corpus has been read when its size is told
        if " tokens of " in line:
            break
    time.sleep(wait)
    before, begin = processor(program.pid), time.perf_counter()
    program.send_signal(number)
    used = before
    while program.poll() is None:
        try:
            used = processor(program.pid)
        except (FileNotFoundError, ProcessLookupError, IndexError):
            break
        time.sleep(0.02)
    code = program.wait()
    seconds = time.perf_counter() - begin
    return {
        "family": family, "signal": number.name, "after": wait, "wall": seconds, "cpu": used - before,
        "code": code, "saved": "model" if path.exists() else "checkpoint" if beside.exists() else "no",
    }  # fmt: skip


def main() -> None:
    """Measure and print a table."""
    rows = []
    with tempfile.TemporaryDirectory() as name:
        for family, (given, unit) in FITS.items():
            if family.split(",")[0] not in (sys.argv[1:] or [each.split(",")[0] for each in FITS]):
                continue
            source = documents(Path(name), unit)
            for number, wait in zip(SIGNALS, _WAITS, strict=True):
                progress(f"{family}, {number.name}")
                rows.append(end(family, source, given, number, wait))
    columns = {"family": "fit", "signal": "signal", "after": "after, s|.0f", "wall": "to exit, s|.2f"}
    print(table(rows, columns | {"cpu": "CPU s|.2f", "code": "exit code", "saved": "saved"}))


if __name__ == "__main__":
    main()
