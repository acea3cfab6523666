"""Labelling of a pasted text: each word's topic, and its author among the possible ones."""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import Any, Literal

import numpy as np
from typing_extensions import TypedDict

from topoi.errors import ModelError, NotFoundError
from topoi.web.limits import check_sampling, most_authors
from topoi.web.pages import parameters
from topoi.web.pages.context import PageContext
from topoi.web.pages.document import BURN_IN, LAG, SAMPLES
from topoi.web.pages.page import Page, has_topics, with_text
from topoi.web.pages.parts import author_shares, badges_of, name_of_author, pieces_of, topic_shares
from topoi.web.pages.shapes import AuthorName, AuthorShare, Piece, Sampling, TopicShare, TopicSummary
from topoi.web.pages.text import as_python
from topoi.web.tables import Tables, lists_in

N_LIKELY = 5
# Number of the likeliest authors that a text's words are divided among, if anybody may have written it.
MOST_CANDIDATES = 20
# The likeliest authors are judged by this many words from the beginning; more take long and tell little.
LIKELY_WORDS = 1000
_MOST_NAMES = parameters.MOST_NAMES


class LikelyAuthor(AuthorName):
    """Possible author of a text; n_words counts the author's own words."""

    probability: float
    n_words: int


class ParseResult(TypedDict):
    """A text, labelled."""

    pieces: list[Piece]
    n_hidden: int
    topics: list[TopicShare]
    authors: list[AuthorShare]
    faces: dict[str, TopicSummary]
    likely: list[LikelyAuthor]
    n_known: int
    n_unknown: int
    seconds: float


class ParsePage(TypedDict):
    """A pasted text and what became of it."""

    kind: Literal["parse"]
    text: str
    authors: list[str]
    who: Literal["nobody", "any", "named"]
    sampling: Sampling
    result: ParseResult | None
    error: str | None


def parse_page(
    context: PageContext,
    text: parameters.Text = "",
    who: parameters.Who = "nobody",
    authors: parameters.Names = (),  # type: ignore[assignment]
    burn_in: parameters.BurnIn = BURN_IN,
    samples: parameters.Samples = SAMPLES,
    lag: parameters.Lag = LAG,
    document: parameters.DocumentOrNone = None,
    kept: parameters.Kept = "",
) -> ParsePage:
    """A text with its words' topics and, of possible authors, whose each word is; without a text, an empty form."""
    names = split_names(authors)
    text = text or kept_text(context, kept)
    page = ParsePage(
        kind="parse",
        text=text or document_text(context, document),
        authors=names,
        who=who,
        sampling=Sampling(burn_in=burn_in, samples=samples, lag=lag, live=True),
        result=None,
        error=None,
    )
    if not text.strip():
        return page
    try:
        page["result"] = _result(context, page)
    except (ModelError, NotFoundError) as error:
        page["error"] = str(error)
    return page


def split_names(given: Any) -> list[str]:
    """Names, given one by one or separated by semicolons or line ends.

    Examples
    --------
    >>> from topoi.web.pages.parse import split_names
    >>> split_names(["Vapnik, V; Smola, A", " "])
    ['Vapnik, V', 'Smola, A']
    """
    parts = [part.strip() for names in given for part in names.replace("\n", ";").split(";")]
    found = list(dict.fromkeys(part for part in parts if part))
    if len(found) > _MOST_NAMES:
        raise ModelError(f"{len(found)} names were given; at most {_MOST_NAMES} can be")
    return found


def kept_text(context: PageContext, key: str) -> str:
    """Text that was pasted before and is still kept, by its key; empty without a key."""
    if not key:
        return ""
    found = None if context.watcher.texts is None else context.watcher.texts.get(key)
    if found is None:
        raise NotFoundError(
            "the text of this address is not kept any more: long texts are for half an hour; paste it again"
        )
    return found


def document_text(context: PageContext, document: int | None) -> str:
    """Text of a document, to fill the form with."""
    if document is None:
        return ""
    rows = context.rows("document_text", document_id=document, n=parameters.LONGEST_TEXT)
    if not rows:
        raise NotFoundError(f"there is no document {document}")
    return str(rows[0][0] or "")


def _result(context: PageContext, page: ParsePage) -> ParseResult:
    from topoi.analysis.label import label_words

    began = time.perf_counter()
    text, sampling = page["text"], page["sampling"]
    if not context.has_topics:
        raise ModelError("this model has no topics to label words with; choose another model")
    encoded = context.view.vocabulary_.encode([text])
    n_words = len(encoded.tokens)
    plan = (sampling["burn_in"], sampling["samples"], sampling["lag"])
    n_authors = most_authors(n_words, context.view.n_topics, plan[0] + plan[1] * plan[2], N_LIKELY, MOST_CANDIDATES)
    named = _named(context, page["who"], page["authors"])
    check_sampling(n_words, context.view.n_topics, n_authors if page["who"] == "any" else len(named or ()), *plan)
    read = text[: encoded.token_end[LIKELY_WORDS - 1]] if n_words > LIKELY_WORDS else text
    likely = _likely(context, read, n_authors if page["who"] == "any" else N_LIKELY) if n_words else []
    candidates: Any = [author["author_id"] for author in likely] if page["who"] == "any" else named
    frame = label_words(context.view, text, candidates, *plan)
    index = context.view.vocabulary_.index
    labels: dict[str, Any] = {
        "start": frame["start"].tolist(),
        "end": frame["end"].tolist(),
        "word_id": [index(word) for word in frame["word"]],
        "topic": frame["topic"].tolist(),
        "p": frame["topic_probability"].tolist(),
    }
    names = _add_authors(context, frame, labels)
    pieces, n_hidden = pieces_of(text, labels)
    return ParseResult(
        pieces=pieces,
        n_hidden=n_hidden,
        topics=topic_shares(context, labels["topic"]),
        authors=author_shares(names, labels.get("author", ())),
        faces=badges_of(context, pieces),
        likely=likely[:N_LIKELY],
        n_known=len(frame),
        n_unknown=int(frame.attrs["n_unknown"]),
        seconds=round(time.perf_counter() - began, 4),
    )


def _named(context: PageContext, who: Literal["nobody", "any", "named"], names: list[str]) -> list[str] | None:
    """The possible authors that were named; None for somebody new."""
    if who == "nobody":
        return None
    if not context.has_authors:
        raise ModelError("this model tells no authors apart; choose “nobody in particular”, or another model")
    if who == "named" and not names:
        raise ModelError("name at least one possible author, one a line or with semicolons between")
    return names


def _add_authors(context: PageContext, frame: Any, labels: dict[str, Any]) -> list[tuple[int | None, str]]:
    """The candidates with words of the text, those with most first; adds their positions to the labels."""
    if "author" not in frame:
        return []
    rows = [int(a) for a in frame.attrs["rows"]]
    spelled = [str(name) for name in context.view.authors_[np.array(rows, np.int64)]]
    number = dict(zip(spelled, rows, strict=True))
    counts = frame["author"].value_counts()
    order = sorted(spelled, key=lambda name: -int(counts.get(name, 0)))
    shown = [name for name in order if counts.get(name, 0)] or order[:1]
    place = {name: at for at, name in enumerate(shown)}
    labels["author"] = [place[name] for name in frame["author"]]
    labels["q"] = frame["author_probability"].tolist()
    return [(number[name], name_of_author(name)) for name in shown]


def _likely(context: PageContext, text: str, n: int) -> list[LikelyAuthor]:
    """The authors most likely to have written the text alone."""
    if not context.has_authors:
        return []
    from topoi.analysis.authorship import likely_authors

    frame = likely_authors(context.view, text, n)
    columns = (frame.attrs["rows"], *(frame[name].tolist() for name in ("author", "probability", "n_words")))
    return [
        LikelyAuthor(author_id=int(a), author=name_of_author(name), probability=p, n_words=n)
        for a, name, p, n in zip(*columns, strict=True)
    ]


def _tables(view: Mapping[str, Any]) -> Tables:
    return lists_in(view) | lists_in(view["result"] or {})


def _python(view: Mapping[str, Any], site: Mapping[str, Any]) -> str | None:
    text, sampling = as_python(view["text"]), view["sampling"]
    if view["result"] is None:
        return None
    if view["who"] == "any":
        return f"topoi.likely_authors(model, {text}, {N_LIKELY})"
    authors = view["authors"] if view["who"] == "named" else None
    plan = f"{sampling['burn_in']}, {sampling['samples']}, {sampling['lag']}"
    return f"topoi.label_words(model, {text}, {authors!r}, {plan})"


PAGE = Page(
    "parse",
    "Parse",
    "parse",
    parse_page,
    ParsePage,
    place=140,
    needs=has_topics,
    costly=with_text,
    takes_text=True,
    needs_server=True,
    tables=_tables,
    python=_python,
)
