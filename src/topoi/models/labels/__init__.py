"""Automatic names of topics: a phrase of one to three words that tells a topic from its neighbours."""
