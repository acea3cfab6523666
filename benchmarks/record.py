"""Run the benchmarks that the manual shows, keep their numbers as JSON, and write its tables from them.

    TOPOI_DATA=~/corpora python -m benchmarks.record                    all, one after the other: some two hours
    TOPOI_DATA=~/corpora python -m benchmarks.record threads search     these
    python -m benchmarks.record --list                                  names, commands, and when each was run
    python -m benchmarks.record --pages                                 write the tables from the numbers kept
    TOPOI_DATA=~/corpora python -m benchmarks.record --note threads     only note which code the numbers depend on

Numbers are kept in docs/benchmarks/NAME.json, with the command, the day, the commit and the machine. A page shows them
between two comments, ``<!-- benchmark: NAME -->`` and ``<!-- end -->``; what stands there is in ``published``. After
the timed run comes a short one whose calls are noted, so that ``studies.freshness`` knows which code counts: noting
would slow down what is timed.
"""

from __future__ import annotations

import argparse
import datetime
import json
import os
import platform
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from studies import calls, freshness

from .contenders import versions
from .published import BLOCKS, CHARTS, Block
from .report import progress
from .runs import RUNS, STORES, Run
from .timing import processor

ROOT = Path(__file__).parents[1]
KEPT = ROOT / "docs" / "benchmarks"
BLOCK = re.compile(r"(<!-- benchmark: (\S+) -->\n)(.*?)(<!-- end -->)", re.DOTALL)
# One thread for linear algebra, so that processor time is that of the work itself.
QUIET = {f"{name}_NUM_THREADS": "1" for name in ("OMP", "OPENBLAS", "MKL", "BLIS", "NUMEXPR")}


def words_of(words: str, folder: Path) -> list[str]:
    """A command's words, with the places of the files that it asks for; stores are made if they are not there."""
    found, data = [], Path(os.environ.get("TOPOI_DATA", "."))
    for word in words.split():
        if word in STORES and not (folder / word).exists():
            progress(f"making {word}")
            for command in STORES[word]:
                made = command.replace("$TOPOI_DATA", str(data.resolve())).split()
                subprocess.run([sys.executable, "-m", "topoi", *made], cwd=folder, check=True)
        place = folder if word in STORES else data
        found.append(str(place / word) if word in STORES or word.endswith(".gz") else word)
    return found


def measure(name: str, run: Run, folder: Path) -> None:
    """Run a benchmark as it is meant to be run, and keep its numbers."""
    target = folder / f"{name}.json"
    commit = freshness.git(ROOT, "rev-parse", "--short=12", "HEAD")
    words, began = words_of(run.words, folder), time.perf_counter()
    subprocess.run([sys.executable, "-m", *words, "--json", str(target)], cwd=ROOT, env=os.environ | QUIET, check=True)
    about = {
        "command": f"python -m {run.words}",
        "made": datetime.date.today().isoformat(),
        "commit": commit,
        "minutes": round((time.perf_counter() - began) / 60, 1),
        "machine": f"{processor()}, {os.cpu_count()} cores, Python {platform.python_version()}",
        "versions": versions(),
    }
    keep(name, about, json.loads(target.read_text(encoding="utf-8")))


def keep(name: str, about: dict[str, Any], sections: dict[str, Any]) -> None:
    """Write numbers beside the manual."""
    KEPT.mkdir(exist_ok=True)
    text = json.dumps({"about": about, "sections": _rounded(sections)}, indent=1, ensure_ascii=False)
    (KEPT / f"{name}.json").write_text(text + "\n", encoding="utf-8")


def _rounded(value: Any) -> Any:
    """Six digits are more than any of these numbers has."""
    if isinstance(value, float):
        return float(f"{value:.6g}")
    if isinstance(value, dict):
        return {key: _rounded(each) for key, each in value.items()}
    return [_rounded(each) for each in value] if isinstance(value, list) else value


def note(name: str, run: Run, folder: Path) -> None:
    """Record for every page with this benchmark's numbers which functions it calls, as they were when it was run."""
    with tempfile.TemporaryDirectory() as notes:
        code, called = calls.run([*words_of(run.short, folder), "--json", str(folder / "short.json")], Path(notes))
    if code:
        raise SystemExit(f"{run.short} ended with {code}")
    commit = numbers(name)["about"]["commit"]
    for page in sorted({page for page, block in blocks() if name in BLOCKS[block].runs}):
        freshness.record(ROOT, run.module, page, called, commit=commit)


def numbers(name: str) -> dict[str, Any]:
    """What is kept of a run."""
    found: dict[str, Any] = json.loads((KEPT / f"{name}.json").read_text(encoding="utf-8"))
    return found


def blocks() -> Iterator[tuple[str, str]]:
    """Pages that show numbers, and which."""
    for page in pages():
        for _, block, _, _ in BLOCK.findall(page.read_text(encoding="utf-8")):
            yield page.relative_to(ROOT).as_posix(), block


def pages() -> list[Path]:
    """README and manual."""
    return [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]


def filled(text: str) -> str:
    """A page's text with its blocks as the numbers kept say."""

    def write(found: re.Match[str]) -> str:
        if not was_run(BLOCKS[found[2]]):
            return found[0]
        return f"{found[1]}\n{made(BLOCKS[found[2]])}\n\n{found[4]}"

    return BLOCK.sub(write, text)


def made(block: Block) -> str:
    """A block's text from the numbers kept."""
    return block.text(*(numbers(name) for name in block.runs))


def write_pages() -> None:
    """Write all blocks of all pages, and the charts, from what has been run."""
    texts = {page: filled(page.read_text(encoding="utf-8")) for page in pages()}
    texts |= {KEPT / f"{name}.svg": made(chart) for name, chart in CHARTS.items() if was_run(chart)}
    for path, text in texts.items():
        if not path.exists() or path.read_text(encoding="utf-8") != text:
            path.write_text(text, encoding="utf-8")
            progress(f"wrote {path.relative_to(ROOT)}")


def was_run(block: Block) -> bool:
    """Whether there are numbers for a block."""
    return all((KEPT / f"{name}.json").exists() for name in block.runs)


def listing() -> Iterator[str]:
    """A line for each run."""
    for name, run in RUNS.items():
        kept = KEPT / f"{name}.json"
        made = "{made}, {minutes} min".format(**numbers(name)["about"]) if kept.exists() else "never"
        yield f"{name:<22}  {made:<22}  python -m {run.words}"


def main(given: Sequence[str]) -> int:
    """Run, keep, note, write."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.record", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("names", nargs="*", choices=[[], *RUNS], metavar="NAME")
    parser.add_argument("--folder", type=Path, default=ROOT / "build" / "benchmarks", help="where stores are made")
    only = parser.add_mutually_exclusive_group()
    only.add_argument("--list", action="store_true", help="what there is")
    only.add_argument("--pages", action="store_true", help="only write the pages")
    only.add_argument("--note", action="store_true", help="only note calls")
    only.add_argument("--measure", action="store_true", help="only measure")
    options = parser.parse_args(given)
    if options.list:
        print("\n".join(listing()))
        return 0
    options.folder.mkdir(parents=True, exist_ok=True)
    for name in [] if options.pages else options.names or RUNS:
        if not options.note:
            progress(f"{name}: python -m {RUNS[name].words}")
            measure(name, RUNS[name], options.folder)
        if not options.measure:
            note(name, RUNS[name], options.folder)
    write_pages()
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
