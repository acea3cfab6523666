"""The sampling loop around the kernels: chains, shards, executors, checkpoints, progress."""
