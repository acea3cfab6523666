"""Gibbs chains on a Dask cluster: the same bits as on one machine, whatever happens to the workers.

A shard of documents is swept on the worker that is its home, against counts that every worker keeps. The changes of all
shards are added up on the workers, and their sum is sent to all. Every few seconds the assignments are written to a
shared folder, or brought to the client: the *root*. When a worker is lost, everything since the root is done again;
random streams are keyed by seed, chain, sweep and shard, so the draws are the same.

``contract`` is what a family offers, ``deltas`` are changes of counts, ``worker`` has the tasks, ``crew`` the workers
in use, ``sampling`` the client's side, and ``files`` the shared folder.
"""
