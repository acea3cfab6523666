"""Types of the parts of pages' JSON views."""

from __future__ import annotations

from typing import Any, Literal, NotRequired

# Pydantic reads these types; before Python 3.12 it supports only the TypedDict of typing_extensions.
from typing_extensions import TypedDict


class Face(TypedDict):
    """A topic as it is shown everywhere: number, label, words, share of all words, hue, trend."""

    topic: int
    label: str | None
    words: list[str]
    share: float
    hue: int
    glue: bool
    trend: list[float] | None


class MapFace(Face):
    """A topic with its place on the map of topics."""

    x: float | None
    y: float | None


class Model(TypedDict):
    """A model in the file."""

    name: str
    slug: str
    family: str
    n_topics: int | None
    n_iter: int
    n_chains: int
    created: str


class Trace(TypedDict):
    """How the log joint of a chain moved."""

    chain: int
    sweep: list[int]
    log_joint: list[float | None]


class FullModel(Model):
    """A model with how it was made."""

    seed: int | None
    topoi_version: str
    settings: dict[str, Any]
    trace: list[Trace]


class AuthorName(TypedDict):
    """An author."""

    author_id: int
    author: str


class AuthorSize(AuthorName):
    """An author and the number of documents: of the author's own, or of those shared with another."""

    n_documents: int


class AuthorLine(AuthorSize):
    """An author with the leading topics."""

    topics: list[Face]


class Doc(TypedDict):
    """A document as lists show it; the title falls back to the identifier."""

    document_id: int
    identifier: str
    title: str
    year: int | None
    authors: list[AuthorName]


class FullDoc(Doc):
    """A document with everything known of it."""

    date: str | None
    n_tokens: int
    metadata: dict[str, Any]


class TopicShare(TypedDict):
    """A topic and how much of something is in it."""

    topic: Face
    share: float
    n_tokens: int


class Move(TypedDict):
    """A topic that rises or falls: its shares of the earliest and of the latest tenth of all words, and the change."""

    topic: Face
    first: float
    last: float
    change: float


class Collection(TypedDict):
    """The size of the collection."""

    n_documents: int
    n_authors: int
    n_tokens: int
    n_words: int
    first_year: int | None
    last_year: int | None


class TopicWord(TypedDict):
    """A word of a topic: P(word | topic), and P(topic | word) as share_of_word."""

    word_id: int
    word: str
    n_tokens: int
    probability: float
    share_of_word: float


class TopicAuthor(AuthorName):
    """An author of a topic: P(author | topic)."""

    n_tokens: int
    probability: float


class TopicDocument(TypedDict):
    """A document of a topic."""

    document: Doc
    share: float
    n_tokens: int


class Neighbour(TypedDict):
    """A topic near another; symmetrised KL."""

    topic: Face
    distance: float


class YearShares(TypedDict):
    """A topic or super-topic along time."""

    years: list[int]
    share: list[float]
    n_tokens: list[int]


class NodeFace(TypedDict):
    """A node of a graph of topics; ``label`` is a name that a person gave it, ``topic`` is what it draws words from."""

    node: int
    name: str
    label: str | None
    words: list[str]
    share: float
    n_tokens: int
    n_children: int
    topic: Face | None
    trend: list[float] | None


class NodePart(TypedDict):
    """A node at the other end of an edge: the edge's alpha, its share of the parent's, the words that took it."""

    node: NodeFace
    alpha: float
    share: float
    n_tokens: int


class SuperTopic(TypedDict):
    """A super-topic and its strongest children."""

    node: NodeFace
    children: list[NodePart]


class GraphNode(TypedDict):
    """A node in a picture, and its column there."""

    node: NodeFace
    column: int


class GraphEdge(TypedDict):
    """An edge in a picture; nodes by number."""

    parent: int
    child: int
    alpha: float
    share: float
    n_tokens: int


class NodeWord(TypedDict):
    """A word that tells a node from others."""

    word_id: int
    word: str


class AuthorHead(TypedDict):
    """An author with the size of the work."""

    author_id: int
    name: str
    n_documents: int
    n_tokens: int
    first_year: int | None
    last_year: int | None


class Series(TypedDict):
    """A topic's shares, one for each year or decade."""

    topic: Face
    share: list[float]


class AuthorYears(TypedDict):
    """An author along time."""

    years: list[int]
    n_documents: list[int]
    topics: list[Series]


class Surprise(TypedDict):
    """A document and how surprising it is under an author's name."""

    document: Doc
    perplexity: float


class AuthorNear(AuthorName):
    """An author near another, with topics of both."""

    distance: float
    topics: list[Face]


class WordLine(TypedDict):
    """A word and how often it occurs."""

    word_id: int
    word: str
    n_tokens: int


class AuthorWord(WordLine):
    """A word of an author, in a model without topics."""

    probability: float


class Piece(TypedDict):
    """A stretch of text; a word that the model knows has a topic, its probability, and perhaps an author."""

    text: str
    word_id: NotRequired[int]
    topic: NotRequired[int]
    p: NotRequired[float]
    author: NotRequired[int | None]
    q: NotRequired[float | None]


class AuthorShare(TypedDict):
    """An author's part in a text."""

    author_id: int | None
    author: str
    share: float
    n_tokens: int
    hue: int


class Sampling(TypedDict):
    """How a text was sampled; ``live`` is false if the sample that the fit ended with is shown."""

    burn_in: int
    samples: int
    lag: int
    live: bool


class DocumentNear(TypedDict):
    """A document near another, with topics of both."""

    document: Doc
    distance: float
    topics: list[Face]


class NodeShare(TypedDict):
    """A super-topic and how much of a document is in it."""

    node: NodeFace
    share: float
    n_tokens: int


class Snippet(TypedDict):
    """A piece of a text found; ``hit`` marks the words asked for."""

    text: str
    hit: bool


class DocumentLine(TypedDict):
    """A document in a list."""

    document: Doc
    snippet: list[Snippet] | None
    topics: list[Face]


class Word(WordLine):
    """A word."""

    n_documents: int


class WordTopic(TypedDict):
    """A topic of a word: P(topic | word), and the word's rank within the topic."""

    topic: Face
    probability: float
    n_tokens: int
    word_rank: int


class Pair(TypedDict):
    """Two corresponding topics: what part of their words both have, and their symmetrised KL distance in nats."""

    first: Face
    second: Face
    shared: float
    distance: float


class Matrix(TypedDict):
    """What part of their words any two topics share; corresponding topics are on the diagonal."""

    rows: list[int]
    columns: list[int]
    shared: list[list[float]]


class Unpaired(TypedDict):
    """What topics that are no pair share: half of them less than the median, nine of ten less than most."""

    median: float
    most: float


class LikelyAuthor(AuthorName):
    """Who could have written a text; n_words counts the author's own words."""

    probability: float
    n_words: int


class ParseResult(TypedDict):
    """A text, labelled."""

    pieces: list[Piece]
    n_hidden: int
    topics: list[TopicShare]
    authors: list[AuthorShare]
    faces: dict[str, Face]
    likely: list[LikelyAuthor]
    n_known: int
    n_unknown: int
    seconds: float


class Reviewer(AuthorSize):
    """Who could review a text; the score is the mean log probability of its words."""

    score: float
    topics: list[Face]


class LeftOut(TypedDict):
    """Who was left out, and why."""

    n_excluded: int
    n_coauthors: int
    n_too_few_words: int
    unknown: list[str]


class Completion(TypedDict):
    """A suggestion for the search box."""

    kind: Literal["author", "topic", "word", "document"]
    label: str
    detail: str
    href: str
