"""``topoi browse``: a model and its collection in a web browser."""

from __future__ import annotations

import os
from typing import Annotated, Any

import typer

from topoi.cli import look
from topoi.cli.options import ModelFile, check_file

HOST = "127.0.0.1"


def browse(
    file: ModelFile,
    name: Annotated[
        str | None, typer.Option(metavar="MODEL", help="The model to begin with; the one saved last if not given.")
    ] = None,
    port: Annotated[
        int | None,
        typer.Option(metavar="N", min=1, max=65535, help="The port; 8765, or the next that is free, if not given."),
    ] = None,
    host: Annotated[
        str,
        typer.Option(metavar="ADDRESS", help="Listen there instead of on this machine alone. There is no password."),
    ] = HOST,
    no_open: Annotated[bool, typer.Option("--no-open", help="Do not open a web browser.")] = False,
    read_only: Annotated[bool, typer.Option("--read-only", help="Refuse names and changes of topics.")] = False,
) -> None:
    """Open a model in the web browser: its topics, authors, documents and words, and texts of your own.

    Ends with Ctrl-C.
    """
    check_file(file)
    from topoi.web.run import is_local, serve

    if not is_local(host):
        look.say(
            f"topoi: warning: listening on {host}, where everybody on the network can read the collection"
            f"{'' if read_only else ' and change its topics'}; there is no password",
            err=True,
        )
    how: dict[str, Any] = {"open_browser": not no_open, "read_only": read_only, "say": _say}
    if not serve(file, name=name, host=host, port=port, **how):
        # Threads of a pool would be waited for; the file is changed in one transaction, or not at all.
        os._exit(0)


def _say(address: str) -> None:
    look.say(f"{address}\nCtrl-C ends it.")
