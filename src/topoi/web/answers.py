"""Responses of the server: pages as HTML, their JSON views, and errors as either."""

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
    409: "Not now",
    410: "Merged into another topic",
    405: "Only reading is possible here",
    413: "Too long",
    415: "Not a form",
    500: "Something went wrong in topoi",
    503: "Not available now",
}
_DATA = (".json", ".csv", ".svg")


def to_json(value: object) -> bytes:
    """Serialise a JSON view; nan and inf become null.

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
    """Convert a numpy number to a Python one."""
    plain = value.item()
    return None if isinstance(plain, float) and not math.isfinite(plain) else plain


def _finite(value: object) -> Any:
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, Mapping):
        return {name: _finite(part) for name, part in value.items()}
    if isinstance(value, list | tuple):
        return [_finite(part) for part in value]
    return value


class ViewResponse(JSONResponse):
    """A JSON view as a response."""

    def render(self, content: object) -> bytes:
        """Serialise the body."""
        return to_json(content)


def download(body: str, media_type: str, name: str) -> Response:
    """A file to download."""
    plain = re.sub(r"[^A-Za-z0-9._-]+", "-", name).strip("-.") or "topoi"
    headers = {"content-disposition": f'attachment; filename="{plain}"'}
    return Response(body.encode("utf-8", "replace"), media_type=f"{media_type}; charset=utf-8", headers=headers)


def error_page(status: int, detail: str, title: str | None = None) -> ErrorPage:
    """JSON view of an error, also rendered as a page."""
    return ErrorPage(kind="error", status=status, title=title or TITLES.get(status, "Not possible"), detail=detail)


def error_answer(
    page: ErrorPage, path: str, site: Mapping[str, Any], link: Links, headers: Mapping[str, str] | None = None
) -> Response:
    """An error in the format that was requested: JSON where data was requested, else a page."""
    if path.endswith(_DATA):
        return ViewResponse(page, page["status"], headers)
    return HTMLResponse(render(page, site, link), page["status"], headers)
