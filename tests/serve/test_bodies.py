"""Bodies that are too large, too slow or too many, sent as bytes over real connections."""

import select
import socket
from contextlib import suppress

import pytest

from dissensus.serve import bodies, connections, framing

LONG = 600.0  # seconds that only a hang takes


def connect(found):
    host, _, port = found.url.removeprefix("http://").partition(":")
    return socket.create_connection((host, int(port)), timeout=LONG)


def answer(connection):
    received = b""
    while chunk := connection.recv(65536):
        received += chunk
    return received.decode()


HEAD = "POST /score?gate=rows HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"


def test_a_declared_length_is_believed_before_a_byte_is_read(asked):
    with connect(asked) as connection:
        connection.sendall(f"{HEAD}Expect: 100-continue\r\nContent-Length: {3 << 20}\r\n\r\n".encode())
        assert answer(connection).startswith("HTTP/1.1 413")


def test_an_endless_chunked_body_is_cut_off(asked):
    """It says no length, so it must be counted while it comes."""
    sent = 0
    with connect(asked) as connection:
        connection.sendall(f"{HEAD}Transfer-Encoding: chunked\r\n\r\n".encode())
        chunk = b"10000\r\n" + b" " * 0x10000 + b"\r\n"
        try:
            while sent < 64 << 20:
                connection.sendall(chunk)
                sent += len(chunk)
        except OSError:
            pass
    assert sent < 32 << 20
    assert asked.client.get("/gates").status_code == 200


def test_a_slightly_large_chunked_body_hears_why(asked, monkeypatch):
    monkeypatch.setattr(framing, "DISCARD_SECONDS", LONG)

    def parts():
        for _ in range(3 * 16):
            yield b" " * 65536

    answer = asked.client.post(
        "/score?gate=rows", content=parts(), headers={"content-type": "application/json"}
    )
    assert (answer.status_code, "2 MiB" in answer.json()["error"]) == (413, True)


def test_a_large_body_for_which_there_is_no_memory_is_sent_again(asked, monkeypatch):
    def no_memory(*_):
        raise OSError(12, "Cannot allocate memory")

    monkeypatch.setattr(bodies, "mmap", no_memory)
    answer = asked.client.post(
        "/score?gate=rows", content=b" " * (1 << 20), headers={"content-type": "application/json"}
    )
    assert (answer.status_code, answer.headers["retry-after"]) == (429, "1")


def test_a_body_that_never_ends_is_given_up(serving, folder):
    with serving(folder / "rows", timeout=0.3) as found, connect(found) as connection:
        connection.sendall(f"{HEAD}Content-Length: 100\r\n\r\n{{".encode())
        assert "408" in answer(connection).splitlines()[0]


@pytest.fixture
def timed(serving, folder, monkeypatch):
    """A service, the timers of its connections' heads, and the bytes that it has read."""
    timers, read, data_received = [], [], connections.BoundedConnection.data_received

    def noted(self, data):
        data_received(self, data)
        read.append(data)

    monkeypatch.setattr(connections, "HEAD_SECONDS", 2 * LONG)  # only a test lets one ring
    monkeypatch.setattr(connections.BoundedConnection, "data_received", noted)
    with serving(folder / "rows") as found:
        call_later = found.loop.call_later

        def later(seconds, *arguments, **more):
            timer = call_later(seconds, *arguments, **more)
            if seconds == 2 * LONG:
                timers.append(timer)
            return timer

        monkeypatch.setattr(found.loop, "call_later", later)
        yield found, timers, read


def test_a_head_that_never_ends_is_given_up(timed, until):
    """What comes in bit by bit does not set the timer back."""
    found, timers, read = timed
    with connect(found) as connection:
        connection.sendall(b"GET /gate HTTP/1.1\r\n")
        for line in range(1, 10):
            until(lambda count=line: len(read) == count)
            connection.sendall(b"x: y\r\n")
        until(lambda: len(read) == 10)
        (timer,) = timers
        assert not timer.cancelled()
        found.loop.call_soon_threadsafe(timer._run)
        with suppress(ConnectionResetError):
            assert answer(connection) == ""


def test_the_time_for_a_head_is_over_some_day(serving, folder, monkeypatch):
    monkeypatch.setattr(connections, "HEAD_SECONDS", 0.1)
    # It may be over before a byte was sent.
    with serving(folder / "rows") as found, connect(found) as connection, suppress(OSError):
        connection.sendall(b"GET /gate HTTP/1.1\r\n")
        assert answer(connection) == ""


def test_a_connection_that_is_used_again_is_not_given_up(timed):
    found, timers, _ = timed
    request = b"GET /gates HTTP/1.1\r\nHost: localhost\r\n\r\n"
    with connect(found) as connection:
        for _ in range(3):
            connection.sendall(request)
            received = b""
            while not received.endswith(b"}"):
                received += connection.recv(65536)
            assert b"200 OK" in received
            assert timers
            assert all(timer.cancelled() for timer in timers)


def test_too_many_large_bodies_at_once_are_refused(serving, folder):
    with serving(folder / "rows", max_body_mb=1.0) as found:
        held = [connect(found) for _ in range(9)]
        try:
            for connection in held:
                connection.sendall(f"{HEAD}Content-Length: 1000000\r\n\r\n".encode() + b" " * 960_000)
            said, _, _ = select.select(held, [], [], LONG)
            assert b"HTTP/1.1 429" in said[0].recv(65536)
        finally:
            for connection in held:
                connection.close()
    assert found.service.bodies.held == 0  # none of it is counted for ever


@pytest.mark.parametrize(
    "request_text",
    [
        "nonsense\r\n\r\n",
        "GET / HTTP/9.9\r\n\r\n",
        "GET /\x00 HTTP/1.1\r\nHost: localhost\r\n\r\n",
        "GET / HTTP/1.1\r\nHost: localhost\r\nContent-Length: -5\r\n\r\n",
        "GET / HTTP/1.1\r\nHost: localhost\r\nX: " + "a" * 200_000 + "\r\n\r\n",
        f"{HEAD}Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
    ],
)
def test_requests_that_are_none(asked, request_text):
    with connect(asked) as connection:
        try:
            connection.sendall(request_text.encode("latin-1"))
            connection.shutdown(socket.SHUT_WR)
            said = answer(connection)
        except OSError:
            said = "HTTP/1.1 400"  # closed while we were still talking
    assert said == "" or said.startswith("HTTP/1.1 4")
    assert asked.client.get("/gates").status_code == 200
