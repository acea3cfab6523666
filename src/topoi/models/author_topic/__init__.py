"""The author-topic family: ``AuthorTopicModel``, ``LDA`` and ``AuthorModel``."""
