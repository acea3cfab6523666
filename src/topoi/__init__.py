"""topoi: what a collection of documents is about, who writes about what, and how it moves.

Public names are imported on first use, so that ``import topoi`` (and ``topoi --help``) is quick.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from topoi.errors import CorpusError as CorpusError
from topoi.errors import ModelError as ModelError
from topoi.errors import NotFoundError as NotFoundError
from topoi.errors import StoreError as StoreError
from topoi.errors import TopoiError as TopoiError
from topoi.models.registry import built_in

__version__ = "0.1.0"

_HOME = {
    "Corpus": "topoi.corpus.corpus",
    "read_corpus": "topoi.corpus.read",
    "open_corpus": "topoi.corpus.folder",
    "load_dataset": "topoi.corpus.datasets",
    "load": "topoi.store.files",
    "view": "topoi.store.view",
    "ModelView": "topoi.store.view",
    "open_store": "topoi.store.store",
    "edit": "topoi.store.edits",
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

_MODULES = {"evaluation", "exchange", "plots"}

# Each family says which public names are its own.
for _family in built_in():
    _HOME |= {model.name: model.home for model in _family.models} | _family.names
    _MODULES |= {*_family.modules}

__all__ = sorted([*_HOME, "CorpusError", "ModelError", "NotFoundError", "StoreError", "TopoiError"])

# For those who read types: a public name that is not here is Any to them, and works all the same.
if TYPE_CHECKING:
    from topoi import evaluation as evaluation
    from topoi import exchange as exchange
    from topoi import plots as plots
    from topoi.analysis.alignment import align_topics as align_topics
    from topoi.analysis.authors import similar_authors as similar_authors
    from topoi.analysis.authorship import likely_authors as likely_authors
    from topoi.analysis.documents import document_topics as document_topics
    from topoi.analysis.documents import similar_documents as similar_documents
    from topoi.analysis.documents import topic_documents as topic_documents
    from topoi.analysis.effects import topic_effects as topic_effects
    from topoi.analysis.groups import compare_groups as compare_groups
    from topoi.analysis.groups import group_documents as group_documents
    from topoi.analysis.label import label_document as label_document
    from topoi.analysis.label import label_words as label_words
    from topoi.analysis.links import link_neighbourhood as link_neighbourhood
    from topoi.analysis.reviewers import recommend_reviewers as recommend_reviewers
    from topoi.analysis.shares import share_curve as share_curve
    from topoi.analysis.structure import document_nodes as document_nodes
    from topoi.analysis.structure import node_documents as node_documents
    from topoi.analysis.topics import word_topics as word_topics
    from topoi.analysis.trends import node_trends as node_trends
    from topoi.analysis.trends import topic_trends as topic_trends
    from topoi.analysis.unusual import unusual_documents as unusual_documents
    from topoi.corpus.corpus import Corpus as Corpus
    from topoi.corpus.datasets import load_dataset as load_dataset
    from topoi.corpus.folder import open_corpus as open_corpus
    from topoi.corpus.read import read_corpus as read_corpus
    from topoi.models.aspect.estimator import AspectModel as AspectModel
    from topoi.models.author_topic.estimator import LDA as LDA
    from topoi.models.author_topic.estimator import AuthorModel as AuthorModel
    from topoi.models.author_topic.estimator import AuthorTopicModel as AuthorTopicModel
    from topoi.models.ctm.model import CorrelatedTopicModel as CorrelatedTopicModel
    from topoi.models.dag import WORDS as WORDS
    from topoi.models.dag import Dag as Dag
    from topoi.models.dmr.estimator import DirichletMultinomialRegression as DirichletMultinomialRegression
    from topoi.models.hdp.model import HierarchicalDirichletProcess as HierarchicalDirichletProcess
    from topoi.models.kernel_topic import laplace_bridge as laplace_bridge
    from topoi.models.kernel_topic.covariances import On as On
    from topoi.models.kernel_topic.covariances import Proximity as Proximity
    from topoi.models.kernel_topic.estimator import KernelTopicModel as KernelTopicModel
    from topoi.models.pachinko.estimator import PachinkoAllocation as PachinkoAllocation
    from topoi.models.plsi.model import PLSI as PLSI
    from topoi.retrieval.search import Search as Search
    from topoi.store.edits import edit as edit
    from topoi.store.files import load as load
    from topoi.store.store import open_store as open_store
    from topoi.store.view import ModelView as ModelView
    from topoi.store.view import view as view


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module 'topoi' has no attribute {name!r}")
    module = import_module(_HOME[name])
    value = module if name in _MODULES else getattr(module, name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted([*__all__, "__version__"])
