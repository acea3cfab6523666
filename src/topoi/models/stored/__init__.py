"""Models in a store, read by SQL as questions need them."""
