"""Numbers in the documentation that are older than the code they describe.

    python -m studies.freshness                       list them: page, command, when the numbers were made, what has changed since
    python -m studies.freshness --all                 the fresh ones, too
    python -m studies.freshness --made studies.namesakes [--page docs/studies/namesakes.md]
                                                      say, after a run, that its numbers in the docs are of the present code
    python -m studies.freshness --from-git            first records for commands that have none, from the history of their pages

A page that shows numbers names the command that makes them: ``python -m studies.namesakes``. Pages of the papers' figures read
the numbers of other studies, whose own pages count (a test compares the two). The ledger docs/figures.json has, for each page and
command, the day, the commit and a digest of the code the command runs: the module itself and whatever of topoi, studies and benchmarks it
imports. Comments, docstrings and layout do not count. The command ends with 1 if something is stale or has no record.

It knows what the code was, not what the numbers would be now: a stale number may well be right. It is too careful rather than too trusting in what it
counts as changed; it does not see other packages, data, or modules that are imported inside functions.
"""

from __future__ import annotations

import argparse
import ast
import datetime
import hashlib
import io
import json
import re
import subprocess
import sys
import tarfile
from collections.abc import Callable, Iterator
from contextlib import nullcontext
from functools import cache
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parents[1]
LEDGER = "docs/figures.json"
OURS = ("topoi", "studies", "benchmarks")
COMMAND = re.compile(r"python -m ((?:studies|benchmarks)(?:\.\w+)?)")
# They show, and make no numbers of the kind that studies and benchmarks report.
NO_PART = ("topoi.web", "topoi.cli", "topoi.plots", "studies.freshness")

Read = Callable[[str], str | None]


class Figure(NamedTuple):
    """Numbers on a page, made by a module."""

    page: str
    module: str


def on_disk(root: Path) -> Read:
    """Reader of the files as they are."""

    @cache
    def read(path: str) -> str | None:
        file = root / path
        return file.read_text(encoding="utf-8") if file.is_file() else None

    return read


def at_commit(root: Path, commit: str) -> Read:
    """Reader of the files as they were, all of which are fetched at once."""
    packed = subprocess.run(["git", "archive", commit], cwd=root, capture_output=True, check=False).stdout
    with tarfile.open(fileobj=io.BytesIO(packed)) if packed else nullcontext(()) as archive:
        files = {each.name: archive.extractfile(each).read().decode() for each in archive if each.name.endswith(".py")}
    return files.get


def figures(root: Path) -> list[Figure]:
    """Pages that name a command, and its module, in order."""
    # Pages for developers name commands and show no numbers of theirs.
    shown = [page for page in sorted((root / "docs").rglob("*.md")) if "developer" not in page.relative_to(root).parts]
    pages = [root / "README.md", *shown]
    found = {
        Figure(page.relative_to(root).as_posix(), module)
        for page in pages
        if page.is_file()
        for module in COMMAND.findall(page.read_text(encoding="utf-8"))
        if module not in NO_PART and not (page.parent.name == "papers" and module != "studies.papers")
    }
    return sorted(found)


def file_of(module: str, read: Read) -> str | None:
    """The path of one of our modules."""
    if module.split(".")[0] not in OURS:
        return None
    place = ("src/" if module.split(".")[0] == "topoi" else "") + module.replace(".", "/")
    return next((path for path in (f"{place}.py", f"{place}/__init__.py") if read(path) is not None), None)


def public_homes(read: Read) -> dict[str, str]:
    """Modules behind the names of ``topoi``, which imports them on first use."""
    source = read("src/topoi/__init__.py") or ""
    homes = dict(re.findall(r'^    "(\w+)": "(topoi[\w.]+)",$', source, re.MULTILINE))
    typed = re.findall(r"^    from (topoi[\w.]+) import (\w+) as \2$", source, re.MULTILINE)
    return homes | {name: home if home != "topoi" else f"topoi.{name}" for home, name in typed}


class Parsed(NamedTuple):
    """A file's code: its digest, the modules that it imports when it is read, the names of ``topoi.X`` that it uses."""

    digest: str
    modules: frozenset[str]
    names: frozenset[str]


@cache
def parsed(text: str) -> Parsed:
    """Parse a file; the same text, at whatever commit, is parsed once."""
    tree, modules = ast.parse(text), set()
    names = {
        node.attr
        for node in ast.walk(tree)
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "topoi"
    }
    for node in _outside_functions(tree):
        if isinstance(node, ast.Import):
            modules.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            modules.update((node.module, *(f"{node.module}.{alias.name}" for alias in node.names)))
    return Parsed(code_digest(tree), frozenset(modules), frozenset(names))


def _outside_functions(tree: ast.AST) -> Iterator[ast.AST]:
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            continue
        if isinstance(node, ast.If) and ast.unparse(node.test).endswith("TYPE_CHECKING"):
            continue
        yield node
        yield from _outside_functions(node)


def sources(module: str, read: Read) -> dict[str, str]:
    """Files that a module needs, each with a digest of its code."""
    homes, found = public_homes(read), {}
    waiting = [f"{module}.__main__" if module == "benchmarks" else module]
    while waiting:
        name = waiting.pop()
        path = file_of(name, read)
        if path is None or path in found or name.startswith(NO_PART) or name == "topoi":
            continue
        file = parsed(read(path) or "")
        found[path] = file.digest
        waiting += [*file.modules, *(homes.get(each, f"topoi.{each}") for each in file.names)]
    return found


def code_digest(tree: ast.Module) -> str:
    """Digest of the code alone: without comments, docstrings and layout."""
    for node in ast.walk(tree):
        body = getattr(node, "body", None)
        first = body[0] if isinstance(body, list) and body else None
        if isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant) and isinstance(first.value.value, str):
            first.value.value = ""
    return hashlib.sha256(ast.dump(tree).encode()).hexdigest()[:16]


def digest(files: dict[str, str]) -> str:
    """One digest of all files."""
    return hashlib.sha256(json.dumps(sorted(files.items())).encode()).hexdigest()[:16]


class Record(NamedTuple):
    """State of the code when numbers were made; the commit says which files have changed since."""

    made: str
    commit: str
    digest: str


def read_ledger(root: Path) -> dict[Figure, Record]:
    """What is known of each figure."""
    path = root / LEDGER
    rows = json.loads(path.read_text(encoding="utf-8")) if path.exists() else []
    return {Figure(row["page"], row["module"]): Record(row["made"], row["commit"], row["digest"]) for row in rows}


def write_ledger(root: Path, ledger: dict[Figure, Record]) -> None:
    rows = [figure._asdict() | ledger[figure]._asdict() for figure in sorted(ledger)]
    lines = ",\n".join(" " + json.dumps(row) for row in rows)
    (root / LEDGER).write_text(f"[\n{lines}\n]\n", encoding="utf-8")


class State(NamedTuple):
    """A figure, and whether its numbers are of the present code."""

    figure: Figure
    record: Record | None
    state: str
    changed: list[str]


def states(root: Path) -> Iterator[State]:
    """Every figure of the documentation: fresh, stale, unrecorded, or made by a module that is gone."""
    read, ledger, known = on_disk(root), read_ledger(root), {}
    for figure in figures(root):
        files = known.setdefault(figure.module, sources(figure.module, read))
        record = ledger.get(figure)
        if not files:
            yield State(figure, record, "gone", [])
        elif record is None:
            yield State(figure, record, "unrecorded", [])
        elif record.digest == digest(files):
            yield State(figure, record, "fresh", [])
        else:
            yield State(figure, record, "stale", _changed(root, figure.module, files, record.commit))


def _changed(root: Path, module: str, files: dict[str, str], commit: str) -> list[str]:
    """Files whose code differs from that of a commit; nothing if the history does not have it."""
    then = _sources_at(root, module, commit)
    return sorted(path for path in files.keys() | then.keys() if files.get(path) != then.get(path)) if then else []


@cache
def _sources_at(root: Path, module: str, commit: str) -> dict[str, str]:
    return sources(module, _commit_reader(root, commit)) if commit else {}


@cache
def _commit_reader(root: Path, commit: str) -> Read:
    return at_commit(root, commit)


def record(root: Path, module: str, page: str | None = None) -> list[Figure]:
    """Write down that the numbers of a module, on all pages or one, are of the present code."""
    chosen = [each for each in figures(root) if each.module == module and page in (None, each.page)]
    ledger = {figure: kept for figure, kept in read_ledger(root).items() if figure in set(figures(root))}
    today = datetime.date.today().isoformat()
    now = Record(today, _git(root, "rev-parse", "--short=12", "HEAD"), digest(sources(module, on_disk(root))))
    write_ledger(root, ledger | dict.fromkeys(chosen, now))
    return chosen


def record_from_git(root: Path) -> list[Figure]:
    """First records: numbers are taken to be of the commit that last changed a page's tables, or the study's JSON file."""
    ledger = read_ledger(root)
    missing = [figure for figure in figures(root) if figure not in ledger]
    for figure in missing:
        commit = _last_change(root, figure)
        if commit:
            day = _git(root, "show", "-s", "--format=%cs", commit)
            ledger[figure] = Record(day, commit, digest(_sources_at(root, figure.module, commit)))
    write_ledger(root, ledger)
    return [figure for figure in missing if figure in ledger]


def _last_change(root: Path, figure: Figure) -> str:
    """The commit that last changed numbers: those of the JSON beside a study's page, else lines of tables of the page."""
    beside = root / figure.page.replace(".md", ".json")
    if figure.page.startswith("docs/studies/") and beside.exists():
        return _git(root, "log", "-1", "--abbrev=12", "--format=%h", "--", beside.relative_to(root).as_posix())
    return _git(root, "log", "-1", "--abbrev=12", "--format=%h", "-G", r"^\|.*[0-9]", "--", figure.page)


def _git(root: Path, *words: str) -> str:
    found = subprocess.run(["git", *words], cwd=root, capture_output=True, text=True, check=False)
    return found.stdout.strip() if found.returncode == 0 else ""


def report(found: list[State], everything: bool) -> Iterator[str]:
    """Lines for people."""
    for each in found:
        if each.state == "fresh" and not everything:
            continue
        made = f"made {each.record.made}" if each.record else "no record"
        yield f"{each.state:<10}  {each.figure.page}: python -m {each.figure.module}  ({made})"
        if each.changed:
            more = f" and {len(each.changed) - 4} more" if len(each.changed) > 4 else ""
            yield f"            changed since: {', '.join(each.changed[:4])}{more}"
    counts = {state: sum(each.state == state for each in found) for state in ("fresh", "stale", "unrecorded", "gone")}
    yield ", ".join(f"{n} {state}" for state, n in counts.items())


def main(arguments: list[str] | None = None, root: Path = ROOT) -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0], prog="python -m studies.freshness")
    parser.add_argument("--all", action="store_true", help="list fresh numbers, too")
    parser.add_argument("--made", metavar="MODULE", help="record that the numbers of a module are of the present code")
    parser.add_argument("--page", help="with --made: only those on this page")
    parser.add_argument("--from-git", action="store_true", help="make first records from the history of pages")
    chosen = parser.parse_args(arguments)
    if chosen.made or chosen.from_git:
        recorded = record(root, chosen.made, chosen.page) if chosen.made else record_from_git(root)
        for figure in recorded:
            print(f"recorded    {figure.page}: python -m {figure.module}")
        if not recorded:
            print(f"nothing to record: no page names python -m {chosen.made}" if chosen.made else "nothing to record")
        return 0 if recorded or chosen.from_git else 2
    found = list(states(root))
    print("\n".join(report(found, chosen.all)))
    return int(any(each.state != "fresh" for each in found))


if __name__ == "__main__":
    sys.exit(main())
