"""Figures and tables of the five papers, one by one: what the paper has, what topoi finds, and whether they agree."""
