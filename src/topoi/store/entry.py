"""Interface between a model and the store: a bundle to rebuild the model from, and rows to query."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from topoi.corpus.blocks import Table
from topoi.corpus.pieces import ArrayOrPieces

# The tables that only models over a graph have.
GRAPH_TABLES = ("dag_node", "dag_edge", "document_node", "node_trend", "document_path")
# All tables that belong to a model; each family fills those that apply to it.
MODEL_TABLES = (
    "topic",
    "topic_word",
    "author_topic",
    "topic_author",
    "document_topic",
    "topic_document",
    "topic_neighbour",
    "mixture",
    "document_share",
    "topic_trend",
    "author_word",
    "author_document",
    "document_assignment",
    *GRAPH_TABLES,
    "trace",
)


@dataclass(frozen=True)
class ModelEntry:
    """A fitted model as rows and a bundle, so that the store need not know model families.

    Attributes
    ----------
    name : str
        The model's name within the file.
    model : str
        The class name, from which ``topoi.load`` finds the class.
    n_topics : int or None
        None if the model has no topics.
    n_iter, n_chains, seed : int
        Settings of the fit.
    chain : str
        Digest of what identifies the chain (corpus, settings, seed); labels survive a save while it is unchanged.
    meta : mapping
        Settings that JSON can hold; together with ``arrays``, all that the model is rebuilt from.
    arrays : mapping of arrays
        Numbers only, whole or in pieces.
    tables : mapping of tables
        For some of ``MODEL_TABLES`` the columns after ``model_id``, all of one length; or ``Blocks`` of such columns.
    parameters : mapping
        Fitted numbers outside the tables.
    """

    name: str
    model: str
    n_topics: int | None
    n_iter: int
    n_chains: int
    seed: int | None
    chain: str
    meta: Mapping[str, Any]
    arrays: Mapping[str, ArrayOrPieces]
    tables: Mapping[str, Table]
    parameters: Mapping[str, Any] = field(default_factory=dict)
