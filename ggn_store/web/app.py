"""The application: requests in, pages out; the one place where errors end, and where each request is counted."""

from __future__ import annotations

import functools
import hashlib
import json
import sys
import time
from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import dataclass, replace
from typing import Any, Final
from urllib.parse import parse_qsl, unquote, urlencode

from anyio import CapacityLimiter, to_thread
from starlette.applications import Starlette
from starlette.datastructures import Headers
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.routing import Route
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from ggn_store import limits
from ggn_store.errors import (
    ConflictError,
    GateError,
    GgnStoreError,
    RefusedError,
    RightError,
    StoreError,
    UnknownNameError,
    printable,
)
from ggn_store.model.teams.revision import is_proposal
from ggn_store.render.records import json_text
from ggn_store.web import links, rendering, views
from ggn_store.web.guard import HEADERS, Guard
from ggn_store.web.page import LIMITS, Answer, Asked, Page
from ggn_store.web.people import Client
from ggn_store.web.refusal import AskedError
from ggn_store.web.routes import PAGES
from ggn_store.web.site import SentPage, Site

_JSON: Final = ".json"
_FOREVER: Final = "private, max-age=31536000, immutable"
_AGAIN: Final = "private, no-cache"
_MAX_PAIRS: Final = 1_000
_MOST_ASKED: Final = 20  # of them to be changed on the page that says what is wrong
_AT_ONCE: Final = 8
_WATCHED: Final = 2
Say = Callable[[str], None]


def application(site: Site, guard: Guard, say: Say = lambda line: None) -> ASGIApp:
    """The pages of a site behind a guard; `say` gets a line for each request."""
    # Fewer than a database lets in from one program, so that nobody waits for a connection with a thread in hand.
    threads, watching = CapacityLimiter(_AT_ONCE), CapacityLimiter(_WATCHED)
    routes = [Route("/static/{name}", _static, name="static", methods=["GET", "HEAD"])]
    for page in PAGES:
        endpoint = _endpoint(site, page, watching if page.is_watch else threads)
        paths = [page.path.replace("}", ":path}")]
        if page.template is not None and not page.has_reference:
            paths.append((page.path if page.path != "/" else "/index") + _JSON)
        methods = ["GET", "HEAD", *(["POST"] if page.act else [])]
        routes += [Route(path, endpoint, name=page.name, methods=methods) for path in paths]
    inner = Starlette(routes=routes, exception_handlers=dict.fromkeys((404, 405), _lost))
    inner.state.site = site
    return _Entrance(inner, site, guard, say)


class _Entrance:
    """Where requests come in: guarded, counted, logged; and where answers get the headers that all have."""

    def __init__(self, inner: ASGIApp, site: Site, guard: Guard, say: Say) -> None:
        self.inner, self.site, self.guard, self.say = inner, site, guard, say

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.inner(scope, receive, send)
            return
        begun, status = time.perf_counter(), 500

        async def sent(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                more = [(name.lower().encode(), value.encode()) for name, value in HEADERS.items()]
                message["headers"] = [*message["headers"], *more]
            await send(message)

        try:
            target = scope.get("raw_path", b"") + b"?" + scope["query_string"]
            self.guard.check(scope["method"], target, Headers(scope=scope))
        except AskedError as error:
            await _refused(self.site, error, _media(scope))(scope, receive, sent)
        else:
            await self.inner(scope, receive, sent)
        seconds = time.perf_counter() - begun
        page = scope.get("page", "other")
        self.site.metrics.count(page, status, seconds)
        client = scope.get("client") or ("-",)
        path = printable(unquote(scope.get("raw_path", b"").decode("latin-1"))[:300])
        self.say(f"{client[0]} {printable(scope['method'][:20])} {path} {status} {seconds * 1000:.0f} ms")


@dataclass(frozen=True, slots=True)
class _Got:
    """A request for a page as it came; `form` is what was sent by POST."""

    reference: str
    pairs: list[tuple[str, str]]
    is_json: bool
    known: str | None
    client: Client
    form: bytes | None


def _endpoint(site: Site, page: Page, threads: CapacityLimiter) -> Callable[[Request], Any]:
    async def answer(request: Request) -> Response:
        request.scope["page"] = page.name
        is_json = _wants_json(request.scope) and page.template is not None
        reference = request.path_params.get("ruleset", "")
        if is_json and page.has_reference and _is_named_json(request.scope):
            reference = reference.removesuffix(_JSON)
        try:  # of a length that the guard has seen, and in the time that any request has
            form = await request.body() if request.method == "POST" else None
        except ClientDisconnect:
            return Response(status_code=400)
        client = Client(request.client.host if request.client else "", request.headers)
        known = request.headers.get("if-none-match")
        try:
            got = _Got(reference, [], is_json, known, client, form)
            pairs = [] if form is not None else _pairs(request.scope["query_string"])
            got = replace(got, pairs=pairs)
            async with site.turn() if page.takes_long(pairs) else nullcontext():
                return await to_thread.run_sync(functools.partial(_answered, site, page, got), limiter=threads)
        except AskedError as error:
            return _refused(site, error, "application/json" if is_json else page.media, page, got)

    return answer


def _answered(site: Site, page: Page, got: _Got) -> Response:
    """The response of a page, made in a thread of its own; whatever goes wrong is a page, too."""
    media = "application/json" if got.is_json else page.media
    try:
        with limits.allow(LIMITS):
            if got.form is not None:
                return _done(site, page, got, got.form)
            asked = Asked.read(site, page, got.reference, got.pairs, is_json=got.is_json, client=got.client)
            return _response(_kept(asked, got) or _made(asked, page.show(asked)), got.known)
    except GgnStoreError as error:
        return _refused(site, error, media, page, got)
    except (RecursionError, MemoryError):
        return _refused(site, AskedError("this takes too much memory here: ask for less", 503), media, page, got)
    except Exception as error:  # a defect: said where the server runs, never to those who ask
        print(site.clean(f"internal error in the page {page.name}: {_where(error)}"), file=sys.stderr)
        return _refused(site, AskedError("internal error: see the log of the server", 500), media, page, got)


def _kept(asked: Asked, got: _Got) -> SentPage | None:
    """The page of a revision, made once while nothing of it changes; None for others."""
    site, page = asked.site, asked.page
    if page.shows_of is None or page.takes_long(got.pairs) or is_proposal(asked.reference):
        return None
    revision = site.ruleset(asked.reference).revision
    shown = page.shows_of(asked, revision)
    if shown is None:
        return None
    of_revision = revision.name, revision.lineage, revision.id, revision.state, revision.successor, shown
    person = None if site.people is None else asked.person
    key = page.name, asked.reference, tuple(got.pairs), got.is_json, person, of_revision
    return site.pages.get(key, lambda: _made(asked, page.show(asked)))


def _done(site: Site, page: Page, got: _Got, form: bytes) -> Response:
    """The response to a form: what it did leads on; what was refused is said on the page that it is on."""
    assert page.act is not None  # noqa: S101  (or there is no route)
    pairs: list[tuple[str, str]] = []
    try:
        pairs = _pairs(form, "what was sent")
        asked = Asked.read(site, page, got.reference, pairs, form=True, is_json=got.is_json, client=got.client)
        found = page.act(asked)
    except GgnStoreError as error:
        if got.is_json:
            raise
        asked = Asked.read(site, page, got.reference, [], client=got.client)
        try:
            answer = page.show(asked)
        except GgnStoreError:
            raise error from None
        typed = {name: text for name, text in pairs if name != "password"}
        said = {"refused": site.told(error), "typed": typed}
        refused = replace(answer, shown={**answer.shown, **said}, status=status_of(error))
        return _response(_made(asked, refused), None)
    response = (
        _response(_made(asked, found), None)
        if got.is_json
        else Response(status_code=303, headers={"Location": found.see or "/"})
    )
    response.headers["Cache-Control"] = "no-store"
    for cookie in found.cookies:
        response.headers.append("Set-Cookie", cookie)
    return response


def _where(error: BaseException) -> str:
    """What went wrong, and where in the program, in one line."""
    trace = error.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    place = "" if trace is None else f" at {trace.tb_frame.f_code.co_filename}:{trace.tb_lineno}"
    return printable(f"{type(error).__name__}: {error}{place}")


def _pairs(query: bytes, what: str = "the part of the address behind ?") -> list[tuple[str, str]]:
    try:
        return parse_qsl(query.decode("ascii"), keep_blank_values=True, max_num_fields=_MAX_PAIRS, errors="strict")
    except ValueError:
        raise AskedError(f"{what} is no text in UTF-8, or has too many parameters") from None


def _made(asked: Asked, answer: Answer) -> SentPage:
    """An answer as it is sent."""
    body: str | bytes
    if answer.text is not None:
        body, media = answer.text, answer.media
    elif asked.is_json:
        body, media = f"{json_text(answer.data, ensure_ascii=True)}\n", "application/json"
    else:
        body, media = rendering.html(asked, answer), "text/html"
    data = body if isinstance(body, bytes) else body.encode("utf-8", "backslashreplace")
    mark = f'"{hashlib.sha256(data).hexdigest()[:32]}"'
    # Above a page stands who has logged in, which is not fixed.
    is_fixed = answer.fixed and (asked.site.people is None or asked.is_json or answer.text is not None)
    headers = {"ETag": mark, "Cache-Control": _FOREVER if is_fixed else _AGAIN, "Vary": "Accept"}
    if answer.file is not None:
        headers["Content-Disposition"] = f'attachment; filename="{answer.file}"'
    kind = media if ";" in media or not media.startswith("text/") else f"{media}; charset=utf-8"
    return SentPage(data, mark, headers, kind, answer.status)


def _response(made: SentPage, known: str | None) -> Response:
    if made.status == 200 and _is_known(made.mark, known):
        return Response(status_code=304, headers=made.headers)
    return Response(made.data, made.status, made.headers, media_type=made.media)


def _is_known(mark: str, known: str | None) -> bool:
    """Whether If-None-Match names a mark. A proxy that packs answers makes it a weak one, which is as good here."""
    return known is not None and mark in (each.strip().removeprefix("W/") for each in known.split(","))


# --- errors ---


def status_of(error: GgnStoreError) -> int:
    """What HTTP calls an error."""
    match error:
        case AskedError():
            return error.status
        case UnknownNameError():
            return 404
        case ConflictError():
            return 409
        case GateError() | RefusedError() | RightError():
            return 403
        case StoreError():
            return 503
    return 400


def _refused(
    site: Site, error: GgnStoreError, media: str, page: Page | None = None, got: _Got | None = None
) -> Response:
    """What is wrong, as a page that leads on, or as JSON; what is wrong with the store is also said in the log."""
    status = status_of(error)
    message = "\n".join(map(printable, site.told(error).split("\n")))
    if isinstance(error, StoreError) and status == 503:
        print(printable(site.clean(str(error))), file=sys.stderr)
    allowed = "GET, HEAD" if site.people is None else "GET, HEAD, POST"
    headers = {"Cache-Control": "no-store"} | ({"Allow": allowed} if status == 405 else {})
    if media == "application/json":
        return Response(json.dumps({"error": message, "status": status}) + "\n", status, headers, media_type=media)
    if media != "text/html":
        return Response(f"{message}\n", status, headers, media_type="text/plain; charset=utf-8")
    if page is None or got is None:
        body = rendering.error(message, status, site)
    else:
        person = Asked(site, page, {}, client=got.client).person
        body = rendering.error(message, status, site, _ahead(page, got, status), _again(page, got), person)
    return Response(body, status, headers, media_type="text/html; charset=utf-8")


def _ahead(page: Page, got: _Got, status: int) -> tuple[str, str] | None:
    """Where it goes on after an error, and what that is called; None where there is nothing but the start page."""
    if status in (429, 503):
        return page.address(got.reference) + (f"?{urlencode(got.pairs)}" if got.pairs else ""), "Try again"
    if got.pairs and page.path != "/":
        return page.address(got.reference), "Begin anew"
    return (links.to("/g", got.reference), "To its board") if page.has_reference and page.name != "game" else None


def _again(page: Page, got: _Got) -> tuple[str, list[tuple[str, str]]] | None:
    """The address of the page and what was asked of it, to be changed; None where there is nothing to change."""
    known = {each.name for each in page.parameters}
    asked = [(name, text) for name, text in got.pairs if name in known and text]
    return (page.address(got.reference), asked) if asked and len(asked) <= _MOST_ASKED else None


async def _lost(request: Request, error: Exception) -> Response:
    status = getattr(error, "status_code", 404)
    message = f"there is no page {printable(request.url.path[:200])}: the start page is /"
    if status == 405:
        message = f"{printable(request.method)}: this page only shows what is there (GET, HEAD)"
    return _refused(request.app.state.site, AskedError(message, status), _media(request.scope))


# --- what is asked for ---


def _is_named_json(scope: Scope) -> bool:
    """Whether the path ends with .json as it was sent: a name that ends so has an escape there."""
    raw: bytes = scope.get("raw_path") or scope["path"].encode()
    return raw.endswith(_JSON.encode())


def _wants_json(scope: Scope) -> bool:
    accept = Headers(scope=scope).get("accept", "")
    return _is_named_json(scope) or (accept.startswith("application/json") and "text/html" not in accept)


def _media(scope: Scope) -> str:
    return "application/json" if _wants_json(scope) else "text/html"


async def _static(request: Request) -> Response:
    request.scope["page"] = "static"
    name = request.path_params["name"]
    data = views.static(name)
    if data is None:
        return _refused(request.app.state.site, AskedError("there is no such file", 404), "text/html")
    is_pinned = request.scope["query_string"].decode("latin-1") == views.digest(name)
    headers = {"ETag": f'"{views.digest(name)}"', "Cache-Control": _FOREVER if is_pinned else _AGAIN}
    if _is_known(headers["ETag"], request.headers.get("if-none-match")):
        return Response(status_code=304, headers=headers)
    return Response(data, headers=headers, media_type=views.MEDIA[name[name.rindex(".") :]])
