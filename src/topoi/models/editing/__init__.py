"""Editing of a fitted model by hand: merge, split, rename, ban, pin, freeze, send; preview, commit, undo, history."""
