"""Sharing of pages: how to cite a model, and the lines of Python that give a page's numbers."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from typing_extensions import TypedDict

from topoi.drawing.words import clip
from topoi.errors import safe_text
from topoi.models.registry import find
from topoi.store.door import stored_json
from topoi.web.pages import KINDS
from topoi.web.pages.context import PageContext
from topoi.web.pages.text import collection_title, one_line

_LONGEST_TITLE, _LONGEST_SETTING, _MOST_SETTINGS = 200, 60, 40
# Those of a run, which do not decide the model, and those that are said before.
_NOT_CITED = frozenset(
    {"progress", "checkpoint", "checkpoint_every", "evaluate_every", "n_jobs", "random_state"}
    | {"n_iter", "n_chains", "n_topics"}
)
# Characters with a meaning of their own in TeX.
_TEX = {c: f"\\{c}" for c in "&%$#_{}"} | {"\\": r"\textbackslash{}", "~": r"\textasciitilde{}"}
_TEX |= {"^": r"\textasciicircum{}", "<": r"\textless{}", ">": r"\textgreater{}", '"': "''"}


class Citation(TypedDict):
    """How to cite a model, as text and for BibTeX."""

    text: str
    bibtex: str


def citation(context: PageContext) -> Citation:
    """How to cite a model of a collection: name, date, version of topoi, settings and seed."""
    return context.cache.keep("citation", lambda: _citation(context))


def _citation(context: PageContext) -> Citation:
    rows = {row[0]: row[1:] for row in context.rows("model_details", n=-1)}
    seed, version, bundle = rows[context.view.name]
    model = context.model
    known = find(model["family"])
    sizes = [(model["n_topics"], "topics"), (model["n_iter"], "sweeps"), (model["n_chains"], "chains")]
    facts = [f"{number:,} {noun if number != 1 else noun[:-1]}" for number, noun in sizes if number]
    facts += [] if seed is None else [f"seed {seed}"]
    facts += _settings(stored_json(bundle, "a model", "model.bundle")["settings"])
    title = clip(one_line(collection_title(safe_text(context.watcher.path.name))), _LONGEST_TITLE)
    what = model["family"] if known is None else known.title
    name = clip(one_line(model["name"]), _LONGEST_TITLE)
    day = model["created"][:10]
    note = f"{what}, {'; '.join(facts)}"
    text = f"{title}: topic model “{name}” ({note}). Fitted {day} with topoi {version}."
    fields = {
        "title": f"{title}: topic model {name}",
        "year": day[:4],
        "howpublished": f"Topic model, topoi {version}, {day}",
        "note": note,
    }
    lines = [f"  {field} = {{{to_tex(value)}}}," for field, value in fields.items()]
    return Citation(text=text, bibtex="\n".join([f"@misc{{{_key(title, day)},", *lines, "}"]))


def _settings(settings: Mapping[str, Any]) -> list[str]:
    """Settings of a fit that are single values, by name."""
    plain = ((str(name), value) for name, value in settings.items() if isinstance(value, str | int | float | bool))
    named = (
        f"{name} {clip(one_line(str(value)), _LONGEST_SETTING)}" for name, value in plain if name not in _NOT_CITED
    )
    return list(named)[:_MOST_SETTINGS]


def _key(title: str, day: str) -> str:
    first = re.findall(r"[a-z0-9]+", title.lower())[:3]
    return f"{'-'.join([*first, 'topoi']) if first else 'topoi'}-{re.sub(r'[^0-9]', '', day)[:4]}"


def to_tex(text: str) -> str:
    r"""A text with the characters escaped that mean something to TeX.

    Examples
    --------
    >>> from topoi.web.share import to_tex
    >>> to_tex("50 % of {A & B}")
    '50 \\% of \\{A \\& B\\}'
    """
    return "".join(_TEX.get(c, c) for c in text)


def python_lines(view: Mapping[str, Any], site: Mapping[str, Any]) -> str | None:
    """Lines of Python that give the numbers of a page; None if it has none.

    Parameters
    ----------
    view : mapping
        The JSON view.
    site : mapping
        The site context of a model.

    Examples
    --------
    >>> from topoi.web.share import python_lines
    >>> site = {"path": "a.topoi", "model": {"name": "fifty"}, "has_topics": True}
    >>> print(python_lines({"kind": "word", "word": {"word": "gold"}}, site))
    import topoi
    model = topoi.view('a.topoi', 'fifty')
    topoi.word_topics(model, 'gold', 15)
    """
    page = KINDS.get(view["kind"])
    line = None if page is None or page.python is None else page.python(view, site)
    return None if line is None else "\n".join([*opening_lines(site["path"], site["model"]["name"]), line])


def opening_lines(file_name: str, model_name: str) -> list[str]:
    """Lines of Python that open a model.

    Examples
    --------
    >>> from topoi.web.share import opening_lines
    >>> opening_lines("a.topoi", "fifty")[1]
    "model = topoi.view('a.topoi', 'fifty')"
    """
    return ["import topoi", f"model = topoi.view({file_name!r}, {model_name!r})"]
