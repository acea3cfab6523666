"""Exported site: main lists as pages without script, and a reader with compact data for everything else."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path
from typing import Any, Literal

from topoi.store.full_text import indexed_words
from topoi.web.answers import to_json
from topoi.web.export import JSON, LEFT_OUT, Copy, FileLinks, Limits, not_here, write_copies, write_whole
from topoi.web.links import with_query
from topoi.web.pages import KINDS
from topoi.web.pages.context import PageContext
from topoi.web.pages.page import Page
from topoi.web.pages.shapes import ErrorPage
from topoi.web.reader.data import core_file, data_files, n_packed, trends_file
from topoi.web.reader.index import index_files
from topoi.web.reader.lean import lean

# Kinds of pages that the reader's script draws.
READ = frozenset({"document", "documents", "author", "word", "search"})
# Parts of a long list that are pages; the reader has all of it.
MOST_PARTS = 20
# Pages whose own script fetches their JSON; from disk, where it may not, they show the picture of pages without script.
FETCHED = frozenset({"map"})
_READER = "read"


@dataclass(frozen=True)
class ReaderLinks(FileLinks):
    """Relative names of files, and addresses within the reader: ``read.html#/document/5``."""

    def page(self, path: str, query: Mapping[str, Any], slug: str | None = None) -> str:
        """Name of a page's file, or its address within the reader."""
        kind, _, number = path.partition("/")
        there = slug in (None, self.slug)
        if there and kind == "search" and not query:
            return self._reader()
        if there and kind in self.kept and number and int(number) not in self.kept[kind] and kind != "word":
            return super().page(LEFT_OUT, {}, slug)
        if there and (kind in READ or (kind == "authors" and _beyond(query)) or (kind == "trends" and query)):
            return f"{self._reader()}#/{with_query(path, query)}"
        return super().page(path, query, slug)

    def _reader(self) -> str:
        return self._from_here(f"{self.slug}/{_READER}.html")

    def as_data(self, ending: str, **query: object) -> str:
        """The page as JSON; no other files lie beside it."""
        if ending == JSON and self.data is None and self.here in FETCHED:
            return self._from_here(f"{self.slug}/{self.here}.{JSON}")
        return super().as_data(ending, **query) if ending == JSON else ""

    def svg(self, kind: str | None = None, number: int | None = None, **query: object) -> str:
        """No pictures beside the pages, which have them."""
        return ""


def _beyond(query: Mapping[str, Any]) -> bool:
    """Whether a page of a list is not among those that are files."""
    return bool(query.get("q")) or int(query.get("page") or 1) > MOST_PARTS


def export_reader(
    path: str | Path,
    folder: str | Path,
    limits: Limits | None = None,
    *,
    names: Sequence[str] | None = None,
    data: Literal["json", "json.gz"] | None = None,
    replace: bool = False,
    progress: Callable[[int, int], None] = lambda done, total: None,
) -> int:
    """Write a store as a site of plain files: pages for the main lists, and a reader for all else; count the steps.

    Topics, each topic, authors, trends and the models are pages that need no script. Documents with every word
    coloured, authors, words and search are drawn by a script from compact data files, also without a web server.
    The site is made beside the folder and moved into place when it is complete.

    Parameters
    ----------
    path : str or Path
        The ``.topoi`` file.
    folder : str or Path
        Target of the site. An existing one must be empty, or an earlier export if ``replace``.
    limits : Limits, optional
        Number of authors (the busiest) and documents (those that lead a topic first) to include; by default all.
    names : sequence of str, optional
        The models to include; by default all.
    data : {"json", "json.gz"}, optional
        JSON beside each page, compressed or not; by default none.
    replace : bool
        Whether an earlier export may be replaced.
    progress : callable
        Called with the number of steps done and the total.

    Examples
    --------
    >>> import pathlib, tempfile, topoi
    >>> from topoi.web.reader.site import export_reader
    >>> place = pathlib.Path(tempfile.mkdtemp())
    >>> topoi.LDA(2, n_iter=2, random_state=0).fit([[1, 2], [2, 1]]).save(place / "small.topoi")
    >>> export_reader(place / "small.topoi", place / "site") > 5
    True
    >>> (place / "site" / "LDA" / "read.html").exists()
    True
    """
    kept = limits or Limits()
    return write_copies(
        path, folder, lambda context, made: ReaderCopy(context, made, kept, data), names, replace, progress
    )


class ReaderCopy(Copy):
    """Pages and data of one model."""

    has_pictures = False

    def __init__(self, context: PageContext, folder: Path, limits: Limits, data: str | None) -> None:
        super().__init__(context, folder, limits, data)
        self.pages = [_shortened(page) for page in KINDS.values() if page.kind not in READ]

    @property
    def n_steps(self) -> int:
        """Approximate number of pages and of what is packed."""
        return len(self.context.topics) + len(self.pages) + n_packed(self.context, self.kept)

    def links(self, here: str) -> FileLinks:
        """Link builder of a page."""
        kinds = self.kinds | READ
        return ReaderLinks(self.context.model["slug"], here, self.linked, kinds, self.data)

    def site(self, kind: str, link: FileLinks) -> dict[str, Any]:
        """Site context of a page, whose menu has the reader's pages too."""
        return super().site(kind, link) | {"reader": True}

    def html(self, view: Mapping[str, Any], site: Mapping[str, Any], link: FileLinks) -> str:
        """A page as HTML, without what makes it large."""
        made = super().html(view, site, link)
        return made if view["kind"] == "overview" else lean(made)

    def left_out(self) -> ErrorPage:
        """The page that links lead to if what they name is not in the copy."""
        return not_here(self.context, "parsing, reviewers and sampling need the program")

    def write(self) -> Iterator[None]:
        """Write pages, then the reader and its data, step by step."""
        yield from self._write_pages(self.pages)
        self._write_page(_READER, {"kind": "reader"}, is_variant=True)
        starts: dict[str, Any] = {}
        for file in data_files(self.context, self.kept):
            if file.body is not None:
                self._write_data(file.name, file.body)
                starts.setdefault(file.table, []).append(file.start)
            yield
        n, every = self.context.collection["n_documents"], len(self.kept.documents)
        words = indexed_words(self.context.view.store) if self.context.has_texts or n else iter(())
        for part in index_files(words, n, None if every == n else self.kept.documents):
            self._write_data(part.name, part.body)
            yield
        if KINDS["trends"].needs(self.context):
            self._write_data("trends", trends_file(self.context))
        self._write_data("core", core_file(self.context, self.kept, starts))

    def _write_page(self, here: str, view: Mapping[str, Any], *, is_variant: bool = False) -> None:
        super()._write_page(here, view, is_variant=is_variant)
        if self.data is None and here in FETCHED:
            write_whole(self.folder / f"{here}.{JSON}", to_json(view))

    def _write_data(self, name: str, body: bytes) -> None:
        write_whole(self.folder / "data" / f"{name}.js", body)


def _shortened(page: Page) -> Page:
    """A page of which only the first parts of a long list are files."""
    if page.kind != "authors" or page.files is None:
        return page
    files = page.files
    return replace(page, files=lambda context, kept: islice(files(context, kept), MOST_PARTS))
