"""Where a corpus and its fitted models are kept: one SQLite file that anything can open."""
