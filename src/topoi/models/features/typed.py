"""Features as typed on the command line: columns, their kinds, and widths of bumps. Light to import."""

from __future__ import annotations

from typing import Any

# As in ``topoi.models.features.columns``, which is slow to import.
KINDS = ("number", "date", "category", "names", "links")


def feature_kinds(given: str) -> Any:
    """Columns, as ``year,authors``, or with their kinds, as ``year:date,venue:category``.

    Examples
    --------
    >>> feature_kinds("year, authors"), feature_kinds("year:date,venue")
    (['year', 'authors'], {'year': 'date', 'venue': None})
    """
    found: dict[str, str | None] = {}
    for part in given.split(","):
        name, colon, kind = (piece.strip() for piece in part.rpartition(":"))
        if not colon:
            name, kind = kind, ""
        if not name:
            raise ValueError("a column has no name; write year,authors for one")
        if colon and kind not in KINDS:
            raise ValueError(
                f"{kind!r} is no kind; kinds are {', '.join(KINDS)}, and a column whose own "
                f"name has a colon needs one, {part.strip()}:category"
            )
        if name in found:
            raise ValueError(f"{name!r} is there twice")
        found[name] = kind or None
    return found if any(found.values()) else list(found)


def bump_width(given: str) -> Any:
    """A width in years, ``auto``, ``cv`` or ``none``, or several by feature, as ``year=20,pages=5``.

    Examples
    --------
    >>> bump_width("20"), bump_width("cv"), bump_width("year=20,pages=none")
    (20.0, 'cv', {'year': 20.0, 'pages': None})
    """
    if "=" not in given:
        return _width(given)
    pairs = [part.partition("=") for part in given.split(",")]
    return {name.strip(): _width(width.strip()) for name, _, width in pairs}


def _width(given: str) -> Any:
    if given in ("auto", "cv"):
        return given
    if given == "none":
        return None
    return _positive(given, "auto, cv or none")


def prior_variance(given: str) -> Any:
    """A positive number, or ``cv``.

    Examples
    --------
    >>> prior_variance("0.5"), prior_variance("cv")
    (0.5, 'cv')
    """
    return given if given == "cv" else _positive(given, "cv")


def _positive(given: str, others: str) -> float:
    try:
        number = float(given)
    except ValueError:
        number = float("nan")
    if not 0 < number < float("inf"):
        raise ValueError(f"give a positive number, {others}")
    return number
