"""Warnings that point at the user's own line rather than at topoi's."""

from __future__ import annotations

import sys
import warnings
from typing import Any

_NOT_THE_USER = ("topoi", "sklearn")


def warn_user(message: str) -> None:
    """Warn at the first caller outside topoi and scikit-learn, whose wrappers surround our methods.

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


def warn_unfinished(info: dict[str, Any], limit: str, last: str, tol: float) -> None:
    """Warn that a fit reached its limit before ``tol``; ``info`` is its ``fit_info_``, ``last`` the last change.

    Examples
    --------
    >>> import warnings
    >>> from topoi.models.notices import warn_unfinished
    >>> with warnings.catch_warnings(record=True) as caught:
    ...     warnings.simplefilter("always")
    ...     warn_unfinished({"stopped": "n_iter", "last_change": 0.02}, "5 sweeps", "one changed shares", 0.001)
    >>> str(caught[0].message)
    '5 sweeps were not enough: one changed shares by 0.02, more than tol=0.001; raise n_iter, or tol if that will do'
    """
    if info["stopped"] == "n_iter" and tol > 0 and info["last_change"] is not None:
        change = f"{last} by {info['last_change']:.3g}, more than tol={tol:g}"
        warn_user(f"{limit} were not enough: {change}; raise n_iter, or tol if that will do")
