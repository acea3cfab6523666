"""``python -m benchmarks.ending``: seconds from Ctrl-C or SIGTERM to the end of ``topoi fit``, its save included.

Every family is fitted to the State of the Union, passages or (kernel topic models) speeches, as a process of its own
with compiled kernels, and is sent a signal some seconds after it has read them. What could not be saved in time is kept
in a checkpoint, from which the same command goes on. Names of families as arguments measure these alone. Processor time
is that of the process after the signal (Linux).
"""

from __future__ import annotations

import argparse
import os
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import topoi

from .report import Report, add_json, progress

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
COLUMNS = {
    "family": "fit",
    "signal": "signal",
    "after": "after, s|.0f",
    "wall": "to exit, s|.2f",
    "cpu": "CPU s|.2f",
    "code": "exit code",
    "saved": "saved",
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


def listen() -> None:
    """Take SIGINT as a terminal's programs do: those of a shell's background ignore it, and so would their children."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


def end(family: str, source: Path, given: list[str], number: signal.Signals, wait: float) -> dict[str, object]:
    """Start a fit, send it a signal, and measure how long it takes to end."""
    path = source.with_name("model.topoi")
    beside = path.with_name(f"{path.name}.checkpoint")
    path.unlink(missing_ok=True)
    beside.unlink(missing_ok=True)
    command = [sys.executable, "-m", "topoi.cli.start", "fit", str(source), "--model", family.split(",")[0], *given]
    command += ["-i", "100000", "-o", str(path)]
    program = subprocess.Popen(command, stderr=subprocess.PIPE, text=True, preexec_fn=listen)
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
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("families", nargs="*", choices=[[], *FITS], help="all, if not given")
    add_json(parser)
    given = parser.parse_args()
    report, rows = Report(), []
    with tempfile.TemporaryDirectory() as name:
        for family, (options, unit) in FITS.items():
            if given.families and family not in given.families:
                continue
            source = documents(Path(name), unit)
            for number, wait in zip(SIGNALS, _WAITS, strict=True):
                progress(f"{family}, {number.name}")
                rows.append(end(family, source, options, number, wait))
    report.section("ending", "From a signal to the end of topoi fit", rows, COLUMNS)
    report.write(given.json)


if __name__ == "__main__":
    main()
