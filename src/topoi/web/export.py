"""Static copy of the browser: every page as a file, for any web server or none."""

from __future__ import annotations

import gzip
import json
import os
import shutil
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from html import escape
from pathlib import Path
from typing import Any, Final, Literal, NamedTuple

from topoi import __version__
from topoi.drawing.charts import chart_of
from topoi.errors import NotFoundError, StoreError, safe_text
from topoi.web.answers import to_json
from topoi.web.links import StaticLinks
from topoi.web.pages import PAGES, shapes
from topoi.web.pages.context import PageContext, StoreWatcher
from topoi.web.pages.graph import inner_nodes
from topoi.web.render import render, site_of, static_files

# A folder with this file is a copy, which may be replaced.
MARK = "topoi-site.json"
_LEFT_OUT = "left-out"
JSON: Final = "json"
GZIP: Final = "json.gz"
_PICTURES = ("overview", "topic", "structure", "node", "metadata", "author", "trends")
_BUILD = {page.kind: page.build for page in PAGES}


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
        if path == "metadata":
            path = _metadata_path(query)
        kind, _, number = path.partition("/")
        if kind in self.kept and number and int(number) not in self.kept[kind]:
            return super().page(_LEFT_OUT, {}, slug)
        if kind and kind not in self.kinds and slug in (None, self.slug):
            return super().page(_LEFT_OUT, {}, slug)
        return super().page(path + _suffix(query), {}, slug)

    def same(self, **query: Any) -> str:
        """The same page with another page number or colouring."""
        return self.page(_bare(self.here), query)

    def twin(self, ending: str, **query: Any) -> str:
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


def _metadata_path(query: Mapping[str, Any]) -> str:
    """File of the metadata page; each topic has its own."""
    topic = query.get("topic")
    return "metadata" if topic is None or isinstance(topic, list | tuple) else f"metadata/{int(topic)}"


def _bare(here: str) -> str:
    """Path of a page without what ``_suffix`` adds."""
    kind, slash, number = here.partition("/")
    return kind.split("-")[0] + slash + number.split("-")[0]


class PageFile(NamedTuple):
    """A page to write: its file, and a function that builds its JSON view."""

    here: str
    build: Callable[[PageContext], Any]


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
    target = Path(folder).resolve()
    _check_target(target, replace)
    watcher = StoreWatcher(Path(path))
    contexts = _contexts(watcher, names)
    _check_names([context.model["slug"] for context in contexts])
    target.parent.mkdir(parents=True, exist_ok=True)
    made = Path(tempfile.mkdtemp(prefix=f".{target.name}-", dir=target.parent))
    try:
        n_pages = _write_all([_Copy(context, made, limits or Limits(), data) for context in contexts], made, progress)
        about = {"topoi": __version__, "file": safe_text(watcher.path.name), "n_pages": n_pages}
        _write(made / MARK, to_json(about | {"names": sorted(entry.name for entry in made.iterdir())}))
        os.chmod(made, 0o755)
        _put_in_place(made, target)
    except BaseException:
        shutil.rmtree(made, ignore_errors=True)
        raise
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


def _put_in_place(made: Path, target: Path) -> None:
    before = made.with_name(f"{made.name}-before")
    if target.exists():
        os.rename(target, before)
    try:
        os.rename(made, target)
    except BaseException:
        if before.exists():
            os.rename(before, target)
        raise
    shutil.rmtree(before, ignore_errors=True)


def _write_all(copies: list[_Copy], folder: Path, progress: Callable[[int, int], None]) -> int:
    total, done = sum(copy.n_pages for copy in copies), 0
    for name, file in static_files().items():
        _write(folder / "static" / name, file.body)
    _write(folder / "index.html", _first_page(copies[0].context).encode())
    for copy in copies:
        for _ in copy.write():
            done += 1
            progress(done, max(total, done))
    return done


def _first_page(context: PageContext) -> str:
    """First page, a redirect to the model saved last."""
    address = f"{context.model['slug']}/index.html"
    title = escape(safe_text(context.watcher.path.name))
    return (
        f'<!doctype html><html lang="en"><meta charset="utf-8"><title>{title}</title>'
        f'<meta http-equiv="refresh" content="0; url={address}"><p><a href="{address}">{title}</a></p></html>\n'
    )


def _call(kind: str, positions: tuple[Any, ...], context: PageContext, **parameters: Any) -> Any:
    """Build the JSON view of a page."""
    return _BUILD[kind](context, *positions, **parameters)


class _Copy:
    """Pages of one model."""

    def __init__(self, context: PageContext, folder: Path, limits: Limits, data: str | None) -> None:
        self.context, self.folder, self.data = context, folder / context.model["slug"], data
        self.kinds = frozenset(page.kind for page in PAGES if page.needs(context)) - {"search", "parse", "reviewers"}
        authors = context.snapshot.authors.find("") if context.collection["n_authors"] else []
        self.authors = authors[: limits.authors]
        self.documents = self._documents(limits.documents)
        self.words = self._words()
        self.kept = {
            "author": frozenset(self.authors),
            "document": frozenset(self.documents),
            "word": frozenset(self.words),
        }

    @property
    def n_pages(self) -> int:
        """Approximate number of pages, without lists."""
        return self.context.view.n_topics + len(self.authors) + len(self.documents) + len(self.words)

    def _documents(self, most: int | None) -> list[int]:
        n = int(self.context.collection["n_documents"])
        if most is None or most >= n:
            return list(range(n))
        leading: dict[int, None] = {}
        for k in range(self.context.view.n_topics):
            leading.update(
                dict.fromkeys(int(row[1]) for row in self.context.view.rows("topic_documents", topic=k, n=15))
            )
        return sorted([*leading, *(d for d in range(n) if d not in leading)][:most])

    def _words(self) -> list[int]:
        """Words listed on the topics' pages."""
        found: set[int] = set()
        for k in range(self.context.view.n_topics):
            found |= {word["word_id"] for word in _BUILD["topic"](self.context, k)["words"]}
        return sorted(found)

    def write(self) -> Iterator[None]:
        """Write all pages, one at a time."""
        for file in self._files():
            twin = file.build(self.context)
            self._write_page(file.here, twin)
            yield
            if twin["kind"] == "document" and len(twin["authors"]) > 1:  # one alone has all words
                self._write_page(f"{file.here}-by-author", {**twin, "colour": "author"})
                yield
        self._write_page(_LEFT_OUT, _left_out(self.context))

    def _files(self) -> Iterator[PageFile]:
        yield PageFile("", _BUILD["overview"])
        yield PageFile("models", _BUILD["models"])
        if "trends" in self.kinds:
            yield PageFile("trends", _BUILD["trends"])
        if "structure" in self.kinds:
            yield PageFile("structure", _BUILD["structure"])
            for node in inner_nodes(self.context):
                yield PageFile(f"structure/{node}", partial(_call, "node", (node,)))
        if "metadata" in self.kinds:
            yield PageFile("metadata", _BUILD["metadata"])
            for k in range(self.context.view.n_topics):
                yield PageFile(f"metadata/{k}", partial(_call, "metadata", (), topic=[k]))
        yield from self._comparisons()
        yield from self._lists()
        if self.context.has_topics:
            yield from self._each("topic", range(self.context.view.n_topics))
        yield from self._each("author", self.authors)
        yield from self._each("word", self.words)
        yield from self._each("document", self.documents)

    def _each(self, kind: str, numbers: Any) -> Iterator[PageFile]:
        for number in numbers:
            yield PageFile(f"{kind}/{number}", partial(_call, kind, (number,)))

    def _comparisons(self) -> Iterator[PageFile]:
        if "compare" not in self.kinds:
            return
        yield PageFile("compare", _BUILD["compare"])
        for model in self.context.snapshot.models:
            if model["n_topics"] and model["slug"] != self.context.model["slug"]:
                yield PageFile(f"compare/{model['slug']}", partial(_call, "compare", (model["slug"],)))

    def _lists(self) -> Iterator[PageFile]:
        for kind in ("authors", "documents"):
            if kind in self.kinds:
                for page in range(1, _BUILD[kind](self.context)["n_pages"] + 1):
                    here = f"{kind}-{page}" if page > 1 else kind
                    yield PageFile(here, partial(_call, kind, (), page=page))

    def _write_page(self, here: str, twin: Any) -> None:
        link = FileLinks(self.context.model["slug"], here, self.kept, self.kinds, self.data)
        site = site_of(self.context, twin["kind"], link, read_only=True, static=True)
        name = here or "index"
        _write(self.folder / f"{name}.html", render(twin, site, link).encode("utf-8", "replace"))
        if self.data is not None and "-by-author" not in here and here != _LEFT_OUT:
            body = to_json(twin)
            body = gzip.compress(body, mtime=0) if self.data == GZIP else body
            _write(self.folder / f"{here or 'overview'}.{self.data}", body)
        if twin["kind"] in _PICTURES and (picture := chart_of(twin, site)) is not None:
            place = "map" if twin["kind"] == "overview" else here
            _write(self.folder / f"{place}.svg", str(picture).encode("utf-8", "replace"))


def _left_out(context: PageContext) -> shapes.ErrorPage:
    name = json.dumps(safe_text(context.watcher.path.name))
    detail = (
        "This copy shows only a part: searching, parsing and sampling need the program, and some authors, documents "
        f"and words have no page here. All of it is in the file: topoi browse {name}"
    )
    return shapes.ErrorPage(kind="error", status=404, title="Not in this copy", detail=detail)


def _write(path: Path, body: bytes) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(body)
