"""Commands and their answers as pages show them: run again, compared, and written back.

    TOPOI_DATA=folder python -m studies.sessions docs/questions.md            say which answers differ
    TOPOI_DATA=folder python -m studies.sessions docs/questions.md --write    put the new answers into the page
    python -m studies.sessions docs/tutorial.md docs/how-to/namesakes.md

A page's blocks are run from the top in an empty folder: Python, and lines that begin with ``topoi`` or ``$ topoi``. The lines after a
``$`` command are its answer. So is a block without a language below other blocks; there a line ``…`` stands for lines that are
left out, a line may be cut short, and numbers may be rounded. Only answers below ``$`` are written back; of the others
what came is printed. The command ends with 1 if an answer differs and was not written back.
Commands that install or serve something are left out.
"""

from __future__ import annotations

import argparse
import ast
import contextlib
import io
import os
import re
import shlex
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

# The command line imports the library's parts late; these lines say of which code the answers are.
import topoi
import topoi.cli.main

ROOT = Path(__file__).parents[1]
BLOCK = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
COMMAND = re.compile(r"^(\$ )?topoi \w")
NOT_RUN = ("browse",)
SECONDS = 1800
# Characters to a line where answers are written as they come, as on a terminal that is not wide.
WIDTH = {"COLUMNS": "96"}


class Answer(NamedTuple):
    """An answer of a page: its line, its text, what came, and whether the two are the same."""

    line: int
    shown: str
    found: str
    same: bool


def same_word(shown: str, found: str) -> bool:
    """Whether two words are the same, or one number as it is rounded in the other.

    Examples
    --------
    >>> from studies.sessions import same_word
    >>> same_word("7310", "7309.996"), same_word("7311", "7309.996"), same_word("war", "war"), same_word("war", "law")
    (True, False, True, False)
    """
    if shown == found:
        return True
    try:
        value, near = float(found.replace(",", "")), float(shown.replace(",", ""))
    except ValueError:
        return False
    digits = len(shown.partition(".")[2])
    return abs(value - near) <= 0.5000001 * 10.0**-digits


def same_line(shown: str, found: str) -> bool:
    """Whether a line is what came, or the beginning of it, up to rounding and spaces: narrow terminals show less.

    Examples
    --------
    >>> from studies.sessions import same_line
    >>> same_line("3  4,323  Grant …", "3   4322.6 Grant 1870"), same_line("3  4,324  Grant", "3  4322.6  Grant")
    (True, False)
    """
    words, came = shown.removesuffix("…").split(), found.split()
    return len(words) <= len(came) and all(map(same_word, words, came))


def is_answer(shown: str, found: str) -> bool:
    """Whether a block of lines stands in what came: the lines one after the other, with gaps where a line is ``…``."""
    came = [line for line in found.splitlines() if line.strip()]
    rows = [line.strip() for line in shown.splitlines() if line.strip()]
    return any(_follows(rows, came[start:]) for start in range(len(came)))


def _follows(rows: list[str], came: list[str]) -> bool:
    if not rows:
        return True
    if rows[0] == "…":
        return any(_follows(rows[1:], came[start:]) for start in range(len(came) + 1))
    return bool(came) and same_line(rows[0], came[0]) and _follows(rows[1:], came[1:])


def command(line: str, width: dict[str, str]) -> str:
    """What a line of a shell prints: the standard output, and then the standard error if it is asked for by a page."""
    words = shlex.split(os.path.expandvars(line.removeprefix("$ ")), comments=True)
    if words[1] in NOT_RUN:
        return ""
    ran = subprocess.run(
        [sys.executable, "-m", *words],
        capture_output=True,
        text=True,
        timeout=SECONDS,
        env=os.environ | width,
        check=False,
    )
    return f"{ran.stdout}\n{ran.stderr}" if ran.stderr else ran.stdout


def python(source: str, names: dict[str, Any]) -> str:
    """What a block of Python prints, and the values of lines that are expressions, as a notebook shows the last one."""
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        for statement in ast.parse(source).body:
            if isinstance(statement, ast.Expr):
                value = eval(compile(ast.Expression(statement.value), "<page>", "eval"), names)
                if value is not None:
                    print(value)
            else:
                exec(compile(ast.Module([statement], []), "<page>", "exec"), names)
    return out.getvalue()


def transcript(text: str, first: int) -> Iterator[Answer]:
    """Commands of a block, each with what the page says of it."""
    parts = re.split(r"^(?=\$ topoi)", text, flags=re.MULTILINE)
    line = first
    for part in parts:
        asked, _, shown = part.partition("\n")
        if asked:
            found = command(asked, WIDTH)
            shown, found = shown.rstrip("\n"), "\n".join(row.rstrip() for row in found.strip("\n").splitlines())
            yield Answer(line, shown, found, shown == found)
        line += part.count("\n")


def session(text: str) -> Iterator[Answer]:
    """Run the blocks of a page in this folder; every answer that the page shows."""
    names: dict[str, Any] = {"topoi": topoi}
    last = ""
    for block in BLOCK.finditer(text):
        language, source = block.groups()
        first = text.count("\n", 0, block.start(2)) + 1
        if source.startswith("$ topoi"):
            yield from transcript(source, first)
        elif language == "python":
            last = python(source, names)
        elif any(COMMAND.match(line) for line in source.splitlines()):
            last = "\n".join(command(line, {}) for line in source.splitlines() if COMMAND.match(line))
        elif not language and last:
            yield Answer(first, source.rstrip("\n"), last, is_answer(source, last))


def written(text: str, answers: list[Answer]) -> str:
    """The page with the answers of its ``$`` commands as they came."""
    lines = text.splitlines()
    for each in sorted(answers, reverse=True):
        if lines[each.line - 1].startswith("$ topoi") and not each.same:
            n = len(each.shown.splitlines())
            lines[each.line : each.line + n] = each.found.splitlines()
    return "\n".join(lines) + "\n"


def main() -> int:
    """Run the pages that are named."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("pages", nargs="+", type=Path)
    parser.add_argument("--write", action="store_true", help="put the answers of $ commands into the pages")
    given = parser.parse_args()
    if "TOPOI_DATA" in os.environ:
        os.environ["TOPOI_DATA"] = str(Path(os.environ["TOPOI_DATA"]).resolve())
    wrong = 0
    for page in [path.resolve() for path in given.pages]:
        text = page.read_text(encoding="utf-8")
        with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
            answers = list(session(text))
        for each in answers:
            if not each.same:
                print(f"{page.name}, line {each.line}: shown\n{each.shown}\ncame\n{each.found}\n")
        differing = sum(not each.same for each in answers)
        print(f"{page.name}: {len(answers)} answers, {differing} differ")
        if given.write and differing:
            page.write_text(written(text, answers), encoding="utf-8")
            lines = text.splitlines()
            differing = sum(not each.same and not lines[each.line - 1].startswith("$ topoi") for each in answers)
        wrong += differing
    return int(wrong > 0)


if __name__ == "__main__":
    sys.exit(main())
