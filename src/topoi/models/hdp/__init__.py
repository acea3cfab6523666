"""The hierarchical Dirichlet process: topics whose number is learned from the words."""
