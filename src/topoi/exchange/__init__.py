"""Exchange with other programs: MALLET, pyLDAvis, OCTIS, gensim, and whatever reads Parquet.

``to_…`` gives a model or a corpus in another program's form, ``read_…`` reads what another program wrote. Topics and
words keep their numbers.
"""

from topoi.exchange.gensim_forms import to_gensim_corpus, to_gensim_dictionary
from topoi.exchange.mallet_state import read_mallet_state, to_mallet_state
from topoi.exchange.mallet_tables import (
    read_mallet_doc_topics,
    read_mallet_keys,
    to_mallet_doc_topics,
    to_mallet_keys,
)
from topoi.exchange.matrices import to_octis, to_pyldavis
from topoi.exchange.parquet import to_parquet

__all__ = [
    "read_mallet_doc_topics",
    "read_mallet_keys",
    "read_mallet_state",
    "to_gensim_corpus",
    "to_gensim_dictionary",
    "to_mallet_doc_topics",
    "to_mallet_keys",
    "to_mallet_state",
    "to_octis",
    "to_parquet",
    "to_pyldavis",
]
