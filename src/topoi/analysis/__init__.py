"""Queries of a fitted model: functions that return frames."""
