"""Types of the parts of the metadata page's JSON view."""

from __future__ import annotations

from typing import Literal

# Pydantic reads these types; before Python 3.12 it supports only the TypedDict of typing_extensions.
from typing_extensions import TypedDict

from topoi.web.pages.shapes.pieces import Doc, Face


class Feature(TypedDict):
    """Something known of documents that the model reads."""

    name: str
    kind: Literal["number", "date", "category", "names", "links"]
    low: float | None
    high: float | None
    n_values: int | None


class Choice(TypedDict):
    """A value of a feature, and how many documents have it."""

    value: str
    n_documents: int
    chosen: bool


class Curve(TypedDict):
    """A topic's share at every place along a feature, with the ends of its band."""

    topic: Face
    mean: list[float]
    lower: list[float]
    upper: list[float]


class CurvePoint(TypedDict):
    """A document, its place along a feature, and its own shares of the chosen topics."""

    document_id: int
    at: float
    share: list[float]


class CurveGroup(TypedDict):
    """The curves for one value of another feature; null is no value in particular."""

    name: str
    value: str | None
    author_id: int | None
    hue: int
    curves: list[Curve]
    points: list[CurvePoint]


class LinkedDocument(TypedDict):
    """A document that is linked with another, and its strongest topic."""

    document: Doc
    relation: Literal["itself", "links here", "linked", "both"]
    similarity: float
    topic: Face
    share: float
