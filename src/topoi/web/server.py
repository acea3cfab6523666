"""Request handlers: a page is built, and sent as HTML, JSON, CSV or SVG; labels are stored."""

from __future__ import annotations

import inspect
import typing
from collections.abc import Callable, Mapping
from pathlib import Path as FilePath
from typing import Annotated, Any

from fastapi import Depends, Path, Query, Request
from starlette.exceptions import HTTPException
from starlette.responses import HTMLResponse, RedirectResponse, Response

from topoi.errors import ModelError, NotFoundError, StoreError, TopoiError, safe_text
from topoi.web.answers import ViewResponse, download, error_answer, error_page
from topoi.web.edits import Change, EditDesk
from topoi.web.forms import form_model, form_of, read_form
from topoi.web.kept_texts import KeptTexts
from topoi.web.limits import Gate
from topoi.web.links import Links
from topoi.web.pages import KINDS, Page, page_of, picture_of
from topoi.web.pages.change import title_of, undone, wish_of
from topoi.web.pages.collection_names import names_in
from topoi.web.pages.context import PageContext, StoreWatcher
from topoi.web.pages.history import history_page
from topoi.web.pages.parameters import ChangeNumber, Slug, Topic
from topoi.web.pages.ready import STEPS
from topoi.web.pages.shapes import TopicSummary
from topoi.web.pages.submissions import table_of
from topoi.web.places import PlaceDesk
from topoi.web.render import bare_site, render, site_of, static_files
from topoi.web.security import Tokens
from topoi.web.tables import to_csv
from topoi.web.uploads import Upload, upload_of
from topoi.web.warming import Warming

_LONGEST_LABEL = 1000
# Shorter texts fit into an address, so that a query can be bookmarked and shared.
_SHORT_TEXT = 2000

Form = Annotated[dict[str, list[str]], Depends(form_of)]
UploadedForm = Annotated[Upload, Depends(upload_of)]
SlugInPath = Annotated[Slug, Path()]
TopicInPath = Annotated[Topic, Path()]
ChangeInPath = Annotated[ChangeNumber, Path()]
# The parameter of a CSV file that names one of its page's lists, and that of pages that read any parameter.
_TABLE, _ASKED = "table", "asked"
# The parameter that names what was sent before.
_KEPT = "kept"
# Most changes of small collections are tried within this time, so that the first page seen has the preview.
_PATIENCE = 1.0

# Errors that values of a wrong type can cause.
_SUSPECT = (ValueError, TypeError, LookupError, AttributeError, ArithmeticError, MemoryError, StopIteration)


class Server:
    """State shared by all endpoints: the file, the CSRF token of this process, the gate before costly work.

    Parameters
    ----------
    path : Path
        The file.
    read_only : bool
        Whether labels and changes of topics are refused.
    """

    def __init__(self, path: FilePath, read_only: bool) -> None:
        self.watcher = StoreWatcher(path)
        self.desk = EditDesk(self.watcher, self.prepare)
        self.watcher.desk = None if read_only else self.desk
        self.watcher.warming = Warming(self.watcher, {"overview": self._first_page, **STEPS})
        self.places = PlaceDesk(self.watcher)
        self.watcher.places = None if read_only else self.places
        self.read_only = read_only
        self.texts = self.watcher.texts = KeptTexts()
        self.tokens = Tokens()
        self.gate = Gate()
        # Requests that wait for another program to finish writing hold threads that readers need.
        self.writing = Gate(at_once=1, most_waiting=1, longest_wait=3.0)
        self._cached_pages: dict[tuple[str, str], tuple[Any, str]] = {}
        self._versions = {name: file.version for name, file in static_files().items()}

    def endpoint(self, page: Page, path: str, answer: Callable[..., Response]) -> Callable[..., Response]:
        """Endpoint of a page for FastAPI: a function with the page's parameters, and their limits, in its signature."""

        def handler(request: Request, slug: str, **parameters: object) -> Response:
            given = _given(request, page, path)
            if page.filters:
                parameters[_ASKED] = request.query_params.multi_items()
            link = Links(slug, _filled(path, parameters), given, self._versions)
            return self._answer(request, link, page, parameters, answer)

        handler.__signature__ = _signature(page.build, path)  # type: ignore[attr-defined]
        handler.__name__ = f"{page.kind}_page"
        return handler

    def _addressed(self, form: Mapping[str, list[str]], parameters: Mapping[str, Any]) -> dict[str, list[str]]:
        """Query parameters of an address that gives the same answer; a long text is kept for a while, under a key."""
        given = {name: form[name] for name in parameters if name in form}
        text = str(parameters.get("text", ""))
        if len(text) > _SHORT_TEXT:
            del given["text"]
            given[_KEPT] = [self.texts.keep(text)]
        return given

    def form_endpoint(self, page: Page, answer: Callable[..., Response]) -> Callable[..., Response]:
        """Endpoint for a form that is posted to a page."""
        model = form_model(page.kind, page.build)

        def handler(request: Request, slug: SlugInPath, form: Form) -> Response:
            parameters = read_form(model, form)
            link = self._links(slug, page, self._addressed(form, parameters))
            return self._answer(request, link, page, parameters, answer)

        return handler

    def table_endpoint(self, page: Page, answer: Callable[..., Response]) -> Callable[..., Response]:
        """Endpoint for a table of submissions, sent as a file; what is wrong with it stands above the form."""
        model = form_model(page.kind, page.build)

        def handler(request: Request, slug: SlugInPath, upload: UploadedForm) -> Response:
            parameters = read_form(model, upload.fields)
            given = {name: upload.fields[name] for name in parameters if name in upload.fields and name != _KEPT}
            try:
                given[_KEPT] = [self.texts.keep(table_of(upload))]
            except ModelError as error:
                if answer != self.as_html:
                    raise
                told = _told_wrong(answer, str(error))
                return self._answer(request, self._links(slug, page, given), page, {**parameters, _KEPT: ""}, told)
            link = self._links(slug, page, given)
            if answer == self.as_html:  # reloading the answer does not send the file again
                return RedirectResponse(link.same(), 303)
            return self._answer(request, link, page, {**parameters, _KEPT: given[_KEPT][0]}, answer)

        return handler

    def _links(self, slug: str, page: Page, given: Mapping[str, list[str]]) -> Links:
        return Links(slug, page.path, given, self._versions)

    def _answer(
        self, request: Request, link: Links, page: Page, parameters: dict[str, Any], answer: Callable[..., Response]
    ) -> Response:
        def question(context: PageContext) -> tuple[Any, PageContext]:
            if page.costly(parameters):
                with self.gate.pass_through():
                    return page.view(context, **parameters), context
            return page.view(context, **parameters), context

        try:
            view, context = self.watcher.ask(link.slug, question)
            return answer(view, context, link, request)
        except TopoiError:
            raise
        except _SUSPECT as error:
            # Either the file is damaged, which is then reported, or this is a bug of ours.
            damage = self.watcher.damage()
            if damage is None:
                raise
            raise StoreError(f"{self.watcher.path} is damaged: {damage}") from error

    def as_json(self, view: Mapping[str, Any], context: PageContext, link: Links, request: Request) -> Response:
        """The JSON view of a page; a long one is compressed."""
        return ViewResponse(view)

    def as_csv(self, view: Mapping[str, Any], context: PageContext, link: Links, request: Request) -> Response:
        """One list of a page as CSV."""
        table = request.query_params.get(_TABLE)
        body = to_csv(page_of(view).tables(view), table)
        return download(body, "text/csv", f"{link.here or 'overview'}-{table or 'table'}.csv".replace("/", "-"))

    def as_svg(self, view: Mapping[str, Any], context: PageContext, link: Links, request: Request) -> Response:
        """The picture of a page as SVG."""
        picture = picture_of(view, self._site(context, view["kind"], link))
        if picture is None:
            raise NotFoundError("this page has no picture: there are no years, or too few topics")
        return download(picture, "image/svg+xml", f"{link.here}.svg".replace("/", "-").replace(".svg.svg", ".svg"))

    def as_html(self, view: Mapping[str, Any], context: PageContext, link: Links, request: Request) -> Response:
        """The page as HTML."""
        page = page_of(view)
        if not page.is_cached:
            return HTMLResponse(render(view, self._site(context, page.kind, link), link))
        return HTMLResponse(self.cached_page(page, view, context, link.slug))

    def cached_page(self, page: Page, view: Mapping[str, Any], context: PageContext, slug: str) -> str:
        """A page whose map and sparklines are slow to draw, cached: it changes with the file and its labels."""
        known, labels = context.snapshot, tuple(sorted(context.labels.items()))
        key = (context.cache.digest, tuple(known.digests.items()), known.title, known.sentence, labels)
        kept = self._cached_pages.get((slug, page.kind))
        if kept is None or kept[0] != key:
            whole = Links(slug, page.path, versions=self._versions)
            kept = (key, render(view, self._site(context, page.kind, whole), whole))
            self._cached_pages[slug, page.kind] = kept
        return kept[1]

    def prepare(self, slug: str | None = None) -> None:
        """Fill the caches of a model's first page."""
        context = self.watcher.context(slug)
        page = KINDS["overview"]
        self.cached_page(page, page.build(context), context, context.model["slug"])

    def _first_page(self, context: PageContext) -> None:
        self.prepare(context.model["slug"])

    def _site(self, context: PageContext, here: str, link: Links) -> dict[str, Any]:
        return site_of(context, here, link, read_only=self.read_only, token=self.tokens.token)

    def home(self) -> Response:
        """Redirect to the model saved last."""
        slug = self.watcher.ask(None, lambda context: context.model["slug"])
        return RedirectResponse(f"/m/{slug}/", 303)

    def static(self, request: Request, name: str) -> Response:
        """A static file."""
        file = static_files().get(name)
        if file is None:
            raise HTTPException(404, f"there is no file {name[:100]!r}")
        response = Response(file.body, media_type=file.media_type)
        is_this = request.query_params.get("v") == file.version
        response.headers["cache-control"] = "public, max-age=31536000, immutable" if is_this else "no-cache"
        return response

    def label(self, request: Request, slug: SlugInPath, topic: TopicInPath, form: Form) -> Response:
        """Store the label of a topic."""
        self._check_writer(request, form, "labels are")
        text = " ".join(form.get("label", [""])[-1].replace("\0", "").split())
        if len(text) > _LONGEST_LABEL:
            raise HTTPException(400, f"a label has at most {_LONGEST_LABEL:,} characters, not {len(text):,}")
        context = self.watcher.context(slug)
        context.check_topic(topic)
        with self.writing.pass_through():
            who = "browser" if context.why_fixed is None else None  # models that can be edited have a history
            context.view.store.set_label(context.view.name, topic, text or None, who)
        return RedirectResponse(Links(slug).topic(topic), 303)

    def names(self, request: Request, slug: SlugInPath, form: Form) -> Response:
        """Store the collection's title and sentence, and labels of topics, where they have changed."""
        self._check_writer(request, form, "names are")
        context = self.watcher.context(slug)
        page = form.get("page", ["1"])[-1]
        number = int(page) if page.isascii() and page.isdecimal() and len(page) < 7 else 1
        about, labels = names_in(context, form, max(number, 1))
        with self.writing.pass_through():
            if about != (context.snapshot.title, context.snapshot.sentence):
                context.view.store.set_about(*about)
            for topic, text in labels.items():
                context.view.store.set_label(context.view.name, topic, text or None)
        return RedirectResponse(Links(slug).page("names", {"page": number} if number > 1 else {}), 303)

    def _check_writer(self, request: Request, form: Mapping[str, list[str]], what: str) -> None:
        """Refuse a request that may not change the file."""
        if self.read_only:
            raise HTTPException(403, f"{what} switched off: topoi was started with --read-only")
        given = request.headers.get("x-topoi-token") or form.get("token", [""])[-1]
        if not self.tokens.right(given):
            raise HTTPException(403, "the form is out of date: go back, load the page again, and send it once more")

    def _editor(self, request: Request, slug: str, form: Mapping[str, list[str]]) -> PageContext:
        """Page context of a request that may change topics of a model that can be changed."""
        self._check_writer(request, form, "changes of topics are")
        context = self.watcher.context(slug)
        if context.why_fixed is not None:
            raise HTTPException(400, context.why_fixed)
        return context

    def change(self, request: Request, slug: SlugInPath, form: Form) -> Response:
        """Try a change of topics, and show what it would change."""
        context = self._editor(request, slug, form)
        wish, back = wish_of(context, form)
        return self._shown(self.desk.propose(context, wish, title_of(context, wish), back))

    def keep(self, request: Request, slug: SlugInPath, change: ChangeInPath, form: Form) -> Response:
        """Make a change that was shown."""
        self._editor(request, slug, form)
        found = self.desk.find(slug, change)
        self.desk.keep(found)
        return self._shown(found)

    def leave(self, request: Request, slug: SlugInPath, change: ChangeInPath, form: Form) -> Response:
        """Leave a change that was shown, or stop one, and go back to where it was asked for."""
        self._editor(request, slug, form)
        found = self.desk.find(slug, change)
        self.desk.leave(found)
        return RedirectResponse(Links(slug).page(found.back, {}), 303)

    def place(self, request: Request, slug: SlugInPath, form: Form) -> Response:
        """Compute the places of documents on the map."""
        self._check_writer(request, form, "places on the map are")
        context = self.watcher.context(slug)
        if not context.has_topics:
            raise HTTPException(400, "this model has no topics, by which documents could be placed on a map")
        if not self.places.start(context.view.name):
            raise HTTPException(409, "places of documents are being worked out already: wait for them")
        self.places.wait(_PATIENCE)
        return RedirectResponse(Links(slug).page("map", {}), 303)

    def undo(self, request: Request, slug: SlugInPath, form: Form) -> Response:
        """Undo the last change."""
        context = self._editor(request, slug, form)
        step = history_page(context)["undoes"]
        if step is None:
            raise HTTPException(400, "there is nothing to undo, or the file does not have the model as it was before")
        if form.get("step", [""])[-1] != str(step):
            raise HTTPException(409, "other changes were made since this page was loaded: look at the history again")
        return self._shown(self.desk.undo(context, undone(context)))

    def _shown(self, change: Change) -> Response:
        change.idle.wait(_PATIENCE)
        return RedirectResponse(Links(change.slug).change(change.number), 303)

    def error(
        self,
        request: Request,
        status: int,
        detail: str,
        title: str | None = None,
        headers: dict[str, str] | None = None,
        topic: TopicSummary | None = None,
    ) -> Response:
        """An error response, with the menu of its model if that can be read, and a topic to go to instead."""
        name = safe_text(self.watcher.path.name)
        # Do not reveal the path of the file over the network.
        named = detail.replace(safe_text(self.watcher.path), name)
        page = error_page(status, named, title)
        if topic is not None:
            page["topic"] = topic
        site, link = self._surroundings(request) if status != 503 else (None, None)
        if site is None or link is None:
            site = bare_site(name, read_only=self.read_only)
            link = Links(_slug_in(request) or "-", versions=self._versions)
        return error_answer(page, request.url.path, site, link, headers)

    def _surroundings(self, request: Request) -> tuple[dict[str, Any] | None, Links | None]:
        for slug in (_slug_in(request), None):
            try:
                context = self.watcher.context(slug)
                link = Links(context.model["slug"], versions=self._versions)
                return self._site(context, "error", link), link
            except TopoiError:
                continue
        return None, None


def _told_wrong(answer: Callable[..., Response], why: str) -> Callable[..., Response]:
    """An answer that says above its form what is wrong with what was sent."""

    def told(view: Mapping[str, Any], *rest: Any) -> Response:
        response = answer({**view, "error": why}, *rest)
        response.status_code = 400
        return response

    return told


def _slug_in(request: Request) -> str | None:
    parts = request.url.path.split("/")
    return parts[2] if len(parts) > 2 and parts[1] == "m" else None


def _filled(path: str, parameters: dict[str, Any]) -> str:
    """Path of a page with its parameters filled in."""
    return path.format(**{name: value for name, value in parameters.items() if f"{{{name}}}" in path})


def _given(request: Request, page: Page, path: str) -> dict[str, Any]:
    """The page's parameters that are in the address."""
    names = [in_address(name) for name in inspect.signature(page.build).parameters if f"{{{name}}}" not in path]
    if page.filters:
        names = [name for name in request.query_params if name != _TABLE]
    return {name: request.query_params.getlist(name) for name in names if name in request.query_params}


def in_address(name: str) -> str:
    """Name of a parameter in addresses: without the underscore of names that are words of Python.

    Examples
    --------
    >>> from topoi.web.server import in_address
    >>> in_address("from_"), in_address("to")
    ('from', 'to')
    """
    return name.rstrip("_")


def _query(name: str, description: str | None) -> Any:
    return Query(description=description, alias=in_address(name) if in_address(name) != name else None)


def _signature(build: Callable[..., Any], path: str) -> inspect.Signature:
    """Signature of an endpoint: the request, the model, and the page's parameters, from the path or the query."""
    hints = typing.get_type_hints(build, include_extras=True)
    first = inspect.Parameter.POSITIONAL_OR_KEYWORD
    parameters = [
        inspect.Parameter("request", first, annotation=Request),
        inspect.Parameter("slug", first, annotation=SlugInPath),
    ]
    for given in list(inspect.signature(build).parameters.values())[1:]:
        if given.name == _ASKED:
            continue
        kind, field = typing.get_args(hints[given.name])
        in_path = f"{{{given.name}}}" in path
        where: Any = Path(description=field.description) if in_path else _query(given.name, field.description)
        default = list(given.default) if isinstance(given.default, tuple) else given.default
        parameters.append(
            inspect.Parameter(
                given.name,
                inspect.Parameter.KEYWORD_ONLY,
                annotation=Annotated[(kind, *field.metadata, where)],
                default=inspect.Parameter.empty if in_path else default,
            )
        )
    return inspect.Signature(parameters)
