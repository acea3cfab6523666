"""Where a corpus and its fitted models are kept."""
