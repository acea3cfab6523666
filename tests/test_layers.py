"""The order of imports: a module of ``topoi`` imports only from its own group or an earlier one."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

import topoi

SOURCE = Path(topoi.__file__).parent

GROUPS = [
    {"kernels"},
    {"corpus"},
    {"engine"},
    {"store"},
    {"models"},
    {"analysis", "evaluation", "retrieval", "drawing"},
    {"plots", "cli", "web"},
]
RANK = {name: rank for rank, names in enumerate(GROUPS) for name in names}
LAST = len(GROUPS) - 1
# Imports against the order, each with its reason: module, and what it may import nevertheless.
EXCEPTIONS = {
    # A graph shows itself in a notebook; the picture is drawn when asked for.
    ("topoi.models.pachinko.dag", "topoi.drawing.dag_picture.draw"),
    # Saving a model lays out its topics.
    ("topoi.models.topic_faces", "topoi.drawing.topic_layout.topic_hues"),
    ("topoi.models.topic_faces", "topoi.drawing.topic_layout.topic_map"),
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


def violations(source: str, module: str, *, is_package: bool = False) -> list[str]:
    """What ``module`` imports although it comes later in the order, one readable line each."""
    package = module if is_package else module.rpartition(".")[0]
    own = RANK[module.split(".")[1]]
    found = []
    for line, name in imported_names(ast.parse(source), package):
        needed = rank_of(name)
        if needed is not None and needed > own and (module, name) not in EXCEPTIONS:
            found.append(f"{module}, line {line}: imports {name}, which comes later in the order")
    return found


def our_modules() -> list[Path]:
    return sorted(path for path in SOURCE.rglob("*.py") if path.parent != SOURCE)


@pytest.mark.parametrize("path", our_modules(), ids=lambda path: path.relative_to(SOURCE).as_posix())
def test_imports_follow_the_order(path: Path) -> None:
    parts = path.relative_to(SOURCE.parent).with_suffix("").parts
    is_package = parts[-1] == "__init__"
    module = ".".join(parts[:-1] if is_package else parts)
    assert violations(path.read_text(encoding="utf-8"), module, is_package=is_package) == []


def test_only_known_groups_exist() -> None:
    folders = {path.name for path in SOURCE.iterdir() if path.is_dir() and path.name != "__pycache__"}
    files = {path.name for path in SOURCE.glob("*.py")}
    assert folders <= set(RANK)
    assert files == {"__init__.py", "errors.py"}


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
# Who still knows a family that is not its own. The list may only become shorter: move what two families need into
# ``models``, and ask a model through what it gives. Regression samples its topics by the author-topic kernels for good.
KNOWN = {
    "analysis/structure.py": {"pachinko"},
    "evaluation/ep.py": {"aspect"},
    "models/aspect/particles.py": {"author_topic"},
    "models/dmr/posterior.py": {"author_topic"},
    "models/dmr/prediction.py": {"kernel_topic"},
    "models/dmr/state.py": {"author_topic"},
    "models/kernel_topic/estimator.py": {"aspect"},
    "models/stored/view.py": {"pachinko"},
}


def test_families_are_known_to_themselves_and_the_registry() -> None:
    found: dict[str, set[str]] = {}
    for path in our_modules():
        place = path.relative_to(SOURCE).as_posix()
        package = ".".join(path.relative_to(SOURCE.parent).parent.parts)
        for _, name in imported_names(ast.parse(path.read_text(encoding="utf-8")), package):
            parts = name.split(".")
            if parts[:2] == ["topoi", "models"] and len(parts) > 2 and parts[2] in FAMILIES - set(path.parts):
                found.setdefault(place, set()).add(parts[2])
    assert found == KNOWN


def test_every_exception_is_still_needed() -> None:
    found = set()
    for module in {module for module, _ in EXCEPTIONS}:
        path = SOURCE.parent / f"{module.replace('.', '/')}.py"
        package = module.rpartition(".")[0]
        tree = ast.parse(path.read_text(encoding="utf-8"))
        found |= {(module, name) for _, name in imported_names(tree, package)}
    assert found >= EXCEPTIONS
