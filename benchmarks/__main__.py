"""The command line: ``python -m benchmarks [--quick] [--only speed] …``, or ``python -m benchmarks corpus``."""

from __future__ import annotations

import os

# One thread for linear algebra and for topica's pool, in this process and its children; libraries read these when they
# are imported, so this stands before the imports.
for _name in ("OMP", "OPENBLAS", "MKL", "BLIS", "VECLIB_MAXIMUM", "NUMEXPR", "RAYON"):
    os.environ[f"{_name}_NUM_THREADS"] = "1"

import argparse  # noqa: E402
import logging  # noqa: E402
import platform  # noqa: E402
import sys  # noqa: E402
from importlib import import_module  # noqa: E402
from importlib.util import find_spec  # noqa: E402

import topoi  # noqa: E402

from . import goals  # noqa: E402
from .contenders import FAMILIES, missing, versions  # noqa: E402
from .corpora import nips12, simulated  # noqa: E402
from .report import Report, add_json, progress  # noqa: E402
from .settings import QUICK, Settings  # noqa: E402
from .timing import processor  # noqa: E402

PARTS = ("speed", "pachinko", "sparse", "aspect", "dmr", "kernel", "quality", "memory", "threads")


def arguments(words: list[str]) -> argparse.Namespace:
    """Parse the command line."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks",
        description="Measure topoi beside tomotopy, topica and gensim. Tables go to standard output.",
        epilog="'python -m benchmarks corpus [FILE]' measures the reading of a corpus instead.",
    )
    parser.add_argument("--quick", action="store_true", help="a small corpus and few sweeps: a check that it runs")
    parser.add_argument("--only", action="append", choices=PARTS, metavar="PART", help=f"one of {', '.join(PARTS)}")
    parser.add_argument("--corpus", action="append", choices=("simulated", "nips12"), help="only this corpus")
    parser.add_argument("--model", choices=tuple(FAMILIES), help="only this model")
    parser.add_argument("--topics", type=int, nargs="+", metavar="K", help="numbers of topics, for both models")
    parser.add_argument("--rounds", type=int, metavar="N", help="measured turns of each system")
    add_json(parser)
    return parser.parse_args(words)


def settings_for(options: argparse.Namespace) -> Settings:
    """The settings that the options ask for."""
    settings = QUICK if options.quick else Settings()
    if options.model:
        settings = settings._replace(families=(options.model,))
    if options.topics:
        settings = settings._replace(
            lda_topics=tuple(options.topics), author_topics=tuple(options.topics), ends_only=False
        )
    return settings._replace(rounds=options.rounds) if options.rounds else settings


def collections(options: argparse.Namespace) -> dict[str, topoi.Corpus]:
    """The corpora by name, the simulated one first."""
    wanted = options.corpus or (["simulated"] if options.quick else ["simulated", "nips12"])
    found: dict[str, topoi.Corpus] = {}
    if "simulated" in wanted:
        progress("simulating a corpus" if options.quick else "simulating a corpus of NIPS size")
        found["simulated"] = simulated(options.quick)
    if "nips12" in wanted:
        progress("reading nips12")
        corpus = nips12()
        if corpus is None:
            progress("nips12 is not there: set TOPOI_DATA to a folder that holds nips12.jsonl.gz")
        else:
            found["nips12"] = corpus
    return found


def facts(options: argparse.Namespace, corpora: dict[str, topoi.Corpus]) -> dict[str, str]:
    """What was measured, where, and what is missing."""
    found = {
        "machine": f"{processor()}, {os.cpu_count()} cores, Python {platform.python_version()}",
        "versions": ", ".join(f"{name} {number}" for name, number in versions().items()),
    }
    found |= {name: str(corpus) for name, corpus in corpora.items()}
    found["priors"] = "alpha = 50 / K for each topic, beta = 0.01, both fixed"
    if options.quick:
        found["quick"] = "a check that everything runs; these numbers say nothing about speed or quality"
    if missing():
        found["missing"] = f"{', '.join(missing())}; to include: pip install {' '.join(missing())}"
    return found


def main(words: list[str]) -> int:
    """Run the parts that were asked for."""
    if words[:1] == ["corpus"]:
        sys.argv = ["python -m benchmarks corpus", *words[1:]]
        import_module("benchmarks.corpus").main()
        return 0
    options = arguments(words)
    logging.disable(logging.WARNING)  # gensim warns that a few passes are few
    settings, report = settings_for(options), Report()
    corpora = collections(options)
    if not corpora:
        return 1
    report.note("run", facts(options, corpora))
    for part in options.only or PARTS:
        if part in ("memory", "sparse", "kernel") and find_spec("psutil") is None:
            progress(f"{part} is left out: pip install psutil")
            continue
        import_module(f"benchmarks.{part}").main(corpora, settings, report)
    reached = goals.rows(report.sections)
    if reached:
        report.section("goals", "Goals", reached, goals.COLUMNS)
    report.write(options.json)
    progress("done")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
