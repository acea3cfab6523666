"""What the server sends back: pages as HTML, their twins, and errors as either."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping
from typing import Any

from starlette.responses import HTMLResponse, JSONResponse, Response

from topoi.web.links import Links
from topoi.web.pages.shapes import ErrorPage
from topoi.web.render import render

TITLES = {
    400: "That cannot be asked",
    403: "Not allowed",
    404: "Not found",
    405: "Only reading is possible here",
    413: "Too long",
    415: "Not a form",
    500: "Something went wrong in topoi",
    503: "Not available now",
}
_DATA = (".json", ".csv", ".svg")


def to_json(value: Any) -> bytes:
    """A twin as bytes; what is no number (nan, inf) becomes null.

    Examples
    --------
    >>> from topoi.web.answers import to_json
    >>> to_json({"share": float("nan"), "words": ["é"]}).decode()
    '{"share":null,"words":["é"]}'
    """
    try:
        text = json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"), default=_plain)
    except ValueError:
        text = json.dumps(_finite(value), ensure_ascii=False, allow_nan=False, separators=(",", ":"), default=_plain)
    return text.encode("utf-8", "replace")


def _plain(value: Any) -> Any:
    """A number of numpy as one of Python."""
    plain = value.item()
    return None if isinstance(plain, float) and not math.isfinite(plain) else plain


def _finite(value: Any) -> Any:
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, Mapping):
        return {name: _finite(part) for name, part in value.items()}
    if isinstance(value, list | tuple):
        return [_finite(part) for part in value]
    return value


class TwinResponse(JSONResponse):
    """A twin."""

    def render(self, content: Any) -> bytes:
        """The bytes of the answer."""
        return to_json(content)


def download(body: str, media_type: str, name: str) -> Response:
    """A file to keep."""
    plain = re.sub(r"[^A-Za-z0-9._-]+", "-", name).strip("-.") or "topoi"
    headers = {"content-disposition": f'attachment; filename="{plain}"'}
    return Response(body.encode("utf-8", "replace"), media_type=f"{media_type}; charset=utf-8", headers=headers)


def error_page(status: int, detail: str, title: str | None = None) -> ErrorPage:
    """What went wrong, for people and programs."""
    return ErrorPage(kind="error", status=status, title=title or TITLES.get(status, "Not possible"), detail=detail)


def error_answer(
    page: ErrorPage, path: str, site: Mapping[str, Any], link: Links, headers: Mapping[str, str] | None = None
) -> Response:
    """An error as the one who asked can read it: JSON where data was asked for, else a page."""
    if path.endswith(_DATA):
        return TwinResponse(page, page["status"], headers)
    return HTMLResponse(render(page, site, link), page["status"], headers)
