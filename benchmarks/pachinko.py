"""Pachinko allocation: tokens per second beside tomotopy's, which weighs every pair of super- and sub-topic."""

from __future__ import annotations

from importlib import import_module

import topoi

from .contenders import Contender, Problem, missing
from .contenders.ours import TopoiPachinko
from .report import Report
from .settings import Settings
from .speed import COLUMNS, REMARK, contest

WIDTHS = ((50, 100), (100, 800))
QUICK_WIDTHS = ((5, 20),)


def contenders() -> list[type[Contender]]:
    """topoi, and tomotopy if it is installed."""
    found: list[type[Contender]] = [TopoiPachinko]
    if "tomotopy" not in missing():
        found.append(import_module("benchmarks.contenders.with_tomotopy").TomotopyPachinko)
    return found


def main(corpora: dict[str, topoi.Corpus], settings: Settings, report: Report) -> None:
    """The first corpus, at every pair of widths."""
    name, corpus = next(iter(corpora.items()))
    rows = []
    for n_super, n_sub in QUICK_WIDTHS if settings.quick else WIDTHS:
        problem = Problem(corpus, n_sub, alpha=0.1, n_super=n_super)
        where = {"corpus": name, "model": f"pachinko {n_super} ×", "n_topics": n_sub}
        rows += contest(where, problem, contenders(), settings)
    remark = f"{REMARK}\nFixed priors: root 0.01, super-topics 0.1, beta 0.01."
    report.section("speed", f"Pachinko allocation on {name}, one thread", rows, COLUMNS, remark)
