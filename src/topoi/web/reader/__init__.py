"""The reader of an exported site: compact data files, and what fills them."""
