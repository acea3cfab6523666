"""Parsing of submitted forms, with limits."""

from __future__ import annotations

import typing
from collections.abc import Callable
from typing import Any
from urllib.parse import parse_qs

from pydantic import BaseModel, create_model
from starlette.requests import Request

from topoi.web.limits import TooLargeError

_MOST_FIELDS = 200
_FORM = "application/x-www-form-urlencoded"


class NotAFormError(Exception):
    """A request with a body that is not a form."""


async def form_of(request: Request) -> dict[str, list[str]]:
    """Fields of a form; the size of its body has been limited before."""
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind != _FORM:
        raise NotAFormError(f"send a form as {_FORM}")
    body = await request.body()
    try:
        fields = parse_qs(body.decode("utf-8", "replace"), max_num_fields=_MOST_FIELDS, errors="replace")
    except ValueError as error:
        raise TooLargeError("the form has too many fields") from error
    return {name: [value.replace("\r\n", "\n") for value in values] for name, values in fields.items()}


def form_model(kind: str, build: Callable[..., Any]) -> type[BaseModel]:
    """Pydantic model of a page's parameters in a form, with the same limits as in its address."""
    hints = typing.get_type_hints(build, include_extras=True)
    fields: dict[str, Any] = {}
    for name, default in defaults_of(build).items():
        fields[name] = (hints[name], list(default) if isinstance(default, tuple) else default)
    return create_model(f"{kind.capitalize()}Form", **fields)


def defaults_of(build: Callable[..., Any]) -> dict[str, Any]:
    """Defaults of a page's optional parameters."""
    import inspect

    parameters = inspect.signature(build).parameters.values()
    return {p.name: p.default for p in parameters if p.default is not inspect.Parameter.empty}


def read_form(model: type[BaseModel], form: dict[str, list[str]]) -> dict[str, Any]:
    """Parse the parameters in a form; one that breaks a limit is pydantic's ``ValidationError``."""
    given: dict[str, Any] = {}
    for name, info in model.model_fields.items():
        if name in form:
            several = typing.get_origin(info.annotation) is list
            given[name] = form[name] if several else form[name][-1]
    return dict(model.model_validate(given))
