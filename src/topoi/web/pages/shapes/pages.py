"""Types of whole pages' JSON views."""

from __future__ import annotations

from typing import Literal

# Pydantic reads these types; before Python 3.12 it supports only the TypedDict of typing_extensions.
from typing_extensions import TypedDict

from topoi.web.pages.shapes.curves import Choice, CurveGroup, Feature, LinkedDocument
from topoi.web.pages.shapes.pieces import (
    AuthorHead,
    AuthorLine,
    AuthorNear,
    AuthorShare,
    AuthorSize,
    AuthorWord,
    AuthorYears,
    Collection,
    Doc,
    DocumentLine,
    DocumentNear,
    Face,
    FullDoc,
    FullModel,
    GraphEdge,
    GraphNode,
    LeftOut,
    MapFace,
    Matrix,
    Model,
    Move,
    Neighbour,
    NodeFace,
    NodePart,
    NodeShare,
    NodeWord,
    Pair,
    ParseResult,
    Piece,
    Reviewer,
    Sampling,
    Series,
    SuperTopic,
    Surprise,
    TopicAuthor,
    TopicDocument,
    TopicShare,
    TopicWord,
    Unpaired,
    Word,
    WordLine,
    WordTopic,
    YearShares,
)


class OverviewPage(TypedDict):
    """The collection and all topics, largest first."""

    kind: Literal["overview"]
    collection: Collection
    topics: list[MapFace]
    rising: list[Move]
    falling: list[Move]


class TopicPage(TypedDict):
    """A topic; ``super_topics`` are the nodes that draw from it, in a model over a graph."""

    kind: Literal["topic"]
    topic: Face
    n_tokens: int
    relevance: float
    words: list[TopicWord]
    authors: list[TopicAuthor]
    documents: list[TopicDocument]
    neighbours: list[Neighbour]
    trend: YearShares | None
    super_topics: list[NodePart]


class StructurePage(TypedDict):
    """A graph of topics: all super-topics, the largest first, and a picture of the strongest nodes and edges.

    ``n_hidden`` counts the edges between nodes of the picture that it leaves out.
    """

    kind: Literal["structure"]
    n_super: int
    n_topics: int
    n_edges: int
    most: int
    min_share: float | None
    super_topics: list[SuperTopic]
    nodes: list[GraphNode]
    edges: list[GraphEdge]
    n_hidden: int


class NodePage(TypedDict):
    """A super-topic: what it draws from and what draws from it, words, documents, trend.

    ``own`` is the part of its words that it draws itself, null if it draws none.
    """

    kind: Literal["node"]
    node: NodeFace
    min_share: float | None
    own: NodePart | None
    parents: list[NodePart]
    children: list[NodePart]
    words: list[NodeWord]
    documents: list[TopicDocument]
    trend: YearShares | None
    nodes: list[GraphNode]
    edges: list[GraphEdge]
    n_hidden: int


class AuthorPage(TypedDict):
    """An author."""

    kind: Literal["author"]
    author: AuthorHead
    summary: str
    topics: list[TopicShare]
    words: list[AuthorWord]
    by_year: AuthorYears | None
    median_perplexity: float | None
    surprising: list[Surprise]
    typical: list[Surprise]
    documents: list[Doc]
    similar: list[AuthorNear]
    coauthors: list[AuthorSize]


class AuthorsPage(TypedDict):
    """Authors, those with most documents first."""

    kind: Literal["authors"]
    query: str
    page: int
    n_pages: int
    n_found: int
    authors: list[AuthorLine]


class DocumentPage(TypedDict):
    """A document; ``n_hidden`` counts known words beyond what is shown of a very long text.

    ``has_links`` says whether the model reads links between documents.
    ``sampling`` is null if the model's documents cannot be sampled: the labels are then those of the stored sample.
    """

    kind: Literal["document"]
    document: FullDoc
    colour: Literal["topic", "author"]
    pieces: list[Piece]
    n_hidden: int
    topics: list[TopicShare]
    super_topics: list[NodeShare]
    authors: list[AuthorShare]
    faces: dict[str, Face]
    sampling: Sampling | None
    has_links: bool
    similar: list[DocumentNear]


class DocumentsPage(TypedDict):
    """Documents."""

    kind: Literal["documents"]
    query: str
    year: int | None
    page: int
    n_pages: int
    n_found: int
    documents: list[DocumentLine]


class WordPage(TypedDict):
    """A word."""

    kind: Literal["word"]
    word: Word
    topics: list[WordTopic]
    documents: list[Doc]


class MetadataPage(TypedDict):
    """Predicted shares of topics along a feature: a group for each value of another feature.

    ``at`` are the places along it; ``without`` is what is shown if no values are chosen; ``held_feature`` is a number
    that stays at ``held``; ``left_alone`` says what is taken for all others. ``linked`` are the documents around
    ``document``, where the model reads links.
    """

    kind: Literal["metadata"]
    features: list[Feature]
    along: str | None
    is_number: bool
    by: str | None
    values: list[str]
    without: str
    choices: list[Choice]
    held_feature: str | None
    held: float | None
    left_alone: list[str]
    bands: Literal["curve", "document"]
    level: float
    chosen: list[int]
    topics: list[Face]
    at: list[float | str]
    groups: list[CurveGroup]
    document: int | None
    linked: list[LinkedDocument]
    n_left_out: int


class TrendsPage(TypedDict):
    """Topics along time: chosen ones of all topics, and those that move most."""

    kind: Literal["trends"]
    by: Literal["year", "decade"]
    years: list[int]
    n_tokens: list[int]
    chosen: list[int]
    topics: list[Face]
    series: list[Series]
    hottest: list[Move]
    coldest: list[Move]


class ComparePage(TypedDict):
    """Two models side by side."""

    kind: Literal["compare"]
    first: Model
    second: Model | None
    choices: list[Model]
    pairs: list[Pair]
    matrix: Matrix | None
    unpaired: Unpaired | None


class SearchPage(TypedDict):
    """Whatever has to do with some words."""

    kind: Literal["search"]
    query: str
    topics: list[Face]
    authors: list[AuthorSize]
    words: list[WordLine]
    documents: list[DocumentLine]


class ParsePage(TypedDict):
    """A pasted text and what became of it."""

    kind: Literal["parse"]
    text: str
    authors: list[str]
    who: Literal["nobody", "any", "named"]
    sampling: Sampling
    result: ParseResult | None
    error: str | None


class ReviewersPage(TypedDict):
    """Reviewers of a pasted text."""

    kind: Literal["reviewers"]
    text: str
    exclude: list[str]
    reviewers: list[Reviewer]
    left_out: LeftOut | None
    error: str | None


class ModelsPage(TypedDict):
    """The models in the file, the one saved last first."""

    kind: Literal["models"]
    models: list[FullModel]


class ErrorPage(TypedDict):
    """What went wrong."""

    kind: Literal["error"]
    status: int
    title: str
    detail: str


Page = (
    OverviewPage
    | TopicPage
    | StructurePage
    | NodePage
    | AuthorPage
    | AuthorsPage
    | DocumentPage
    | DocumentsPage
    | WordPage
    | MetadataPage
    | TrendsPage
    | ComparePage
    | SearchPage
    | ParsePage
    | ReviewersPage
    | ModelsPage
    | ErrorPage
)
