"""The browser: a store read in a web browser on this machine."""
