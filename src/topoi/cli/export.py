"""``topoi export``: a site of plain files with a reader, every page as a file, or files for another program."""

from __future__ import annotations

from collections.abc import Callable
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from topoi.cli import look
from topoi.cli.options import TOPICS, check_file, choose_model, names_beginning
from topoi.errors import StoreError

if TYPE_CHECKING:
    from topoi.store.view import ModelView


class Format(StrEnum):
    """The formats, by their names on the command line."""

    html = "html"
    pages = "pages"
    mallet = "mallet"
    pyldavis = "pyldavis"
    octis = "octis"
    gensim = "gensim"
    parquet = "parquet"


def export(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="A file that `topoi fit` saved.")],
    folder: Annotated[
        Path | None, typer.Argument(metavar="TARGET", help="Folder, or file, to write; the same as -o.")
    ] = None,
    form: Annotated[
        Format,
        typer.Option(
            "--format", help="A site with a reader (html), every page as a file (pages), or files for another program."
        ),
    ] = Format.html,
    output: Annotated[
        Path | None, typer.Option("-o", "--output", metavar="TARGET", help="Folder, or file, to write.")
    ] = None,
    authors: Annotated[
        int | None, typer.Option(metavar="N", min=0, help="Pages for the N busiest authors only.")
    ] = None,
    documents: Annotated[
        int | None, typer.Option(metavar="N", min=0, help="Pages for N documents only, those that lead a topic first.")
    ] = None,
    name: Annotated[
        list[str] | None,
        typer.Option(
            "--name", metavar="NAME", help="Only this model; of pages, may be repeated.", autocompletion=names_beginning
        ),
    ] = None,
    with_json: Annotated[
        bool | None,
        typer.Option("--json/--no-json", help="JSON beside each page, or none; by default with --format pages."),
    ] = None,
    compress: Annotated[bool, typer.Option("--gzip", help="Compress the data beside the pages, as .json.gz.")] = False,
    force: Annotated[bool, typer.Option("--force", help="Replace an earlier export.")] = False,
    quiet: Annotated[bool, typer.Option("-q", "--quiet", help="No progress.")] = False,
) -> None:
    """Write a site of plain files that any web server, or none, can show; or files for another program."""
    target = chosen_target(folder, output)
    check_file(file)
    if with_json is False and compress:
        raise typer.BadParameter("--gzip compresses what --no-json leaves out: choose one")
    if form in (Format.html, Format.pages):
        wanted = form is Format.pages if with_json is None else with_json
        data: Literal["json", "json.gz"] | None = "json.gz" if compress else "json" if wanted else None
        write_site(form, file, target, authors, documents, name, data, force, quiet)
        return
    of_pages = {"--authors": authors, "--documents": documents, "--gzip": compress}
    of_pages |= {} if with_json is None else {"--json" if with_json else "--no-json": True}
    refuse_options(form, [flag for flag, value in of_pages.items() if value not in (None, False)], name or [])
    names = write_files(form, file, target, name[0] if name else None, force)
    if not quiet:
        where = target if target.is_dir() else target.parent
        size = sum((where / each).stat().st_size for each in names)
        screen = look.console(stderr=True)
        what = f"{len(names)} files in {target}" if target.is_dir() else str(target)
        screen.print(f"wrote {what}, {size / 1e6:,.1f} MB", soft_wrap=True)


def chosen_target(folder: Path | None, output: Path | None) -> Path:
    """Target of an export, which is given in one of two ways.

    Examples
    --------
    >>> str(chosen_target(None, Path("site")))
    'site'
    """
    if folder is not None and output is not None:
        raise typer.BadParameter("give TARGET or -o, not both")
    target = output if folder is None else folder
    if target is None:
        raise typer.BadParameter("name the folder or file to write: -o TARGET")
    return target


def refuse_options(form: Format, of_pages: list[str], names: list[str]) -> None:
    """Refuse options that only pages have, and more models than a format holds."""
    if of_pages:
        raise typer.BadParameter(f"{of_pages[0]} is about pages, not about --format {form}: leave it out")
    if names and form is Format.parquet:
        raise typer.BadParameter(f"--format {form} writes all models of the file: leave out --name")
    if len(names) > 1:
        raise typer.BadParameter(f"--format {form} writes one model: give one --name")


def write_files(form: Format, file: Path, target: Path, name: str | None, force: bool) -> list[str]:
    """Write a model, or all tables, in the form of another program; return the names of the files."""
    if form is Format.parquet:
        from topoi.exchange.parquet import to_parquet

        return [f"{table}.parquet" for table in to_parquet(file, target, replace=force)]
    from topoi.exchange import files

    writers: dict[Format, Callable[[ModelView, Path, bool], list[str]]] = {
        Format.mallet: files.write_mallet,
        Format.pyldavis: files.write_pyldavis,
        Format.octis: files.write_octis,
        Format.gensim: files.write_gensim,
    }
    view = choose_model(file, name, [] if form is Format.gensim else [TOPICS])
    return writers[form](view, target, force)


def write_site(
    form: Format,
    file: Path,
    folder: Path,
    authors: int | None,
    documents: int | None,
    name: list[str] | None,
    data: Literal["json", "json.gz"] | None,
    force: bool,
    quiet: bool,
) -> None:
    """Write a site with a reader, or every page, with a bar on a terminal."""
    try:
        from topoi.web.export import Limits, export_site
        from topoi.web.reader.site import export_reader
    except ImportError as error:
        raise StoreError(f'the browser needs more packages: pip install "topoi[web]" ({error})') from error
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    screen = look.console(stderr=True)
    columns = (TextColumn("writing"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=screen, disable=quiet or not screen.is_terminal) as bar:
        task = bar.add_task("pages", total=None)

        def progress(done: int, total: int) -> None:
            bar.update(task, completed=done, total=total)

        write = export_reader if form is Format.html else export_site
        write(file, folder, Limits(authors, documents), names=name, data=data, replace=force, progress=progress)
    if not quiet:
        sizes = [path.stat().st_size for path in folder.rglob("*") if path.is_file()]
        size = f"{len(sizes):,} files, {sum(sizes) / 1e6:,.1f} MB"
        screen.print(f"wrote {size}; open {folder / 'index.html'}", soft_wrap=True)
