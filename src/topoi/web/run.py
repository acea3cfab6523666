"""Server of the browser on this machine: a port, a message, a web browser opened, a clean shutdown."""

from __future__ import annotations

import ctypes
import errno
import gc
import importlib
import os
import socket
import sys
import threading
import webbrowser
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from topoi.errors import StoreError, TopoiError

if TYPE_CHECKING:
    from fastapi import FastAPI


DEFAULT_HOST = "127.0.0.1"
DEFAULT_PORT = 8765
_PORTS_TRIED = 50
_M_TRIM_THRESHOLD, _M_MMAP_THRESHOLD = -1, -3  # as in malloc.h
_LARGE_BLOCK = 256 * 1024
# New objects between garbage collections, and collections of each generation before one of the next.
_SELDOM = 20_000, 20, 50
_LOCAL = ("127.0.0.1", "localhost", "::1")
_HINT = 'the browser needs more packages: pip install "topoi[web]"'


def serve(
    path: str | Path,
    *,
    name: str | None = None,
    host: str = DEFAULT_HOST,
    port: int | None = None,
    open_browser: bool = True,
    read_only: bool = False,
    say: Callable[[str], None] = lambda line: None,
) -> bool:
    """Serve a store until Ctrl-C.

    Returns whether all work has ended: a sweep of a change of topics that was given up may still run in a thread.

    Parameters
    ----------
    path : str or Path
        The file.
    name : str, optional
        The first model to show; the one saved last if not given.
    host : str
        The address to listen on. Any other than this machine's own is open to everybody on the network.
    port : int, optional
        The port; if not given, 8765 or the next that is free.
    open_browser : bool
        Whether to open a web browser, if there is a display.
    read_only : bool
        Whether labels and changes of topics are refused.
    say : callable
        Called with lines to print.
    """
    _spare_memory()
    try:
        import uvicorn

        from topoi.web.app import make_app
    except ImportError as error:
        raise ImportError(f"{_HINT} ({error})") from error
    file = Path(path)
    door = listen(host, port)
    try:
        chosen = door.getsockname()[1]
        app = make_app(file, read_only=read_only, host=host, port=chosen)
        address = address_of(host, chosen) + _first_path(app, name)
        gc.set_threshold(*_SELDOM)
        app.state.server.watcher.warming.then = _keep_what_is_there
        config = uvicorn.Config(
            app,
            log_level="warning",
            access_log=False,
            server_header=False,
            proxy_headers=False,
            ws="none",
            timeout_keep_alive=30,
            timeout_graceful_shutdown=2,
        )
        server = _announcing(uvicorn.Server(config), lambda: _open(app, address, open_browser, say))
        with suppress(KeyboardInterrupt):
            server.run(sockets=[door])
        return bool(app.state.server.desk.stop(0.0))
    finally:
        door.close()


def _spare_memory() -> None:
    """Reduce the memory of a server, by about 85 MB."""
    if sys.platform == "linux":
        # By default glibc keeps freed memory, up to 32 MB at a time; with these settings it is returned at once.
        with suppress(OSError, AttributeError):
            library = ctypes.CDLL("libc.so.6")
            library.mallopt(_M_MMAP_THRESHOLD, _LARGE_BLOCK)
            library.mallopt(_M_TRIM_THRESHOLD, _LARGE_BLOCK)
    # pandas loads pyarrow if it is installed, and numba loads scipy.linalg; no page uses either.
    _import_without("pandas", "pyarrow")
    _import_without("numba.np.arraymath", "scipy.linalg")


def _keep_what_is_there() -> None:
    """Leave names and rows that are read once out of later garbage collections, of which each would stop all pages."""
    gc.collect()
    gc.freeze()


def _import_without(wanted: str, unneeded: str) -> None:
    """Import a module as if another, optional one were not installed."""
    if wanted in sys.modules or unneeded in sys.modules:
        return
    sys.modules[unneeded] = None  # type: ignore[assignment]
    try:
        importlib.import_module(wanted)
    finally:
        del sys.modules[unneeded]


def listen(host: str, port: int | None) -> socket.socket:
    """A listening socket at the port, or at the next free one if no port is given."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    ports = range(DEFAULT_PORT, DEFAULT_PORT + _PORTS_TRIED) if port is None else [port]
    for candidate in ports:
        door = socket.socket(family, socket.SOCK_STREAM)
        if sys.platform != "win32":  # there it would let two programs share a port
            door.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            door.bind((host.strip("[]"), candidate))
            door.listen(128)
            return door
        except OSError as error:
            door.close()
            if error.errno not in (errno.EADDRINUSE, errno.EACCES):
                raise StoreError(f"cannot listen on {host}: {error.strerror or error}") from error
            if port is not None:
                why = "is in use" if error.errno == errno.EADDRINUSE else "is not allowed"
                raise StoreError(f"port {port} {why}; choose another with --port") from error
    raise StoreError(
        f"no port from {DEFAULT_PORT} to {DEFAULT_PORT + _PORTS_TRIED - 1} is free; choose one with --port"
    )


def address_of(host: str, port: int) -> str:
    """URL of the server for a web browser.

    Examples
    --------
    >>> from topoi.web.run import address_of
    >>> address_of("127.0.0.1", 8765), address_of("::1", 80), address_of("0.0.0.0", 8765)
    ('http://127.0.0.1:8765', 'http://[::1]:80', 'http://127.0.0.1:8765')
    """
    shown = {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(host, host)
    return f"http://[{shown}]:{port}" if ":" in shown else f"http://{shown}:{port}"


def is_local(host: str) -> bool:
    """Whether the host is reachable from this machine only."""
    return host.strip("[]").lower() in _LOCAL or host.startswith("127.")


def _first_path(app: FastAPI, name: str | None) -> str:
    """Path of the first page; raises an error if the file cannot be read or lacks the model."""
    from topoi.web.links import slug_of

    watcher = app.state.server.watcher
    context = watcher.context(None if name is None else slug_of(name))
    return "/" if name is None else f"/m/{context.model['slug']}/"


def _announcing(server: Any, announce: Callable[[], None]) -> Any:
    """The server, modified to call ``announce`` once it is listening."""
    start = server.startup

    async def startup(sockets: list[socket.socket] | None = None) -> None:
        await start(sockets=sockets)
        if server.started:
            announce()

    server.startup = startup
    return server


def _open(app: FastAPI, address: str, open_browser: bool, say: Callable[[str], None]) -> None:
    say(address)
    if open_browser and has_screen():
        threading.Thread(target=_show, args=(address,), daemon=True).start()


def _show(address: str) -> None:
    with suppress(Exception):  # serving goes on without a web browser
        webbrowser.open(address)


def has_screen() -> bool:
    """Whether a web browser opened here would be visible to the user."""
    if os.environ.get("SSH_CONNECTION") or os.environ.get("SSH_TTY"):
        return False
    if sys.platform in ("win32", "darwin"):
        return True
    return bool(os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY"))


def warm(app: FastAPI) -> None:
    """Fill caches and compile the kernels of all pages of the first model; returns when that is done."""
    watcher = app.state.server.watcher
    with suppress(TopoiError, OSError):
        watcher.warming.run(watcher.context().model["slug"])
