"""Types of the parts of pages' JSON views that several pages share; a page's own are in its module.

``/openapi.json`` is generated from them.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal, NotRequired, TypeVar

# Pydantic reads these types; before Python 3.12 it supports only the TypedDict of typing_extensions.
from typing_extensions import TypedDict

Shape = TypeVar("Shape", bound=type)


def published_as(name: str) -> Callable[[Shape], Shape]:
    """Give a type the name that it has in ``/openapi.json``, on which programs of users may rely."""

    def named(shape: Shape) -> Shape:
        shape.__name__ = shape.__qualname__ = name
        return shape

    return named


@published_as("Face")
class TopicSummary(TypedDict):
    """A topic as it is shown everywhere: number, labels, words, share of all words, hue, trend.

    ``label`` is the name that a person gave it, ``auto_label`` the automatic one, which is shown if there is no other.
    """

    topic: int
    label: str | None
    auto_label: str
    words: list[str]
    share: float
    hue: int
    glue: bool
    trend: list[float] | None


class Model(TypedDict):
    """A model in the file."""

    name: str
    slug: str
    family: str
    n_topics: int | None
    n_iter: int
    n_chains: int
    created: str


class AuthorName(TypedDict):
    """An author."""

    author_id: int
    author: str


class AuthorSize(AuthorName):
    """An author and the number of documents: of the author's own, or of those shared with another."""

    n_documents: int


class Doc(TypedDict):
    """A document as lists show it; the title falls back to the identifier.

    ``opening`` is there if another document of the page has the same title: the first words of the text, or topics.
    """

    document_id: int
    identifier: str
    title: str
    year: int | None
    authors: list[AuthorName]
    opening: NotRequired[str]


class TopicShare(TypedDict):
    """A topic and how much of something is in it."""

    topic: TopicSummary
    share: float
    n_tokens: int


class BandedShare(TopicShare):
    """A share with the ends of its interval (0.9); null if the model does not know it."""

    lower: float | None
    upper: float | None


class Move(TypedDict):
    """A topic that rises or falls: its shares of the earliest and of the latest tenth of all words, and the change.

    All with the ends of their intervals (0.9); ``lower`` and ``upper`` are those of the change.
    """

    topic: TopicSummary
    first: float
    first_lower: float
    first_upper: float
    last: float
    last_lower: float
    last_upper: float
    change: float
    lower: float
    upper: float


class Passing(TypedDict):
    """A topic that came and went: its shares of the earliest, of its best and of the latest tenth of all words.

    All with the ends of their intervals (0.9). ``since`` and ``until`` are the first and the last year of the best
    tenth; ``height`` is the share in it above the larger of both ends, ``lower`` and ``upper`` are those of the height.
    """

    topic: TopicSummary
    first: float
    first_lower: float
    first_upper: float
    peak: float
    peak_lower: float
    peak_upper: float
    last: float
    last_lower: float
    last_upper: float
    since: int
    until: int
    height: float
    lower: float
    upper: float


class Collection(TypedDict):
    """The size of the collection."""

    n_documents: int
    n_authors: int
    n_tokens: int
    n_words: int
    first_year: int | None
    last_year: int | None


class TopicDocument(TypedDict):
    """A document of a topic; the ends of the interval (0.9) of its share are null if the model does not know them."""

    document: Doc
    share: float
    n_tokens: int
    lower: float | None
    upper: float | None


class YearShares(TypedDict):
    """A topic or super-topic along time; shares with the ends of their intervals (0.9)."""

    years: list[int]
    share: list[float]
    lower: list[float]
    upper: list[float]
    n_tokens: list[int]


@published_as("NodeFace")
class NodeSummary(TypedDict):
    """A node of a graph of topics; ``label`` is a name that a person gave it, ``topic`` is what it draws words from.

    ``auto_label`` is made of the labels of its topics, and is shown if there is no other.
    """

    node: int
    name: str
    label: str | None
    auto_label: str
    words: list[str]
    share: float
    n_tokens: int
    n_children: int
    topic: TopicSummary | None
    trend: list[float] | None


class NodePart(TypedDict):
    """A node at the other end of an edge: the edge's alpha, its share of the parent's, the words that took it."""

    node: NodeSummary
    alpha: float
    share: float
    n_tokens: int


class SuperTopicPart(NodePart):
    """A super-topic above a topic, and the part of the topic's words that came by it, with its interval (0.9)."""

    part: float
    lower: float
    upper: float


class GraphNode(TypedDict):
    """A node in a picture, its column there, and the interval (0.9) of its share of all words."""

    node: NodeSummary
    column: int
    lower: float
    upper: float


class GraphEdge(TypedDict):
    """An edge in a picture; nodes by number."""

    parent: int
    child: int
    alpha: float
    share: float
    n_tokens: int


class Series(TypedDict):
    """A topic's shares, one for each year or decade."""

    topic: TopicSummary
    share: list[float]


class BandedSeries(Series):
    """A topic's shares with the ends of their intervals (0.9)."""

    lower: list[float]
    upper: list[float]


class WordLine(TypedDict):
    """A word and how often it occurs."""

    word_id: int
    word: str
    n_tokens: int


class Piece(TypedDict):
    """A stretch of text; a word that the model knows has a topic, its probability, and perhaps an author."""

    text: str
    word_id: NotRequired[int]
    topic: NotRequired[int]
    p: NotRequired[float]
    author: NotRequired[int | None]
    q: NotRequired[float | None]


class AuthorShare(TypedDict):
    """An author's part in a text; the ends of its interval (0.9) are null for a text that was sampled on the spot."""

    author_id: int | None
    author: str
    share: float
    n_tokens: int
    lower: float | None
    upper: float | None
    hue: int


class Sampling(TypedDict):
    """Sampling of a text; ``live`` is false if the sample that the fit ended with is shown."""

    burn_in: int
    samples: int
    lag: int
    live: bool


class NodeShare(TypedDict):
    """A super-topic and how much of a document is in it; with the ends of the interval (0.9) of the share."""

    node: NodeSummary
    share: float
    n_tokens: int
    lower: float
    upper: float


class Snippet(TypedDict):
    """A piece of a text found; ``hit`` marks the words asked for."""

    text: str
    hit: bool


class DocumentLine(TypedDict):
    """A document in a list."""

    document: Doc
    snippet: list[Snippet] | None
    topics: list[TopicSummary]


class Completion(TypedDict):
    """A suggestion for the search box."""

    kind: Literal["author", "topic", "word", "document"]
    label: str
    detail: str
    href: str


class ErrorPage(TypedDict):
    """An error; ``topic`` is the one to go to instead."""

    kind: Literal["error"]
    status: int
    title: str
    detail: str
    topic: NotRequired[TopicSummary]
