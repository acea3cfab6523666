"""Memory: each contender alone in a process of its own, its peak less what the process held before it began."""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import psutil

import topoi

from .contenders import FAMILIES, Contender, Problem, available
from .corpora import load, save
from .quality import compile_first
from .report import Report, progress
from .settings import Settings

COLUMNS = {
    "model": "model",
    "n_topics": "K",
    "system": "system",
    "before": "before MB|.0f",
    "peak": "peak MB|.0f",
    "used": "used MB|.0f",
    "per_token": "bytes/token|.1f",
    "ratio": "times topoi's|.2f",
}
REMARK = (
    "before: after imports, compilation and reading the corpus as integers. used: peak less that; it includes the\n"
    "system's own copy of the corpus, and for systems that take lists of words, those lists (one pointer a word)."
)
_SWEEPS = 2


def measure(family: str, system: str, path: Path, n_topics: int) -> dict[str, Any]:
    """Start a process that trains one contender, and read what it says about itself."""
    command = [sys.executable, "-m", "benchmarks.memory", family, system, str(path), str(n_topics)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(f"{' '.join(command)} failed:\n{done.stderr}")
    return dict(json.loads(done.stdout.splitlines()[-1]))


def child(family: str, system: str, path: Path, n_topics: int) -> dict[str, int]:
    """What the process does: prepare, note its size, train, note its peak."""
    contender_class = next(found for found in available(family) if found.name == system)
    corpus = load(path)
    compile_first(contender_class, corpus)
    forget_peak()
    before = psutil.Process().memory_info().rss
    contender = contender_class(Problem(corpus, n_topics, alpha=50.0 / n_topics))
    contender.fit(_SWEEPS if contender.warm_up > 1 else 1)
    after = peak()
    contender.close()
    return {"before": before, "peak": after}


def forget_peak() -> None:
    """Reset the kernel's record of the largest size, where there is a way to (Linux)."""
    control = Path("/proc/self/clear_refs")
    if control.exists():
        control.write_text("5")


def peak() -> int:
    """The largest resident size in bytes, since ``forget_peak`` on Linux, else since the process began."""
    status = Path("/proc/self/status")
    if status.exists():
        line = next(line for line in status.read_text().splitlines() if line.startswith("VmHWM"))
        return int(line.split()[1]) * 1024
    info = psutil.Process().memory_info()
    if hasattr(info, "peak_wset"):
        return int(info.peak_wset)
    import resource  # noqa: PLC0415 - Windows has none, and has returned above

    return int(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)


def compare(
    family: str, corpus: topoi.Corpus, path: Path, n_topics: int, contenders: list[type[Contender]] | None = None
) -> list[dict[str, Any]]:
    """Rows of the contenders (all, if not given) at one number of topics; ``save`` wrote the corpus to ``path``."""
    rows: list[dict[str, Any]] = []
    for contender_class in contenders or available(family):
        if contender_class.share(n_topics) < 1.0:
            continue  # its sweep over the whole corpus would take minutes
        system = contender_class.name
        progress(f"memory: {FAMILIES[family]}, K = {n_topics}: {system}")
        row = {"model": FAMILIES[family], "n_topics": n_topics, "system": system}
        rows.append(row | _in_megabytes(measure(family, system, path, n_topics), corpus.n_tokens))
    for row in rows[1:]:
        row["ratio"] = row["used"] / rows[0]["used"]
    return rows


def main(corpora: dict[str, topoi.Corpus], settings: Settings, report: Report) -> None:
    """All contenders on the first corpus, at the numbers of topics of ``Settings.fewer_topics``."""
    name, corpus = next(iter(corpora.items()))
    rows: list[dict[str, Any]] = []
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "corpus.npz"
        save(corpus, path)
        for family in settings.families:
            for n_topics in settings.fewer_topics(family):
                rows.extend(compare(family, corpus, path, n_topics))
    report.section("memory", f"Memory on {name}, {corpus.n_tokens:,} tokens", rows, COLUMNS, REMARK)


def _in_megabytes(found: dict[str, Any], n_tokens: int) -> dict[str, float]:
    used = max(0, found["peak"] - found["before"])
    return {
        "before": found["before"] / 1e6,
        "peak": found["peak"] / 1e6,
        "used": used / 1e6,
        "per_token": used / n_tokens,
    }


if __name__ == "__main__":
    print(json.dumps(child(sys.argv[1], sys.argv[2], Path(sys.argv[3]), int(sys.argv[4]))))
