"""Models in a store, read by SQL as queries need them."""
