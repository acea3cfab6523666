"""A figure or table of a paper beside what was found here: the paper's numbers, ours, a verdict, and times then and now."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

STUDIES = Path(__file__).parents[2] / "docs" / "studies"
OUT = STUDIES / "papers"
VERDICTS = ("reproduced", "partly", "not reproduced")
PAPERS = {
    "AT09": "Rosen-Zvi, Chemudugunta, Griffiths, Smyth and Steyvers (2009), Learning author-topic models from text corpora",
    "AT04": "Steyvers, Smyth, Rosen-Zvi and Griffiths (2004), Probabilistic author-topic models for information discovery",
    "EP02": "Minka and Lafferty (2002), Expectation-propagation for the generative aspect model",
    "KTM12": "Hennig, Stern, Herbrich and Graepel (2012), Kernel topic models",
    "PAM": "Li and McCallum, Pachinko allocation: scalable mixture models of topic correlations",
}


class Found(NamedTuple):
    """What was found: numbers, a verdict with its reason, and what the page shows of it.

    ``shown`` is Markdown; ``pictures`` are SVG texts by their names, which ``shown`` may link to.
    """

    ours: dict[str, Any]
    verdict: str
    why: str
    shown: str = ""
    pictures: dict[str, str] = {}


class Study(NamedTuple):
    """A figure or table, and the function that makes its like here."""

    name: str
    paper: str
    item: str
    what: str
    theirs: dict[str, Any]
    then: str
    run: Callable[[], Found]
    command: str  # of the study behind it, if it has a page of its own
    page: str


STUDIES_BY_NAME: dict[str, Study] = {}


def study(
    name: str, item: str, what: str, theirs: dict[str, Any], then: str = "", *, command: str = "", page: str = ""
) -> Callable[[Callable[[], Found]], Callable[[], Found]]:
    """Enter a function into the list of studies; the first part of its name is the paper's."""
    paper = name.partition("-")[0].upper()
    if paper not in PAPERS:
        raise ValueError(f"{name!r} does not begin with the name of a paper: {', '.join(PAPERS)}")

    def enter(run: Callable[[], Found]) -> Callable[[], Found]:
        STUDIES_BY_NAME[name] = Study(name, paper, item, what, theirs, then, run, command, page)
        return run

    return enter


def numbers_of(page: str) -> Any:
    """The numbers of an earlier study, docs/studies/PAGE.json."""
    return json.loads((STUDIES / f"{page}.json").read_text(encoding="utf-8"))


def perform(one: Study) -> dict[str, Any]:
    """Run a study, and write its numbers and pictures."""
    begin = time.process_time()
    found = one.run()
    if found.verdict not in VERDICTS:
        raise ValueError(f"{one.name}: a verdict is one of {', '.join(VERDICTS)}, not {found.verdict!r}")
    OUT.mkdir(parents=True, exist_ok=True)
    for name, svg in found.pictures.items():
        (OUT / f"{name}.svg").write_text(svg, encoding="utf-8")
    row = {
        "paper": one.theirs,
        "ours": found.ours,
        "verdict": found.verdict,
        "why": found.why,
        "shown": found.shown,
        "processor_seconds": None if one.page else round(time.process_time() - begin, 1),
    }
    return _keep(one.name, row)


def _keep(name: str, row: dict[str, Any]) -> dict[str, Any]:
    (OUT / f"{name}.json").write_text(json.dumps(row, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    return row


def found_before(name: str) -> dict[str, Any] | None:
    """The numbers of the last run, or None."""
    path = OUT / f"{name}.json"
    return json.loads(path.read_text(encoding="utf-8")) if path.exists() else None


def with_quotations(one: Study) -> dict[str, Any] | None:
    """The numbers of the last run beside what is quoted from the paper now, or None."""
    row = found_before(one.name)
    if row is None or row["paper"] == one.theirs:
        return row
    return _keep(one.name, row | {"paper": one.theirs})
