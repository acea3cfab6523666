"""Reviewers of a pasted text."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray
from typing_extensions import TypedDict

from topoi.analysis.reviewers import fit_words, recommend_reviewers, usual_least
from topoi.errors import ModelError, NotFoundError
from topoi.web.pages import parameters
from topoi.web.pages.context import PageContext
from topoi.web.pages.page import Page, with_text
from topoi.web.pages.parse import document_text, kept_text, split_names
from topoi.web.pages.parts import documents_by_id, name_of_author
from topoi.web.pages.shapes import AuthorSize, Doc, TopicSummary
from topoi.web.pages.text import as_python

if TYPE_CHECKING:
    import pandas as pd

N_REVIEWERS = 15


class Reviewer(AuthorSize):
    """Possible reviewer of a text; the score is the mean log ratio of its words' probabilities to anybody's.

    ``fit`` is the same from 0 to 100, and ``knows`` in words; ``papers`` are those that resemble the text most.
    """

    score: float
    fit: int
    knows: str
    last_year: int | None
    topics: list[TopicSummary]
    papers: list[Doc]


class LeftOut(TypedDict):
    """People left out, and why."""

    n_excluded: int
    n_coauthors: int
    n_too_few_words: int
    n_others: int
    unknown: list[str]


class ReviewersPage(TypedDict):
    """Reviewers of a pasted text."""

    kind: Literal["reviewers"]
    text: str
    exclude: list[str]
    least: int
    since: int | None
    has_years: bool
    reviewers: list[Reviewer]
    left_out: LeftOut | None
    error: str | None


def reviewers_page(
    context: PageContext,
    text: parameters.Text = "",
    exclude: parameters.Names = (),  # type: ignore[assignment]
    document: parameters.DocumentOrNone = None,
    least: parameters.LeastOrNone = None,
    since: parameters.ActiveSince = None,
    kept: parameters.Kept = "",
) -> ReviewersPage:
    """Authors whose topics explain a text best, without its own authors and their co-authors."""
    names = split_names(exclude)
    text = text or kept_text(context, kept)
    if not text and document is not None:
        names = names or [author["author"] for author in _authors(context, document)]
    page = ReviewersPage(
        kind="reviewers",
        text=text or document_text(context, document),
        exclude=names,
        least=usual_least(context.snapshot.authors.sizes) if least is None else least,
        since=since,
        has_years=bool(np.isfinite(context.snapshot.columns.last_years).any()),
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
    if not (context.has_topics and context.has_authors):
        raise ModelError("reviewers are found by authors' topics, and this model has none; choose another model")
    wanted = wanted_authors(context, page["least"], page["since"])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # unknown names are listed in the answer
        frame = recommend_reviewers(context.view, page["text"], N_REVIEWERS, page["exclude"], among=wanted)
    papers = documents_by_id(context, [d for own in frame["papers"] for d in own])
    page["reviewers"] = reviewer_rows(context, found_rows(frame), papers)
    page["left_out"] = LeftOut(
        n_excluded=frame.attrs["n_excluded"],
        n_coauthors=frame.attrs["n_coauthors"],
        n_too_few_words=frame.attrs["n_too_few_words"],
        n_others=frame.attrs["n_others"],
        unknown=list(frame.attrs["unknown"]),
    )


def wanted_authors(context: PageContext, least: int, since: int | None) -> NDArray[np.bool_]:
    """Whether each author has so many documents, and one of that year or a later one."""
    wanted: NDArray[np.bool_] = context.snapshot.authors.sizes >= least
    if since is not None:
        with np.errstate(invalid="ignore"):
            wanted &= context.snapshot.columns.last_years >= since
    return wanted


def found_rows(frame: pd.DataFrame) -> list[tuple[Any, ...]]:
    """Reviewers as tuples, without names of topics, which may change: what ``reviewer_rows`` takes."""
    columns = ("author", "score", "n_documents", "topics", "fit", "papers")
    return list(zip(frame.attrs["rows"], *(frame[name].tolist() for name in columns), strict=True))


def reviewer_rows(context: PageContext, rows: list[tuple[Any, ...]], papers: Mapping[int, Doc]) -> list[Reviewer]:
    """Reviewers as pages show them."""
    last = context.snapshot.columns.last_years
    return [
        Reviewer(
            author_id=int(a),
            author=name_of_author(name),
            score=score,
            fit=int(fit),
            knows=fit_words(fit),
            n_documents=int(n),
            last_year=None if np.isnan(last[a]) else int(last[a]),
            topics=context.badges(topics),
            papers=[papers[d] for d in own if d in papers],
        )
        for a, name, score, n, topics, fit, own in rows
    ]


def _authors(context: PageContext, document: int) -> list[dict[str, str]]:
    rows = context.rows("names_of_work", document_id=document)
    return [{"author": name_of_author(row[0])} for row in rows]


def has_topics_of_authors(context: PageContext) -> bool:
    """Only models that know authors' topics have the page."""
    return context.has_topics and context.has_authors


def _python(view: Mapping[str, Any], site: Mapping[str, Any]) -> str | None:
    if not view["reviewers"]:
        return None
    chosen = f"min_documents={view['least']}, since={view['since']}"
    who = f"{N_REVIEWERS}, exclude={view['exclude']!r}, {chosen}"
    return f"topoi.recommend_reviewers(model, {as_python(view['text'])}, {who})"


PAGE = Page(
    "reviewers",
    "Reviewers",
    "reviewers",
    reviewers_page,
    ReviewersPage,
    place=150,
    needs=has_topics_of_authors,
    costly=with_text,
    takes_text=True,
    needs_server=True,
    python=_python,
)
