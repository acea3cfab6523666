"""Numbers in the documentation that are older than the code they describe.

    python -m studies.freshness                       list them: page, command, when the numbers were made, what has changed since
    python -m studies.freshness --all                 the fresh ones, too
    python -m studies.freshness --made studies.namesakes [--page docs/studies/namesakes.md]
                                                      say, after a run, that its numbers in the docs are of the present code
    python -m studies.freshness --from-git            first records for commands that have none, from the history of their pages
    python -m studies.calls studies.namesakes         run it, and record its numbers together with the functions that it calls

A page that shows numbers names the command that makes them: ``python -m studies.namesakes``. Pages of the papers' figures read
the numbers of other studies, whose own pages count (a test compares the two). The ledger docs/figures.json has, for each page and
command, the day, the commit and what code counts:

* if the calls of the run were noted (``studies.calls``), the functions and methods that it called and the constants of the modules
  that it loaded, by digests: numbers are fresh as long as all of these are still there, in whatever file;
* otherwise one digest of the module and of whatever of topoi, studies and benchmarks it imports.

Comments, docstrings, annotations, layout and messages of errors do not count, nor what only writes a study's page or draws its charts. The command
ends with 1 if something is stale or has no record.

It knows what the code was, not what the numbers would be now: a stale number may well be right. It does not see other packages or data;
without noted calls it counts too much rather than too little, but not modules that are imported inside functions (except by the command line).
"""

from __future__ import annotations

import argparse
import ast
import base64
import datetime
import hashlib
import io
import json
import re
import subprocess
import sys
import tarfile
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import nullcontext
from functools import cache
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parents[1]
LEDGER = "docs/figures.json"
# Digests of all functions and constants that noted runs have called; rows of the ledger point into it.
UNITS = "docs/figures-units.json"
OURS = ("topoi", "studies", "benchmarks")
COMMAND = re.compile(r"python -m ((?:studies|benchmarks)(?:\.\w+)?)")
# They show, and make no numbers of the kind that studies and benchmarks report.
NO_PART = (
    "topoi.web",
    "topoi.plots",
    "benchmarks.markdown",
    "benchmarks.published",
    "benchmarks.record",
    "benchmarks.report",
    "benchmarks.runs",
    "benchmarks.texts",
    "studies.calls",
    "studies.chart",
    "studies.freshness",
    # Numbers of other studies, read again whenever the papers' pages are written; the studies' own pages count.
    "studies.papers.earlier",
    "studies.papers.page",
    "topoi.engine.progress",
    "studies.web_fonts",
    "studies.word_picture",
)
# What writes a study's page from its numbers.
WRITES_PAGES = re.compile(r"studies/.*::(page\w*|charts?|\w*PAGE\w*)$")
# The command line imports inside functions what its verbs need.
LATE = "src/topoi/cli/"

Read = Callable[[str], str | None]
# Digests of the statements of each file.
Sources = dict[str, frozenset[str]]


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


# Digests by the name of what they are of: a function, ``Class.method``, ``Class`` without its methods, or "=" for all other statements.
Units = dict[str, frozenset[str]]


class Parsed(NamedTuple):
    """A file's code: digests of its statements and units, the modules that it imports when it is read, the names of ``topoi.X`` that it uses."""

    digests: frozenset[str]
    units: Units
    modules: frozenset[str]
    names: frozenset[str]


@cache
def parsed(text: str, late: bool = False) -> Parsed:
    """Parse a file, with the imports of its functions if these are wanted; the same text, at whatever commit, is parsed once."""
    tree, modules = ast.parse(text), set()
    names = {
        node.attr
        for node in ast.walk(tree)
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "topoi"
    }
    for node in ast.walk(tree) if late else _outside_functions(tree):
        if isinstance(node, ast.Import):
            modules.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            modules.update((node.module, *(f"{node.module}.{alias.name}" for alias in node.names)))
    return Parsed(statement_digests(tree), unit_digests(tree), frozenset(modules), frozenset(names))


def _outside_functions(tree: ast.AST) -> Iterator[ast.AST]:
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            continue
        if _only_types(node):
            continue
        yield node
        yield from _outside_functions(node)


def _only_types(node: ast.AST) -> bool:
    return isinstance(node, ast.If) and ast.unparse(node.test).endswith("TYPE_CHECKING")


def sources(module: str, read: Read) -> Sources:
    """Files that a module needs, each with the digests of its statements."""
    homes, found = public_homes(read), {}
    command = f"{module}.__main__"
    waiting = [module if file_of(command, read) is None else command]
    while waiting:
        name = waiting.pop()
        path = file_of(name, read)
        if path is None or path in found or name.startswith(NO_PART) or name == "topoi":
            continue
        file = parsed(read(path) or "", path.startswith(LATE))
        found[path] = _counted(path, file)
        waiting += [*file.modules, *(homes.get(each, f"topoi.{each}") for each in file.names)]
    return found


def _counted(path: str, file: Parsed) -> frozenset[str]:
    """Digests of a file's statements, without what writes pages."""
    written = {name: each for name, each in file.units.items() if WRITES_PAGES.search(f"{path}::{name}")}
    return file.digests.difference(*written.values())


def statement_digests(tree: ast.Module) -> frozenset[str]:
    """Digests of a module's functions, classes and other statements, without comments, docstrings and messages of errors.

    Imports have none: what they bring is among the statements of other files.
    """
    _drop_words(tree)
    return frozenset(map(_digest, _statements(tree)))


def unit_digests(tree: ast.Module) -> Units:
    """Digests of a module's functions, methods, classes without their methods, and constants, by name."""
    _drop_words(tree)
    found: dict[str, set[str]] = {"=": set()}
    for node in _statements(tree):
        name = "="
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            name = node.name
        elif isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name) and "PAGE" in node.targets[0].id:
            name = node.targets[0].id
        elif isinstance(node, ast.ClassDef):
            name = node.name
            methods = [each for each in node.body if isinstance(each, ast.FunctionDef | ast.AsyncFunctionDef)]
            for method in methods:
                found.setdefault(f"{name}.{method.name}", set()).add(_digest(method))
            node = ast.ClassDef(**{field: getattr(node, field) for field in node._fields})  # noqa: PLW2901
            node.body = [each for each in node.body if each not in methods]
        found.setdefault(name, set()).add(_digest(node))
    return {name: frozenset(digests) for name, digests in found.items()}


def _statements(tree: ast.Module) -> Iterator[ast.stmt]:
    return (each for each in tree.body if not isinstance(each, ast.Import | ast.ImportFrom) and not _only_types(each))


def _digest(node: ast.AST) -> str:
    return hashlib.sha256(ast.dump(node).encode()).hexdigest()[:16]


def _drop_words(tree: ast.Module) -> None:
    """Empty docstrings; drop messages of errors and annotations of functions."""
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            node.returns = None
        if isinstance(node, ast.arg):
            node.annotation = None
        body = getattr(node, "body", None)
        first = body[0] if isinstance(body, list) and body else None
        if isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant) and isinstance(first.value.value, str):
            first.value.value = ""
        if isinstance(node, ast.Raise) and isinstance(node.exc, ast.Call):
            node.exc.args = []


def digest(files: Sources) -> str:
    """One digest of all statements, in whatever files they are."""
    return hashlib.sha256(json.dumps(sorted(frozenset().union(*files.values()))).encode()).hexdigest()[:16]


def called_units(called: Mapping[str, Iterable[str]], read: Read) -> frozenset[str]:
    """Digests of what a run called: of each file its constants, the named functions and methods, or all of it (``*``)."""
    found: set[str] = set()
    for path, names in called.items():
        module = path.removeprefix("src/").removesuffix(".py").replace("/", ".")
        wanted = set(names) - {"<module>"}
        declares = path.endswith(("/__init__.py", "/family.py"))  # loaded for its names, whatever is called
        if module.startswith(NO_PART) or (declares and not wanted):
            continue
        units = parsed(read(path) or "").units
        wanted = set(units) if "*" in wanted else {"=", *wanted, *(name.split(".")[0] for name in wanted)}
        found.update(*(units[name] for name in wanted & set(units) if not WRITES_PAGES.search(f"{path}::{name}")))
    return frozenset(found)


def _all_units(root: Path) -> frozenset[str]:
    """Digests of everything that there is now."""
    paths = [path for folder in ("src/topoi", "studies", "benchmarks") for path in (root / folder).rglob("*.py")]
    files = (parsed(path.read_text(encoding="utf-8")) for path in paths)
    return frozenset().union(*(each for file in files for each in file.units.values()))


class Record(NamedTuple):
    """State of the code when numbers were made; the commit says which files have changed since."""

    made: str
    commit: str
    digest: str
    called: frozenset[str] | None = None
    seconds: float | None = None  # processor time of all commands behind a page's numbers


def read_ledger(root: Path) -> dict[Figure, Record]:
    """What is known of each figure."""
    path, units = root / LEDGER, root / UNITS
    rows = json.loads(path.read_text(encoding="utf-8")) if path.exists() else []
    names = json.loads(units.read_text(encoding="utf-8")) if units.exists() else []
    return {
        Figure(row["page"], row["module"]): Record(
            row["made"],
            row["commit"],
            row["digest"],
            _unpacked(row["called"], names) if row.get("called") else None,
            row.get("seconds"),
        )
        for row in rows
    }


def write_ledger(root: Path, ledger: dict[Figure, Record]) -> None:
    names = sorted(frozenset().union(*(record.called or () for record in ledger.values())))
    place, rows = {name: i for i, name in enumerate(names)}, []
    for figure in sorted(ledger):
        kept = ledger[figure]
        row = {**figure._asdict(), "made": kept.made, "commit": kept.commit, "digest": kept.digest}
        row |= {} if kept.seconds is None else {"seconds": round(kept.seconds)}
        rows.append(row | ({} if kept.called is None else {"called": _packed(kept.called, place)}))
    lines = ",\n".join(" " + json.dumps(row) for row in rows)
    (root / LEDGER).write_text(f"[\n{lines}\n]\n", encoding="utf-8")
    if names:
        (root / UNITS).write_text(json.dumps(names, indent=0) + "\n", encoding="utf-8")


def _packed(units: frozenset[str], place: Mapping[str, int]) -> str:
    bits = sum(1 << place[unit] for unit in units)
    return base64.b85encode(zlib.compress(bits.to_bytes(len(place) // 8 + 1, "little"), 9)).decode()


def _unpacked(text: str, names: list[str]) -> frozenset[str]:
    bits = int.from_bytes(zlib.decompress(base64.b85decode(text)), "little")
    return frozenset(name for i, name in enumerate(names) if bits >> i & 1)


class State(NamedTuple):
    """A figure, and whether its numbers are of the present code."""

    figure: Figure
    record: Record | None
    state: str
    changed: list[str]


def states(root: Path) -> Iterator[State]:
    """Every figure of the documentation: fresh, stale, unrecorded, or made by a module that is gone."""
    read, ledger, known, units = on_disk(root), read_ledger(root), {}, _all_units(root)
    for figure in figures(root):
        files = known.setdefault(figure.module, sources(figure.module, read))
        record = ledger.get(figure)
        if not files:
            yield State(figure, record, "gone", [])
        elif record is None:
            yield State(figure, record, "unrecorded", [])
        elif record.digest == digest(files) or (record.called is not None and record.called <= units):
            yield State(figure, record, "fresh", [])
        elif record.called is not None:
            yield State(figure, record, "stale", _gone(root, record, units))
        else:
            yield State(figure, record, "stale", _changed(root, figure.module, files, record.commit))


def _gone(root: Path, record: Record, units: frozenset[str]) -> list[str]:
    """Functions and constants that a run called and that are no more, or not as they were."""
    missing = (record.called or frozenset()) - units
    return sorted(name for unit, name in _units_at(root, record.commit).items() if unit in missing) or ["?"]


@cache
def _units_at(root: Path, commit: str) -> dict[str, str]:
    """Names of all that there was at a commit, by digest."""
    packed = subprocess.run(["git", "archive", commit], cwd=root, capture_output=True, check=False).stdout
    found = {}
    with tarfile.open(fileobj=io.BytesIO(packed)) if packed else nullcontext(()) as archive:
        for each in archive:
            if each.name.endswith(".py") and each.name.startswith(("src/topoi/", "studies/", "benchmarks/")):
                for name, digests in parsed(archive.extractfile(each).read().decode()).units.items():
                    found.update(dict.fromkeys(digests, each.name if name == "=" else f"{each.name}::{name}"))
    return found


def _changed(root: Path, module: str, files: Sources, commit: str) -> list[str]:
    """Files with statements that are new since a commit, or gone; nothing if the history does not have it."""
    then = _sources_at(root, module, commit)
    before, now = frozenset().union(*then.values()), frozenset().union(*files.values())
    new = {path for path, own in files.items() if own - before}
    return sorted(new | {path for path, own in then.items() if own - now}) if then else []


@cache
def _sources_at(root: Path, module: str, commit: str) -> Sources:
    return sources(module, _commit_reader(root, commit)) if commit else {}


@cache
def _commit_reader(root: Path, commit: str) -> Read:
    return at_commit(root, commit)


def record(
    root: Path,
    module: str,
    page: str | None = None,
    called: Mapping[str, Iterable[str]] | None = None,
    commit: str | None = None,
    seconds: float | None = None,
) -> list[Figure]:
    """Write down that the numbers of a module, on all pages or one, are of the present code, or of that at a commit.

    With noted calls, those of several commands that make one page's numbers come together while all of them are fresh,
    and so does their time.
    """
    chosen = [each for each in figures(root) if each.module == module and page in (None, each.page)]
    ledger = {figure: kept for figure, kept in read_ledger(root).items() if figure in set(figures(root))}
    read = at_commit(root, commit) if commit else on_disk(root)
    now = Record(
        datetime.date.today().isoformat(),
        commit or git(root, "rev-parse", "--short=12", "HEAD"),
        digest(sources(module, read)),
        None if called is None else called_units(called, read),
        seconds,
    )
    units = _all_units(root)
    for figure in chosen:
        before = ledger.get(figure)
        fresh = before is not None and before.called is not None and before.called <= units
        ledger[figure] = _together(now, before) if fresh and now.called is not None else now
    write_ledger(root, ledger)
    return chosen


def _together(now: Record, before: Record) -> Record:
    seconds = [each.seconds for each in (now, before) if each.seconds is not None]
    return now._replace(
        called=(now.called or frozenset()) | (before.called or frozenset()), seconds=sum(seconds) if seconds else None
    )


def record_from_git(root: Path) -> list[Figure]:
    """First records: numbers are taken to be of the commit that last changed a page's tables, or the study's JSON file."""
    ledger = read_ledger(root)
    missing = [figure for figure in figures(root) if figure not in ledger]
    for figure in missing:
        commit = _last_change(root, figure)
        if commit:
            day = git(root, "show", "-s", "--format=%cs", commit)
            ledger[figure] = Record(day, commit, digest(_sources_at(root, figure.module, commit)))
    write_ledger(root, ledger)
    return [figure for figure in missing if figure in ledger]


def _last_change(root: Path, figure: Figure) -> str:
    """The commit that last changed numbers: those of the JSON beside a study's page, else lines of tables of the page."""
    beside = root / figure.page.replace(".md", ".json")
    if figure.page.startswith("docs/studies/") and beside.exists():
        return git(root, "log", "-1", "--abbrev=12", "--format=%h", "--", beside.relative_to(root).as_posix())
    return git(root, "log", "-1", "--abbrev=12", "--format=%h", "-G", r"^\|.*[0-9]", "--", figure.page)


def git(root: Path, *words: str) -> str:
    """What git answers, or nothing."""
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
