"""Reviewers of a pasted text."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from typing import Any, Literal

from typing_extensions import TypedDict

from topoi.errors import ModelError, NotFoundError
from topoi.web.pages import parameters
from topoi.web.pages.context import PageContext
from topoi.web.pages.page import Page, with_text
from topoi.web.pages.parse import document_text, split_names
from topoi.web.pages.parts import name_of_author
from topoi.web.pages.shapes import AuthorSize, TopicSummary
from topoi.web.pages.text import as_python

N_REVIEWERS = 15


class Reviewer(AuthorSize):
    """Possible reviewer of a text; the score is the mean log ratio of its words' probabilities to anybody's."""

    score: float
    topics: list[TopicSummary]


class LeftOut(TypedDict):
    """People left out, and why."""

    n_excluded: int
    n_coauthors: int
    n_too_few_words: int
    unknown: list[str]


class ReviewersPage(TypedDict):
    """Reviewers of a pasted text."""

    kind: Literal["reviewers"]
    text: str
    exclude: list[str]
    reviewers: list[Reviewer]
    left_out: LeftOut | None
    error: str | None


def reviewers_page(
    context: PageContext,
    text: parameters.Text = "",
    exclude: parameters.Names = (),  # type: ignore[assignment]
    document: parameters.DocumentOrNone = None,
) -> ReviewersPage:
    """Authors whose topics explain a text best, without its own authors and their co-authors."""
    names = split_names(exclude)
    if not text and document is not None:
        names = names or [author["author"] for author in _authors(context, document)]
    page = ReviewersPage(
        kind="reviewers",
        text=text or document_text(context, document),
        exclude=names,
        reviewers=[],
        left_out=None,
        error=None,
    )
    if not text.strip():
        return page
    try:
        _fill(context, page)
    except (ModelError, NotFoundError) as error:
        page["error"] = str(error)
    return page


def _fill(context: PageContext, page: ReviewersPage) -> None:
    from topoi.analysis.reviewers import recommend_reviewers

    if not (context.has_topics and context.has_authors):
        raise ModelError("reviewers are found by authors' topics, and this model has none; choose another model")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # unknown names are listed in the answer
        frame = recommend_reviewers(context.view, page["text"], N_REVIEWERS, exclude=page["exclude"])
    columns = (frame.attrs["rows"], *(frame[name].tolist() for name in ("author", "score", "n_documents", "topics")))
    page["reviewers"] = [
        Reviewer(
            author_id=int(a),
            author=name_of_author(name),
            score=score,
            n_documents=int(n),
            topics=context.badges(topics),
        )
        for a, name, score, n, topics in zip(*columns, strict=True)
    ]
    page["left_out"] = LeftOut(
        n_excluded=frame.attrs["n_excluded"],
        n_coauthors=frame.attrs["n_coauthors"],
        n_too_few_words=frame.attrs["n_too_few_words"],
        unknown=list(frame.attrs["unknown"]),
    )


def _authors(context: PageContext, document: int) -> list[dict[str, str]]:
    rows = context.rows("names_of_work", document_id=document)
    return [{"author": name_of_author(row[0])} for row in rows]


def _has_topics_of_authors(context: PageContext) -> bool:
    return context.has_topics and context.has_authors


def _python(view: Mapping[str, Any], site: Mapping[str, Any]) -> str | None:
    if not view["reviewers"]:
        return None
    return f"topoi.recommend_reviewers(model, {as_python(view['text'])}, {N_REVIEWERS}, exclude={view['exclude']!r})"


PAGE = Page(
    "reviewers",
    "Reviewers",
    "reviewers",
    reviewers_page,
    ReviewersPage,
    place=150,
    needs=_has_topics_of_authors,
    costly=with_text,
    takes_text=True,
    needs_server=True,
    python=_python,
)
