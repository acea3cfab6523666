"""What people write for the features of a model: which columns, of which kind, how wide their bumps are."""

from __future__ import annotations

from typing import Any

import typer

# As in ``topoi.models.features.columns``, which is slow to import.
KINDS = ("number", "date", "category", "names", "links")


def feature_kinds(given: str | None) -> Any:
    """Columns, as ``year,authors``, or with their kinds, as ``year:date,venue:category``.

    Examples
    --------
    >>> feature_kinds("year, authors"), feature_kinds("year:date,venue")
    (['year', 'authors'], {'year': 'date', 'venue': None})
    """
    if given is None:
        return None
    found: dict[str, str | None] = {}
    for part in given.split(","):
        name, colon, kind = (piece.strip() for piece in part.rpartition(":"))
        if not colon:
            name, kind = kind, ""
        if not name:
            raise typer.BadParameter(f"--features {given}: a column has no name; write year,authors for one")
        if colon and kind not in KINDS:
            raise typer.BadParameter(
                f"--features {part.strip()}: {kind!r} is no kind; kinds are {', '.join(KINDS)}, and a column whose own "
                f"name has a colon needs one, {part.strip()}:category"
            )
        if name in found:
            raise typer.BadParameter(f"--features {given}: {name!r} is there twice")
        found[name] = kind or None
    return found if any(found.values()) else list(found)


def bump_width(given: str | None) -> Any:
    """A width in years, ``auto``, ``cv`` or ``none``, or several by feature, as ``year=20,pages=5``.

    Examples
    --------
    >>> bump_width("20"), bump_width("cv"), bump_width("year=20,pages=none")
    (20.0, 'cv', {'year': 20.0, 'pages': None})
    """
    if given is None:
        return None
    if "=" not in given:
        width = _width(given)
        # None is what a setting has that nobody has given; only a mapping can say it.
        return "none" if width is None else width
    pairs = [part.partition("=") for part in given.split(",")]
    return {name.strip(): _width(width.strip()) for name, _, width in pairs}


def _width(given: str) -> Any:
    if given in ("auto", "cv"):
        return given
    if given == "none":
        return None
    return _positive("--width", given, "auto, cv or none")


def prior_variance(given: str | None) -> Any:
    """A positive number, or ``cv``.

    Examples
    --------
    >>> prior_variance("0.5"), prior_variance("cv")
    (0.5, 'cv')
    """
    return given if given is None or given == "cv" else _positive("--variance", given, "cv")


def _positive(option: str, given: str, others: str) -> float:
    try:
        number = float(given)
    except ValueError:
        number = float("nan")
    if not 0 < number < float("inf"):
        raise typer.BadParameter(f"{option} {given}: give a positive number, {others}")
    return number
