"""The systems that are compared: topoi and whichever of its peers are installed."""

from __future__ import annotations

from importlib import import_module
from importlib.metadata import PackageNotFoundError, version

from .base import Contender, Estimates, Problem
from .ours import TopoiAuthorTopic, TopoiLDA

__all__ = ["FAMILIES", "Contender", "Estimates", "Problem", "available", "missing", "versions"]

FAMILIES = {"lda": "LDA", "author-topic": "author-topic"}
PEERS = ("tomotopy", "topica", "gensim")
_OURS: dict[str, type[Contender]] = {"lda": TopoiLDA, "author-topic": TopoiAuthorTopic}
_THEIRS = {
    "lda": {"tomotopy": "TomotopyLDA", "topica": "TopicaLDA", "gensim": "GensimLDA"},
    "author-topic": {"topica": "TopicaAuthorTopic", "gensim": "GensimAuthorTopic"},
}


def available(family: str) -> list[type[Contender]]:
    """The contenders of a family, topoi first."""
    absent = missing()
    theirs = [(peer, name) for peer, name in _THEIRS[family].items() if peer not in absent]
    return [_OURS[family], *(getattr(import_module(f".with_{peer}", __name__), name) for peer, name in theirs)]


def missing() -> list[str]:
    """Peers that are not installed."""
    return [peer for peer in PEERS if _version(peer) is None]


def versions() -> dict[str, str]:
    """The versions of the systems that take part."""
    found = {name: _version(name) for name in ("topoi", *PEERS, "numba", "numpy")}
    return {name: number for name, number in found.items() if number is not None}


def _version(name: str) -> str | None:
    if name == "topoi":
        return str(import_module("topoi").__version__)
    try:
        return version(name)
    except PackageNotFoundError:
        return None
