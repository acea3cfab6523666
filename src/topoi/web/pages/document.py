"""A document: its text with every word coloured by topic or author, its topics and authors, similar documents."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Literal

import numpy as np
from typing_extensions import TypedDict

from topoi.corpus.checked_json import read_json
from topoi.errors import NotFoundError, StoreError
from topoi.models.share_moments import Moments
from topoi.web.limits import check_sampling
from topoi.web.pages import parameters
from topoi.web.pages.context import PageContext
from topoi.web.pages.graph import N_SUPER_OF_DOCUMENT, super_topics_in
from topoi.web.pages.page import Kept, Page, PageFile, numbered
from topoi.web.pages.parts import (
    THIS_DOCUMENT,
    author_shares,
    badges_of,
    banded_authors,
    banded_shares,
    doc_of,
    pieces_of,
    pieces_of_words,
)
from topoi.web.pages.shapes import AuthorShare, BandedShare, Doc, NodeShare, Piece, Sampling, TopicSummary
from topoi.web.pages.text import one_line, short

N_SIMILAR, N_TOPICS = 6, 10
BURN_IN, SAMPLES, LAG = 20, 20, 2
# A word's probabilities of all topics take eight bytes each.
_MOST_PROBABILITIES = 6_000_000
_LONGEST_TITLE = 5000
_LONGEST_METADATA = 200_000
_LONGEST_VALUE = 2000
_MOST_VALUES = 100
_N_LOOKED_AT = 100  # documents inspected for a feature that links them


class FullDoc(Doc):
    """A document with everything known of it."""

    date: str | None
    n_tokens: int
    metadata: dict[str, Any]


class DocumentNear(TypedDict):
    """A document near another, with topics of both."""

    document: Doc
    distance: float
    topics: list[TopicSummary]


class DocumentPage(TypedDict):
    """A document; ``n_hidden`` counts known words beyond what is shown of a very long text.

    ``has_links`` says whether the model reads links between documents. ``pending`` names what is still being compiled:
    with "labels", probabilities of labels are missing (all are 1), and so are similar documents.
    Shares are those of ``topoi.document_topics``: posterior means, with intervals unless sampled on the spot.
    ``sampling`` is null if the model's documents cannot be sampled: the labels are then those of the stored sample.
    """

    kind: Literal["document"]
    document: FullDoc
    colour: Literal["topic", "author"]
    pieces: list[Piece]
    n_hidden: int
    topics: list[BandedShare]
    super_topics: list[NodeShare]
    authors: list[AuthorShare]
    faces: dict[str, TopicSummary]
    sampling: Sampling | None
    pending: list[str]
    has_links: bool
    similar: list[DocumentNear]


def document_page(
    context: PageContext,
    document: parameters.DocumentId,
    colour: parameters.Colour = "topic",
    burn_in: parameters.BurnInOrNone = None,
    samples: parameters.SamplesOrNone = None,
    lag: parameters.LagOrNone = None,
) -> DocumentPage:
    """A document as the stored sample labels it or, if a burn-in, samples or a lag are given, sampled on the spot."""
    if document >= context.collection["n_documents"]:
        there = f"documents are numbered 0 to {context.collection['n_documents'] - 1}"
        raise NotFoundError(f"there is no document {document}; {there}")
    near = _nearest(context, document) if context.is_ready("labels") else []
    numbers = json.dumps([document, *(other for other, _, _ in near)])
    rows = context.rows("work_and_others", ids=numbers, n=N_SUPER_OF_DOCUMENT)
    if not rows or rows[0][0] != document:
        raise NotFoundError(f"there is no document {document}")
    *first, nodes = rows[0]
    full, text = _full(first)
    sampling = Sampling(
        burn_in=BURN_IN if burn_in is None else burn_in,
        samples=SAMPLES if samples is None else samples,
        lag=LAG if lag is None else lag,
        live=not (burn_in is None and samples is None and lag is None),
    )
    pieces, n_hidden, labels = _labelled(context, full, text, sampling)
    others = {row[0]: doc_of(row) for row in rows[1:]}
    return DocumentPage(
        kind="document",
        document=full,
        colour=colour,
        pieces=pieces,
        n_hidden=n_hidden,
        topics=_topics(context, document, labels.get("topic", ()), sampling["live"]),
        super_topics=super_topics_in(context, document, nodes),
        authors=_authors(context, full, labels, sampling["live"]),
        faces=badges_of(context, pieces),
        sampling=sampling if _can_sample(context) else None,
        pending=[] if sampling["live"] else context.pending("labels"),
        has_links=context.cache.keep("reads links", lambda: _reads_links(context)),
        similar=[
            DocumentNear(document=others[other], distance=distance, topics=topics)
            for other, distance, topics in near
            if other in others
        ],
    )


def _topics(context: PageContext, document: int, labels: Sequence[int], live: bool) -> list[BandedShare]:
    """Topics of the document: as in the samples of the fit or, if it was sampled on the spot, by its labels."""
    if not len(labels):
        return []
    chain = context.view.chains_[0]
    if not live:
        moments = chain.document_moments(document)
        return banded_shares(context, moments, moments.mean, chain.documents.counts(document)[0], N_TOPICS)
    counts = np.bincount(labels, minlength=chain.n_topics).astype(np.float64)
    share = (counts + chain.alpha) / (len(labels) + chain.alpha_sum)
    return banded_shares(context, Moments(share, None), share, counts, N_TOPICS)


def _full(row: Sequence[Any]) -> tuple[FullDoc, str | None]:
    *head, title, date, n_tokens, metadata, text = row
    doc = doc_of(head)
    long_title = short(one_line(str(title)), _LONGEST_TITLE) if title is not None else ""
    full = FullDoc(
        document_id=doc["document_id"],
        identifier=doc["identifier"],
        title=long_title or doc["title"],
        year=doc["year"],
        authors=doc["authors"],
        date=None if date is None else short(str(date).removesuffix("T00:00:00"), 40),
        n_tokens=n_tokens,
        metadata=metadata_of(metadata),
    )
    return full, None if text is None else str(text)


def metadata_of(packed: object) -> dict[str, Any]:
    """Other metadata of a document, with long values cut.

    Examples
    --------
    >>> from topoi.web.pages.document import metadata_of
    >>> metadata_of('{"venue": "ACL", "links": null}')
    {'venue': 'ACL'}
    """
    if len(str(packed)) > _LONGEST_METADATA:
        return {"metadata": "too much to show"}
    try:
        items = list(read_json(packed, dict).items())[:_MOST_VALUES]
    except ValueError as error:
        raise StoreError(f"a document's metadata cannot be read ({error})") from error
    return {short(str(name), 200): _value(value) for name, value in items if value not in (None, "", [], {})}


def _value(value: object) -> Any:
    if isinstance(value, str):
        return short(value, _LONGEST_VALUE)
    if isinstance(value, list):
        return [_value(item) for item in value[:_MOST_VALUES]]
    if isinstance(value, dict):
        return short(json.dumps(value, ensure_ascii=False), _LONGEST_VALUE)
    return value


def _labelled(
    context: PageContext, full: FullDoc, text: str | None, sampling: Sampling
) -> tuple[list[Piece], int, dict[str, Any]]:
    """The text in pieces, the number of known words not shown, and the labels of all of them."""
    if not context.has_topics:
        plain = [Piece(text=text[:1_000_000])] if text else []
        return plain, 0, {}
    frame = _labels(context, full, sampling)
    labels: dict[str, Any] = {
        "word_id": frame["word_id"].tolist(),
        "topic": frame["topic"].tolist(),
        "p": frame["topic_probability"].tolist(),
        "writers": frame.attrs["authors"],
    }
    if context.has_authors:
        labels["author"] = frame["author_position"].tolist()
        labels["q"] = frame["author_probability"].tolist()
    if text is None or (len(frame) and frame["start"].isna().any()):
        words = context.view.vocabulary_.words[frame["word_id"].to_numpy()] if len(frame) else []
        return *pieces_of_words(list(words), labels), labels
    labels["start"] = frame["start"].astype(int).tolist()
    labels["end"] = frame["end"].astype(int).tolist()
    return *pieces_of(text, labels), labels


def _reads_links(context: PageContext) -> bool:
    """Whether a feature of the model links documents, judged by the first documents."""
    if not context.features:
        return False
    known = [metadata_of(row[0]) for row in context.rows("some_metadata", n=_N_LOOKED_AT)]
    for name in context.features:
        listed = (values for values in (one.get(name) for one in known) if isinstance(values, list))
        named = {str(value) for values in listed for value in values}
        if named and 2 * len(context.rows("documents_named", ids=json.dumps(sorted(named)))) >= len(named):
            return True
    return False


def _can_sample(context: PageContext) -> bool:
    """Whether the model's documents can be sampled from its rows."""
    return context.has_topics and context.view.chains_[0].can_sample


def _labels(context: PageContext, full: FullDoc, sampling: Sampling) -> Any:
    """Topic and author of every word: sampled now, as stored with probabilities, or else as stored and certain."""
    from topoi.analysis.label import label_document, stored_labels

    if sampling["live"]:
        plan = (sampling["burn_in"], sampling["samples"], sampling["lag"])
        check_sampling(full["n_tokens"], context.view.n_topics, 1 + len(full["authors"]) * context.has_authors, *plan)
        return label_document(context.view, full["document_id"], *plan)
    if full["n_tokens"] * context.view.n_topics > _MOST_PROBABILITIES or not _can_sample(context):
        return stored_labels(context.view, full["document_id"])
    if not context.is_ready("labels"):
        return stored_labels(context.view, full["document_id"])
    return label_document(context.view, full["document_id"])


def _authors(context: PageContext, full: FullDoc, labels: dict[str, Any], live: bool) -> list[AuthorShare]:
    """Who wrote the words: as in the samples of the fit or, if they were sampled on the spot, by their labels."""
    if "author" not in labels:
        return []
    known = {one["author_id"]: one["author"] for one in full["authors"]}
    names: list[tuple[int | None, str]] = [(a, known.get(a, f"author {a}")) for a in labels["writers"]]
    moments = None if live else context.view.chains_[0].writer_moments(full["document_id"])
    private = max(labels["author"], default=0) >= len(names) or (moments is not None and moments.mean[-1] > 0)
    if private:
        names.append((None, THIS_DOCUMENT))
    if moments is None:
        return author_shares(names, labels["author"])
    return banded_authors(names, moments.some(slice(len(names))), len(labels["author"]))


def _nearest(context: PageContext, number: int) -> list[tuple[int, float, list[TopicSummary]]]:
    """Documents with the nearest topics: number, distance, shared topics.

    By topics alone: the mixture of ``topoi.similar_documents`` reads all words, which takes too long for each page.
    """
    if not context.has_topics:
        return []
    documents = context.view.chains_[0].documents
    compared = context.cache.keep("unsmoothed", documents.unsmoothed)
    counts = documents.counts(number)[0]
    if not counts.any():
        return []
    own = counts / counts.sum()
    rows = context.likely_neighbours.get(number)
    if rows is None:
        rows = context.cache.keep("documents with words", lambda: np.flatnonzero(documents.totals > 0))
    chosen, distance = compared.nearest(own, "jensen-shannon", N_SIMILAR, rows[rows != number])
    others = compared.shares(chosen) if len(chosen) else []
    return [
        (int(d), float(value), context.shared_badges(own, row))
        for d, value, row in zip(chosen, distance, others, strict=True)
    ]


def _files(context: PageContext, kept: Kept) -> Iterator[PageFile]:
    return numbered("document", document_page, kept.documents)


def _variants(view: Mapping[str, Any]) -> dict[str, Mapping[str, Any]]:
    """The text coloured by author; an only author has all words."""
    return {"-by-author": {**view, "colour": "author"}} if len(view["authors"]) > 1 else {}


def _samples(parameters: dict[str, Any]) -> bool:
    return any(parameters.get(name) is not None for name in ("burn_in", "samples", "lag"))


def _python(view: Mapping[str, Any], site: Mapping[str, Any]) -> str:
    number, sampling = view["document"]["document_id"], view["sampling"]
    if not site["has_topics"]:
        return f"model.rows('document', document_id={number})"
    if sampling and sampling["live"]:
        plan = f"{sampling['burn_in']}, {sampling['samples']}, {sampling['lag']}"
        return f"topoi.label_document(model, {number}, {plan})"
    shares = f"topoi.document_topics(model, {number}, {N_TOPICS})"
    return f"{shares}, topoi.label_document(model, {number})" if sampling else shares


PAGE = Page(
    "document",
    "Document",
    "document/{document}",
    document_page,
    DocumentPage,
    place=90,
    in_menu=False,
    below="documents",
    costly=_samples,
    files=_files,
    variants=_variants,
    python=_python,
)
