"""Checks of every request and headers of every response: hosts, origins, methods, sizes."""

from __future__ import annotations

import base64
import hmac
import ipaddress
import logging
import secrets
import socket
from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any
from urllib.parse import parse_qsl, urlencode, urlsplit

from topoi.web.limits import MOST_BYTES, TooLargeError

Scope = MutableMapping[str, Any]
Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
App = Callable[[Scope, Receive, Send], Awaitable[None]]

CONTENT_SECURITY_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; font-src 'self'; img-src 'self' data: blob:; "
    "connect-src 'self'; "
    "form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)
# Of pages in files, in a meta element, where frame-ancestors means nothing.
STATIC_POLICY = CONTENT_SECURITY_POLICY.partition("; frame-ancestors")[0]
HEADERS = {
    "content-security-policy": CONTENT_SECURITY_POLICY,
    "x-content-type-options": "nosniff",
    # Not "no-referrer": with that, web browsers send "Origin: null" with our own forms.
    "referrer-policy": "same-origin",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "x-frame-options": "DENY",
    "permissions-policy": "camera=(), geolocation=(), microphone=()",
    "cache-control": "no-store",
}
_LOCAL = ("127.0.0.1", "localhost", "[::1]")
_EVERYWHERE = ("0.0.0.0", "::", "[::]")
_HTTP_PORT = 80
_TOKEN_BYTES = 30
_log = logging.getLogger(__name__)


class Hosts:
    """Allowed Host headers of this server.

    A foreign page can make its own name point at 127.0.0.1 and then read the server's responses (DNS rebinding); its
    requests still carry its own name as Host, and are refused.

    Parameters
    ----------
    host : str
        The address the server listens on; names of this machine are always allowed.
    port : int
        The port.

    Examples
    --------
    >>> from topoi.web.security import Hosts
    >>> hosts = Hosts("127.0.0.1", 8765)
    >>> hosts.allow("localhost:8765"), hosts.allow("evil.example:8765"), hosts.allow("localhost:80")
    (True, False, False)
    """

    def __init__(self, host: str, port: int) -> None:
        self._port = port
        self._everywhere = host in _EVERYWHERE
        names = {*_LOCAL, f"[{host}]" if ":" in host and not host.startswith("[") else host.lower()}
        if self._everywhere:
            names.add(socket.gethostname().lower())
        self._names = names

    def allow(self, header: str) -> bool:
        """Whether a Host header is allowed."""
        name, colon, port = header.strip().lower().rpartition(":")
        if not colon or "]" in port:
            name, port = header.strip().lower(), str(_HTTP_PORT)
        if port != str(self._port):
            return False
        # An IP address, unlike a name, cannot be pointed elsewhere.
        return name in self._names or (self._everywhere and _is_number(name))


def _is_number(name: str) -> bool:
    try:
        ipaddress.ip_address(name.strip("[]"))
    except ValueError:
        return False
    return True


class Tokens:
    """The CSRF token of this process, which forms of other sites lack.

    Every page carries it under another mask, so that lengths of compressed pages tell nothing about it.

    Examples
    --------
    >>> from topoi.web.security import Tokens
    >>> tokens = Tokens()
    >>> tokens.right(tokens.token), tokens.right(""), tokens.right(None), tokens.token == tokens.token
    (True, False, False, False)
    """

    def __init__(self) -> None:
        self._secret = secrets.token_bytes(_TOKEN_BYTES)

    @property
    def token(self) -> str:
        """The token, masked by random bytes that precede it; another one each time."""
        mask = secrets.token_bytes(_TOKEN_BYTES)
        return base64.urlsafe_b64encode(mask + _masked(self._secret, mask)).decode()

    def right(self, given: str | None) -> bool:
        """Whether a form carries the CSRF token."""
        try:
            parts = base64.b64decode((given or "").encode("ascii"), b"-_", validate=True)
        except ValueError:
            return False
        found = _masked(parts[_TOKEN_BYTES:], parts[:_TOKEN_BYTES]) if len(parts) == 2 * _TOKEN_BYTES else b""
        return hmac.compare_digest(found, self._secret)


def _masked(secret: bytes, mask: bytes) -> bytes:
    return bytes(a ^ b for a, b in zip(secret, mask, strict=True))


def same_origin(headers: dict[str, str]) -> bool:
    """Whether a request that changes or costs something comes from one of our own pages.

    Web browsers tell in ``Sec-Fetch-Site`` or ``Origin``; programs such as curl send neither, and are no danger.

    Examples
    --------
    >>> from topoi.web.security import same_origin
    >>> same_origin({"host": "localhost:8765", "origin": "http://localhost:8765"})
    True
    >>> same_origin({"host": "localhost:8765", "origin": "http://evil.example"})
    False
    """
    if headers.get("sec-fetch-site", "same-origin") not in ("same-origin", "none"):
        return False
    origin = headers.get("origin")
    if origin is None:
        return True
    try:
        parts = urlsplit(origin)
    except ValueError:
        return False
    return parts.scheme in ("http", "https") and parts.netloc.lower() == headers.get("host", "").strip().lower()


def navigates(headers: dict[str, str]) -> bool:
    """Whether a request is our own, or a navigation from another site's link, but not a subresource of that site.

    Examples
    --------
    >>> from topoi.web.security import navigates
    >>> navigates({"sec-fetch-site": "cross-site", "sec-fetch-mode": "no-cors"})
    False
    """
    ours = headers.get("sec-fetch-site", "same-origin") in ("same-origin", "none")
    return ours or headers.get("sec-fetch-mode") == "navigate"


def header_map(scope: Scope) -> dict[str, str]:
    """Headers of a request; values of a repeated header are joined, so that the second cannot hide the first."""
    found: dict[str, str] = {}
    for name, value in scope.get("headers", ()):
        key, text = name.decode("latin-1").lower(), value.decode("latin-1")
        found[key] = f"{found[key]},{text}" if key in found else text
    return found


class Guard:
    """ASGI middleware that refuses forbidden requests and adds the security headers to responses.

    Parameters
    ----------
    app : ASGI application
        The application.
    hosts : Hosts
        Allowed hosts.
    """

    def __init__(self, app: App, hosts: Hosts) -> None:
        self._app = app
        self._hosts = hosts

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle one request."""
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
            return
        if scope["type"] != "http":
            await send({"type": "websocket.close", "code": 1000})
            return
        headers = header_map(scope)
        guarded = _Sender(send, bodiless=scope["method"] == "HEAD")
        refusal = self._refusal(scope["method"], headers)
        if refusal is not None:
            await _answer(guarded, *refusal)
            return
        inner = {**scope, "query_string": _without_empty(scope["query_string"])}
        if scope["method"] == "HEAD":
            inner["method"] = "GET"
        try:
            await self._app(inner, _Counted(receive), guarded)
        except Exception:
            # Expected errors have been handled; this is a bug of ours, reported in the terminal but not in the page.
            _log.exception("no answer to %s", scope.get("path"))
            if not guarded.started:
                await _answer(guarded, 500, "Something went wrong in topoi; the terminal says what.", {})

    def _refusal(self, method: str, headers: dict[str, str]) -> tuple[int, str, dict[str, str]] | None:
        if not self._hosts.allow(headers.get("host", "")):
            return 421, "This is not the server for that name: use the address that topoi printed.", {}
        if method not in ("GET", "HEAD", "POST"):
            return 405, "Only reading is possible here.", {"allow": "GET, HEAD"}
        if method == "POST" and not same_origin(headers):
            return 403, "Forms are taken from this server's own pages only.", {}
        if not navigates(headers):
            return 403, "Other sites may lead here, but not load from here.", {}
        length = headers.get("content-length", "0")
        if not length.isascii() or not length.isdigit() or len(length) > len(str(MOST_BYTES)):
            return 413, "The request is too large.", {}
        if int(length) > MOST_BYTES:
            return 413, "The request is too large: a text has at most 200,000 characters.", {}
        return None


class _Counted:
    """Pass on the request body until it exceeds the limit."""

    def __init__(self, receive: Receive) -> None:
        self._receive = receive
        self._n_bytes = 0

    async def __call__(self) -> Message:
        message = await self._receive()
        if message["type"] == "http.request":
            self._n_bytes += len(message.get("body", b""))
            if self._n_bytes > MOST_BYTES:
                raise TooLargeError("the request is too large: a text has at most 200,000 characters")
        return message


def _without_empty(query: bytes) -> bytes:
    """A query without empty parameters: an empty field of a form means that nothing was requested."""
    if not query or (b"=&" not in query and not query.endswith(b"=")):
        return query
    pairs = parse_qsl(query.decode("latin-1"), keep_blank_values=False, errors="surrogateescape")
    return urlencode(pairs, errors="surrogateescape").encode("ascii")


class _Sender:
    """Send responses with the common headers; for HEAD, without a body."""

    def __init__(self, send: Send, bodiless: bool) -> None:
        self._send = send
        self._bodiless = bodiless
        self.started = False

    async def __call__(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            self.started = True
            given = {name.lower() for name, _ in message.get("headers", ())}
            more = [(n.encode(), v.encode()) for n, v in HEADERS.items() if n.encode() not in given]
            message = {**message, "headers": [*message.get("headers", ()), *more]}
        elif self._bodiless and message["type"] == "http.response.body":
            message = {**message, "body": b""}
        await self._send(message)


async def _answer(send: Send, status: int, detail: str, headers: dict[str, str]) -> None:
    body = f"{detail}\n".encode()
    listed = {**headers, "content-type": "text/plain; charset=utf-8", "content-length": str(len(body))}
    pairs = [(name.encode(), value.encode()) for name, value in listed.items()]
    await send({"type": "http.response.start", "status": status, "headers": pairs})
    await send({"type": "http.response.body", "body": body})
