"""Addresses of pages: on the server, and as files of a static copy."""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlencode

from topoi.errors import NotFoundError

_SAFE = re.compile(r"[A-Za-z0-9._-]")
# File extensions of a page's other formats; a model's name must not end in them.
_ENDINGS = re.compile(r"\.(?=(?:json|csv|svg|html)\Z)")
_SLUG = re.compile(r"(?:[A-Za-z0-9._-]|~[0-9A-F]{2})+")


def slug_of(name: str) -> str:
    """A model's name as a part of an address: every byte outside ``[A-Za-z0-9._-]`` becomes ``~XX``.

    Dots with another meaning are escaped too: those of "..", and that of ".json" at the end.

    Examples
    --------
    >>> from topoi.web.links import slug_of
    >>> slug_of("fifty topics"), slug_of(".."), slug_of("é")
    ('fifty~20topics', '~2E~2E', '~C3~A9')
    """
    characters = [c if _SAFE.fullmatch(c) else "".join(f"~{byte:02X}" for byte in c.encode()) for c in name]
    slug = _ENDINGS.sub("~2E", "".join(characters))
    return slug if slug.strip(".") else slug.replace(".", "~2E")


def name_of(slug: str) -> str:
    """Inverse of ``slug_of``; anything else is a ``NotFoundError``.

    Examples
    --------
    >>> from topoi.web.links import name_of
    >>> name_of("fifty~20topics")
    'fifty topics'
    """
    try:
        if not _SLUG.fullmatch(slug):
            raise ValueError
        name = re.sub(rb"~([0-9A-F]{2})", lambda m: bytes.fromhex(m[1].decode()), slug.encode("ascii")).decode()
    except ValueError:
        raise NotFoundError(f"there is no model at the address {slug[:100]!r}") from None
    if slug_of(name) != slug:
        raise NotFoundError(f"there is no model at the address {slug[:100]!r}")
    return name


def prefixed(prefix: str, query: Mapping[str, Any]) -> dict[str, Any]:
    """Query parameters with a prefix, as for one of two selections of documents.

    Examples
    --------
    >>> from topoi.web.links import prefixed
    >>> prefixed("a.", {"topic": [3]})
    {'a.topic': [3]}
    """
    return {prefix + name: value for name, value in query.items()}


def with_query(path: str, query: Mapping[str, Any]) -> str:
    """A path with query parameters; None is left out, lists are repeated.

    Examples
    --------
    >>> from topoi.web.links import with_query
    >>> with_query("/a", {"q": "x y", "page": None, "topic": [1, 2]})
    '/a?q=x+y&topic=1&topic=2'
    """
    pairs: list[tuple[str, str]] = []
    for name, value in query.items():
        values = value if isinstance(value, list | tuple) else [value]
        pairs += [(name, str(v).lower() if isinstance(v, bool) else str(v)) for v in values if v is not None]
    return f"{path}?{urlencode(pairs, errors='replace')}" if pairs else path


class PageLinks(ABC):
    """Addresses for templates, in any medium: ``link.topic(7)``, ``link.as_data("json")``."""

    def topic(self, topic: int, **query: object) -> str:
        """Page of a topic."""
        return self.page(f"topic/{int(topic)}", query)

    def author(self, author_id: int, **query: object) -> str:
        """Page of an author."""
        return self.page(f"author/{int(author_id)}", query)

    def document(self, document_id: int, **query: object) -> str:
        """Page of a document."""
        return self.page(f"document/{int(document_id)}", query)

    def word(self, word_id: int, **query: object) -> str:
        """Page of a word."""
        return self.page(f"word/{int(word_id)}", query)

    def authors(self, **query: object) -> str:
        """List of authors."""
        return self.page("authors", query)

    def documents(self, **query: object) -> str:
        """List of documents."""
        return self.page("documents", query)

    def map(self, **query: object) -> str:
        """Documents on a map."""
        return self.page("map", query)

    def structure(self, node: int | None = None, **query: object) -> str:
        """Graph of topics, or one of its inner nodes."""
        return self.page("structure" if node is None else f"structure/{int(node)}", query)

    def metadata(self, **query: object) -> str:
        """Topics along features."""
        return self.page("metadata", query)

    def trends(self, **query: object) -> str:
        """Topics along time."""
        return self.page("trends", query)

    def groups(self, **query: object) -> str:
        """Comparison of groups of documents."""
        return self.page("groups", query)

    def groups_of(self, query: Mapping[str, Any], other: Mapping[str, Any] | None = None) -> str:
        """Comparison of the documents of one selection with those of another, or with all others."""
        kept = {name: value for name, value in query.items() if name not in ("sort", "page")}
        return self.page("groups", prefixed("a.", kept) | prefixed("b.", other or {}))

    def compare(self, other: str | None = None, **query: object) -> str:
        """Comparison of two models; ``other`` is a slug."""
        return self.page(f"compare/{other}" if other else "compare", query)

    def together(self, **query: object) -> str:
        """Topics in the same documents."""
        return self.page("together", query)

    def oddities(self, **query: object) -> str:
        """Surprising documents."""
        return self.page("oddities", query)

    def search(self, **query: object) -> str:
        """Full search."""
        return self.page("search", query)

    def parse(self, **query: object) -> str:
        """Labelling of a pasted text."""
        return self.page("parse", query)

    def reviewers(self, **query: object) -> str:
        """Reviewers of a pasted text."""
        return self.page("reviewers", query)

    def submissions(self, **query: object) -> str:
        """Reviewers of many submissions."""
        return self.page("submissions", query)

    def models(self, **query: object) -> str:
        """List of the models in the file."""
        return self.page("models", query)

    def history(self, **query: object) -> str:
        """Changes of topics by hand."""
        return self.page("history", query)

    def overview(self, slug: str | None = None, **query: object) -> str:
        """First page of a model, by default of this one."""
        return self.page("", query, slug)

    @abstractmethod
    def page(self, path: str, query: Mapping[str, Any], slug: str | None = None) -> str:
        """Address of any page of a model."""


@dataclass(frozen=True)
class Links(PageLinks):
    """Addresses on the server.

    Attributes
    ----------
    slug : str
        Slug of the model.
    here : str
        Path of the current page below the model's: ``topic/7``; empty for the overview.
    query : mapping
        Query parameters of the current page.
    versions : mapping
        Digest of each static file, so that web browsers may cache it for ever.
    """

    slug: str
    here: str = ""
    query: Mapping[str, Any] = field(default_factory=dict)
    versions: Mapping[str, str] = field(default_factory=dict)

    def page(self, path: str, query: Mapping[str, Any], slug: str | None = None) -> str:
        """Address of any page of a model."""
        return with_query(f"/m/{slug or self.slug}/{path}", query)

    def static(self, name: str) -> str:
        """Address of a static file."""
        return with_query(f"/static/{name}", {"v": self.versions.get(name)})

    def as_data(self, ending: str, **query: object) -> str:
        """The current page as data: ``as_data("json")`` for its JSON view, ``as_data("csv", table="words")``."""
        return with_query(f"/m/{self.slug}/{self.here or 'overview'}.{ending}", {**self.query, **query})

    def svg(self, kind: str | None = None, number: int | None = None, **query: object) -> str:
        """Picture to download: ``svg("topic", 7)``, ``svg("author", 3)``, ``svg("trends")``, ``svg("map")``."""
        if kind is None:
            return self.as_data("svg", **query)
        path = kind if number is None else f"{kind}/{int(number)}"
        return with_query(f"/m/{self.slug}/{path}.svg", query)

    def complete(self, **query: object) -> str:
        """Suggestions for the search box."""
        return with_query(f"/m/{self.slug}/complete.json", query)

    def ready(self) -> str:
        """What is still being compiled."""
        return f"/m/{self.slug}/ready.json"

    def label(self, topic: int) -> str:
        """Address that a topic's label is posted to."""
        return f"/m/{self.slug}/topic/{int(topic)}/label"

    def change(self, number: int | None = None, act: str | None = None) -> str:
        """Address that changes of topics are posted to; page of one, or where it is kept or left."""
        parts = ["change", *([] if number is None else [str(int(number))]), *([] if act is None else [act])]
        return f"/m/{self.slug}/{'/'.join(parts)}"

    def place(self) -> str:
        """Address that asks for places of the documents on the map."""
        return f"/m/{self.slug}/map/place"

    def undo(self) -> str:
        """Address that undoes the last change."""
        return f"/m/{self.slug}/history/undo"

    def two_topics(self, other: str) -> Callable[[int, int], str]:
        """Addresses of two topics beside each other, of this model and of another, whose slug is given."""
        return lambda first, second: f"{self.compare(other, first=first, second=second)}#beside"

    def year_documents(self, n_years: int = 1, **query: object) -> Callable[[int], str] | None:
        """Addresses of the documents of a year, or of ``n_years`` from it on, by further filters."""

        def address(year: int) -> str:
            span = {"year": year} if n_years == 1 else {"from": year, "to": year + n_years - 1}
            return self.page("documents", {**query, **span})

        return address

    def same(self, **query: object) -> str:
        """The current page with some parameters changed; None removes one."""
        return with_query(f"/m/{self.slug}/{self.here}", {**self.query, **query})

    def between(self, years: Mapping[str, Any]) -> str:
        """The current page with documents of some years, ``first`` to ``last``, only."""
        first, last = years["first"], years["last"]
        span = {"year": first, "from": None, "to": None} if first == last else {"year": None, "from": first, "to": last}
        return self.same(**span, page=None)

    def home(self) -> str:
        """First page of the model saved last."""
        return "/"


@dataclass(frozen=True)
class StaticLinks(PageLinks):
    """Addresses in a static copy: relative names of files, without parameters.

    Attributes
    ----------
    slug : str
        Folder of the model.
    here : str
        Path of the current page below the model's folder.
    """

    slug: str
    here: str = ""

    @property
    def query(self) -> Mapping[str, Any]:
        """Query parameters of the current page: files have none."""
        return {}

    def page(self, path: str, query: Mapping[str, Any], slug: str | None = None) -> str:
        """Name of a page's file, relative to the current one."""
        return self._from_here(f"{slug or self.slug}/{path or 'index'}.html")

    def static(self, name: str) -> str:
        """Name of a static file."""
        return self._from_here(f"static/{name}")

    def as_data(self, ending: str, **query: object) -> str:
        """The current page as data; a copy has the JSON view, and a CSV file for each of its lists."""
        table = f".{query['table']}" if query.get("table") else ""
        return self._from_here(f"{self.slug}/{self.here or 'overview'}{table}.{ending}")

    def svg(self, kind: str | None = None, number: int | None = None, **query: object) -> str:
        """Name of a picture to download."""
        if kind is None:
            return self.as_data("svg")
        path = kind if number is None else f"{kind}/{int(number)}"
        return self._from_here(f"{self.slug}/{path}.svg")

    def complete(self, **query: object) -> str:
        """Suggestions for the search box: none in a copy."""
        return ""

    def label(self, topic: int) -> str:
        """Address that a label is posted to: none in a copy."""
        return ""

    def year_documents(self, n_years: int = 1, **query: object) -> Callable[[int], str] | None:
        """Addresses of the documents of a year: a copy has no such pages."""
        return None

    def same(self, **query: object) -> str:
        """The current page."""
        return self.page(self.here, {})

    def home(self) -> str:
        """First page of the copy."""
        return self._from_here("index.html")

    def _from_here(self, path: str) -> str:
        """Path relative to the current page, short within the model's folder, as a text has thousands of links."""
        up = "../" * self.here.count("/")
        own = f"{self.slug}/"
        return up + path.removeprefix(own) if path.startswith(own) else f"../{up}{path}"
