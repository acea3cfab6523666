"""Guidance of topics: seed words, words banned or pinned, labels of documents."""
