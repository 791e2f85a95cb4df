"""HTTP server of the studio: pages, requests and access control."""

import asyncio
import contextlib
import hmac
import json
import secrets
import tempfile
import time
import warnings
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass, field
from importlib.resources import files
from pathlib import Path
from typing import cast
from urllib.parse import parse_qs, quote

from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.datastructures import MutableHeaders
from starlette.middleware import Middleware
from starlette.requests import HTTPConnection, Request
from starlette.responses import (
    JSONResponse,
    PlainTextResponse,
    RedirectResponse,
    Response,
    StreamingResponse,
)
from starlette.routing import Route
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from ...checks import BadUseError
from ...data.files.output import hidden_folder
from ...data.result import Plain
from ...explain.report.page import asset, page_style, part_script
from .bench import Bench, StudioSettings
from .data import Uploads, read_form
from .launch import open_saved

#: No inline script or style, nothing from elsewhere, no frame around the page.
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; "
    "connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)

HEADERS = {
    "Content-Security-Policy": POLICY,
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cache-Control": "no-store",
}

_LOCAL = ("127.0.0.1", "localhost", "[::1]")

# What whoever must show a password sees.
_BEFORE = ("/login", "/static/style.css", "/static/report/colours.css")

# What a page of another site, or a browser that hides where it comes from, says of itself.
_OWN = ("same-origin", "none")


@dataclass(frozen=True)
class Keys:
    """Credentials of the studio: token, cookie and password.

    Parameters
    ----------
    port : of the server; names the cookie, since browsers share cookies between ports.
    host : that it listens at.
    password : asked for where other machines may connect; None where they cannot.
    token : in the address that is printed.
    cookie : what a browser shows once it has been let in.
    """

    port: int
    host: str = "127.0.0.1"
    password: str | None = None
    token: str = field(default_factory=lambda: secrets.token_urlsafe(32))
    cookie: str = field(default_factory=lambda: secrets.token_urlsafe(32))

    @property
    def cookie_name(self) -> str:
        """Name of the cookie, which the port is part of."""
        return f"bayesieve_{self.port}"

    @property
    def address(self) -> str:
        """Where a browser finds the studio."""
        host = self.host if self.host not in ("0.0.0.0", "::") else "127.0.0.1"
        host = f"[{host}]" if ":" in host else host
        return f"http://{host}:{self.port}/?token={self.token}"

    def knows_host(self, host: str) -> bool:
        """Is this a name under which the studio is meant?  A name that leads here is not enough."""
        if self.password is not None:
            return True  # reached by whatever name the network has for it; the password decides
        return host in {f"{name}:{self.port}" for name in _LOCAL}


class RequestGuard:
    """Refuses whoever is not the user's own page.

    Parameters
    ----------
    app : behind it.
    keys : what opens it.
    """

    def __init__(self, app: ASGIApp, keys: Keys):
        self._app, self._keys = app, keys

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Judge one request."""
        if scope["type"] != "http":
            if scope["type"] == "lifespan":
                await self._app(scope, receive, send)
            return
        refusal = self._judge(HTTPConnection(scope), scope["method"], scope["path"])

        async def sealed(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in HEADERS.items():
                    headers.setdefault(name, value)
            await send(message)

        await (refusal or self._app)(scope, receive, sealed)

    def _judge(self, request: HTTPConnection, method: str, path: str) -> Response | None:
        """A refusal, or the way in; None: let it pass."""
        headers, keys = request.headers, self._keys
        host, origin = headers.get("host", ""), headers.get("origin")
        if not keys.knows_host(host):
            return _no("this host name is not the studio's", 421)
        # Whoever only reads need not say where it comes from.
        own: tuple[str | None, ...] = (f"http://{host}", f"https://{host}")
        own = (*own, None) if method in ("GET", "HEAD") else own
        strange = headers.get("sec-fetch-site", "none") not in _OWN and path != "/"
        if strange or origin not in own:
            return _no("requests of other sites are refused", 403)
        shown = request.cookies.get(keys.cookie_name, "")
        if hmac.compare_digest(shown.encode(), keys.cookie.encode()):
            return None
        asks_for_page, token = (
            path == "/" and method == "GET",
            request.query_params.get("token", ""),
        )
        if keys.password is not None:
            if path in _BEFORE:
                return None
            if asks_for_page:
                return RedirectResponse("/login", 303)
        elif asks_for_page and hmac.compare_digest(token.encode(), keys.token.encode()):
            return let_in(keys)
        return _no("open the address that was printed when the studio started", 401)


def let_in(keys: Keys) -> Response:
    """The browser gets a cookie that no script and no other site can use."""
    answer = RedirectResponse("/", 303)
    answer.set_cookie(keys.cookie_name, keys.cookie, httponly=True, samesite="strict", path="/")
    return answer


def _no(why: str, status: int) -> Response:
    return PlainTextResponse(f"bayesieve studio: {why}.\n", status)


# -- HTTP over a workbench -------------------------------------------------------------------------


_KINDS = {
    ".html": "text/html",
    ".js": "text/javascript",
    ".css": "text/css",
    ".svg": "image/svg+xml",
}

# Bytes of a request that is no file; seconds between two signs of life of a stream; seconds between
# two steps of a search that are told.
_MOST_WORDS, _BEAT, _PACE = 1 << 20, 15.0, 0.05

# Tries of a password that are answered at once.
_TRIES = 5


class Studio:
    """The server's side of the studio.

    Parameters
    ----------
    bench : what the pages look at.
    keys : who may come in.
    most_bytes : of a file that is dropped on the page.
    """

    def __init__(self, bench: Bench, keys: Keys, most_bytes: int = 2**30):
        self.bench, self.keys, self.most_bytes = bench, keys, most_bytes
        self.n_pages = 0  #: that listen now
        self.left = time.monotonic()  #: when the last of them went
        self._tried = 0
        self.app = Starlette(
            routes=[
                Route("/", self._page),
                Route("/login", self._login, methods=["GET", "POST"]),
                Route("/static/report/{name}", self._report),
                Route("/static/{name}", self._static),
                Route("/api/events", self._events),
                Route("/api/upload", self._upload, methods=["POST"]),
                Route("/api/export/{kind}", self._export),
                Route("/api/{what}", self._get, methods=["GET"]),
                Route("/api/{what}", self._post, methods=["POST"]),
            ],
            middleware=[Middleware(RequestGuard, keys=keys)],
            lifespan=self._lifespan,
        )

    @contextlib.asynccontextmanager
    async def _lifespan(self, app: Starlette) -> AsyncIterator[None]:
        with hidden_folder(Path(tempfile.gettempdir())) as folder:
            self.uploads = folder
            self.received = Uploads(self.uploads, self.most_bytes)
            yield
            self.bench.close()

    # -- pages ----------------------------------------------------------------------------------

    async def _page(self, request: Request) -> Response:
        return _asset("index.html")

    async def _static(self, request: Request) -> Response:
        return _asset(request.path_params["name"])

    async def _report(self, request: Request) -> Response:
        """The report's own parts: what it draws, the studio does not draw in another way."""
        parts = {
            "parts.js": ("text/javascript", part_script),
            "colours.css": ("text/css", lambda: asset("colours.css")),
            "style.css": ("text/css", page_style),
        }
        kind, text = parts.get(request.path_params["name"], ("", str))
        if not kind:
            return JSONResponse({"refused": "there is no such page."}, 404)
        return Response(text().encode(), media_type=kind)

    async def _login(self, request: Request) -> Response:
        if self.keys.password is None:
            return RedirectResponse("/", 303)
        if request.method == "GET":
            return _asset("login.html")
        self._tried += 1
        if self._tried > _TRIES:
            await asyncio.sleep(min(self._tried - _TRIES, 10))
        given = parse_qs((await _body(request)).decode(errors="replace")).get("password", [""])[0]
        if hmac.compare_digest(given.encode(), self.keys.password.encode()):
            self._tried = 0
            return let_in(self.keys)
        return _asset("login.html", 401)

    # -- plain data -----------------------------------------------------------------------------

    async def _get(self, request: Request) -> Response:
        bench = self.bench
        answers: dict[str, Callable[[], dict[str, Plain]]] = {
            "state": bench.state,
            "columns": bench.columns,
            "model": lambda: bench.model(_numbers(request.query_params.get("rows", ""))),
            "decisions": bench.decisions,
            "compared": bench.compared,
            "texts": bench.texts,
            "room": lambda: {
                "most": self.received.room(int(request.query_params.get("bytes", "0")))
            },
            "histograms": lambda: bench.histograms(_numbers(request.query_params.get("at", ""))),
        }
        return await _answered(answers.get(request.path_params["what"]))

    async def _post(self, request: Request) -> Response:
        try:
            asked = json.loads(await _body(request) or b"{}")
            if not isinstance(asked, dict):
                raise ValueError("a request must be an object")
        except (ValueError, RecursionError) as error:
            return _sorry(error)
        bench = self.bench

        def target() -> dict[str, Plain]:
            features = asked.get("features")
            rows = _text(asked, "rows", _MOST_WORDS) if "rows" in asked else None
            given = None if features is None else dict(features)
            aside = asked.get("aside")
            aside = None if aside is None else bool(aside)
            before = bench.table
            try:
                if asked.get("series") is not None:
                    bench.read_as(read_form(dict(asked["series"])))
                bench.open_target(_text(asked, "target") or None, given, rows, aside)
            except BaseException:
                bench.table = before  # the session's own, whatever else was tried
                raise
            return bench.state()

        def rule() -> dict[str, Plain]:
            given = asked.get("rule", "")
            if not isinstance(given, dict | None):
                raise BadUseError("say what the rule is to be, or null for none.")
            return bench.set_rule(given)

        changes: dict[str, Callable[[], dict[str, Plain]]] = {
            "target": target,
            "folder": lambda: self._open_folder(_text(asked, "name")),
            "remember": bench.remember,
            "edit": lambda: bench.edit(
                _text(asked, "action"), list(asked.get("columns", [])), _text(asked, "note")
            ),
            "rule": rule,
            "pick": lambda: bench.pick(int(asked["at"])),
            "halt": lambda: bench.halt(_text(asked, "what")),
            "search": lambda: bench.search(
                StudioSettings(
                    preset=_text(asked, "preset") or "balanced",
                    search=_text(asked, "search") or "auto",
                    criterion=_text(asked, "criterion") or "auto",
                ),
                bool(asked.get("fresh")),
            ),
        }
        return await _answered(changes.get(request.path_params["what"]))

    # -- files ----------------------------------------------------------------------------------

    async def _upload(self, request: Request) -> Response:
        """A file that was dropped on the page: its name is a word to show, and never a path."""
        name = request.query_params.get("name", "")[-200:] or "table.csv"
        use = request.query_params.get("as", "")
        try:
            place = self.received.place(name, use)
        except BadUseError as error:
            with contextlib.suppress(ValueError):  # who is cut off in the middle hears nothing
                await _body(request)
            return _sorry(error)
        try:
            await self.received.receive(request, place)
        except BadUseError as error:
            return JSONResponse({"refused": str(error)}, 413, headers={"Connection": "close"})
        except OSError as error:
            return _sorry(error)
        opens = {"": self._open_upload, "labels": self.bench.add_labels}
        take = opens.get(use, lambda *_: None)

        def opened() -> dict[str, Plain]:
            try:
                take(place, name)
            except BaseException:
                place.unlink(missing_ok=True)
                raise
            return self.bench.state()

        return await _answered(opened)

    @property
    def _file(self) -> Path | None:
        """Path of the table in use, if it came from a file."""
        return None if self.bench.table is None else self.bench.table.path

    def _open_upload(self, place: Path, name: str) -> None:
        before = self._file
        if place.suffix == ".bayesieve":
            open_saved(self.bench, place, "a project")
            place.unlink()
        else:
            self.bench.open_file(place, name)
        self.received.tidy(before, self._file)

    def _open_folder(self, name: str) -> dict[str, Plain]:
        """The files that were sent one by one are a folder of series."""
        self._open_upload(self.received.take_series(), name or "a folder")
        return self.bench.state()

    async def _export(self, request: Request) -> Response:
        kind = request.path_params["kind"]
        try:
            found = await run_in_threadpool(self.bench.export, kind)
        except (ValueError, TypeError, ImportError) as error:
            return _sorry(error, 400)  # no file
        headers = {"Content-Disposition": f"attachment; filename={quote(found.name)}"}
        return Response(found.content, media_type=found.kind, headers=headers)

    # -- events ---------------------------------------------------------------------------------

    async def _events(self, request: Request) -> Response:
        loop = asyncio.get_running_loop()
        queue: asyncio.Queue[tuple[str, Plain]] = asyncio.Queue()

        def told(what: str, data: Plain) -> None:
            with contextlib.suppress(RuntimeError):  # the loop has ended
                loop.call_soon_threadsafe(queue.put_nowait, (what, data))

        async def stream() -> AsyncIterator[bytes]:
            self.bench.welcome(told)
            self.n_pages += 1
            try:
                yield _event("hello", {"version": self.bench.version})
                while True:
                    try:
                        first = await asyncio.wait_for(queue.get(), _BEAT)
                    except TimeoutError:
                        yield b": here\n\n"
                        continue
                    if first[0] == "progress":
                        await asyncio.sleep(_PACE)
                    waiting = [queue.get_nowait() for _ in range(queue.qsize())]
                    for what, data in _merged([first, *waiting]):
                        yield _event(what, data)
            finally:
                self.bench.listeners.remove(told)
                self.n_pages -= 1
                self.left = time.monotonic()

        return StreamingResponse(stream(), media_type="text/event-stream")


def _merged(events: list[tuple[str, Plain]]) -> list[tuple[str, Plain]]:
    """Steps of a search that came together are told together."""
    found: list[tuple[str, Plain]] = []
    for what, data in events:
        if what == "progress" and found and found[-1][0] == "progress":
            last = cast(dict[str, Plain], found[-1][1])
            new = cast(dict[str, Plain], data)
            points = [*cast(list[Plain], last["points"]), *cast(list[Plain], new["points"])]
            found[-1] = "progress", {**new, "points": points}
        else:
            found.append((what, data))
    return found


def _event(what: str, data: Plain) -> bytes:
    return f"event: {what}\ndata: {json.dumps(data)}\n\n".encode()


def _numbers(text: str) -> list[int]:
    """Whole numbers, separated by commas."""
    return [int(each) for each in text.split(",") if each]


def _text(asked: dict[str, object], name: str, most: int = 2000) -> str:
    value = asked.get(name) or ""
    if not isinstance(value, str):
        raise ValueError(f"{name} must be a text; got {value!r}.")
    return value[:most]


async def _body(request: Request) -> bytes:
    """A request that is no file is short."""
    found = b""
    async for part in request.stream():
        found += part
        if len(found) > _MOST_WORDS:
            raise ValueError("the request is too long.")
    return found


async def _answered(ask: Callable[[], dict[str, Plain]] | None) -> Response:
    """The answer to a request; a refusal is a sentence."""
    if ask is None:
        return JSONResponse({"refused": "there is no such page."}, 404)

    def quietly() -> dict[str, Plain]:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return ask()

    try:
        return JSONResponse(await run_in_threadpool(quietly))
    except Exception as error:
        return _sorry(error)


def _sorry(error: BaseException, status: int = 200) -> Response:
    """A refusal in a sentence: an answer, which leaves nothing in a browser's console."""
    text = " ".join(str(error).split())
    if isinstance(error, MemoryError) and " GB " in text:  # where we refuse, bytes are named
        pass
    elif isinstance(error, MemoryError):
        text = "the memory does not suffice; use fewer rows or columns."
    elif not text or not isinstance(error, ValueError | TypeError | OSError | ImportError):
        text = f"this cannot be done ({type(error).__name__}: {text})."
    return JSONResponse({"refused": text}, status)


def _asset(name: str, status: int = 200) -> Response:
    """A file of the page; nothing else can be asked for."""
    kind = _KINDS.get(Path(name).suffix)
    place = files(__package__) / "static" / name
    if kind is None or "/" in name or "\\" in name or not place.is_file():
        return JSONResponse({"refused": "there is no such page."}, 404)
    return Response(place.read_bytes(), status, media_type=kind)
