"""The application: every page as HTML, as JSON and, for its lists, as CSV; charts as SVG; suggestions; changes."""

from __future__ import annotations

import inspect
import typing
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path as FilePath
from typing import Any, cast

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from pydantic import ValidationError
from starlette.exceptions import HTTPException
from starlette.responses import Response

from topoi import __version__
from topoi.errors import ModelError, NotFoundError, StoreError, TopoiError
from topoi.web.answers import ViewResponse
from topoi.web.compressing import Compressed
from topoi.web.edits import ConflictError
from topoi.web.forms import NotAFormError, form_model
from topoi.web.limits import AT_ONCE, MOST_WAITING, RETRY_AFTER, BusyError, TooLargeError
from topoi.web.pages import PAGES, Page, shapes
from topoi.web.pages.context import RetiredTopicError
from topoi.web.pages.parameters import LONGEST_TEXT
from topoi.web.pages.ready import READY
from topoi.web.pages.search import completions
from topoi.web.security import Guard, Hosts
from topoi.web.server import Server

DEFAULT_HOST = "127.0.0.1"
DEFAULT_PORT = 8765
# Requests that wait for a labelling hold a thread each; some threads are always left for readers.
_THREADS = AT_ONCE + MOST_WAITING + 6
_HIDDEN: dict[str, Any] = {"include_in_schema": False, "response_model": None}
_ERRORS: dict[int | str, dict[str, Any]] = {
    400: {"model": shapes.ErrorPage, "description": "A parameter is outside its limits."},
    404: {"model": shapes.ErrorPage, "description": "There is no such model, topic, node, author, document or word."},
    410: {"model": shapes.ErrorPage, "description": "The topic was merged into another."},
    503: {"model": shapes.ErrorPage, "description": "The file cannot be read, or too much is asked at once."},
}


def make_app(
    path: str | FilePath, *, read_only: bool = False, host: str = DEFAULT_HOST, port: int = DEFAULT_PORT
) -> FastAPI:
    """The browser of a store, as an ASGI application.

    Parameters
    ----------
    path : str or Path
        The ``.topoi`` file. Changes to it while the application runs are seen by the next request.
    read_only : bool
        Whether labels and changes of topics are refused.
    host, port : str, int
        Address it is served at; requests for any other host are refused.

    Examples
    --------
    >>> import pathlib, tempfile, topoi
    >>> from topoi.web.app import make_app
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "small.topoi"
    >>> topoi.LDA(2, n_iter=2, random_state=0).fit([[1, 2], [2, 1]]).save(path)
    >>> make_app(path).title
    'topoi'
    """
    server = Server(FilePath(path), read_only)
    app = _empty_app(lifespan=_serving)
    app.state.server = server
    _add_routes(app, server)
    _add_errors(app, server)
    app.add_middleware(cast(Any, Compressed))
    app.add_middleware(cast(Any, Guard), hosts=Hosts(host, port))
    return app


def _empty_app(**options: Any) -> FastAPI:
    return FastAPI(
        title="topoi",
        version=__version__,
        summary="A collection of documents, its topics, authors and words.",
        docs_url=None,
        redoc_url=None,
        openapi_url=None,
        default_response_class=ViewResponse,
        **options,
    )


@asynccontextmanager
async def _serving(app: FastAPI) -> AsyncIterator[None]:
    """Limit the threads that build pages, compile and fill caches in the background; at the end, give up a change."""
    import anyio.to_thread

    # More threads would only take memory and slow each other down.
    anyio.to_thread.current_default_thread_limiter().total_tokens = _THREADS
    app.state.server.watcher.warming.start()
    yield
    app.state.server.desk.stop()
    app.state.server.places.stop()


def _add_routes(app: FastAPI, server: Server) -> None:
    """Add all addresses; shapes of answers, which take most of the time, are told to ``_described`` alone."""
    app.add_api_route("/", server.home, **_HIDDEN)
    app.add_api_route("/openapi.json", lambda: ViewResponse(_described(app, server)), **_HIDDEN)
    app.add_api_route("/static/{name:path}", server.static, **_HIDDEN)
    _add_all_data(app, server, {}, told=False)
    for page in PAGES:
        path = f"/m/{{slug}}/{page.path}"
        app.add_api_route(path, server.endpoint(page, page.path, server.as_html), **_HIDDEN)
        if page.takes_text:
            app.add_api_route(path, server.form_endpoint(page, server.as_html), methods=["POST"], **_HIDDEN)
        if page.takes_table:
            app.add_api_route(path, server.table_endpoint(page, server.as_html), methods=["POST"], **_HIDDEN)
    for path, handler in (
        ("topic/{topic}/label", server.label),
        ("names", server.names),
        ("change", server.change),
        ("change/{change}/keep", server.keep),
        ("change/{change}/leave", server.leave),
        ("history/undo", server.undo),
        ("map/place", server.place),
    ):
        app.add_api_route(f"/m/{{slug}}/{path}", handler, methods=["POST"], **_HIDDEN)


def _add_all_data(app: FastAPI, server: Server, errors: dict[int | str, dict[str, Any]], *, told: bool) -> None:
    """Add the JSON of all pages, and what else only scripts read; with the shapes of answers if these are ``told``."""
    for page, path, shape, summary in (
        (_COMPLETE, "complete", list[shapes.Completion], "Suggestions for what is being typed."),
        (READY, "ready", READY.shape, "Parts of pages that are still being compiled."),
    ):
        app.add_api_route(
            f"/m/{{slug}}/{path}.json",
            server.endpoint(page, f"{path}.json", lambda view, *_: ViewResponse(view)),
            response_model=shape if told else None,
            responses=errors,
            summary=summary,
            operation_id=path,
        )
    for page in PAGES:
        _add_data(app, server, page, errors, told=told)


def _add_data(app: FastAPI, server: Server, page: Page, errors: dict[int | str, dict[str, Any]], *, told: bool) -> None:
    path = page.path or "overview"
    name = path.replace("/{", "_").replace("}", "")
    summary = inspect.getdoc(page.build)
    described: dict[str, Any] = {"response_model": page.shape if told else None, "summary": summary}
    app.add_api_route(
        f"/m/{{slug}}/{path}.json",
        server.endpoint(page, path, server.as_json),
        operation_id=name,
        openapi_extra={"parameters": list(page.filters)} if page.filters else None,
        responses=errors,
        **described,
    )
    if page.takes_text or page.takes_table:
        endpoint = server.table_endpoint if page.takes_table else server.form_endpoint
        app.add_api_route(
            f"/m/{{slug}}/{path}.json",
            endpoint(page, server.as_json),
            methods=["POST"],
            operation_id=f"{name}_post",
            openapi_extra={"requestBody": _form_described(page)},
            responses=errors | {status: errors[400] for status in (413, 415, 403) if told},
            **described,
        )
    app.add_api_route(f"/m/{{slug}}/{path}.csv", server.endpoint(page, path, server.as_csv), **_HIDDEN)
    if page.chart is not None:
        drawn = page.chart_path or path
        app.add_api_route(f"/m/{{slug}}/{drawn}.svg", server.endpoint(page, drawn, server.as_svg), **_HIDDEN)


def _form_described(page: Page) -> dict[str, Any]:
    schema = form_model(page.kind, page.build).model_json_schema()
    if not page.takes_table:
        return {"required": True, "content": {"application/x-www-form-urlencoded": {"schema": schema}}}
    schema["properties"] = {"table": {"type": "string", "format": "binary"}, **schema["properties"]}
    schema["properties"].pop("kept")
    schema["required"] = ["table"]
    return {"required": True, "content": {"multipart/form-data": {"schema": schema}}}


def _described(app: FastAPI, server: Server) -> dict[str, Any]:
    """The OpenAPI schema, without FastAPI's own validation errors, which this application does not send."""
    if app.openapi_schema is None:
        told = _empty_app()
        _add_all_data(told, server, _ERRORS, told=True)
        schema = FastAPI.openapi(told)
        for operations in schema["paths"].values():
            for operation in operations.values():
                operation["responses"].pop("422", None)
        for name in ("HTTPValidationError", "ValidationError"):
            schema["components"]["schemas"].pop(name, None)
        app.openapi_schema = schema
    return app.openapi_schema


_COMPLETE = Page("complete", "Suggestions", "complete", completions, None, place=0)


def _add_errors(app: FastAPI, server: Server) -> None:
    """Turn every expected error into a page, or JSON, that says what to do."""
    busy = {"retry-after": str(RETRY_AFTER)}

    def add(
        kind: type[Exception], status: int, title: str | None = None, headers: dict[str, str] | None = None
    ) -> None:
        def handler(request: Request, error: Exception) -> Response:
            return server.error(request, status, str(error), title, headers)

        app.add_exception_handler(kind, handler)

    add(NotFoundError, 404)
    add(ConflictError, 409)
    add(ModelError, 400)
    add(StoreError, 503, "The file cannot be read now", busy)
    add(TopoiError, 400)
    add(BusyError, 503, "Busy", busy)
    add(TooLargeError, 413)
    add(NotAFormError, 415)

    def refused(request: Request, error: Exception) -> Response:
        status, detail = _refusal(cast(Any, error).errors())
        return server.error(request, status, detail)

    def other(request: Request, error: Exception) -> Response:
        known = cast(HTTPException, error)
        detail = known.detail if known.status_code != 404 or known.detail != "Not Found" else "There is no such page."
        return server.error(request, known.status_code, str(detail), None, dict(known.headers or {}))

    def merged(request: Request, error: Exception) -> Response:
        return server.error(request, 410, str(error), topic=cast(RetiredTopicError, error).heir)

    app.add_exception_handler(RetiredTopicError, merged)
    app.add_exception_handler(RequestValidationError, refused)
    app.add_exception_handler(ValidationError, refused)
    app.add_exception_handler(HTTPException, other)


def _refusal(errors: typing.Sequence[Any]) -> tuple[int, str]:
    """Status and one-sentence message for the first parameter that pydantic rejected."""
    first = errors[0]
    where = [str(part) for part in first["loc"] if not isinstance(part, int)]
    name = where[-1] if where else "the request"
    if name == "text" and first["type"] == "string_too_long":
        return 413, f"a text has at most {LONGEST_TEXT:,} characters"
    return 404 if "path" in where[:1] else 400, f"{name}: {first['msg'][:1].lower()}{first['msg'][1:]}"
