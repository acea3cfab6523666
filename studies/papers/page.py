"""Pages of the papers' figures and tables: one with all verdicts, and one for each paper."""

from __future__ import annotations

import re
from typing import Any

from studies import freshness
from studies.papers.result import OUT, PAPERS, STUDIES_BY_NAME, VERDICTS, Study, perform, with_quotations

HEAD = """# Every figure of the five papers

Each figure and table of experiments in the papers behind topoi: what it claims, and whether the same comes out here. Drawings of models, lists of symbols and sizes of collections are left out.
Some of the papers' collections are not available (CiteSeer, Enron's mail as the authors cleaned it, TREC, Rexa); a similar one then takes their place, and the page says which.

A verdict is about what the paper *claims*, not about digits: *reproduced* if it holds here, *partly* if some of it does, *not reproduced* if it does not, with the likely reason. The program decides by a rule, which is said with each figure; if it names only what *reproduced* needs, anything less is *partly*.
Where a paper shows examples of its choice, the rule is ours, and is often a low bar; only for the NIPS figures of AT09 are its printed words and names looked for. What a reader sees in the topics is not judged.
A rule or a setting that was changed after its outcome was known is given with the old one and its verdict.

    make study NAME=at09-fig4          one of them
    make studies                       all without a page of their own: about {minutes} minutes of processor time

*Then* is the time that the paper reports, or else how long its chains were. *Now* is processor time on one or two cores of a machine that was also doing other work. Where several figures show the same model, the time to fit it is counted for the first that was run. Studies with a page of their own have their commands there.

{tally}
"""


def write() -> list[str]:
    """Write all pages; returns the names of studies without numbers. Those with a page of their own are read anew."""
    rows = {name: perform(one) if one.page else with_quotations(one) for name, one in STUDIES_BY_NAME.items()}
    OUT.mkdir(parents=True, exist_ok=True)
    (OUT / "index.md").write_text(_overview(rows), encoding="utf-8")
    for paper in PAPERS:
        (OUT / f"{paper.lower()}.md").write_text(_of_paper(paper, rows), encoding="utf-8")
    return [name for name, row in rows.items() if row is None]


def _overview(rows: dict[str, dict[str, Any] | None]) -> str:
    counts = {
        verdict: sum(row is not None and row["verdict"] == verdict for row in rows.values()) for verdict in VERDICTS
    }
    missing = sum(row is None for row in rows.values())
    tally = f"Of {len(rows)}, " + ", ".join(f"{n} {verdict}" for verdict, n in counts.items())
    tally += f"; {missing} not run yet." if missing else "."
    seconds = sum(row["processor_seconds"] or 0 for row in rows.values() if row is not None)
    lines = [HEAD.format(tally=tally, minutes=round(seconds / 60))]
    for paper, title in PAPERS.items():
        lines += [f"## {paper}", "", f"{title}. [All of it]({paper.lower()}.md)", "", *_table(paper, rows), ""]
    return "\n".join(lines)


def _table(paper: str, rows: dict[str, dict[str, Any] | None]) -> list[str]:
    lines = ["| | what | verdict | then | now |", "|---|---|---|---|---:|"]
    for one in _studies_of(paper):
        row = rows[one.name]
        verdict = "not run yet" if row is None else f"**{row['verdict']}**"
        lines.append(
            f"| [{one.item}]({paper.lower()}.md#{one.name}) | {one.what} | {verdict} | {one.then or '–'} | {_now(one, row)} |"
        )
    return lines


def _studies_of(paper: str) -> list[Study]:
    """Figures first, then tables, by their numbers."""
    return sorted((one for one in STUDIES_BY_NAME.values() if one.paper == paper), key=_place)


def _place(one: Study) -> tuple[int, int]:
    kind = next((i for i, word in enumerate(("Figure", "Table")) if one.item.startswith(word)), 2)
    number = re.search(r"\d+", one.name.partition("-")[2])
    return kind, int(number[0]) if number else 0


def _now(one: Study, row: dict[str, Any] | None) -> str:
    if row is None:
        return "–"
    told = row["ours"].get("seconds")
    seconds = (_seconds_of_command(one) or told) if one.page else row["processor_seconds"]
    if seconds is None or (seconds == 0.0 and not one.page and not one.then):  # nothing was computed
        return "–"
    return f"{seconds:,.0f} s" if seconds >= 1 else "below 1 s"


def _seconds_of_command(one: Study) -> float | None:
    """Processor seconds of the study behind a figure, as they were recorded with its numbers."""
    module = freshness.COMMAND.search(one.command)
    kept = freshness.read_ledger(freshness.ROOT).get(
        freshness.Figure(f"docs/studies/{one.page}", module[1] if module else "")
    )
    return kept.seconds if kept else None


def _of_paper(paper: str, rows: dict[str, dict[str, Any] | None]) -> str:
    parts = [f"# {paper}: figures and tables", "", f"{PAPERS[paper]}. The others: [all verdicts](index.md).", ""]
    for one in _studies_of(paper):
        parts += [f"## {one.item} {{#{one.name}}}", "", f"{one.what}.", "", *_body(one, rows[one.name]), ""]
    return "\n".join(parts)


def _body(one: Study, row: dict[str, Any] | None) -> list[str]:
    command = f"    {one.command}" if one.command else f"    TOPOI_DATA=folder python -m studies.papers {one.name}"
    if row is None:
        return ["Not run yet. Made by", "", command]
    lines = ["| | the paper | here |", "|---|---|---|"]
    for key, theirs in row["paper"].items():
        lines.append(
            f"| {key} | {_cell(theirs)} | {_cell(row['ours'].get(key, 'in the table below' if row['shown'] else '–'))} |"
        )
    lines += [
        f"| {key} |  | {_cell(v)} |" for key, v in row["ours"].items() if key not in row["paper"] and key != "seconds"
    ]
    if one.then or _now(one, row) != "–":
        lines.append(f"| *time* | {one.then or '–'} | {_now(one, row)} |")
    lines += ["", f"**{row['verdict'].capitalize()}.** {row['why']}", ""]
    if row["shown"]:
        lines += [row["shown"], ""]
    if one.page:
        lines += [f"More on [its own page](../{one.page}).", ""]
    return [*lines, "Made by", "", command]


def _cell(value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.4g}" if abs(value) >= 0.1 else f"{value:.2g}"
    if isinstance(value, list):
        return ", ".join(_cell(v) for v in value)
    return str(value).replace("|", "\\|")
