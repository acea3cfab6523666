"""Rendering of pages as HTML: templates, their context, and static files."""

from __future__ import annotations

import hashlib
import mimetypes
import re
from collections.abc import Mapping
from functools import cache, partial
from importlib.resources import files
from importlib.resources.abc import Traversable
from typing import TYPE_CHECKING, Any, NamedTuple

from topoi import __version__
from topoi.errors import TopoiError, safe_text
from topoi.web import filters
from topoi.web.links import PageLinks
from topoi.web.pages import KINDS, PAGES
from topoi.web.pages.context import PageContext
from topoi.web.pages.graph import node_ends
from topoi.web.pages.text import collection_title, one_line
from topoi.web.pages.timespan import timeline
from topoi.web.security import STATIC_POLICY
from topoi.web.share import citation, python_lines

if TYPE_CHECKING:
    from jinja2 import Environment


# Pages with lists of topics to choose from.
_CHANGING = ("topic", "document")


# Addresses of fonts in style sheets, which get the fonts' versions, so that web browsers may cache them for ever.
_FONT = re.compile(rb'url\("(fonts/[^"?]+)"\)')


class StaticFile(NamedTuple):
    """A static file of the browser."""

    body: bytes
    media_type: str
    version: str


@cache
def static_files() -> Mapping[str, StaticFile]:
    """Files under ``/static/``, by name; read once, and nothing else is ever served from there."""
    folder = files("topoi.web").joinpath("static")
    found = {f"fonts/{entry.name}": _static_file(entry.name, entry.read_bytes()) for entry in _files(folder / "fonts")}
    for entry in _files(folder):
        body = entry.read_bytes()
        if entry.name.endswith(".css"):
            body = _FONT.sub(
                lambda match: b'url("%s?v=%s")' % (match[1], found[match[1].decode()].version.encode()), body
            )
        found[entry.name] = _static_file(entry.name, body)
    return found


def _files(folder: Traversable) -> list[Traversable]:
    return [entry for entry in folder.iterdir() if entry.is_file() and not entry.name.startswith(".")]


def _static_file(name: str, body: bytes) -> StaticFile:
    kind = "font/woff2" if name.endswith(".woff2") else mimetypes.guess_type(name)[0] or "application/octet-stream"
    return StaticFile(body, _with_charset(kind), hashlib.blake2b(body, digest_size=6).hexdigest())


def _with_charset(kind: str) -> str:
    textual = kind.startswith("text/") or kind.endswith(("javascript", "json", "xml"))
    return f"{kind}; charset=utf-8" if textual else kind


@cache
def environment() -> Environment:
    """The template environment; every value is escaped."""
    from jinja2 import Environment, PackageLoader

    made = Environment(loader=PackageLoader("topoi.web", "templates"), autoescape=True, auto_reload=False)
    filters.install(made)
    return made


def render(page: Mapping[str, Any], site: Mapping[str, Any], link: PageLinks) -> str:
    """Render a page as HTML.

    Parameters
    ----------
    page : mapping
        The JSON view; its kind names the template.
    site : mapping
        Site context, from ``site_of`` or ``bare_site``.
    link : PageLinks
        Link builder.
    """
    template = environment().get_template(f"{page['kind']}.html")
    lines = python_lines(page, site) if site["model"] else None
    return template.render(page=page, site=site, link=link, python=lines)


def site_of(
    context: PageContext, here: str, link: PageLinks, *, read_only: bool, token: str = "", static: bool = False
) -> dict[str, Any]:
    """Site context of a page: everything that it shows besides its own content.

    Parameters
    ----------
    context : PageContext
        The model.
    here : str
        The kind of page.
    link : PageLinks
        Link builder.
    read_only : bool
        Whether labels and changes are refused.
    token : str
        The CSRF token for forms.
    static : bool
        Whether the page is for a static copy.
    """
    site = bare_site(safe_text(context.watcher.path.name), read_only=read_only)
    if context.snapshot.title:
        site["title"] = one_line(context.snapshot.title)
    why_fixed = None if static or read_only else context.why_fixed
    may_change = not (static or read_only or why_fixed)
    return site | {
        "sentence": one_line(context.snapshot.sentence or ""),
        "switch": {} if static else model_addresses(context, here, link),
        "may_change": may_change,
        "why_fixed": why_fixed,
        "choices": _choices(context) if may_change and here in _CHANGING else [],
        "n_topics": len(context.topics),
        "changed": {k for edit in context.last_step for k in edit.topics},
        "n_edits": len(context.edits),
        "static": static,
        "policy": STATIC_POLICY if static else None,
        "citation": citation(context),
        "token": token,
        "models": context.snapshot.models,
        "model": context.model,
        "has_authors": context.has_authors,
        "has_topics": context.has_topics,
        "has_texts": context.has_texts,
        "years": context.years,
        "timeline": timeline(context),
        "trend_ends": partial(_trend_ends, context),
        "node_ends": partial(node_ends, context),
        "features": context.features,
        "nav": [
            (page.menu_key or page.kind, page.title, link.page(page.path, {}), is_at(page.kind, here))
            for page in PAGES
            if page.in_menu and page.needs(context) and not (static and page.needs_server)
        ],
        "here": here,
    }


def _trend_ends(context: PageContext, topic: int) -> tuple[list[float], list[float]]:
    """Ends of the intervals of a topic's shares of all years."""
    trends = context.cache.trends
    return trends.lower[topic].tolist(), trends.upper[topic].tolist()


# Parameters that mean something else in another model.
_OF_A_MODEL = frozenset({"topic", "a.topic", "b.topic", "least", "page", "relevance", "along", "value", "held"})
# Pages whose numbers are a model's own, and what stands for them in another.
_INSTEAD = {"topic": "overview", "node": "structure", "compare": "overview", "change": "overview", "error": "overview"}


def model_addresses(context: PageContext, here: str, link: PageLinks) -> dict[str, str]:
    """Addresses of the current page in each model of the file, or of the first page where a model has none such."""
    kind = _INSTEAD.get(here, here)
    page = KINDS.get(kind, KINDS["overview"])
    path = getattr(link, "here", "") if kind == here else page.path
    given = getattr(link, "query", {}) if kind == here and kind != "metadata" else {}
    query = {name: value for name, value in given.items() if name not in _OF_A_MODEL}
    found = {}
    for model in context.snapshot.models:
        slug = model["slug"]
        try:
            other = PageContext(context.watcher, context.snapshot, context.snapshot.cache(model["name"]))
            there = page.needs(other)
        except TopoiError:
            there = False
        found[slug] = link.page(path, query, slug) if there else link.overview(slug)
    return found


def _choices(context: PageContext) -> list[tuple[int, str]]:
    """Numbers and names of all topics, by name."""
    named = [(one["topic"], one["label"] or one["auto_label"]) for one in map(context.badge, context.topics)]
    return sorted(named, key=lambda pair: (pair[1].casefold(), pair[0]))


def is_at(kind: str, here: str) -> bool:
    """Whether the page belongs to a menu entry."""
    return kind == here or (here in KINDS and KINDS[here].below == kind)


def bare_site(file_name: str, *, read_only: bool) -> dict[str, Any]:
    """Site context where the file cannot be read, or no model was named."""
    return {
        "title": collection_title(file_name),
        "path": file_name,
        "sentence": "",
        "switch": {},
        "static": False,
        "policy": None,
        "citation": None,
        "reader": False,
        "read_only": read_only,
        "token": "",
        "may_change": False,
        "why_fixed": None,
        "choices": [],
        "n_topics": 0,
        "changed": set(),
        "n_edits": 0,
        "models": [],
        "model": None,
        "has_authors": False,
        "has_topics": False,
        "has_texts": False,
        "years": [],
        "timeline": None,
        "trend_ends": None,
        "node_ends": None,
        "features": [],
        "nav": [],
        "here": "error",
        "version": __version__,
    }
