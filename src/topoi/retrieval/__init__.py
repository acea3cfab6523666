"""Search: language models, topic models and mixtures of both, for documents and for authors."""
