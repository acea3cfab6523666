"""``topoi warm``: compile now what would otherwise be compiled when somebody first waits for it."""

from __future__ import annotations

import tempfile
import time
from pathlib import Path
from typing import Annotated

import typer

from topoi.cli import look
from topoi.cli.fit_options import Family, family_named
from topoi.kernels import preparing

_COMMON = [Family.author_topic, Family.lda]


def warm(
    models: Annotated[
        list[str] | None,
        typer.Option("--model", metavar="MODEL", help="A family, as in topoi fit; may be repeated.  [default: common]"),
    ] = None,
    everything: Annotated[bool, typer.Option("--all", help="All families; takes minutes.")] = False,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Print nothing.")] = False,
) -> None:
    """Compile the samplers for this machine, so that the first fit, question and page need not wait.

    Once is enough, for all programs that share the installation; a second run finds everything done.
    """
    chosen = list(Family) if everything else [family_named(name) for name in models or []] or _COMMON
    begin = time.perf_counter()
    n_compiled = _run(list(dict.fromkeys(chosen)), quiet)
    if quiet:
        return
    from topoi.cli.warming import cache_folder

    seconds = f"{time.perf_counter() - begin:.1f} s"
    kernels = "1 kernel" if n_compiled == 1 else f"{n_compiled} kernels"
    look.say(f"{kernels} compiled in {seconds}" if n_compiled else f"nothing to compile ({seconds})", err=True)
    where = cache_folder()
    look.say(f"kept in {where}" if where else "not kept: no folder can be written; set NUMBA_CACHE_DIR", err=True)


def _run(families: list[Family], quiet: bool) -> int:
    """Run all steps, each with a line that ends in its time; how often something was compiled."""
    from topoi.cli.warming import quietly, steps

    begun: list[bool] = []
    with tempfile.TemporaryDirectory() as folder, quietly(), preparing.watching(begun.append):
        for name, step in steps(families, Path(folder)):
            if not quiet:
                look.say(f"{name:28}", err=True, end=False)
            begin = time.perf_counter()
            step()
            if not quiet:
                look.say(f"{time.perf_counter() - begin:6.1f} s", err=True)
    return sum(begun)
