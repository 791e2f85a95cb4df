"""Who may speak to the studio: this machine's own browser, with the key that was printed."""

import hmac
import secrets
from dataclasses import dataclass, field

from starlette.datastructures import Headers, QueryParams
from starlette.requests import HTTPConnection
from starlette.responses import PlainTextResponse, RedirectResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

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
    """What opens the studio.

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
        """Of this port."""
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


class Guard:
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
                known = {name.lower() for name, _ in message["headers"]}
                message["headers"] = [
                    *message["headers"],
                    *(
                        (name.lower().encode(), value.encode())
                        for name, value in HEADERS.items()
                        if name.lower().encode() not in known
                    ),
                ]
            await send(message)

        await (refusal or self._app)(scope, receive, sealed)

    def _judge(self, request: HTTPConnection, method: str, path: str) -> Response | None:
        """A refusal, or the way in; None: let it pass."""
        headers, keys = request.headers, self._keys
        host = headers.get("host", "")
        if not keys.knows_host(host):
            return _no("this host name is not the studio's", 421)
        if method not in ("GET", "HEAD") and not _is_own(headers, host):
            return _no("requests of other sites are refused", 403)
        if headers.get("origin") not in (None, f"http://{host}", f"https://{host}"):
            return _no("requests of other sites are refused", 403)
        if headers.get("sec-fetch-site", "none") not in _OWN and path != "/":
            return _no("requests of other sites are refused", 403)
        shown = request.cookies.get(keys.cookie_name, "")
        if hmac.compare_digest(shown.encode(), keys.cookie.encode()):
            return None
        return self._let_in(request.query_params, method, path)

    def _let_in(self, query: QueryParams, method: str, path: str) -> Response | None:
        keys, token = self._keys, query.get("token", "")
        right = hmac.compare_digest(token.encode(), keys.token.encode())
        if path == "/" and method == "GET" and right and keys.password is None:
            return let_in(keys)
        if keys.password is not None and path in _BEFORE:
            return None
        if keys.password is not None and path == "/" and method == "GET":
            return RedirectResponse("/login", 303)
        return _no("open the address that was printed when the studio started", 401)


def _is_own(headers: Headers, host: str) -> bool:
    """Does a page of ours send this?"""
    return headers.get("origin") in (f"http://{host}", f"https://{host}")


def let_in(keys: Keys) -> Response:
    """The browser gets a cookie that no script and no other site can use."""
    answer = RedirectResponse("/", 303)
    answer.set_cookie(keys.cookie_name, keys.cookie, httponly=True, samesite="strict", path="/")
    return answer


def _no(why: str, status: int) -> Response:
    return PlainTextResponse(f"bayesieve studio: {why}.\n", status)
