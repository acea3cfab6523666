"""Which of our functions a command calls, in all its threads and processes.

    python -m studies.calls studies.namesakes --sweeps 300      run it, note its calls, and record its numbers as fresh

A number depends on the functions that were called on the way to it, not on all that is imported: noted once, they tell
``studies.freshness`` which changes matter. Python's own profiler notes the calls of each thread at the cost of a tenth of a
microsecond; compiled kernels do not appear there, so a kernel that has machine code counts with its whole file and with
the files of kernels that this one imports. Child processes begin by ``studies/traced/sitecustomize.py``.
"""

from __future__ import annotations

import atexit
import cProfile
import json
import os
import resource
import subprocess
import sys
import tempfile
import threading
from multiprocessing import util
from pathlib import Path
from types import CodeType
from typing import Any

ROOT = Path(__file__).parents[1]


class _Profiles(list[cProfile.Profile]):
    """One of each thread; a list that can be referred to weakly, which register_after_fork asks for."""


_PROFILES = _Profiles()


def begin(folder: str) -> None:
    """Note calls from now on, in this thread and in those that start later; write them into a folder at the end."""
    threading.setprofile(_begin_thread)
    _begin_thread()
    atexit.register(write, folder)
    leave = os._exit

    def write_and_leave(code: int) -> None:
        """A program that is interrupted leaves without running what was registered."""
        write(folder)
        leave(code)

    os._exit = write_and_leave  # type: ignore[assignment]
    # Forked children of multiprocessing end without atexit, but run the finalizers that they have made themselves.
    util.register_after_fork(_PROFILES, lambda _: util.Finalize(None, write, args=(folder,), exitpriority=0))


def _begin_thread(*_event: Any) -> None:
    """Take the place of the thread's profile function by a profiler in C."""
    sys.setprofile(None)
    profile = cProfile.Profile(subcalls=False, builtins=False)
    _PROFILES.append(profile)
    profile.enable()


def write(folder: str) -> None:
    """Write what this process has called: files, with names of functions; ``*`` stands for a whole file."""
    found: dict[str, set[str]] = {}
    for profile in list(_PROFILES):
        for entry in profile.getstats():
            code = entry.code
            if isinstance(code, CodeType) and (path := _ours(code.co_filename)):
                found.setdefault(path, set()).add(_unit(code))
    for module in list(sys.modules.values()):
        if path := _ours(getattr(module, "__file__", None) or ""):
            found.setdefault(path, set())
    for path in _files_of_kernels():
        found[path] = {"*"}
    handle, name = tempfile.mkstemp(suffix=".json", dir=folder)
    with os.fdopen(handle, "w", encoding="utf-8") as file:
        json.dump({path: sorted(names) for path, names in found.items()}, file)
    os.rename(name, f"{name}.done")


def _ours(path: str) -> str | None:
    """A path below the project, for code that makes numbers."""
    if not path.startswith(f"{ROOT}{os.sep}"):
        return None
    inner = Path(path).relative_to(ROOT).as_posix()
    return inner if inner.startswith(("src/topoi/", "studies/", "benchmarks/")) else None


def _unit(code: CodeType) -> str:
    """Name of the function or method: functions inside it are part of it."""
    return code.co_qualname.split(".<locals>")[0]


def _files_of_kernels() -> set[str]:
    """Files of kernels that have machine code, and of the kernels that these may call."""
    if "topoi.kernels.jit" not in sys.modules:
        return set()
    kernels = list(sys.modules["topoi.kernels.jit"]._KERNELS)
    with_code = {kernel.py_func.__module__ for kernel in kernels if kernel.overloads}
    all_modules = {kernel.py_func.__module__ for kernel in kernels} | {
        name for name in sys.modules if name.startswith("topoi.kernels.")
    }
    waiting, found = list(with_code), set()
    while waiting:
        name = waiting.pop()
        module = sys.modules.get(name)
        if name in found or module is None:
            continue
        found.add(name)
        for value in list(vars(module).values()):
            home = getattr(value, "__module__", None) or getattr(value, "__name__", None)
            if isinstance(home, str) and home in all_modules:
                waiting.append(home)
    paths = (_ours(getattr(sys.modules[name], "__file__", None) or "") for name in found)
    return {path for path in paths if path}


def run(words: list[str], folder: Path) -> tuple[int, dict[str, set[str]]]:
    """Run a module as ``python -m`` would, with its calls noted; return its exit code and what was called."""
    paths = [str(Path(__file__).parent / "traced"), *filter(None, [os.environ.get("PYTHONPATH")])]
    environment = os.environ | {
        "TOPOI_CALLS": str(folder),
        "TOPOI_CALLS_ROOT": str(ROOT),
        "PYTHONPATH": os.pathsep.join(paths),
    }
    code = subprocess.run([sys.executable, "-m", *words], env=environment, check=False).returncode
    return code, read(folder)


def read(folder: Path) -> dict[str, set[str]]:
    """All notes of a folder in one."""
    found: dict[str, set[str]] = {}
    for file in folder.glob("*.done"):
        for path, names in json.loads(file.read_text(encoding="utf-8")).items():
            found.setdefault(path, set()).update(names)
    return found


def main() -> int:
    """Run a command with its calls noted, and record its numbers if it ends well."""
    from studies import freshness

    if len(sys.argv) < 2 or sys.argv[1].startswith("-"):
        print(__doc__)
        return 2
    with tempfile.TemporaryDirectory() as folder:
        code, called = run(sys.argv[1:], Path(folder))
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    if code == 0:
        seconds = used.ru_utime + used.ru_stime
        # A command that names pages makes the numbers of these pages only.
        for page in [word for word in sys.argv[2:] if word.endswith(".md")] or [None]:
            for figure in freshness.record(ROOT, sys.argv[1], page, called, seconds=seconds):
                print(f"recorded    {figure.page}: python -m {figure.module}")
    return code


if __name__ == "__main__":
    sys.exit(main())
