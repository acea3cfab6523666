"""``python -m benchmarks.cold``: what the first fit, question and page cost while nothing is compiled, and the second.

Names of steps as arguments measure these alone (``python -m benchmarks.cold "fit LDA" "author page"``).
Every step is a process of its own with an empty folder for compiled kernels, then once more with what it left there.
Times are processor seconds of the whole process, imports included.
"""

from __future__ import annotations

import argparse
import os
import resource
import subprocess
import sys
import tempfile
from pathlib import Path

from .report import Report, add_json, progress

# Each is run with ``folder``, where models of these families are.
STEPS = {
    "read a corpus": "warming.read(folder)",
    "fit LDA": "warming.fit(folder, model_named('lda'))",
    "fit author-topic": "warming.fit(folder, model_named('author-topic'))",
    "fit pachinko": "warming.fit(folder, model_named('pachinko'))",
    "label a text": "warming.label(model)",
    "label a text by two authors": "warming.label(model, ('Drake', 'Cook'))",
    "similar authors": "warming.similar(model)",
    "author page": "author_page(make_app(model).state.server.watcher.context(), 0)",
    "document page": "document_page(make_app(model).state.server.watcher.context(), 0)",
}
COLUMNS = {"step": "step", "first": "first, CPU s|.1f", "again": "again, CPU s|.1f"}
_PAGES = """
from topoi.web.app import make_app
from topoi.web.pages.author import author_page
from topoi.web.pages.document import document_page
"""
_SCRIPT = """
import warnings
warnings.simplefilter("ignore")
from pathlib import Path
from topoi.cli import warming
from topoi.models.registry import model_named
{imports}
folder = Path({folder!r})
model = folder / "author-topic.topoi"
{step}
"""


def seconds(step: str, folder: Path, cache: Path) -> float:
    """Processor seconds of one step in a process of its own."""
    script = _SCRIPT.format(imports=_PAGES if "page" in step else "", folder=str(folder), step=step)
    environment = os.environ | {"NUMBA_CACHE_DIR": str(cache), "OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run([sys.executable, "-c", script], env=environment, check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def main() -> None:
    """Measure the steps and print a table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("steps", nargs="*", choices=[[], *STEPS], help="all, if not given")
    add_json(parser)
    given = parser.parse_args()
    report, rows = Report(), []
    chosen = {name: step for name, step in STEPS.items() if name in (given.steps or STEPS)}
    with tempfile.TemporaryDirectory() as place:
        models = Path(place, "models")
        models.mkdir()
        seconds("warming.fit(folder, model_named('author-topic'))", models, Path(place, "models-cache"))
        for i, (name, step) in enumerate(chosen.items()):
            progress(name)
            cache = Path(place, f"cache{i}")
            rows.append({"step": name, "first": seconds(step, models, cache), "again": seconds(step, models, cache)})
    report.section("cold", "With nothing compiled, and again", rows, COLUMNS)
    report.write(given.json)


if __name__ == "__main__":
    main()
