"""Storage of a corpus and its fitted models in one SQLite file, readable by any SQLite client."""
