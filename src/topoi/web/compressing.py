"""Compression of responses.

Pages with forms carry the CSRF token, and some show what was searched for. The length of a compressed page would then
tell, over many requests that another site makes, whether a guess of the token is right (BREACH). So the token is masked
anew for every page (``topoi.web.security.Tokens``): there is nothing that stays the same to be guessed.
"""

from __future__ import annotations

import gzip

from topoi.web.security import App, Message, Receive, Scope, Send, header_map

LEAST_BYTES = 1000
LEVEL = 5
_KINDS = ("text/", "application/json", "application/javascript", "image/svg+xml")


def takes_gzip(header: str) -> bool:
    """Whether an Accept-Encoding header allows gzip.

    Examples
    --------
    >>> from topoi.web.compressing import takes_gzip
    >>> takes_gzip("br, gzip;q=0.8"), takes_gzip("gzip;q=0, br"), takes_gzip("")
    (True, False, False)
    """
    for part in header.lower().split(","):
        name, _, quality = part.partition(";")
        if name.strip() in ("gzip", "*"):
            return quality.replace(" ", "").rstrip("0.") != "q="
    return False


class Compressed:
    """ASGI middleware that compresses texts of some length, if the client takes gzip.

    Parameters
    ----------
    app : ASGI application
        The application.
    """

    def __init__(self, app: App) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle one request."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        taken = takes_gzip(header_map(scope).get("accept-encoding", ""))
        await self._app(scope, receive, _Sender(send, taken))


class _Sender:
    """Hold the start of a response until its first, and usually only, part is known."""

    def __init__(self, send: Send, taken: bool) -> None:
        self._send = send
        self._taken = taken
        self._start: Message | None = None

    async def __call__(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            self._start = message
            return
        if self._start is not None:
            start, self._start = self._start, None
            message = self._compressed(start, message)
            await self._send(start)
        await self._send(message)

    def _compressed(self, start: Message, message: Message) -> Message:
        """The body, compressed if that is possible; headers of the response are changed accordingly."""
        headers = {name.lower(): value for name, value in start["headers"]}
        kind = headers.get(b"content-type", b"").decode("latin-1")
        if not kind.startswith(_KINDS) or b"content-encoding" in headers:
            return message
        body = message.get("body", b"")
        more = [(b"vary", b"Accept-Encoding")]
        whole = not message.get("more_body", False)
        if self._taken and whole and len(body) >= LEAST_BYTES:
            body = gzip.compress(body, LEVEL, mtime=0)
            more += [(b"content-encoding", b"gzip"), (b"content-length", str(len(body)).encode())]
        kept = [(n, v) for n, v in start["headers"] if n.lower() not in dict(more) or n.lower() == b"vary"]
        start["headers"] = [*kept, *more]
        return {**message, "body": body}
