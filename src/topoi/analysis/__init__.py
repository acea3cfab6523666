"""What people ask of a fitted model: functions that return frames."""
