"""topoi: what a collection of documents is about, who writes about what, and how it moves.

Public names are imported on first use, so that ``import topoi`` (and ``topoi --help``) is quick.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from topoi.errors import CorpusError, ModelError, NotFoundError, StoreError, TopoiError
from topoi.models.registry import built_in

__version__ = "0.1.0"

_HOME = {
    "Corpus": "topoi.corpus.corpus",
    "read_corpus": "topoi.corpus.read",
    "load_dataset": "topoi.corpus.datasets",
    "load": "topoi.store.files",
    "view": "topoi.store.view",
    "ModelView": "topoi.store.view",
    "open_store": "topoi.store.store",
    "label_document": "topoi.analysis.label",
    "label_words": "topoi.analysis.label",
    "topic_trends": "topoi.analysis.trends",
    "node_trends": "topoi.analysis.trends",
    "node_documents": "topoi.analysis.structure",
    "document_nodes": "topoi.analysis.structure",
    "align_topics": "topoi.analysis.alignment",
    "compare_groups": "topoi.analysis.groups",
    "group_documents": "topoi.analysis.groups",
    "document_topics": "topoi.analysis.documents",
    "likely_authors": "topoi.analysis.authorship",
    "recommend_reviewers": "topoi.analysis.reviewers",
    "Search": "topoi.retrieval.search",
    "similar_authors": "topoi.analysis.authors",
    "similar_documents": "topoi.analysis.documents",
    "share_curve": "topoi.analysis.shares",
    "topic_effects": "topoi.analysis.effects",
    "link_neighbourhood": "topoi.analysis.links",
    "topic_documents": "topoi.analysis.documents",
    "unusual_documents": "topoi.analysis.unusual",
    "word_topics": "topoi.analysis.topics",
    "evaluation": "topoi.evaluation",
    "exchange": "topoi.exchange",
    "plots": "topoi.plots",
}

# Each family says which public names are its own.
_HOME |= {name: home for family in built_in() for name, home in family.names.items()}
_MODULES = {"evaluation", "exchange", "plots"}.union(*(family.modules for family in built_in()))
_HOME |= {model.name: model.home for family in built_in() for model in family.models}

# Written out, as the imports below are, for those who read types; a test compares both with the families.
__all__ = [
    "LDA",
    "WORDS",
    "AspectModel",
    "AuthorModel",
    "AuthorTopicModel",
    "Corpus",
    "CorpusError",
    "CorrelatedTopicModel",
    "Dag",
    "DirichletMultinomialRegression",
    "HierarchicalDirichletProcess",
    "KernelTopicModel",
    "ModelError",
    "ModelView",
    "NotFoundError",
    "On",
    "PLSI",
    "PachinkoAllocation",
    "Proximity",
    "Search",
    "StoreError",
    "TopoiError",
    "align_topics",
    "document_nodes",
    "document_topics",
    "evaluation",
    "exchange",
    "label_document",
    "label_words",
    "laplace_bridge",
    "likely_authors",
    "link_neighbourhood",
    "load",
    "load_dataset",
    "node_documents",
    "node_trends",
    "open_store",
    "plots",
    "read_corpus",
    "recommend_reviewers",
    "share_curve",
    "similar_authors",
    "similar_documents",
    "topic_documents",
    "topic_effects",
    "topic_trends",
    "unusual_documents",
    "view",
    "word_topics",
    "compare_groups",
    "group_documents",
]

if TYPE_CHECKING:
    from topoi import evaluation, exchange, plots
    from topoi.analysis.alignment import align_topics
    from topoi.analysis.authors import similar_authors
    from topoi.analysis.authorship import likely_authors
    from topoi.analysis.documents import document_topics, similar_documents, topic_documents
    from topoi.analysis.effects import topic_effects
    from topoi.analysis.groups import compare_groups, group_documents
    from topoi.analysis.label import label_document, label_words
    from topoi.analysis.links import link_neighbourhood
    from topoi.analysis.reviewers import recommend_reviewers
    from topoi.analysis.shares import share_curve
    from topoi.analysis.structure import document_nodes, node_documents
    from topoi.analysis.topics import word_topics
    from topoi.analysis.trends import node_trends, topic_trends
    from topoi.analysis.unusual import unusual_documents
    from topoi.corpus.corpus import Corpus
    from topoi.corpus.datasets import load_dataset
    from topoi.corpus.read import read_corpus
    from topoi.models.aspect.estimator import AspectModel
    from topoi.models.author_topic.estimator import LDA, AuthorModel, AuthorTopicModel
    from topoi.models.ctm.model import CorrelatedTopicModel
    from topoi.models.dag import WORDS, Dag
    from topoi.models.dmr.estimator import DirichletMultinomialRegression
    from topoi.models.hdp.model import HierarchicalDirichletProcess
    from topoi.models.kernel_topic import laplace_bridge
    from topoi.models.kernel_topic.covariances import On, Proximity
    from topoi.models.kernel_topic.estimator import KernelTopicModel
    from topoi.models.pachinko.estimator import PachinkoAllocation
    from topoi.models.plsi.model import PLSI
    from topoi.retrieval.search import Search
    from topoi.store.files import load
    from topoi.store.store import open_store
    from topoi.store.view import ModelView, view


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module 'topoi' has no attribute {name!r}")
    module = import_module(_HOME[name])
    value = module if name in _MODULES else getattr(module, name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted([*__all__, "__version__"])
