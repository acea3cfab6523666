"""A family that moves into ``src/topoi/models`` needs no change to any other file: the example does, in a copy."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import topoi

ROOT = Path(topoi.__file__).parents[2]
EXAMPLE = ROOT / "examples" / "unigram_mixture" / "unigram_mixture"
QUESTIONS = """
import json, topoi
from topoi.cli.main import main
from topoi.models import registry
model = registry.find("UnigramMixture")
print(json.dumps({
    "public": "UnigramMixture" in topoi.__all__ and "UnigramMixture" in dir(topoi),
    "class": topoi.UnigramMixture.__module__,
    "posterior": model.posterior_class.__module__,
    "last": [each.name for family in registry.built_in() for each in family.models][-1],
}))
main(["fit", "--help"])
"""


@pytest.fixture(scope="module")
def tree(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the project, and in it the example as one more folder."""
    folder = tmp_path_factory.mktemp("tree")
    for part in ("src", "tests", "docs"):
        shutil.copytree(ROOT / part, folder / part, ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy2(ROOT / "pyproject.toml", folder)
    family = folder / "src" / "topoi" / "models" / "unigram_mixture"
    shutil.copytree(EXAMPLE, family, ignore=shutil.ignore_patterns("__pycache__"))
    for path in family.glob("*.py"):
        source = path.read_text(encoding="utf-8").replace("from unigram_mixture", "from topoi.models.unigram_mixture")
        path.write_text(source.replace('"unigram_mixture.', '"topoi.models.unigram_mixture.'), encoding="utf-8")
    return folder


def run(tree: Path, *words: str) -> str:
    paths = os.pathsep.join(str(tree / part) for part in ("src", "tests", "."))
    environment = os.environ | {"PYTHONPATH": paths, "NO_COLOR": "1", "COLUMNS": "120", "PYTHONDONTWRITEBYTECODE": "1"}
    environment.pop("PYTEST_ADDOPTS", None)
    words = (sys.executable, *words)
    done = subprocess.run(words, cwd=tree, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_folder_is_found_by_everybody_who_lists_families(tree: Path) -> None:
    found, help_text = run(tree, "-c", QUESTIONS).split("\n", 1)
    home = "topoi.models.unigram_mixture"
    assert json.loads(found) == {
        "public": True,
        "class": f"{home}.model",
        "posterior": f"{home}.posterior",
        "last": "UnigramMixture",
    }
    assert "unigram-mixture" in help_text


@pytest.mark.slow
def test_nothing_that_is_checked_by_hand_lists_has_to_change(tree: Path) -> None:
    """Public names, the registry, and who may know a family, with one more family than they were written for."""
    known = "tests/test_layers.py::test_families_are_known_to_themselves_and_the_registry"
    files = ("tests/test_package.py", "tests/models/test_registry.py", known)
    run(tree, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "no:xdist", *files)
