"""The order of imports: a module of ``topoi`` imports only from its own group or an earlier one."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterator
from copy import deepcopy
from functools import cache
from importlib import import_module
from pathlib import Path

import pytest

import topoi
from topoi.models import registry

SOURCE = Path(topoi.__file__).parent

GROUPS = [
    {"kernels"},
    {"corpus"},
    {"engine"},
    {"models"},
    {"analysis", "evaluation", "retrieval", "drawing"},
    {"store"},
    {"exchange"},
    {"plots", "cli", "web"},
]
RANK = {name: rank for rank, names in enumerate(GROUPS) for name in names}
LAST = len(GROUPS) - 1
# Imports against the order, each with its reason: module, and what it may import nevertheless.
EXCEPTIONS = {
    # A graph shows itself in a notebook; the picture is drawn when asked for.
    ("topoi.models.dag", "topoi.drawing.dag_picture.draw"),
    # ``model.save`` is what people type; how any model becomes rows, the store knows.
    ("topoi.models.base", "topoi.store.save.save_fitted"),
}


def imported_names(tree: ast.Module, package: str) -> Iterator[tuple[int, str]]:
    """Every dotted name of ours that a module imports, with its line, wherever in the file the import stands."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield node.lineno, alias.name
        elif isinstance(node, ast.ImportFrom):
            for alias in node.names:
                yield node.lineno, f"{absolute_module(node, package)}.{alias.name}"
        elif isinstance(node, ast.Call) and getattr(node.func, "attr", getattr(node.func, "id", "")) == "import_module":
            for argument in node.args[:1]:
                if isinstance(argument, ast.Constant) and isinstance(argument.value, str):
                    yield node.lineno, argument.value


def absolute_module(node: ast.ImportFrom, package: str) -> str:
    """The module that a ``from … import`` names, with leading dots resolved against ``package``."""
    if node.level == 0:
        return node.module or ""
    parents = package.split(".")[: len(package.split(".")) - node.level + 1]
    return ".".join([*parents, *([node.module] if node.module else [])])


def rank_of(name: str) -> int | None:
    """The place in the order that importing ``name`` needs; None if it is free for everyone."""
    parts = name.split(".")
    if parts[0] != "topoi":
        return None
    if len(parts) == 1:
        return LAST  # `import topoi` reaches every public name, so only the last group may do it
    if parts[1] == "errors" or parts[1] == "__version__" or parts[1] in dir(topoi.errors):
        return None
    if parts[1] in RANK:
        return RANK[parts[1]]
    return rank_of(topoi._HOME[parts[1]])


def violations(source: str | ast.Module, module: str, *, is_package: bool = False) -> list[str]:
    """What ``module`` imports although it comes later in the order, one readable line each."""
    package = module if is_package else module.rpartition(".")[0]
    own = RANK[module.split(".")[1]]
    found = []
    for line, name in imported_names(ast.parse(source) if isinstance(source, str) else source, package):
        needed = rank_of(name)
        if needed is not None and needed > own and (module, name) not in EXCEPTIONS:
            found.append(f"{module}, line {line}: imports {name}, which comes later in the order")
    return found


@cache
def parsed(path: Path) -> ast.Module:
    """A module of ours, parsed once for all tests; none of them may change it."""
    return ast.parse(path.read_text(encoding="utf-8"))


@cache
def our_modules() -> list[Path]:
    return sorted(path for path in SOURCE.rglob("*.py") if path.parent != SOURCE)


def test_imports_follow_the_order() -> None:
    found = []
    for path in our_modules():
        parts = path.relative_to(SOURCE.parent).with_suffix("").parts
        is_package = parts[-1] == "__init__"
        module = ".".join(parts[:-1] if is_package else parts)
        found += violations(parsed(path), module, is_package=is_package)
    assert found == []


def test_only_known_groups_exist() -> None:
    folders = {path.name for path in SOURCE.iterdir() if path.is_dir() and path.name != "__pycache__"}
    files = {path.name for path in SOURCE.glob("*.py")}
    assert folders <= set(RANK)
    assert files == {"__init__.py", "__main__.py", "errors.py"}


@pytest.mark.parametrize(
    "line",
    [
        "from topoi.models.base import Estimator",
        "import topoi.cli.main",
        "from ..models import base",
        "from .. import models",
        "from topoi import LDA",
        "from topoi import evaluation",
        "import topoi",
        "def later():\n    from topoi.web import app",
        "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from topoi.analysis import label",
        "import importlib\nimportlib.import_module('topoi.models.base')",
    ],
)
def test_checker_finds_an_import_of_a_later_group(line: str) -> None:
    assert len(violations(line, "topoi.engine.bad")) == 1


@pytest.mark.parametrize(
    "line",
    [
        "import numpy",
        "from topoi.errors import ModelError",
        "from topoi import ModelError, __version__",
        "from topoi.kernels import draw",
        "from . import chains",
        "from .chains import Chain",
        "from ..corpus.corpus import Corpus",
        "from topoi import Corpus",
    ],
)
def test_checker_accepts_what_comes_earlier(line: str) -> None:
    assert violations(line, "topoi.engine.good") == []


def test_checker_knows_that_a_package_is_its_own_parent() -> None:
    assert violations("from .estimator import LDA", "topoi.models.author_topic", is_package=True) == []
    assert violations("from ..cli import main", "topoi.models", is_package=True) != []


FAMILIES = {path.parent.name for path in (SOURCE / "models").glob("*/family.py")}
# Who still knows a family that is not its own and that its ``family.py`` does not build on. The list may only become
# shorter: move what two families need into ``models``, and ask a model through what it gives. The sparse schemes are
# those of two samplers, which can be read without them.
KNOWN = {
    "models/sparse/pruned_equations.py": {"pachinko"},
    "models/sparse/word_shard.py": {"author_topic"},
    "models/sparse/words.py": {"author_topic"},
}


def known_to(place: str) -> set[str]:
    """Families that a file of ``models`` may import: its own folder, and those that its family builds on."""
    folder = Path(place).parts[1] if place.startswith("models/") else ""
    if folder not in FAMILIES:
        return set()
    return {folder, *import_module(f"topoi.models.{folder}.family").FAMILY.builds_on}


def test_families_are_known_to_themselves_and_the_registry() -> None:
    found: dict[str, set[str]] = {}
    for path in our_modules():
        place = path.relative_to(SOURCE).as_posix()
        package = ".".join(path.relative_to(SOURCE.parent).parent.parts)
        for _, name in imported_names(parsed(path), package):
            parts = name.split(".")
            if parts[:2] == ["topoi", "models"] and len(parts) > 2 and parts[2] in FAMILIES - known_to(place):
                found.setdefault(place, set()).add(parts[2])
    assert found == KNOWN


def test_families_build_on_others_only_where_they_say_so() -> None:
    """What is declared is also needed, and in one direction: no family builds on one that builds on another."""
    declared = {folder: known_to(f"models/{folder}/family.py") - {folder} for folder in FAMILIES}
    for folder, others in declared.items():
        sources = "".join(path.read_text(encoding="utf-8") for path in (SOURCE / "models" / folder).glob("*.py"))
        assert all(f"topoi.models.{other}" in sources and not declared[other] for other in others), folder


# Classes of models and their options, but for "author" and "kernel", which are words of other things too.
CALLED = {name for family in registry.built_in() for model in family.models for name in (model.name, model.option)}
CALLED -= {"author", "kernel"}
# What is held in variables of these names is taken for a model, or for the posterior of one.
MODEL_NAMES = {"model", "view", "first", "chain", "estimator", "fitted", "loaded", "posterior"}
# Questions that are still put to models by hasattr or getattr outside ``models``. The list may only become shorter:
# write a protocol in ``models/contract.py`` and ask with isinstance.
ASKED: dict[str, set[str]] = {}
# Private attributes of models that are still used outside ``models``.
PRIVATE: dict[str, set[str]] = {}
# Who names a model outside its family; it may only become shorter. The demonstration shows one model of many: it stays.
NAMED = {
    "cli/demo.py": {"AuthorTopicModel"},
    "cli/structure.py": {"pachinko"},
    "models/texts.py": {"LDA"},
}


def is_model(node: ast.expr) -> bool:
    """Whether an expression is a model, by its name: ``model``, ``self.view``, ``models[0]``, ``x.chains_[0]``."""
    if isinstance(node, ast.Attribute):
        return node.attr in MODEL_NAMES
    if isinstance(node, ast.Subscript):
        return is_model(node.value) or ast.unparse(node.value).endswith(("chains_", "models"))
    if isinstance(node, ast.Call):
        return any("chains_" in ast.unparse(argument) for argument in node.args)
    return isinstance(node, ast.Name) and node.id in MODEL_NAMES


def asked(tree: ast.Module) -> set[str]:
    """What ``hasattr(model, …)`` and ``getattr(model, …, default)`` ask for."""
    return {
        ast.unparse(node.args[1])
        for node in ast.walk(tree)
        if isinstance(node, ast.Call)
        and isinstance(node.func, ast.Name)
        and len(node.args) == {"hasattr": 2, "getattr": 3}.get(node.func.id)
        and is_model(node.args[0])
    }


def private(tree: ast.Module) -> set[str]:
    """Attributes of models that begin with a single underscore; a named tuple's own methods are public."""
    return {
        node.attr
        for node in ast.walk(tree)
        if isinstance(node, ast.Attribute)
        and node.attr.startswith("_")
        and not node.attr.startswith("__")
        and node.attr not in {"_asdict", "_fields", "_make", "_replace"}
        and is_model(node.value)
    }


def families_named(tree: ast.Module) -> set[str]:
    """Classes and options of models that code names; what people read of them in docstrings does not count."""
    found = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            found |= set(re.findall(r"[\w-]+", node.value)) if "\n" not in node.value.strip() else set()
        elif isinstance(node, ast.Name):
            found.add(node.id)
        elif isinstance(node, ast.Attribute):
            found.add(node.attr)
    return found & CALLED


def outside_models() -> list[Path]:
    return [*SOURCE.glob("*.py"), *(path for path in our_modules() if "models" not in path.relative_to(SOURCE).parts)]


def outside_families() -> list[Path]:
    shared = [path for path in our_modules() if path.relative_to(SOURCE).parts[0] == "models"]
    return [*outside_models(), *(path for path in shared if not FAMILIES & set(path.relative_to(SOURCE).parts))]


def of_each(paths: list[Path], question: Callable[[ast.Module], set[str]]) -> dict[str, set[str]]:
    found = {path.relative_to(SOURCE).as_posix(): question(without_docstrings(path)) for path in paths}
    return {place: names for place, names in found.items() if names}


@cache
def without_docstrings(path: Path) -> ast.Module:
    tree = deepcopy(parsed(path))
    for node in ast.walk(tree):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef) and ast.get_docstring(node) is not None:
            node.body = node.body[1:] or [ast.Pass()]
    return tree


def test_models_are_asked_by_protocols() -> None:
    assert of_each(outside_models(), asked) == ASKED


def test_nobody_outside_models_uses_what_is_private_to_a_model() -> None:
    assert of_each(outside_models(), private) == PRIVATE


def test_nobody_outside_a_family_names_it() -> None:
    assert of_each(outside_families(), families_named) == NAMED


@pytest.mark.parametrize(
    ("question", "line", "found"),
    [
        (asked, "hasattr(model, 'x')", {"'x'"}),
        (asked, "getattr(self.view, 'x', None)", {"'x'"}),
        (asked, "hasattr(model.chains_[0], name)", {"name"}),
        (asked, "hasattr(next(iter(a.chains_), None), 'x')", {"'x'"}),
        (asked, "getattr(model, 'x')", set()),
        (asked, "hasattr(column, 'x')", set()),
        (private, "model._x", {"_x"}),
        (private, "self.posterior._x = 1", {"_x"}),
        (private, "model.chains_[0]._first()", {"_first"}),
        (private, "self._model", set()),
        (private, "model.__class__", set()),
        (private, "first._replace(a=1)", set()),
        (families_named, "if kind == 'LDA': pass", {"LDA"}),
        (families_named, "import topoi\ntopoi.LDA(3)", {"LDA"}),
        (families_named, "'--model pachinko'", {"pachinko"}),
        (families_named, "'author'", set()),
    ],
)
def test_checkers_find_what_they_look_for(
    question: Callable[[ast.Module], set[str]], line: str, found: set[str]
) -> None:
    assert question(ast.parse(line)) == found


def test_every_exception_is_still_needed() -> None:
    found = set()
    for module in {module for module, _ in EXCEPTIONS}:
        path = SOURCE.parent / f"{module.replace('.', '/')}.py"
        package = module.rpartition(".")[0]
        found |= {(module, name) for _, name in imported_names(parsed(path), package)}
    assert found >= EXCEPTIONS
