"""The browser: a store shown in a web browser on this machine."""
