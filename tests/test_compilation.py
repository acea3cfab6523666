"""What is compiled, how often, and where it is kept: every signature costs a user seconds the first time."""

from __future__ import annotations

import json
import os
import pickle
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from topoi.engine.progress import Bar
from topoi.kernels import preparing
from topoi.kernels.jit import INNER, compiled, inlined, lean


@lean
def _shift(values, by):
    """Add to every value; called from Python and from a kernel."""
    for i in range(values.shape[0]):
        values[i] += by


@inlined
def _twice(x):
    return x + x


@compiled
def _shift_often(values, by):
    _shift(values, 0)
    _shift(values, 1)
    _shift(values, by=_twice(by))


def test_kernels_call_a_version_without_a_wrapper() -> None:
    values = np.zeros(3)
    _shift_often(values, 2)
    assert values.tolist() == [5.0, 5.0, 5.0]
    assert not _shift.signatures and not _twice.signatures  # no wrapper for Python: nobody there called them
    _shift(values, 1)
    assert values.tolist() == [6.0, 6.0, 6.0]
    assert len(_shift.signatures) == 1
    assert _shift_often.signatures and _shift.py_func is not _shift


def run(script: str, **environment: str) -> str:
    """What a script prints in a process of its own, with our modules on the path."""
    env = os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, sys.path))} | environment
    done = subprocess.run([sys.executable, "-c", script], env=env, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-2000:]
    return done.stdout


# How many versions of each function that Python calls there are after what a user does first. Those that only kernels
# call are seen only while nothing is cached.
COUNT = """
import json, sys, tempfile, warnings
from collections import Counter
from pathlib import Path
from topoi.cli import warming
from topoi.models.registry import model_named
from topoi.kernels import jit
warnings.simplefilter("ignore")
dispatchers, make = [], jit._dispatcher
jit._dispatcher = lambda function, options: dispatchers.append(make(function, options)) or dispatchers[-1]
with tempfile.TemporaryDirectory() as folder:
    for model in map(model_named, ("lda", "author-topic", "pachinko")):
        warming.ask(model, warming.fit(Path(folder), model))
names = Counter()
for each in dispatchers:
    names[f"{each.py_func.__module__}.{each.py_func.__qualname__}"] += len(each.overloads)
print(json.dumps(names))
"""


@pytest.mark.slow
def test_signatures_stay_few() -> None:
    counts = {name: n for name, n in json.loads(run(COUNT)).items() if n and not name.endswith(f".{INNER}")}
    assert len(counts) > 20, "nothing was compiled or loaded"
    several = {name: n for name, n in counts.items() if n > 1}
    assert several == SEVERAL, several


# Functions that may have several versions: words are int32 and topics uint16, and a copy would cost four bytes a token;
# ratios of documents are float32, those of authors float64, and a copy would cost eight bytes a document and term.
SEVERAL: dict[str, int] = {"topoi.models.background._pairs_together": 2, "topoi.kernels.ranking.log_likelihoods": 2}

# Versions that fits of other sizes need and ``topoi warm`` has not asked for.
AFTER_WARMING = """
import json, tempfile, warnings
from pathlib import Path
from topoi.cli import warming
from topoi.models.registry import models
from topoi.kernels import jit
warnings.simplefilter("ignore")
dispatchers, make = [], jit._dispatcher
jit._dispatcher = lambda function, options: dispatchers.append(make(function, options)) or dispatchers[-1]
import topoi
def versions():
    return {(e.py_func.__module__, e.py_func.__qualname__, sig) for e in dispatchers for sig in e.overloads}
with tempfile.TemporaryDirectory() as folder:
    for name, step in warming.steps(list(models().values()), Path(folder)):
        step()
    before = versions()
    drawn = topoi.LDA(4).simulate(120, 60, random_state=0)
    rows = [drawn.tokens[a:b] for a, b in zip(drawn.doc_start[:-1], drawn.doc_start[1:])]
    corpus = topoi.Corpus.from_tokens(
        [[f"w{w}" for w in row] for row in rows], dates=[1900 + d for d in range(120)],
        authors=[[f"A{(d + j) % 7}" for j in range(1 + d % 4)] for d in range(120)],
    )
    size = {"n_topics": 20, "n_super": 5, "n_sub": 20, "n_aspects": 4}
    for each in models().values():
        options = {name: size.get(name, value) for name, value in each.small.items()}
        options |= {"n_iter": 120, "n_warmup": 5} if "n_warmup" in options else {"n_iter": 120}
        model = each.model_class(random_state=0, progress=False, **options).fit(corpus)
        model.save(Path(folder, f"{each.option}-again.topoi"))
        if each.many:
            each.model_class(random_state=0, progress=False, n_iter=12, **each.many | {"n_topics": 400}).fit(corpus)
print(json.dumps(sorted(f"{module}.{name}{sig}" for module, name, sig in versions() - before)))
"""


@pytest.mark.slow
def test_after_warming_first_fits_compile_nothing() -> None:
    assert json.loads(run(AFTER_WARMING)) == []


TWO_AT_ONCE = """
from topoi.kernels import preparing
begun = []
preparing.watch(begun.append)
from topoi.kernels.random import new_stream
print(new_stream(1, 2, 3, 4).tolist(), sum(begun))
"""


def test_two_processes_may_compile_at_once(tmp_path: Path) -> None:
    env = os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, sys.path)), "NUMBA_CACHE_DIR": str(tmp_path)}
    command = [sys.executable, "-c", TWO_AT_ONCE]
    both = [subprocess.Popen(command, env=env, stdout=subprocess.PIPE, text=True) for _ in range(2)]
    first, second = (each.communicate(timeout=120)[0].rpartition(" ")[0] for each in both)
    third, _, compiled_again = run(TWO_AT_ONCE, NUMBA_CACHE_DIR=str(tmp_path)).rpartition(" ")
    assert first == second == third != ""
    assert int(compiled_again) == 0


@pytest.mark.slow
def test_a_cache_that_cannot_be_read_is_made_anew(tmp_path: Path) -> None:
    """As after an upgrade in which a class has moved: numba keeps the names of classes in its files."""
    first = run(TWO_AT_ONCE, NUMBA_CACHE_DIR=str(tmp_path))
    indexes = list(tmp_path.rglob("*.nbi"))
    assert indexes
    for index in indexes:
        with index.open("rb") as stream:
            version = pickle.load(stream)
        index.write_bytes(pickle.dumps(version) + b"cno_such_module\nThing\n.")
    recompiled(tmp_path, first)


@pytest.mark.slow
def test_kernels_that_name_a_module_that_has_moved_are_compiled_anew(tmp_path: Path) -> None:
    first = run(TWO_AT_ONCE, NUMBA_CACHE_DIR=str(tmp_path))
    kernels = list(tmp_path.rglob("*.nbc"))
    assert kernels
    for kernel in kernels:
        kernel.write_bytes(b"cno_such_module\nThing\n.")
    recompiled(tmp_path, first)


def recompiled(cache: Path, first: str) -> None:
    """Run the script twice: the results are those of the first run, and only the first of the two compiles."""
    for compiles in (True, False):
        stream, _, n_compiled = run(TWO_AT_ONCE, NUMBA_CACHE_DIR=str(cache)).rpartition(" ")
        assert stream == first.rpartition(" ")[0] and (int(n_compiled) > 0) == compiles


# As where the package's folder is read-only: file permissions do not bind the superuser, who may run these tests.
READ_ONLY = """
import logging
from numba.core import caching
class Refused:
    @classmethod
    def from_function(cls, function, file):
        return None
{refused}
logging.basicConfig(level=logging.WARNING, format="%(message)s", stream=__import__("sys").stdout)
from topoi.cli.warming import cache_folder
from topoi.kernels.random import new_stream
print(len(new_stream(1, 2, 3, 4)), cache_folder())
"""


def without(*locators: str) -> str:
    """The script above, where numba cannot write to these places."""
    names = f"({', '.join(f'caching.{name}' for name in locators)},)"
    lines = f"kinds = caching.CacheImpl._locator_classes\nkinds[:] = [Refused if k in {names} else k for k in kinds]"
    return READ_ONLY.format(refused=lines)


def test_read_only_package_keeps_kernels_in_a_folder_of_the_user(tmp_path: Path) -> None:
    script = without("InTreeCacheLocator")
    environment = {"NUMBA_CACHE_DIR": "", "XDG_CACHE_HOME": str(tmp_path), "HOME": str(tmp_path)}
    folder = Path(run(script, **environment).split(" ", 1)[1].strip())
    assert folder.is_relative_to(tmp_path)
    assert list(folder.rglob("*.nbc"))


def test_without_any_folder_kernels_are_compiled_and_a_warning_says_so(tmp_path: Path) -> None:
    output = run(without("InTreeCacheLocator", "UserWideCacheLocator"), NUMBA_CACHE_DIR="")
    assert output.count("cannot be kept") == 1
    assert output.splitlines()[-1].endswith("None")


def test_only_the_innermost_watcher_is_told_and_only_when_something_is_compiled() -> None:
    outer: list[bool] = []
    inner: list[bool] = []
    with preparing.watching(outer.append):
        with preparing.watching(inner.append):
            preparing.begin()
            preparing.begin()
            preparing.end()
            preparing.end()
        assert (outer, inner) == ([], [True, False])
        preparing.begin()
        preparing.end()
    preparing.begin()
    preparing.end()
    assert outer == [True, False]


def test_a_bar_says_why_it_stands_still() -> None:
    bar = Bar("LDA", 10, 0)
    task = bar._bar.tasks[0]
    preparing.begin()
    assert task.description == preparing.MESSAGE
    preparing.end()
    assert task.description == "LDA"
    bar.close()
    preparing.begin()
    assert task.description == "LDA"
    preparing.end()
