"""The pages: each a function from a page context and parameters to a plain dict, its JSON view.

``PAGES`` is the registry used by the server, the menu and the static copy. ``needs`` tells whether a model has a page.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from topoi.web.pages import shapes
from topoi.web.pages.author import author_page
from topoi.web.pages.authors import authors_page
from topoi.web.pages.compare import compare_page
from topoi.web.pages.context import PageContext
from topoi.web.pages.document import document_page
from topoi.web.pages.documents import documents_page
from topoi.web.pages.metadata import metadata_page
from topoi.web.pages.models import models_page
from topoi.web.pages.node import node_page
from topoi.web.pages.overview import overview_page
from topoi.web.pages.parse import parse_page
from topoi.web.pages.reviewers import reviewers_page
from topoi.web.pages.search import search_page
from topoi.web.pages.structure import structure_page
from topoi.web.pages.topic import topic_page
from topoi.web.pages.trends import trends_page
from topoi.web.pages.word import word_page


def _always(context: PageContext) -> bool:
    return True


def _topics(context: PageContext) -> bool:
    return context.has_topics


def _graph(context: PageContext) -> bool:
    return context.has_graph


def _features(context: PageContext) -> bool:
    return bool(context.features)


def _some_authors(context: PageContext) -> bool:
    return context.collection["n_authors"] > 0


def _years(context: PageContext) -> bool:
    return len(context.years) > 1


def _two_models(context: PageContext) -> bool:
    return context.has_topics and sum(bool(model["n_topics"]) for model in context.snapshot.models) > 1


def _reviewers(context: PageContext) -> bool:
    return context.has_topics and context.has_authors


class Page(NamedTuple):
    """A kind of page.

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
    needs : callable
        Whether a model has such a page.
    in_menu : bool
        Whether the menu lists it.
    costly : callable
        Function of the parameters that tells whether the page samples or computes, so that only a few may run at once.
    takes_text : bool
        Whether a text can be sent to it with POST.
    """

    kind: str
    title: str
    path: str
    build: Callable[..., Any]
    shape: Any
    needs: Callable[[PageContext], bool] = _always
    in_menu: bool = True
    costly: Callable[[dict[str, Any]], bool] = lambda parameters: False
    takes_text: bool = False


def _sampled(parameters: dict[str, Any]) -> bool:
    return any(parameters.get(name) is not None for name in ("burn_in", "samples", "lag"))


def _with_text(parameters: dict[str, Any]) -> bool:
    return bool(str(parameters.get("text") or "").strip())


def _predicted(parameters: dict[str, Any]) -> bool:
    return True


def _with_other(parameters: dict[str, Any]) -> bool:
    return parameters.get("other") is not None


PAGES = (
    Page("overview", "Topics", "", overview_page, shapes.OverviewPage),
    Page("topic", "Topic", "topic/{topic}", topic_page, shapes.TopicPage, _topics, in_menu=False),
    Page("structure", "Structure", "structure", structure_page, shapes.StructurePage, _graph),
    Page("node", "Super-topic", "structure/{node}", node_page, shapes.NodePage, _graph, in_menu=False),
    Page("metadata", "Metadata", "metadata", metadata_page, shapes.MetadataPage, _features, costly=_predicted),
    Page("authors", "Authors", "authors", authors_page, shapes.AuthorsPage, _some_authors),
    Page("author", "Author", "author/{author}", author_page, shapes.AuthorPage, _some_authors, in_menu=False),
    Page("documents", "Documents", "documents", documents_page, shapes.DocumentsPage),
    Page(
        "document",
        "Document",
        "document/{document}",
        document_page,
        shapes.DocumentPage,
        in_menu=False,
        costly=_sampled,
    ),
    Page("word", "Word", "word/{word}", word_page, shapes.WordPage, in_menu=False),
    Page("trends", "Trends", "trends", trends_page, shapes.TrendsPage, _years),
    Page("compare", "Compare", "compare", compare_page, shapes.ComparePage, _two_models, costly=_with_other),
    Page(
        "compare",
        "Compare",
        "compare/{other}",
        compare_page,
        shapes.ComparePage,
        _two_models,
        in_menu=False,
        costly=_with_other,
    ),
    Page("search", "Search", "search", search_page, shapes.SearchPage, in_menu=False),
    Page("parse", "Parse", "parse", parse_page, shapes.ParsePage, _topics, costly=_with_text, takes_text=True),
    Page(
        "reviewers",
        "Reviewers",
        "reviewers",
        reviewers_page,
        shapes.ReviewersPage,
        _reviewers,
        costly=_with_text,
        takes_text=True,
    ),
    Page("models", "Models", "models", models_page, shapes.ModelsPage),
)
