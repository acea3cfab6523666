"""Static copy of the browser: every page as a file, for any web server or none."""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from html import escape
from pathlib import Path
from typing import Any, Final, Literal, NamedTuple

from topoi import __version__
from topoi.corpus.writing import whole_folder
from topoi.errors import NotFoundError, StoreError, safe_text
from topoi.web.answers import to_json
from topoi.web.links import StaticLinks
from topoi.web.pages import KINDS, page_of, picture_of
from topoi.web.pages.context import PageContext, StoreWatcher
from topoi.web.pages.page import Kept, Page
from topoi.web.pages.shapes import ErrorPage
from topoi.web.pages.topic import topic_words
from topoi.web.render import render, site_of, static_files
from topoi.web.security import STATIC_POLICY

# A folder with this file is a copy, which may be replaced.
MARK = "topoi-site.json"
LEFT_OUT = "left-out"
JSON: Final = "json"
GZIP: Final = "json.gz"


class Limits(NamedTuple):
    """Numbers of authors and documents that get their own pages; None is all of them."""

    authors: int | None = None
    documents: int | None = None


@dataclass(frozen=True)
class FileLinks(StaticLinks):
    """Relative names of files; links to what the copy leaves out lead to a page that says so.

    Attributes
    ----------
    kept : mapping
        Numbers of the authors, documents and words that have a page.
    kinds : set
        The existing kinds of pages.
    data : str or None
        File extension of a page's data; None if the copy has none.
    """

    kept: Mapping[str, frozenset[int]] = field(default_factory=dict)
    kinds: frozenset[str] = frozenset()
    data: str | None = JSON

    def page(self, path: str, query: Mapping[str, Any], slug: str | None = None) -> str:
        """Name of a page's file; each page of a list, and each colouring of a text, has its own file."""
        named = KINDS.get(path)
        if named is not None and named.file_of is not None:
            path = named.file_of(query)
        kind, _, number = path.partition("/")
        if kind in self.kept and number and int(number) not in self.kept[kind]:
            return super().page(LEFT_OUT, {}, slug)
        if kind and kind not in self.kinds and slug in (None, self.slug):
            return super().page(LEFT_OUT, {}, slug)
        return super().page(path + _suffix(query), {}, slug)

    def same(self, **query: object) -> str:
        """The same page with another page number or colouring."""
        return self.page(_bare(self.here), query)

    def as_data(self, ending: str, **query: object) -> str:
        """The page as data, the same for all colourings; empty if the copy has none."""
        if ending == JSON:
            if self.data is None:
                return ""
            ending = self.data
        return self._from_here(f"{self.slug}/{self.here.removesuffix('-by-author') or 'overview'}.{ending}")


def _suffix(query: Mapping[str, Any]) -> str:
    number = query.get("page")
    by_author = "-by-author" if query.get("colour") == "author" else ""
    return by_author + (f"-{int(number)}" if number and int(number) > 1 else "")


def _bare(here: str) -> str:
    """Path of a page without what ``_suffix`` adds."""
    kind, slash, number = here.partition("/")
    return kind.split("-")[0] + slash + number.split("-")[0]


def export_site(
    path: str | Path,
    folder: str | Path,
    limits: Limits | None = None,
    *,
    names: Sequence[str] | None = None,
    data: Literal["json", "json.gz"] | None = JSON,
    replace: bool = False,
    progress: Callable[[int, int], None] = lambda done, total: None,
) -> int:
    """Write a static copy of a store's pages; return the number of pages.

    The copy is made beside the folder and moved into place when it is complete.

    Parameters
    ----------
    path : str or Path
        The ``.topoi`` file.
    folder : str or Path
        Target of the copy. An existing one must be empty, or an earlier copy if ``replace``.
    limits : Limits, optional
        Number of authors (the busiest) and documents (those that lead a topic first) with pages; by default all.
    names : sequence of str, optional
        The models to copy; by default all.
    data : {"json", "json.gz"} or None
        Data beside each page: JSON, compressed JSON, or none.
    replace : bool
        Whether an earlier copy may be replaced.
    progress : callable
        Called with the number of pages done and the total.

    Examples
    --------
    >>> import pathlib, tempfile, topoi
    >>> from topoi.web.export import export_site
    >>> place = pathlib.Path(tempfile.mkdtemp())
    >>> topoi.LDA(2, n_iter=2, random_state=0).fit([[1, 2], [2, 1]]).save(place / "small.topoi")
    >>> export_site(place / "small.topoi", place / "site") > 5
    True
    >>> (place / "site" / "index.html").exists()
    True
    """
    kept = limits or Limits()
    return write_copies(path, folder, lambda context, made: Copy(context, made, kept, data), names, replace, progress)


def write_copies(
    path: str | Path,
    folder: str | Path,
    make: Callable[[PageContext, Path], Copy],
    names: Sequence[str] | None,
    replace: bool,
    progress: Callable[[int, int], None],
) -> int:
    """Write copies of models that ``make`` makes of a page context and a folder; return the number of steps taken."""
    target = Path(folder).resolve()
    _check_target(target, replace)
    watcher = StoreWatcher(Path(path))
    contexts = _contexts(watcher, names)
    _check_names([context.model["slug"] for context in contexts])
    with whole_folder(target) as made:
        n_pages = _write_all([make(context, made) for context in contexts], made, progress)
        about = {"topoi": __version__, "file": safe_text(watcher.path.name), "n_pages": n_pages}
        write_whole(made / MARK, to_json(about | {"names": sorted(entry.name for entry in made.iterdir())}))
    return n_pages


def _contexts(watcher: StoreWatcher, names: Sequence[str] | None) -> list[PageContext]:
    """Page contexts of the models to copy, the one saved last first; as if the file had no other models."""
    snapshot = watcher.snapshot()
    if not snapshot.models:
        raise StoreError(f"{watcher.path} holds no model; save one with `topoi fit` or model.save")
    there = [model["name"] for model in snapshot.models]
    for name in names or ():
        if name not in there:
            raise NotFoundError(f"there is no model {name!r}; there are: {', '.join(map(repr, reversed(there)))}")
    snapshot.models = [model for model in snapshot.models if names is None or model["name"] in names]
    return [PageContext(watcher, snapshot, snapshot.cache(model["name"])) for model in snapshot.models]


def _check_target(target: Path, replace: bool) -> None:
    """Raise an error unless the target is an empty folder or, with ``replace``, an earlier copy."""
    if not target.exists():
        return
    if not target.is_dir():
        raise StoreError(f"{target} is a file; name a folder to write to")
    if not any(target.iterdir()):
        return
    if not (target / MARK).is_file():
        raise StoreError(f"{target} is a folder with other things in it; name a new one")
    if not replace:
        raise StoreError(f"{target} holds an earlier copy; choose another folder, or replace it with --force")
    others = sorted({entry.name for entry in target.iterdir()} - _names_in_copy(target))
    if others:
        more = ", ".join(others[:5])
        raise StoreError(f"{target} holds more than an earlier copy ({more}): move that, or name a new folder")


def _names_in_copy(target: Path) -> set[str]:
    """Names at the top level of an earlier copy."""
    try:
        return {MARK, *map(str, json.loads((target / MARK).read_text(encoding="utf-8"))["names"])}
    except (OSError, ValueError, KeyError, TypeError):
        return {MARK}


def _check_names(slugs: list[str]) -> None:
    folded = [slug.casefold() for slug in slugs]
    for slug in slugs:
        if folded.count(slug.casefold()) > 1 or slug.casefold() == "static":
            raise StoreError(f"the model {slug!r} has the name of another folder, but for letter case; rename one")


def _write_all(copies: list[Copy], folder: Path, progress: Callable[[int, int], None]) -> int:
    total, done = sum(copy.n_steps for copy in copies), 0
    for name, file in static_files().items():
        write_whole(folder / "static" / name, file.body)
    write_whole(folder / "index.html", _first_page(copies[0].context).encode())
    for copy in copies:
        for _ in copy.write():
            done += 1
            progress(done, max(total, done))
    if done < total:
        progress(done, done)
    return done


def _first_page(context: PageContext) -> str:
    """First page, a redirect to the model saved last."""
    address = f"{context.model['slug']}/index.html"
    title = escape(safe_text(context.watcher.path.name))
    return (
        f'<!doctype html><html lang="en"><meta charset="utf-8"><title>{title}</title>'
        f'<meta http-equiv="Content-Security-Policy" content="{escape(STATIC_POLICY)}">'
        f'<link rel="icon" type="image/svg+xml" href="static/favicon.svg">'
        f'<meta http-equiv="refresh" content="0; url={address}"><p><a href="{address}">{title}</a></p></html>\n'
    )


class Copy:
    """Pages of one model."""

    has_pictures = True

    def __init__(self, context: PageContext, folder: Path, limits: Limits, data: str | None) -> None:
        self.context, self.folder, self.data = context, folder / context.model["slug"], data
        self.kinds = frozenset(page.kind for page in KINDS.values() if page.needs(context) and not page.needs_server)
        authors = context.snapshot.authors.find("") if context.collection["n_authors"] else []
        self.kept = Kept(authors[: limits.authors], self._documents(limits.documents), self._words())
        self.linked = {
            "author": frozenset(self.kept.authors),
            "document": frozenset(self.kept.documents),
            "word": frozenset(self.kept.words),
        }

    @property
    def n_steps(self) -> int:
        """Approximate number of pages, without lists."""
        return len(self.context.topics) + sum(map(len, self.kept))

    def _documents(self, most: int | None) -> list[int]:
        n = int(self.context.collection["n_documents"])
        if most is None or most >= n:
            return list(range(n))
        leading: dict[int, None] = {}
        for k in self.context.topics:
            leading.update(
                dict.fromkeys(int(row[1]) for row in self.context.view.rows("topic_documents", topic=k, n=15))
            )
        return sorted([*leading, *(d for d in range(n) if d not in leading)][:most])

    def _words(self) -> list[int]:
        """Words listed on the topics' pages."""
        found: set[int] = set()
        for k in self.context.topics:
            found |= {word["word_id"] for word in topic_words(self.context, k)}
        return sorted(found)

    def links(self, here: str) -> FileLinks:
        """Link builder of a page."""
        return FileLinks(self.context.model["slug"], here, self.linked, self.kinds, self.data)

    def site(self, kind: str, link: FileLinks) -> dict[str, Any]:
        """Site context of a page."""
        return site_of(self.context, kind, link, read_only=True, static=True)

    def html(self, view: Mapping[str, Any], site: Mapping[str, Any], link: FileLinks) -> str:
        """A page as HTML."""
        return render(view, site, link)

    def write(self) -> Iterator[None]:
        """Write all pages, one at a time."""
        yield from self._write_pages(KINDS.values())

    def _write_pages(self, pages: Iterable[Page]) -> Iterator[None]:
        for page in pages:
            for file in page.copied(self.context, self.kept):
                view = file.build(self.context)
                self._write_page(file.here, view)
                yield
                for ending, variant in page.variants(view).items():
                    self._write_page(f"{file.here}{ending}", variant, is_variant=True)
                    yield
        self._write_page(LEFT_OUT, self.left_out(), is_variant=True)

    def left_out(self) -> ErrorPage:
        """The page that links lead to if what they name is not in the copy."""
        return not_here(self.context, "searching, parsing and sampling need the program")

    def _write_page(self, here: str, view: Mapping[str, Any], *, is_variant: bool = False) -> None:
        """Write a page and, unless it is another view of the same data, its data; and its picture."""
        link = self.links(here)
        site = self.site(view["kind"], link)
        name = here or "index"
        write_whole(self.folder / f"{name}.html", self.html(view, site, link).encode("utf-8", "replace"))
        if self.data is not None and not is_variant:
            body = to_json(view)
            body = gzip.compress(body, mtime=0) if self.data == GZIP else body
            write_whole(self.folder / f"{here or 'overview'}.{self.data}", body)
        if self.has_pictures and (picture := picture_of(view, site)) is not None:
            place = page_of(view).chart_path or here
            write_whole(self.folder / f"{place}.svg", picture.encode("utf-8", "replace"))


def not_here(context: PageContext, needs: str) -> ErrorPage:
    """Page about what a copy leaves out; ``needs`` says what needs the program."""
    name = json.dumps(safe_text(context.watcher.path.name))
    detail = (
        f"This copy shows only a part: {needs}, and some authors, documents "
        f"and words have no page here. All of it is in the file: topoi browse {name}"
    )
    return ErrorPage(kind="error", status=404, title="Not in this copy", detail=detail)


def write_whole(path: Path, body: bytes) -> None:
    """Write a file of a copy, and the folders above it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(body)
