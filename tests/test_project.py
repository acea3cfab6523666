"""The files around the code say what the code says: versions, workflows, layout."""

import ast
import importlib
import json
import re
import subprocess
import sys
import tomllib
from collections import defaultdict
from pathlib import Path

import pytest
import yaml
from studies.broken_kernels import FOLDERS, MISTAKES, TESTS

import topoi

ROOT = Path(topoi.__file__).parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]


def read(name):
    return yaml.safe_load((ROOT / name).read_text(encoding="utf-8"))


def test_the_tested_versions_of_python_are_those_that_are_promised():
    promised = [line.split(" :: ")[-1] for line in PROJECT["classifiers"] if re.search(r":: 3\.\d+$", line)]
    assert read(".github/workflows/tests.yml")["jobs"]["tests"]["strategy"]["matrix"]["python"] == promised
    assert PROJECT["requires-python"] == f">={promised[0]}"
    assert sys.version_info >= tuple(map(int, promised[0].split(".")))


def test_the_source_archive_has_what_its_tests_read():
    build = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["hatch"]["build"]
    included = set(build["targets"]["sdist"]["include"])
    assert {"/src", "/tests", "/docs", "/examples", "/benchmarks", "/studies", "/.ci", "/.github"} <= included
    assert all((ROOT / name.lstrip("/")).exists() for name in included)


@pytest.mark.parametrize("path", sorted((ROOT / ".github").rglob("*.y*ml")), ids=lambda path: path.name)
def test_workflows_and_forms_are_well_formed(path):
    content = yaml.safe_load(path.read_text(encoding="utf-8"))
    if path.parent.name == "workflows":
        assert content["permissions"] == {"contents": "read"}
        for job in content["jobs"].values():
            assert job["timeout-minutes"]
            assert all("uses" in step or "run" in step for step in job["steps"])
    elif path.name != "config.yml":
        assert {"name", "description", "body"} <= set(content)


def test_every_family_of_mistakes_is_tried_at_night():
    jobs = read(".github/workflows/nightly.yml")["jobs"]
    assert jobs["broken-kernels"]["strategy"]["matrix"]["family"] == "${{ fromJSON(needs.families.outputs.families) }}"
    command = re.search(r"python (-m studies\.broken_kernels --families)", jobs["families"]["steps"][-1]["run"])[1]
    # Without topoi or anything else installed: -S leaves site-packages out.
    printed = subprocess.run([sys.executable, "-S", *command.split()], cwd=ROOT, capture_output=True, check=True).stdout
    assert json.loads(printed) == list(TESTS)


def test_every_family_has_mistakes_to_notice():
    """A sampler or an optimiser that nobody has broken on purpose is not known to be tested."""
    families = {path.parent.name for path in (ROOT / "src" / "topoi" / "models").glob("*/family.py")}
    assert families <= set(TESTS)


def test_the_number_of_mistakes_in_the_documentation():
    assert f"The list has {len(MISTAKES)} mistakes" in (ROOT / "docs" / "correctness.md").read_text(encoding="utf-8")


def test_every_mistake_can_still_be_made():
    for mistake in MISTAKES:
        assert mistake.right in (ROOT / mistake.file).read_text(encoding="utf-8"), mistake.what
    for family, names in TESTS.items():
        assert all((ROOT / "tests" / FOLDERS.get(family, family) / name).exists() for name in names), family


def test_the_citation_is_of_this_version():
    citation = read("CITATION.cff")
    assert citation["version"] == topoi.__version__
    assert citation["license"] == PROJECT["license"]


def test_the_layout_in_contributing_is_the_tree():
    text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    drawn = re.search(r"## Layout\n+```\n(.*?)```", text, re.DOTALL)[1]
    packages = re.findall(r"(\w+)/(?=\s)", "\n".join(line for line in drawn.splitlines() if line[:1] in "├└│"))
    there = [path.parent.name for path in (ROOT / "src" / "topoi").glob("*/__init__.py")]
    assert sorted(packages) == sorted(there)
    for name in re.findall(r"^(\w+)/", drawn, re.MULTILINE):
        assert (ROOT / name).is_dir(), name


def test_files_and_names_in_the_notation_are_in_the_code():
    text = (ROOT / "docs" / "notation.md").read_text(encoding="utf-8")
    source = ROOT / "src" / "topoi"
    code = {path.relative_to(source).as_posix(): path.read_text(encoding="utf-8") for path in source.rglob("*.py")}
    quoted = re.findall(r"`([^`]+)`", text)
    for name in quoted:
        if name.endswith(".py"):
            assert any(path.endswith(name) for path in code), name
        for word in re.findall(r"[A-Za-z_]{4,}", name.removesuffix(".py")):
            assert any(re.search(rf"\b{word}", each) for each in code.values()) or (source / name).is_dir(), word


MOST_SHARED_LINES = 9


def logic(body):
    """The statements of a function, nested ones in order, each with its lines; a block counts as its first line.

    Docstrings, imports, fields and ``self.x = x`` are no logic.
    """
    for node in body:
        if isinstance(node, ast.FunctionDef | ast.ClassDef | ast.Import | ast.ImportFrom):
            continue
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
            continue
        if isinstance(node, ast.AnnAssign) and node.value is None:
            continue
        inner = [each for name in ("body", "orelse", "finalbody") for each in getattr(node, name, [])]
        inner += [each for handler in getattr(node, "handlers", []) for each in handler.body]
        if inner:
            head = (each for each in ast.iter_child_nodes(node) if not isinstance(each, ast.stmt | ast.excepthandler))
            yield " ".join([type(node).__name__, *map(ast.unparse, head)]), 1
            yield from logic(inner)
        elif not re.fullmatch(r"self\.(\w+) = \1", text := ast.unparse(node)):
            yield text, node.end_lineno - node.lineno + 1


def shared_logic(sources):
    """Functions that share more than ``MOST_SHARED_LINES`` lines, to the letter."""
    places = defaultdict(set)
    for name, source in sources.items():
        for function in ast.walk(ast.parse(source)):
            statements = list(logic(function.body)) if isinstance(function, ast.FunctionDef) else []
            for first in range(len(statements)):
                lines = 0
                for last in range(first, len(statements)):
                    lines += statements[last][1]
                    if lines > MOST_SHARED_LINES:
                        run = tuple(text for text, _ in statements[first : last + 1])
                        if len(run) > 3:  # fewer are one long call or table
                            places[run].add(f"{name}: {function.name}")
                        break
    return sorted({tuple(sorted(found)) for found in places.values() if len(found) > 1})


def test_no_two_functions_share_ten_lines_of_logic():
    source = ROOT / "src" / "topoi"
    files = {path.relative_to(source).as_posix(): path.read_text(encoding="utf-8") for path in source.rglob("*.py")}
    assert shared_logic(files) == []


def test_shared_logic_is_found_wherever_it_stands():
    lines = [f"total += values[{i}]" for i in range(MOST_SHARED_LINES)]
    one = "\n    ".join(["def one(values, total):", '"""Docstring."""', "x = 1", *lines, "return total"])
    two = "\n        ".join(["def two(values, total):\n    if values:", *lines, "return total"])
    assert shared_logic({"a": one, "b": two}) == [("a: one", "b: two")]
    assert shared_logic({"a": one, "b": two.replace("values[4]", "values[5]")}) == []


def test_hooks_that_families_are_promised_are_in_the_base_classes():
    text = (ROOT / "docs" / "developer" / "new-family.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| `(models\.\w+)\.(\w+)` \|(.*)\|$", text, re.MULTILINE)
    assert len(rows) > 3
    for module, name, rest in rows:
        base = getattr(importlib.import_module(f"topoi.{module}"), name)
        for hook in re.findall(r"`(_?[a-z]\w*)`", rest):
            assert getattr(base, hook).__doc__, f"{name}.{hook}"
