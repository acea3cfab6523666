"""Text, tables, mail and matrices become integers: the corpus layer.

``read_corpus`` and the ``Corpus.from_*`` constructors give a :class:`~topoi.corpus.corpus.Corpus`: flat word ids in
reading order, the character offsets of every word, authors in CSR form and a frame of metadata.
"""
