"""The corpus layer: texts, tables, mail and matrices of counts are read and encoded as integers.

``read_corpus`` and the ``Corpus.from_*`` constructors give a :class:`~topoi.corpus.corpus.Corpus`: flat word ids in
reading order, the character offsets of every word, authors in CSR form and a frame of metadata.
"""
