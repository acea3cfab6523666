"""Warnings that point at the user's own line, however many of our functions lie in between."""

from __future__ import annotations

import sys
import warnings

_NOT_THE_USER = ("topoi", "sklearn")


def warn_user(message: str) -> None:
    """Warn at the first caller that is neither topoi nor scikit-learn, whose wrappers surround our methods.

    Examples
    --------
    >>> import warnings
    >>> from topoi.models.notices import warn_user
    >>> with warnings.catch_warnings(record=True) as caught:
    ...     warnings.simplefilter("always")
    ...     warn_user("look here")
    >>> str(caught[0].message)
    'look here'
    """
    level, frame = 2, sys._getframe(1)
    while frame.f_back is not None and frame.f_globals.get("__name__", "").partition(".")[0] in _NOT_THE_USER:
        level, frame = level + 1, frame.f_back
    warnings.warn(message, UserWarning, stacklevel=level)
