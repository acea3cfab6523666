"""Documents' metadata as typed columns that models with features read, and that new documents are encoded by."""
