"""``topoi import``: a topic model that MALLET fitted, as a file to browse."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Annotated

import typer

from topoi.cli import fit_options as given
from topoi.cli import look
from topoi.cli.fit import default_output
from topoi.cli.options import check_file
from topoi.cli.saving import refuse_name, refuse_overwriting


def import_state(
    state: Annotated[Path, typer.Argument(metavar="STATE", help="What MALLET's --output-state wrote.")],
    output: Annotated[
        Path | None,
        typer.Option("-o", "--output", metavar="FILE", help="Where to save.  [default: STATE's name with .topoi]"),
    ] = None,
    doc_topics: Annotated[
        Path | None,
        typer.Option("--doc-topics", metavar="FILE", help="What --output-doc-topics wrote, for the documents' names."),
    ] = None,
    encoding: Annotated[str, typer.Option("--encoding", metavar="NAME", help="Encoding of the words.")] = "utf-8",
    seed: Annotated[int, typer.Option("--seed", metavar="N", min=0, help="Seed of later draws.")] = 0,
    name: given.Name = None,
    force: given.Force = False,
    quiet: Annotated[bool, typer.Option("-q", "--quiet", help="No summary.")] = False,
) -> None:
    """Read the state of a topic model that MALLET fitted, and save it as a file for all other commands."""
    path = output or default_output(state)
    if name is None:
        refuse_overwriting(path, force)
    else:
        refuse_name(path, name, force)
    for each in (state, doc_topics):
        if each is not None:
            check_file(each)
    from topoi.exchange.mallet_state import read_mallet_state

    model = read_mallet_state(state, doc_topics, encoding=encoding, random_state=seed, progress=False)
    model.save(path, name=name, replace_file=force and name is None)
    if quiet:
        return
    screen, corpus = look.console(stderr=True), model.corpus_
    screen.print(f"{corpus.n_docs:,} documents, {corpus.n_tokens:,} tokens of {corpus.n_words:,} words")
    joint = model.trace_["log_joint_per_token"].iloc[0]
    screen.print(f"{model.n_topics:,} topics; log joint {joint:.5f} per token", style="dim")
    screen.print(f"saved {path} ({path.stat().st_size / 1e6:.1f} MB)", style="bold", soft_wrap=True)
    screen.print(f"\nnext: topoi browse {shlex.quote(str(path))}", soft_wrap=True)
