"""API reference as Markdown, from signatures and numpydoc docstrings.

A line ``::: topoi.LDA`` of a page becomes the description of that name. Methods that another class of the page has
already described are not repeated.
"""

from __future__ import annotations

import functools
import importlib
import inspect
import re
import textwrap
from collections.abc import Iterator
from typing import Any

_DIRECTIVE = re.compile(r"^::: (?P<name>[\w.]+)$", re.MULTILINE)
_SECTION = re.compile(r"^(?P<title>[A-Z][A-Za-z ]+)\n-{3,}\n", re.MULTILINE)
_LISTED = ("Parameters", "Attributes", "Returns", "Yields", "Raises", "Other Parameters")
_ROLE = re.compile(r":(?:func|class|meth|attr|mod|data|py:\w+|ref|doc):`~?([^`]+)`")


def described(markdown: str) -> str:
    """Fill in the directives of a page."""
    seen: set[int] = set()
    return _DIRECTIVE.sub(lambda found: "\n".join(description(found["name"], seen)), markdown)


def directives(markdown: str) -> list[str]:
    """Names that a page describes."""
    return _DIRECTIVE.findall(markdown)


def find(name: str) -> Any:
    """The object of a dotted name: what a package has under it, before its module of the same name."""
    first, *rest = name.split(".")
    found, place = importlib.import_module(first), first
    for part in rest:
        place = f"{place}.{part}"
        found = getattr(found, part) if hasattr(found, part) else importlib.import_module(place)
    return found


def description(name: str, seen: set[int]) -> Iterator[str]:
    """Lines about one public name; a class with its own members, a module with its functions."""
    thing, short = find(name), name.rpartition(".")[2]
    yield f"## {short} {{ #{name} }}\n"
    if inspect.ismodule(thing):
        yield from docstring(inspect.getdoc(thing))
        for each, function in inspect.getmembers(thing, inspect.isfunction):
            if not each.startswith("_") and function.__module__ == thing.__name__:
                yield from callable_lines(f"{short}.{each}", function, f"{name}.{each}")
    elif inspect.isclass(thing):
        yield signature(short, thing)
        yield from docstring(inspect.getdoc(thing))
        yield from members(short, name, thing, seen)
    elif callable(thing):
        yield signature(short, thing)
        yield from docstring(inspect.getdoc(thing))
    else:
        yield f"`{short} = {thing!r}`\n"


def callable_lines(title: str, thing: Any, anchor: str) -> Iterator[str]:
    yield f"### {title} {{ #{anchor} }}\n"
    yield signature(title, thing)
    yield from docstring(inspect.getdoc(thing))


def members(short: str, name: str, thing: type, seen: set[int]) -> Iterator[str]:
    """Properties in a list, then methods, but for those that were described before and those of other packages."""
    properties, methods = [], []
    for each in dir(thing):
        raw = inspect.getattr_static(thing, each)
        plain = getattr(raw, "__func__", raw)
        ours = _home(plain).startswith("topoi.")
        if each.startswith("_") or not ours or id(plain) in seen or not inspect.getdoc(plain):
            continue
        seen.add(id(plain))
        is_property = isinstance(raw, property | functools.cached_property)
        (properties if is_property else methods).append((each, raw))
    if properties:
        yield "**Properties**\n"
        for each, raw in properties:
            yield f"`{each}`\n:   {first_paragraph(inspect.getdoc(raw))}\n"
    # Those that say no more than one paragraph, mostly for the program's own use, are listed.
    brief = [(each, raw) for each, raw in methods if not _SECTION.search(inspect.getdoc(raw) or "")]
    for each, _ in (method for method in methods if method not in brief):
        yield from callable_lines(f"{short}.{each}", getattr(thing, each), f"{name}.{each}")
    if brief:
        yield f"**Further methods of {short}**\n"
        for each, raw in brief:
            yield f"`{each}`\n:   {first_paragraph(inspect.getdoc(raw))}\n"


def _home(thing: Any) -> str:
    inner = getattr(thing, "fget", None) or getattr(thing, "func", None) or thing
    return getattr(inner, "__module__", "") or ""


def signature(title: str, thing: Any) -> str:
    """The call as it is typed, one argument a line if it is long."""
    try:
        found = inspect.signature(thing)
    except (TypeError, ValueError):
        return ""
    arguments = []
    kinds = {each.kind for each in found.parameters.values()}
    star = inspect.Parameter.VAR_POSITIONAL in kinds
    for each in found.parameters.values():
        if each.kind is inspect.Parameter.KEYWORD_ONLY and not star:
            arguments.append("*")
            star = True
        arguments.append(str(each.replace(annotation=inspect.Parameter.empty)))
    arguments = [each for each in arguments if each not in ("self", "cls")]
    line = f"{title}({', '.join(arguments)})"
    if len(line) > 100:
        line = f"{title}(\n    " + ",\n    ".join(arguments) + ",\n)"
    return f"```python\n{line}\n```\n"


def docstring(text: str | None) -> Iterator[str]:
    """A numpydoc docstring as Markdown."""
    if not text:
        return
    parts = _SECTION.split(_ROLE.sub(r"`\1`", text) + "\n")
    yield prose(parts[0])
    for title, body in zip(parts[1::2], parts[2::2], strict=True):
        if title in ("See Also", "References"):
            yield f"**{title}**\n\n{prose(textwrap.dedent(body))}"
        elif title == "Examples":
            yield f"**Example**\n\n{prose(body)}"
        elif title in _LISTED:
            yield f"**{title}**\n"
            yield from definitions(body)
        else:
            yield f"**{title}**\n\n{prose(body)}"


def definitions(body: str) -> Iterator[str]:
    """Entries ``name : type`` with indented text, as a definition list."""
    for entry in re.split(r"\n(?=\S)", body.strip("\n")):
        head, _, rest = entry.partition("\n")
        names, colon, kind = head.partition(" : ")
        named = colon or re.fullmatch(r"[\w*]+(, [\w*]+)+", head)
        shown = ", ".join(f"`{each.strip()}`" for each in names.split(", ")) if named else f"*{_safe(head)}*"
        text = prose(textwrap.dedent(rest)) or "\n"
        lead = f"{shown} : {_safe(kind)}" if colon else shown
        indented = textwrap.indent(text, "    ").lstrip()
        yield f"{lead}\n:   {indented}" if indented.strip() else f"{lead}\n:   &nbsp;\n"


def prose(text: str) -> str:
    """Paragraphs; sessions and indented blocks after ``::`` become blocks of code."""
    found = []
    for part in re.split(r"\n\s*\n", text.strip("\n")):
        if not part.strip():
            continue
        if part.lstrip().startswith(">>>"):
            session = re.sub(r"\s*# doctest:.*$", "", textwrap.dedent(part), flags=re.MULTILINE)
            found.append(f"```python\n{session}\n```")
        elif part.startswith("    "):
            found.append(f"```text\n{textwrap.dedent(part)}\n```")
        else:
            found.append(re.sub(r"::$", ":", part))
    return "\n\n".join(found) + "\n" if found else ""


def first_paragraph(text: str | None) -> str:
    return re.sub(r"\s+", " ", _ROLE.sub(r"`\1`", (text or "").split("\n\n")[0]))


def _safe(text: str) -> str:
    return text.replace("*", r"\*").replace("{", r"\{").replace("|", r"\|").replace("<", "&lt;").replace("_", r"\_")
