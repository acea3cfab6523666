"""The addresses of pages: on the server, and as files of a static copy."""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlencode

from topoi.errors import NotFoundError

_SAFE = re.compile(r"[A-Za-z0-9._-]")
# After a page's name these mean its twins, so a model's name does not end in them.
_ENDINGS = re.compile(r"\.(?=(?:json|csv|svg|html)\Z)")
_SLUG = re.compile(r"(?:[A-Za-z0-9._-]|~[0-9A-F]{2})+")


def slug_of(name: str) -> str:
    """A model's name as a part of an address: every byte outside ``[A-Za-z0-9._-]`` becomes ``~XX``.

    Dots that would mean something else are written so too: "..", and that of ".json" at the end.

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
    """The name that ``slug_of`` wrote; anything else is a ``NotFoundError``.

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


def with_query(path: str, query: Mapping[str, Any]) -> str:
    """A path with its parameters; those that are None are left out, lists are repeated.

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
    """The addresses that templates ask for, whoever writes them: ``link.topic(7)``, ``link.twin("json")``."""

    def topic(self, topic: int, **query: Any) -> str:
        """A topic's page."""
        return self.page(f"topic/{int(topic)}", query)

    def author(self, author_id: int, **query: Any) -> str:
        """An author's page."""
        return self.page(f"author/{int(author_id)}", query)

    def document(self, document_id: int, **query: Any) -> str:
        """A document's page."""
        return self.page(f"document/{int(document_id)}", query)

    def word(self, word_id: int, **query: Any) -> str:
        """A word's page."""
        return self.page(f"word/{int(word_id)}", query)

    def authors(self, **query: Any) -> str:
        """The list of authors."""
        return self.page("authors", query)

    def documents(self, **query: Any) -> str:
        """The list of documents."""
        return self.page("documents", query)

    def structure(self, node: int | None = None, **query: Any) -> str:
        """The graph of topics, or one of its inner nodes."""
        return self.page("structure" if node is None else f"structure/{int(node)}", query)

    def metadata(self, **query: Any) -> str:
        """Topics along features."""
        return self.page("metadata", query)

    def trends(self, **query: Any) -> str:
        """Topics along time."""
        return self.page("trends", query)

    def compare(self, other: str | None = None, **query: Any) -> str:
        """Two models side by side; ``other`` is a slug."""
        return self.page(f"compare/{other}" if other else "compare", query)

    def search(self, **query: Any) -> str:
        """The search for anything."""
        return self.page("search", query)

    def parse(self, **query: Any) -> str:
        """A pasted text, labelled."""
        return self.page("parse", query)

    def reviewers(self, **query: Any) -> str:
        """Reviewers of a pasted text."""
        return self.page("reviewers", query)

    def models(self, **query: Any) -> str:
        """The models in the file."""
        return self.page("models", query)

    def overview(self, slug: str | None = None, **query: Any) -> str:
        """The first page of a model, by default of this one."""
        return self.page("", query, slug)

    @abstractmethod
    def page(self, path: str, query: Mapping[str, Any], slug: str | None = None) -> str:
        """The address of any page below a model's."""


@dataclass(frozen=True)
class Links(PageLinks):
    """Addresses on the server.

    Attributes
    ----------
    slug : str
        The model's part of the address.
    here : str
        The page this is, below the model's: ``topic/7``; empty for the overview.
    query : mapping
        This page's parameters.
    versions : mapping
        For each static file a digest of its contents, so that web browsers may keep it for ever.
    """

    slug: str
    here: str = ""
    query: Mapping[str, Any] = field(default_factory=dict)
    versions: Mapping[str, str] = field(default_factory=dict)

    def page(self, path: str, query: Mapping[str, Any], slug: str | None = None) -> str:
        """The address of any page below a model's."""
        return with_query(f"/m/{slug or self.slug}/{path}", query)

    def static(self, name: str) -> str:
        """A file that comes with the browser."""
        return with_query(f"/static/{name}", {"v": self.versions.get(name)})

    def twin(self, ending: str, **query: Any) -> str:
        """The page at hand as data: ``twin("json")``, ``twin("csv", table="words")``."""
        return with_query(f"/m/{self.slug}/{self.here or 'overview'}.{ending}", {**self.query, **query})

    def svg(self, kind: str | None = None, number: int | None = None, **query: Any) -> str:
        """A picture to keep: ``svg("topic", 7)``, ``svg("author", 3)``, ``svg("trends")``, ``svg("map")``."""
        if kind is None:
            return self.twin("svg", **query)
        path = kind if number is None else f"{kind}/{int(number)}"
        return with_query(f"/m/{self.slug}/{path}.svg", query)

    def complete(self, **query: Any) -> str:
        """Suggestions for the search box."""
        return with_query(f"/m/{self.slug}/complete.json", query)

    def label(self, topic: int) -> str:
        """Where a topic's label is sent to."""
        return f"/m/{self.slug}/topic/{int(topic)}/label"

    def same(self, **query: Any) -> str:
        """The page at hand with some of its parameters changed; None takes one away."""
        return with_query(f"/m/{self.slug}/{self.here}", {**self.query, **query})

    def home(self) -> str:
        """The model saved last."""
        return "/"


@dataclass(frozen=True)
class StaticLinks(PageLinks):
    """The same addresses in a static copy: relative names of files, parameters left out.

    Attributes
    ----------
    slug : str
        The model's folder.
    here : str
        The page this is, below the model's folder.
    """

    slug: str
    here: str = ""

    def page(self, path: str, query: Mapping[str, Any], slug: str | None = None) -> str:
        """The name of a page's file, as seen from this one."""
        return self._from_here(f"{slug or self.slug}/{path or 'index'}.html")

    def static(self, name: str) -> str:
        """A file that comes with the browser."""
        return self._from_here(f"static/{name}")

    def twin(self, ending: str, **query: Any) -> str:
        """The page at hand as data; a copy has the JSON twin, and a CSV file for each of its lists."""
        table = f".{query['table']}" if query.get("table") else ""
        return self._from_here(f"{self.slug}/{self.here or 'overview'}{table}.{ending}")

    def svg(self, kind: str | None = None, number: int | None = None, **query: Any) -> str:
        """A picture to keep."""
        if kind is None:
            return self.twin("svg")
        path = kind if number is None else f"{kind}/{int(number)}"
        return self._from_here(f"{self.slug}/{path}.svg")

    def complete(self, **query: Any) -> str:
        """Suggestions for the search box: a copy has none."""
        return ""

    def label(self, topic: int) -> str:
        """Where a label is sent to: a copy takes none."""
        return ""

    def same(self, **query: Any) -> str:
        """The page at hand."""
        return self.page(self.here, {})

    def home(self) -> str:
        """The copy's first page."""
        return self._from_here("index.html")

    def _from_here(self, path: str) -> str:
        """The way from this page; within the model's folder the shorter one, since a text has thousands of them."""
        up = "../" * self.here.count("/")
        own = f"{self.slug}/"
        return up + path.removeprefix(own) if path.startswith(own) else f"../{up}{path}"
