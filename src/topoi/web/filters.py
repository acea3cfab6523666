"""The filters and functions available to templates."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from topoi.drawing.words import clip, count, percent, percents, rounded, span, thousands
from topoi.models.registry import find
from topoi.store.facets import value_text
from topoi.web.pages.selection import parameter_of

if TYPE_CHECKING:
    from jinja2 import Environment


def family_name(model: str) -> str:
    """Plain name of a model's class.

    Examples
    --------
    >>> family_name("AuthorTopicModel"), family_name("LDA"), family_name("AuthorModel")
    ('author-topic model', 'LDA', 'author model')
    >>> family_name("KernelTopicModel"), family_name("DirichletMultinomialRegression")
    ('kernel topic model', 'Dirichlet-multinomial regression')
    """
    known = find(model)
    return model if known is None else known.title


def has_page(site: Mapping[str, Any], kind: str) -> bool:
    """Whether this model and this copy have a page of a kind, so that no link is dead.

    Examples
    --------
    >>> site = {"static": True, "nav": [("topics", "Topics", "/", True)]}
    >>> has_page(site, "topics"), has_page(site, "trends"), has_page(site, "search")
    (True, False, False)
    """
    if kind == "search":
        return not site["static"] or bool(site.get("reader"))
    return any(entry[0] == kind for entry in site["nav"])


FILTERS = {
    "percent": percent,
    "percents": percents,
    "thousands": thousands,
    "rounded": rounded,
    "clip": clip,
    "count": count,
    "family": family_name,
    "has": has_page,
    "value_text": value_text,
    "parameter": parameter_of,
}


def install(environment: Environment) -> None:
    """Install these filters, and the modules that draw and colour, in a template environment."""
    from topoi.drawing import charts, colours, doors
    from topoi.web import reading
    from topoi.web.pages.map import picture as map_picture

    environment.filters.update(FILTERS)
    environment.globals.update(charts=charts, colours=colours, doors=doors, reading=reading, span=span)
    environment.globals.update(map_picture=map_picture)
    environment.trim_blocks = True
    environment.lstrip_blocks = True
