"""Declaration of a page by its module: address, function, shape, picture, tables, files of a copy."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple

from topoi.web.pages.context import PageContext
from topoi.web.pages.openings import tell_apart
from topoi.web.tables import Tables, lists_in

View = Mapping[str, Any]


def always(context: PageContext) -> bool:
    """Every model has the page."""
    return True


def has_topics(context: PageContext) -> bool:
    """Only models with topics have the page."""
    return context.has_topics


def has_graph(context: PageContext) -> bool:
    """Only models whose topics are nodes of a graph have the page."""
    return context.has_graph


def has_some_authors(context: PageContext) -> bool:
    """Only collections with authors have the page, whatever the model makes of them."""
    return context.collection["n_authors"] > 0


def never(parameters: Mapping[str, Any]) -> bool:
    """The page is quick to build."""
    return False


def with_text(parameters: Mapping[str, Any]) -> bool:
    """The page is slow to build once a text is given."""
    return bool(str(parameters.get("text") or "").strip() or parameters.get("kept"))


class Picture(NamedTuple):
    """The chart of a page as a file: its markup and its title."""

    chart: str
    title: str


class PageFile(NamedTuple):
    """A file of a static copy: its path below the model's folder, and a function that builds the JSON view."""

    here: str
    build: Callable[[PageContext], Any]


class Kept(NamedTuple):
    """Numbers of what has a page of its own in a static copy."""

    authors: Sequence[int]
    documents: Sequence[int]
    words: Sequence[int]


@dataclass(frozen=True)
class Page:
    """A kind of page; a module of this package declares it as ``PAGE``.

    Attributes
    ----------
    kind : str
        Its name, also that of its template.
    title : str
        Its title in the menu.
    path : str
        Its address below the model's, with parameters in braces; empty for the first page.
    build : callable
        Function of a page context and parameters that returns the JSON view.
    shape : type
        Type of the JSON view.
    place : int
        Pages are listed in this order, in the menu too.
    also : str, optional
        A second address, with more parameters.
    needs : callable
        Whether a model has such a page.
    in_menu : bool
        Whether the menu lists it.
    menu_key : str, optional
        Its name among the entries of the menu, if not its kind.
    below : str, optional
        Kind of the page whose entry in the menu is marked while this page is shown.
    costly : callable
        Function of the parameters that tells whether the page samples or computes, so that only a few may run at once.
    takes_text : bool
        Whether a text can be sent to it with POST.
    takes_table : bool
        Whether a table of submissions can be sent to it as a file, with POST.
    filters : sequence of mappings
        Parameters of any name that the page reads as ``asked``, as OpenAPI describes them.
    needs_server : bool
        Whether a static copy leaves it out.
    is_cached : bool
        Whether its HTML is kept until the file or a label changes; only for a page without parameters.
    chart : callable, optional
        Function of the JSON view and the site that returns the picture to download, or None without one.
    chart_path : str, optional
        Address of the picture, without ``.svg``, if not the page's own.
    tables : callable
        Function of the JSON view that returns its lists, which can be had as CSV.
    files : callable, optional
        Function of a page context and of what a static copy keeps that yields the page's files; by default one.
    file_of : callable, optional
        Function of a query that names the file which answers it, where more than a page's number matters.
    python : callable, optional
        Function of the JSON view and the site that returns one line of Python with its numbers, where ``model`` is
        ``topoi.view`` of the model; None if there is no such line.
    variants : callable
        Function of the JSON view that returns further files of a static copy: endings of their names, and their views.
    """

    kind: str
    title: str
    path: str
    build: Callable[..., Any]
    shape: Any
    place: int
    also: str | None = None
    needs: Callable[[PageContext], bool] = always
    in_menu: bool = True
    menu_key: str | None = None
    below: str | None = None
    costly: Callable[[dict[str, Any]], bool] = never
    takes_text: bool = False
    takes_table: bool = False
    filters: Sequence[Mapping[str, Any]] = ()
    needs_server: bool = False
    is_cached: bool = False
    chart: Callable[[View, View], Picture | None] | None = None
    chart_path: str | None = None
    tables: Callable[[View], Tables] = lists_in
    files: Callable[[PageContext, Kept], Iterable[PageFile]] | None = None
    file_of: Callable[[Mapping[str, Any]], str] | None = None
    python: Callable[[View, View], str | None] | None = None
    variants: Callable[[View], Mapping[str, View]] = lambda view: {}

    def view(self, context: PageContext, **parameters: Any) -> Any:
        """The JSON view, in which documents of equal titles are told apart."""
        return tell_apart(context, self.build(context, **parameters))

    def copied(self, context: PageContext, kept: Kept) -> Iterable[PageFile]:
        """The page's files in a static copy of a model."""
        if self.needs_server or not self.needs(context):
            return ()
        given = [PageFile(self.path, self.build)] if self.files is None else self.files(context, kept)
        return (PageFile(file.here, partial(_told_apart, file.build)) for file in given)


def _told_apart(build: Callable[[PageContext], Any], context: PageContext) -> Any:
    return tell_apart(context, build(context))


def numbered(path: str, build: Callable[..., Any], numbers: Iterable[Any]) -> Iterator[PageFile]:
    """A file for each number, such as a topic's, which is the first parameter of ``build``."""
    for number in numbers:
        yield PageFile(f"{path}/{number}", partial(_with_number, build, number))


def in_parts(path: str, build: Callable[..., Any], context: PageContext) -> Iterator[PageFile]:
    """A file for each part of a long list, whose number is the parameter ``page`` of ``build``."""
    for page in range(1, build(context)["n_pages"] + 1):
        yield PageFile(f"{path}-{page}" if page > 1 else path, partial(build, page=page))


def _with_number(build: Callable[..., Any], number: object, context: PageContext) -> Any:
    return build(context, number)
