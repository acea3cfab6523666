"""``topoi warm``: compile all kernels ahead of time."""

from __future__ import annotations

import tempfile
import time
from pathlib import Path
from typing import Annotated

import typer

from topoi.cli import look
from topoi.cli.model_options import chosen_model, complete_model
from topoi.kernels import preparing
from topoi.models.registry import Model, model_named, models


def warm(
    model: Annotated[
        list[str] | None,
        typer.Option(
            "--model",
            metavar="MODEL",
            autocompletion=complete_model,
            help="A model, as in topoi fit; may be repeated.  [default: common]",
        ),
    ] = None,
    everything: Annotated[bool, typer.Option("--all", help="All families; takes minutes.")] = False,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Print nothing.")] = False,
) -> None:
    """Compile the samplers for this machine, so that the first fit, question and page need not wait.

    Once is enough, for all programs that share the installation; a second run finds everything done.
    """
    named = [model_named(chosen_model(name)) for name in model or []]
    chosen = list(models().values()) if everything else named or [each for each in models().values() if each.is_common]
    begin = time.perf_counter()
    n_compiled = _run(list({each.name: each for each in chosen}.values()), quiet)
    if quiet:
        return
    from topoi.cli.warming import cache_folder

    seconds = f"{time.perf_counter() - begin:.1f} s"
    kernels = "1 kernel" if n_compiled == 1 else f"{n_compiled} kernels"
    look.say(f"{kernels} compiled in {seconds}" if n_compiled else f"nothing to compile ({seconds})", err=True)
    where = cache_folder()
    look.say(f"kept in {where}" if where else "not kept: no folder can be written; set NUMBA_CACHE_DIR", err=True)


def _run(chosen: list[Model], quiet: bool) -> int:
    """Run all steps, printing the time of each; return the number of compilations."""
    from topoi.cli.warming import quietly, steps

    begun: list[bool] = []
    with tempfile.TemporaryDirectory() as folder, quietly(), preparing.watching(begun.append):
        for name, step in steps(chosen, Path(folder)):
            if not quiet:
                look.say(f"{name:28}", err=True, end=False)
            begin = time.perf_counter()
            step()
            if not quiet:
                look.say(f"{time.perf_counter() - begin:6.1f} s", err=True)
    return sum(begun)
