"""Documents of a super-topic, and super-topics of a document."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from topoi.analysis.given import find_node, need_document, need_graph, with_rank
from topoi.errors import ModelError
from topoi.models.validation import whole_number


def node_documents(model: Any, node: str | int, n: int = 10) -> pd.DataFrame:
    """The training documents with most of a node of the graph, such as a super-topic (first chain).

    Parameters
    ----------
    model : PachinkoAllocation or ModelView
        A fitted model over a graph.
    node : str or int
        A node's name or number, as in ``model.dag_.nodes``; not the root.
    n : int
        Number of documents.

    Returns
    -------
    DataFrame
        node, rank, document (position), id, title and year if there are any, share (posterior mean of the probability
        that a word's path leads through the node, as in ``doc_node_``), n_words (number of the document's words whose
        paths do). Documents without such a word are left out.

    Examples
    --------
    >>> import topoi
    >>> corpus = topoi.Corpus.from_tokens([["a", "b"] * 3, ["a", "b"] * 9])
    >>> model = topoi.PachinkoAllocation(1, 2, n_iter=2, random_state=0).fit(corpus)
    >>> topoi.node_documents(model, "super 0")["n_words"].tolist()
    [6, 18]
    """
    need_graph(model)
    number, wanted = find_node(model, node), whole_number("n", n)
    if number == 0:
        raise ModelError(f"{model.dag_.root!r} is the root, through which every word goes; name a node below it")
    found = model.leading_documents(number, wanted)
    name = np.full(len(found.document), model.dag_.nodes[number], object)
    columns = {"node": name, **model.catalogue_.document_columns(found.document)}
    return with_rank(pd.DataFrame(columns | {"share": found.share, "n_words": found.n_words}), 1, found.document)


def document_nodes(model: Any, document: int | str, n: int | None = None) -> pd.DataFrame:
    """The super-topics of a training document, the largest share first (first chain).

    Parameters
    ----------
    model : PachinkoAllocation or ModelView
        A fitted model over a graph.
    document : int or str
        A training document's position, id or title.
    n : int, optional
        Number of super-topics; all if not given.

    Returns
    -------
    DataFrame
        node (a name), rank, share and n_words as in ``node_documents``. Super-topics are nodes with children, the root
        left out; those that no word's path leads through are left out too.

    Examples
    --------
    >>> import topoi
    >>> corpus = topoi.Corpus.from_tokens([["a", "b"] * 3, ["a", "b"] * 9])
    >>> model = topoi.PachinkoAllocation(1, 2, n_iter=2, random_state=0).fit(corpus)
    >>> topoi.document_nodes(model, 1)[["node", "n_words"]].values.tolist()
    [['super 0', 18]]
    """
    need_graph(model)
    position = need_document(model, document)
    node, number, share = model.nodes_of_document(position)
    best = np.argsort(-share, kind="stable")[: None if n is None else whole_number("n", n)]
    names = np.array([model.dag_.nodes[v] for v in node[best]], object)
    return with_rank(pd.DataFrame({"node": names, "share": share[best], "n_words": number[best]}), 1, node[best])
