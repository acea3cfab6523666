"""An author's documents ranked by how unlike the author's others they are; outliers are often a namesake's."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from topoi.analysis.authorship import log_likelihoods_by
from topoi.analysis.given import find_author, need_authors
from topoi.corpus.corpus import Corpus
from topoi.errors import ModelError
from topoi.models.catalogue import CorpusCatalogue
from topoi.models.contract import InStore
from topoi.models.inputs import align
from topoi.models.names import find_name
from topoi.models.scores import perplexities


def unusual_documents(model: Any, corpus: Corpus | None = None, author: str | int | None = None) -> pd.DataFrame:
    """An author's documents, most surprising first (AT09, section 5.1).

    Each document is scored as if the author alone had written it. A document of far higher perplexity than the author's
    others is on another subject: the work of a co-author, or of another person of the same name. The score of a
    training document is the paper's approximation: the document itself contributed to the author's mixture, so its
    perplexity is a little too low. Compare documents of similar length: a short one can be surprising by chance.

    Parameters
    ----------
    model : AuthorTopicModel, AuthorModel or ModelView
        A fitted model. The probability of a document is averaged over its chains.
    corpus : Corpus, optional
        The documents among which to find the author's; the training corpus if not given.
    author : str
        A name; an unknown one is a ``NotFoundError`` that suggests others.

    Returns
    -------
    DataFrame
        document (position in the corpus), id, title and year if there are any, n_words (known to the model), perplexity
        (missing for a document without words). ``frame.attrs["author"]`` has the name as the model spells it.

    Examples
    --------
    >>> import topoi
    >>> rows, names = [["sun", "star"], ["sun", "moon"]] * 10 + [["cell", "gene"]] * 9, ["Ann"] * 20 + ["Bob"] * 9
    >>> corpus = topoi.Corpus.from_tokens([*rows, ["gene", "cell"]], authors=[*names, "Ann"])
    >>> model = topoi.AuthorTopicModel(2, alpha=0.1, n_iter=50, random_state=0).fit(corpus)
    >>> topoi.unusual_documents(model, author="Ann")["document"].tolist()[:1]
    [29]
    """
    need_authors(model)
    if corpus is not None and not isinstance(corpus, Corpus):
        raise ModelError(f"corpus is {corpus!r}; pass a topoi.Corpus, and the name as author=")
    if author is None:
        raise ModelError(f"author is None; pass a name, as in author={str(model.authors_[0])!r}")
    a = find_author(model, author)
    name = str(model.authors_[a])
    if corpus is None and isinstance(model, InStore):  # a store has them ready
        rows, n_words, perplexity = model.author_perplexities(a)
        named = model.catalogue_.document_columns(rows)
    else:
        corpus = model.corpus_ if corpus is None else corpus
        catalogue = CorpusCatalogue(corpus)
        there = a if corpus is model.corpus_ else find_name(name, corpus.authors, "author", part=False)
        rows = catalogue.author_documents(there)
        mine = _in_model_words(model, corpus, rows)
        n_words, named = mine.doc_lengths, catalogue.document_columns(rows)
        perplexity = perplexities(log_likelihoods_by(model, a, mine), n_words, per_document=True)
    order = np.argsort(-perplexity, kind="stable")  # nan comes last
    frame = pd.DataFrame(named | {"n_words": n_words, "perplexity": perplexity}).iloc[order].reset_index(drop=True)
    frame.attrs["author"] = name
    return frame


def _in_model_words(model: Any, corpus: Corpus, rows: np.ndarray) -> Corpus:
    """Selected documents in the model's word ids, without authors, which the model may not know."""
    some = corpus.subset(rows)
    bare = Corpus(tokens=some.tokens, doc_start=some.doc_start, vocabulary=some.vocabulary)
    return bare if corpus is model.corpus_ else align(bare, model.vocabulary_, np.zeros(0, object)).corpus
