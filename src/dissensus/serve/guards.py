"""What every request passes: who asks, under which name, from which page; and the headers of every answer."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from ipaddress import ip_address

from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from dissensus.serve.answers import JsonAnswer
from dissensus.serve.keys import KeyFile, presented
from dissensus.serve.refusals import Refusal

__all__ = ["OPEN", "Guards"]

POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; "
    "connect-src 'self'; media-src 'self' blob:; frame-ancestors 'none'; base-uri 'none'; form-action 'self'"
)
SECURITY_HEADERS = {
    "Content-Security-Policy": POLICY,
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "camera=(self), microphone=(), geolocation=()",
}
OPEN = ("/static/", "/v2/health/")
OPEN_PAGES = ("/", "/openapi.json")
PROBED = ("/v2/health/", "/metrics")


class Guards:
    """ASGI middleware.

    A key is asked for everywhere but at the page, its files, the health and the description of the API.
    Browsers are held off where a foreign page made them ask: it could neither read the answer nor know a key,
    but it could send inputs, and under a name of its own for this machine it could read answers too.
    """

    def __init__(
        self,
        app: ASGIApp,
        *,
        keys: KeyFile | None,
        allowed_hosts: Sequence[str],
        draining: Callable[[], bool],
        tls: bool,
    ) -> None:
        self._app, self._keys, self._draining = app, keys, draining
        self._hosts = frozenset(_name(host.lower()) for host in allowed_hosts)
        self._headers = dict(SECURITY_HEADERS)
        if tls:
            self._headers["Strict-Transport-Security"] = "max-age=31536000"

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Lets a request through, or refuses it."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return

        async def guarded(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in self._headers.items():
                    headers[name] = value
                if "Cache-Control" not in headers:
                    headers["Cache-Control"] = "no-store"
                if self._draining():  # the client must not send another request on this connection
                    headers["Connection"] = "close"
            await send(message)

        try:
            self._check(scope)
        except Refusal as refusal:
            answer = JsonAnswer({"error": refusal.message}, refusal.status, refusal.headers)
            await answer(scope, receive, guarded)
            return
        await self._app(scope, receive, guarded)

    def _check(self, scope: Scope) -> None:
        headers, path = Headers(scope=scope), scope["path"]
        host = headers.get("host", "").lower()
        # Not Starlette's TrustedHostMiddleware: its refusal is neither JSON nor names a remedy.
        if self._hosts and _name(host) not in self._hosts and not _asked_by_address(path, host):
            raise Refusal(
                403, "the service is not known by that name: ask by its address, or name it with --allow-host"
            )
        if path in OPEN_PAGES or path.startswith(OPEN):  # anybody may link to the page
            return
        origin = headers.get("origin")
        foreign = origin is not None and origin.lower().partition("://")[2] != host
        if foreign or headers.get("sec-fetch-site") == "cross-site":
            raise Refusal(403, "pages of other sites may not ask this service")
        if self._keys is None:
            return
        scope["client_name"] = name = self._keys.name_of(presented(headers))
        if name is None:
            raise Refusal(
                401, "an API key is needed: send Authorization: Bearer KEY", {"WWW-Authenticate": "Bearer"}
            )


def _asked_by_address(path: str, host: str) -> bool:
    """Whether it is a probe or a Prometheus that knows the service by an address, such as that of a pod.

    The page of another site could ask under a name that leads here, but not under an address.
    """
    if not path.startswith(PROBED):
        return False
    try:
        ip_address(_name(host).strip("[]"))
    except ValueError:
        return False
    return True


def _name(host: str) -> str:
    """The host without its port, and an address of version 6 in brackets, as browsers send it.

    >>> _name("localhost:8000"), _name("[::1]:80"), _name("[::1]"), _name("::1")
    ('localhost', '[::1]', '[::1]', '[::1]')
    """
    if host.count(":") > 1 and not host.startswith("["):
        return f"[{host}]"
    name, colon, port = host.rpartition(":")
    return name if colon and port.isdecimal() else host
