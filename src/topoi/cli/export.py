"""``topoi export``: a static copy of the browser."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from topoi.cli import look
from topoi.cli.options import check_file, names_beginning
from topoi.errors import StoreError


def export(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="A file that `topoi fit` saved.")],
    folder: Annotated[Path, typer.Argument(metavar="FOLDER", help="Where to write the copy.")],
    authors: Annotated[
        int | None, typer.Option(metavar="N", min=0, help="Pages for the N busiest authors only.")
    ] = None,
    documents: Annotated[
        int | None, typer.Option(metavar="N", min=0, help="Pages for N documents only, those that lead a topic first.")
    ] = None,
    name: Annotated[
        list[str] | None,
        typer.Option(
            "--name", metavar="NAME", help="Only this model; may be repeated.", autocompletion=names_beginning
        ),
    ] = None,
    no_json: Annotated[bool, typer.Option("--no-json", help="Pages only, without their data.")] = False,
    compress: Annotated[bool, typer.Option("--gzip", help="Compress the data beside the pages, as .json.gz.")] = False,
    force: Annotated[bool, typer.Option("--force", help="Replace an earlier copy.")] = False,
    quiet: Annotated[bool, typer.Option("-q", "--quiet", help="No progress.")] = False,
) -> None:
    """Write the browser's pages as files that any web server, or none, can show."""
    check_file(file)
    if no_json and compress:
        raise typer.BadParameter("--gzip compresses what --no-json leaves out: choose one")
    try:
        from topoi.web.export import Limits, export_site
    except ImportError as error:
        raise StoreError(f'the browser needs more packages: pip install "topoi[web]" ({error})') from error
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    screen = look.console(stderr=True)
    columns = (TextColumn("writing pages"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=screen, disable=quiet or not screen.is_terminal) as bar:
        task = bar.add_task("pages", total=None)

        def progress(done: int, total: int) -> None:
            bar.update(task, completed=done, total=total)

        n_pages = export_site(
            file,
            folder,
            Limits(authors, documents),
            names=name,
            data=None if no_json else "json.gz" if compress else "json",
            replace=force,
            progress=progress,
        )
    if not quiet:
        size = sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())
        screen.print(f"wrote {n_pages:,} pages, {size / 1e6:,.1f} MB; open {folder / 'index.html'}", soft_wrap=True)
