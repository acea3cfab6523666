"""Reviewers of many submissions, from a table that was sent as a file."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from typing import Any, Literal, NamedTuple

import numpy as np
from typing_extensions import TypedDict

from topoi.analysis.reviewers import recommend_reviewers, usual_least
from topoi.analysis.submissions import Submission, decoded, read_submissions
from topoi.errors import ModelError, NotFoundError
from topoi.web.pages import parameters
from topoi.web.pages.context import PageContext
from topoi.web.pages.page import Page
from topoi.web.pages.parse import kept_text, split_names
from topoi.web.pages.parts import documents_by_id
from topoi.web.pages.reviewers import (
    Reviewer,
    found_rows,
    has_topics_of_authors,
    reviewer_rows,
    wanted_authors,
)
from topoi.web.pages.shapes import Doc
from topoi.web.pages.text import one_line, short
from topoi.web.tables import Tables
from topoi.web.uploads import Upload

MOST_SUBMISSIONS = 200
MOST_BYTES = 1_000_000
EACH = 5
_LONGEST_TITLE, _LONGEST_ID = 300, 100


class SubmissionReviewers(TypedDict):
    """A submission and its reviewers; ``line`` is where it begins in the table, ``problem`` why it has none."""

    line: int
    submission: str
    title: str
    authors: list[str]
    unknown: list[str]
    n_coauthors: int
    reviewers: list[Reviewer]
    problem: str | None


class SubmissionsPage(TypedDict):
    """Reviewers of many submissions; as long as ``n_read`` is less than their number, ask again."""

    kind: Literal["submissions"]
    each: int
    least: int
    since: int | None
    has_years: bool
    most_submissions: int
    most_bytes: int
    n_read: int
    submissions: list[SubmissionReviewers]
    error: str | None


class Found(NamedTuple):
    """What was found for one submission, without names of topics, which may change."""

    rows: list[tuple[Any, ...]]
    names: list[str]
    unknown: list[str]
    n_coauthors: int
    problem: str | None


def submissions_page(
    context: PageContext,
    kept: parameters.Kept = "",
    each: parameters.ReviewersEach = EACH,
    least: parameters.LeastOrNone = None,
    since: parameters.ActiveSince = None,
) -> SubmissionsPage:
    """Reviewers of every submission in a table that was sent before with POST; without its key, an empty form."""
    page = SubmissionsPage(
        kind="submissions",
        each=each,
        least=usual_least(context.snapshot.authors.sizes) if least is None else least,
        since=since,
        has_years=bool(np.isfinite(context.snapshot.columns.last_years).any()),
        most_submissions=MOST_SUBMISSIONS,
        most_bytes=MOST_BYTES,
        n_read=0,
        submissions=[],
        error=None,
    )
    if not kept:
        return page
    if not has_topics_of_authors(context):
        page["error"] = "reviewers are found by authors' topics, and this model has none; choose another model"
        return page
    items = read_submissions(kept_text(context, kept), MOST_SUBMISSIONS)
    wanted = wanted_authors(context, page["least"], since)
    key = (context.cache.digest, kept, each, page["least"], since)
    found = context.watcher.submissions.read(key, items, lambda one: _found(context, one, each, wanted))
    papers = documents_by_id(context, {d for one in found.values() for row in one.rows for d in row[-1]})
    page["n_read"] = len(found)
    page["submissions"] = [_answer(context, one, found.get(at), papers) for at, one in enumerate(items)]
    return page


def table_of(upload: Upload) -> str:
    """The table in a form that was sent; a ``ModelError`` says what is wrong with it, and in which line."""
    table = upload.files.get("table", b"")
    if not table:
        raise ModelError("choose a file first: a table with the columns text, title, authors and id")
    if len(table) > MOST_BYTES:
        raise ModelError(f"a table has at most {MOST_BYTES:,} bytes, not {len(table):,}; cut it into parts")
    text = decoded(table)
    read_submissions(text, MOST_SUBMISSIONS)
    return text


def _found(context: PageContext, one: Submission, each: int, wanted: Any) -> Found:
    try:
        names = split_names([one.authors])
        if not one.text:
            raise ModelError("no text; one of text, abstract and title should have it")
        if len(one.text) > parameters.LONGEST_TEXT:
            raise ModelError(f"a text has at most {parameters.LONGEST_TEXT:,} characters")
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # unknown names are listed in the answer
            frame = recommend_reviewers(context.view, one.text, each, names, among=wanted)
    except (ModelError, NotFoundError) as error:
        return Found([], [], [], 0, str(error))
    rows = found_rows(frame)
    nobody = None if rows else "nobody is left: everyone was excluded, or too little is known of the text"
    return Found(rows, names, list(frame.attrs["unknown"]), frame.attrs["n_coauthors"], nobody)


def _answer(context: PageContext, one: Submission, found: Found | None, papers: dict[int, Doc]) -> SubmissionReviewers:
    known = Found([], [], [], 0, "not read yet") if found is None else found
    return SubmissionReviewers(
        line=one.line,
        submission=short(one_line(one.identifier), _LONGEST_ID),
        title=short(one_line(one.title or one.text), _LONGEST_TITLE),
        authors=known.names,
        unknown=known.unknown,
        n_coauthors=known.n_coauthors,
        reviewers=reviewer_rows(context, known.rows, papers),
        problem=known.problem,
    )


def _tables(view: Mapping[str, Any]) -> Tables:
    """A row for each reviewer; a submission without any has one row, which says why."""
    rows: list[dict[str, Any]] = []
    for one in view["submissions"]:
        first = {name: one[name] for name in ("submission", "line", "title")}
        for rank, row in enumerate(one["reviewers"], 1):
            own = {name: value for name, value in row.items() if name not in ("topics", "papers")}
            named = " | ".join(topic["label"] or topic["auto_label"] for topic in row["topics"])
            papers = " | ".join(paper["title"] for paper in row["papers"])
            rows.append(first | {"rank": rank} | own | {"topics": named, "papers": papers, "problem": ""})
        if not one["reviewers"]:
            rows.append(first | {"problem": one["problem"]})
    return {"reviewers": rows}


PAGE = Page(
    "submissions",
    "Many submissions",
    "submissions",
    submissions_page,
    SubmissionsPage,
    place=155,
    needs=has_topics_of_authors,
    in_menu=False,
    below="reviewers",
    takes_table=True,
    needs_server=True,
    tables=_tables,
)
