"""Typed columns of documents' metadata, as models with features read them, and the encoding of new documents."""
