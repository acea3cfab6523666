"""The public surface: every name imports, shows how it is used, and costs nothing until it is used."""

from __future__ import annotations

import ast
import inspect
import re
import subprocess
import sys
from importlib.metadata import PackageNotFoundError, version

import pytest

import topoi

HEAVY = {"numba", "numpy", "pandas", "scipy", "sklearn", "typer", "rich"}


@pytest.mark.parametrize("name", topoi.__all__)
def test_public_name_imports(name: str) -> None:
    assert getattr(topoi, name) is not None
    assert name in dir(topoi)


@pytest.mark.parametrize("name", [name for name in topoi.__all__ if not name.endswith("Error")])
def test_public_callable_has_an_example(name: str) -> None:
    value = getattr(topoi, name)
    names = getattr(value, "__all__", None)
    callables = [value] if names is None else [getattr(value, inner) for inner in names]
    missing = [item.__name__ for item in callables if callable(item) and ">>>" not in (inspect.getdoc(item) or "")]
    assert missing == []


def test_unknown_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="no attribute 'Nonsense'"):
        topoi.Nonsense  # noqa: B018


def test_import_is_light() -> None:
    script = "import sys, topoi; sys.stdout.write(' '.join(sys.modules))"
    loaded = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True).stdout.split()
    assert HEAVY.isdisjoint(loaded)


def test_version_is_the_installed_one() -> None:
    assert re.fullmatch(r"\d+\.\d+\.\d+(\.?(a|b|rc|dev)\d+)?", topoi.__version__)
    try:
        installed = version("topoi")
    except PackageNotFoundError:
        return  # running from a checkout that is only on the path
    assert installed == topoi.__version__


def test_lazy_names_are_the_public_names() -> None:
    errors = {name for name in topoi.__all__ if name.endswith("Error")}
    assert set(topoi._HOME) | errors == set(topoi.__all__)


def test_types_are_imported_from_where_they_are() -> None:
    """What type checkers read is what is imported on first use; a family may leave its own names to ``__getattr__``."""
    source = inspect.getsource(topoi)
    found = dict(_imports(source[source.index("if TYPE_CHECKING") : source.index("def __getattr__")]))
    of_families = {name for name, home in topoi._HOME.items() if home.startswith("topoi.models.")}
    assert topoi._HOME.keys() - of_families <= found.keys() <= topoi._HOME.keys()
    for name, module in found.items():
        assert topoi._HOME[name] in (module, f"{module}.{name}") or name == "AuthorModel", name


def _imports(source: str) -> list[tuple[str, str]]:
    tree = ast.parse(source)
    return [(each.name, n.module) for n in ast.walk(tree) if isinstance(n, ast.ImportFrom) for each in n.names]
