"""Text input on the command line: an argument, standard input or a file."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

TextWords = Annotated[list[str] | None, typer.Argument(metavar="[TEXT]...", help="The text, or - for standard input.")]
TextFile = Annotated[Path | None, typer.Option("--file", metavar="FILE", help="Read the text from a file.")]


def given_text(text: str | None, from_file: Path | None) -> str:
    """Return the text given in one of the three ways; none at all is a usage error."""
    if text is not None and from_file is not None:
        raise typer.BadParameter("give TEXT or --file, not both")
    if from_file is not None:
        passage = from_file.read_text(encoding="utf-8", errors="replace")
    elif text == "-" or (text is None and not sys.stdin.isatty()):
        passage = sys.stdin.read()
    else:
        passage = text or ""
    if not passage.strip():
        raise typer.BadParameter("there is no text; give TEXT, - to read standard input, or --file FILE")
    return passage


def joined(words: list[str] | None) -> str | None:
    """Join the words of an unquoted text."""
    return " ".join(words) if words else None
