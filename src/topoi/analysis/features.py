"""Features of a model with metadata: their columns, grids of values, and typical values as defaults."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from topoi.analysis.given import class_name, need_fitted
from topoi.errors import ModelError
from topoi.models.contract import InStore, ModelLike, ReadsMetadata
from topoi.models.features.columns import SOMEBODY, Column, Links, Names, Number, as_names, as_numbers
from topoi.models.features.table import values_of
from topoi.models.names import find_name
from topoi.models.registry import giving

MOST_NAMES = 20
# Cache of name counts by corpus: counting takes a pass over all documents, and callers repeat it.
_COUNTS: WeakKeyDictionary[Any, dict[tuple[str, bool], Counter[str]]] = WeakKeyDictionary()


def feature_columns(model: ModelLike) -> dict[str, Column]:
    """Columns of a fitted model with metadata, by name; any other model is a ``ModelError``.

    Examples
    --------
    >>> import topoi
    >>> from topoi.analysis.features import feature_columns
    >>> corpus = topoi.Corpus.from_tokens([["a"], ["b"]] * 4, dates=list(range(1990, 1998)))
    >>> model = topoi.DirichletMultinomialRegression(2, features=["year"], n_iter=2, random_state=0).fit(corpus)
    >>> feature_columns(model)["year"].high
    1997.0
    """
    need_fitted(model)
    if isinstance(model, InStore):
        raise ModelError("a model in a file cannot predict before it is loaded; use topoi.load")
    if not isinstance(model, ReadsMetadata):
        raise ModelError(f"{class_name(model)} reads no metadata; fit {giving('features')}")
    if not model.reads_features:
        raise ModelError("the model's kernel is a matrix of similarities: it has no features to go along")
    return {column.name: column for column in model.feature_columns_}


def find_feature(columns: Mapping[str, Column], name: str | None) -> Column:
    """Find a feature by name; None is the first number or date or, if there is none, the first feature."""
    if not columns:
        raise ModelError("the model has no features, an intercept alone: there is nothing to go along")
    if name is None:
        return next((each for each in columns.values() if isinstance(each, Number)), next(iter(columns.values())))
    if name not in columns:
        raise ModelError(f"there is no feature {name!r}; the features are {', '.join(map(repr, columns))}")
    return columns[name]


def typical(model: ModelLike, column: Column) -> Any:
    """Default value of a feature: the mean, the commonest category, an unseen name, or no links."""
    if isinstance(column, Number):
        return column.mean
    if isinstance(column, Links):
        return []
    return common_names(model, column)[0] if column.single else [_somebody(column)]


def _somebody(column: Names) -> str:
    """Return a name that no training document has."""
    name = SOMEBODY
    while name in column.levels:
        name += "'"
    return name


def checked_value(model: ModelLike, column: Column, value: object) -> Any:
    """Validate a value of a feature, with names spelled as in the model; an unknown name is a ``NotFoundError``."""
    if value is None:
        return typical(model, column)
    if isinstance(column, Number):
        number = float(as_numbers(column.name, [value], column.date)[0])
        return column.mean if np.isnan(number) else number
    if isinstance(column, Links):
        return as_names([value], False)[0]
    if isinstance(value, str) and not column.single and value.strip() in column.levels:
        return [value.strip()]  # a name may contain a semicolon
    known = np.array(column.levels, object)
    # No partial matches for categories: they are often a letter or two, which would match anything.
    found = (
        find_name(each, known, _singular(column), not column.single) for each in as_names([value], column.single)[0]
    )
    names = [column.levels[at] for at in found]
    if not names:
        return typical(model, column)
    return names[0] if column.single else names


def value_name(column: Column, value: object) -> str:
    """Legend text of a value.

    Examples
    --------
    >>> from topoi.analysis.features import value_name
    >>> from topoi.models.features.columns import Names
    >>> authors = Names("authors", ["Ann", "Bob"], False)
    >>> value_name(authors, ["Ann", "Bob"]), value_name(authors, ["(somebody new)"])
    ('Ann, Bob', 'somebody new')
    """
    if isinstance(column, Number):
        number = float(as_numbers(column.name, [value], column.date)[0])
        return f"{column.name} {number:g}" if abs(number) < 1e5 else f"{column.name} {number:,.0f}"
    names = as_names([value], getattr(column, "single", False))[0]
    if isinstance(column, Names) and names == [_somebody(column)]:
        return "somebody new" if column.name == "authors" else f"any {column.name}"
    return ", ".join(names) or "no links"


def _singular(column: Column) -> str:
    return "author" if column.name == "authors" else f"value of {column.name!r}:"


def axis(model: ModelLike, column: Column, values: Iterable[Any] | None = None, n: int = 60) -> list[Any]:
    """Values along a feature: the given ones, else a grid over the training range or the commonest names."""
    if isinstance(column, Links):
        raise ModelError(f"{column.name!r} are links, which have no order; see topoi.link_neighbourhood")
    if values is not None:
        if isinstance(values, str | Mapping) or not isinstance(values, Iterable):
            raise ModelError(f"values is {values!r}; pass a list of values of {column.name!r}")
        found = [checked_value(model, column, value) for value in values]
        if not found:
            raise ModelError(f"values is empty; name at least one value of {column.name!r}")
        return found
    if isinstance(column, Number):
        return [float(value) for value in grid(column.low, column.high, n, whole=_is_whole(model, column))]
    return [name if column.single else [name] for name in common_names(model, column)[: min(n, MOST_NAMES)]]


def grid(low: float, high: float, n: int, *, whole: bool) -> NDArray[np.float64]:
    """Grid of at most ``max(n, 2)`` numbers from ``low`` to ``high``, both included.

    With ``whole``, steps are whole numbers, except that the last step may be shorter.

    Examples
    --------
    >>> from topoi.analysis.features import grid
    >>> grid(1990, 2001, 5, whole=True).tolist(), grid(0, 1, 3, whole=False).tolist()
    ([1990.0, 1993.0, 1996.0, 1999.0, 2001.0], [0.0, 0.5, 1.0])
    """
    if high <= low:
        return np.array([low])
    if not whole:
        return np.linspace(low, high, max(n, 2))
    step = max(1.0, np.ceil((high - low) / max(n - 1, 1)))
    return np.append(np.arange(low, high, step), high)


def _is_whole(model: ModelLike, column: Number) -> bool:
    if column.date:
        return False
    values = as_numbers(column.name, _values(model, column), False)
    known = values[~np.isnan(values)]
    return column.name == "year" if not len(known) else bool((known == np.round(known)).all())


def common_names(model: ModelLike, column: Names) -> list[str]:
    """A feature's names, those with most documents first."""
    times = name_counts(model, column)
    return sorted(column.levels, key=lambda name: (-times.get(name, 0), name))


def name_counts(model: Any, column: Names) -> Counter[str]:
    """Number of training documents of each name; empty if the model was saved without metadata."""
    counts = _COUNTS.setdefault(model.corpus_, {})
    key = (column.name, column.single)
    if key not in counts:
        counts[key] = Counter(name for row in as_names(_values(model, column), column.single) for name in row)
    return counts[key]


def _values(model: Any, column: Column) -> list[Any]:
    """A feature's values in the training documents; empty if the model was saved without metadata."""
    try:
        return list(values_of(model.corpus_, column.name))
    except ModelError:
        return []


def training_values(model: Any, column: Column) -> list[Any]:
    """A feature's values in the training documents; ``ModelError`` if the model was saved without metadata."""
    found = _values(model, column)
    if len(found) != model.corpus_.n_docs:
        raise ModelError(f"the model was saved without metadata, so the documents' {column.name!r} are not known")
    return found


Group = tuple[str, dict[str, Any]]


def groups(model: ModelLike, given: object, along: str | None) -> list[Group]:
    """Rows of ``given``: for each a legend text, and a value for every feature but ``along``.

    A list holds one value per row; any other value applies to all rows. Features not in ``given`` get typical values.
    """
    columns = feature_columns(model)
    table = _table(given)
    unknown = [name for name in table if name not in columns]
    if unknown:
        find_feature(columns, unknown[0])
    if along in table:
        raise ModelError(f"{along!r} is what the shares go along; give other features")
    n = max((len(values) for values in table.values()), default=1)
    for name, values in table.items():
        if len(values) not in (1, n):
            raise ModelError(f"given has {len(values)} values of {name!r} and {n} of another; give one for each row")
    held = {name: typical(model, column) for name, column in columns.items() if name not in (along, *table)}
    rows = []
    for i in range(n):
        chosen = {name: values[i if len(values) > 1 else 0] for name, values in table.items()}
        full = held | {name: checked_value(model, columns[name], value) for name, value in chosen.items()}
        rows.append(("; ".join(value_name(columns[name], full[name]) for name in chosen), full))
    return rows


def _table(given: object) -> dict[str, list[Any]]:
    if given is None:
        return {}
    if isinstance(given, pd.DataFrame):
        given = {str(name): list(given[name]) for name in given}
    if not isinstance(given, Mapping):
        raise ModelError(f'given is {given!r}; pass values by feature: given={{"authors": ["Ann", "Bob"]}}')
    found = {}
    for name, values in given.items():
        several = isinstance(values, list | tuple | np.ndarray | pd.Series | range)
        found[str(name)] = list(values) if several else [values]
        if not found[str(name)]:
            raise ModelError(f"given has no value of {name!r}; leave it out, or name one")
    return found
