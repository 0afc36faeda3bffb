"""What RFC 9110 and 9112 ask of a server beside its parser: HEAD, transfer codings, bodies nobody reads."""

from __future__ import annotations

import asyncio

from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from dissensus.serve.answers import JsonAnswer

__all__ = ["Framing"]

# Bytes of a body that nobody reads, and seconds, that pass before the connection is closed: a client that is
# still sending would see a reset and no answer. One that may not ask at all is owed less.
DISCARDED, DISCARDED_OF_STRANGERS = 1 << 23, 1 << 16
DISCARD_SECONDS = 2.0
STRANGERS = (401, 403)


class Framing:
    """ASGI middleware.

    HEAD is answered like GET, and the server leaves the body out. A coding of the transfer that is not known
    here is refused. A connection is closed after an answer that came before the end of the request's body:
    what is left of it must neither be read nor be taken for the next request.
    """

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answers one request."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        headers = Headers(scope=scope)
        coding = headers.get("transfer-encoding", "chunked").strip().lower()
        body = _Body(receive, headers)

        async def framed(message: Message) -> None:
            if message["type"] == "http.response.start" and not body.complete:
                await body.discard(DISCARDED_OF_STRANGERS if message["status"] in STRANGERS else DISCARDED)
                if not body.complete:
                    MutableHeaders(scope=message)["Connection"] = "close"
            await send(message)

        if scope["http_version"] == "1.1" and len(headers.getlist("host")) != 1:
            error = "a request in HTTP/1.1 has one Host, and this one has none or several"
            await JsonAnswer({"error": error}, 400)(scope, body.receive, framed)
            return
        if coding != "chunked":
            error = f"the transfer coding {coding[:40]!r} is not known here: send the body as it is"
            await JsonAnswer({"error": error}, 501)(scope, body.receive, framed)
            return
        # The server looks at the method that came in; the application at this one.
        asked = {**scope, "method": "GET"} if scope["method"] == "HEAD" else scope
        try:
            await self._app(asked, body.receive, framed)
        finally:
            if asked is not scope:  # what was found out about the request is for those outside, too
                scope.update({**asked, "method": "HEAD"})


class _Body:
    """The body of a request, and whether all of it was read."""

    def __init__(self, receive: Receive, headers: Headers) -> None:
        self._receive = receive
        self.complete = headers.get("content-length", "0") == "0" and "transfer-encoding" not in headers
        # Such a client waits for a word before it sends, which asking for its body would give.
        self._waits = headers.get("expect", "").lower() == "100-continue"

    async def receive(self) -> Message:
        """The next part of it."""
        self._waits = False
        message = await self._receive()
        self.complete = self.complete or not message.get("more_body", False)
        return message

    async def discard(self, most: int) -> None:
        """Reads on for a while."""
        try:
            async with asyncio.timeout(DISCARD_SECONDS):
                while not (self.complete or self._waits) and most > 0:
                    most -= max(1, len((await self.receive()).get("body", b"")))
        except TimeoutError:
            pass
