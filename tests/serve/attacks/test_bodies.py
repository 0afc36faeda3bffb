"""Uploads that stall, and bodies that nobody will read."""

from contextlib import ExitStack, suppress
from http.client import HTTPResponse

from dissensus.serve.keys import new_key

LONG = 600.0  # seconds that only a hang takes
HEAD = "POST /score HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"


def answer_on(connection):
    """The next answer on a connection, with its head read."""
    answer = HTTPResponse(connection)
    answer.begin()
    return answer


def test_stalled_uploads_leave_room_for_small_requests_and_give_way_to_large_ones(
    serving, folder, numbers, until, connect, until_closed
):
    size = 1_000_000
    with serving(folder / "rows", max_body_mb=1.0) as found, ExitStack() as stack:
        stalled = [stack.enter_context(connect(found)) for _ in range(4)]
        for connection in stalled:
            connection.sendall(f"{HEAD}Content-Length: {size}\r\n\r\n".encode() + b" " * (size - 1))
        bodies = found.service.bodies
        until(lambda: bodies.held >= 4 * (size - 70_000))
        asked = found.client.post("/score", json={"rows": numbers[:1].tolist()})
        assert asked.status_code == 200
        large = b" " * (size - 100) + b'{"rows": [[1, 2, 3]]}'
        answer = found.client.post("/score", content=large, headers={"content-type": "application/json"})
        assert answer.status_code == 200
        assert until_closed(stalled[0]).startswith(b"HTTP/1.1 429")  # the one that has been at it longest
    assert bodies.held == 0


def test_a_body_that_nobody_may_send_is_not_read(serving, folder, tmp_path, connect):
    """After 401 its connection is closed: the rest is neither parsed nor taken for another request."""
    new_key(tmp_path / "keys", "a")
    with serving(folder / "rows", keys=tmp_path / "keys") as found, connect(found) as connection:
        connection.sendall(f"{HEAD}Transfer-Encoding: chunked\r\n\r\n".encode())
        sent = 0
        with suppress(OSError):
            while sent < 1 << 26:
                connection.sendall(b"1\r\nx\r\n" * 4096)
                sent += 6 * 4096
        assert sent < 1 << 26
    with serving(folder / "rows", keys=tmp_path / "keys") as found, connect(found) as connection:
        # All of a short body has come: the connection is as good as new. Answers may come in pieces.
        connection.sendall(f"{HEAD}Content-Length: 5\r\n\r\nhello".encode())
        refused = answer_on(connection)
        assert refused.status == 401
        assert refused.read()
        connection.sendall(b"GET /v2/health/live HTTP/1.1\r\nHost: localhost\r\n\r\n")
        assert answer_on(connection).status == 200
