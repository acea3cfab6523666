"""The pages: each a function from a page context and parameters to a plain dict, its JSON view.

A module with a ``PAGE`` is a page: adding one needs that module, and a template of its kind's name. ``KINDS`` has what
they declare; ``PAGES`` has an entry for each address. The server, the menu and the static copy read these.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from importlib import import_module
from pkgutil import iter_modules
from typing import Any

from topoi.web.pages.page import Page

__all__ = ["KINDS", "PAGES", "Page", "page_of", "picture_of"]


def _declared() -> list[Page]:
    """The pages that the modules of this package declare, in the order of the menu."""
    modules = (import_module(f"{__name__}.{module.name}") for module in iter_modules(__path__))
    return sorted((module.PAGE for module in modules if hasattr(module, "PAGE")), key=lambda page: page.place)


def _addresses(page: Page) -> list[Page]:
    second = [] if page.also is None else [replace(page, path=page.also, in_menu=False)]
    return [page, *second]


KINDS: Mapping[str, Page] = {page.kind: page for page in _declared()}
PAGES = tuple(address for page in KINDS.values() for address in _addresses(page))


def page_of(view: Mapping[str, Any]) -> Page:
    """The page that a JSON view is of."""
    return KINDS[view["kind"]]


def picture_of(view: Mapping[str, Any], site: Mapping[str, Any]) -> str | None:
    """The chart of a page as a standalone SVG file, or None if it has none."""
    from topoi.drawing.standalone import standalone_svg

    page = KINDS.get(view["kind"])
    found = page.chart(view, site) if page is not None and page.chart is not None else None
    return None if found is None else standalone_svg(found.chart, found.title)
