"""Bodies that are too large, too slow or too many, sent as bytes over real connections."""

import select
import socket
import threading
import time
from contextlib import suppress

import pytest

from dissensus.serve import connections


def connect(found):
    host, _, port = found.url.removeprefix("http://").partition(":")
    return socket.create_connection((host, int(port)), timeout=20)


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


def test_a_slightly_large_chunked_body_hears_why(asked):
    def parts():
        for _ in range(3 * 16):
            yield b" " * 65536

    answer = asked.client.post(
        "/score?gate=rows", content=parts(), headers={"content-type": "application/json"}
    )
    assert (answer.status_code, "2 MiB" in answer.json()["error"]) == (413, True)
    assert answer.headers["connection"] == "close"


def test_a_body_that_never_ends_is_given_up(serving, folder):
    with serving(folder / "rows", timeout=0.3) as found, connect(found) as connection:
        connection.sendall(f"{HEAD}Content-Length: 100\r\n\r\n{{".encode())
        assert "408" in answer(connection).splitlines()[0]


def test_a_head_that_never_ends_is_given_up(serving, folder, monkeypatch):
    monkeypatch.setattr(connections, "HEAD_SECONDS", 0.3)
    with serving(folder / "rows") as found, connect(found) as connection:
        connection.sendall(b"GET /gate HTTP/1.1\r\n")
        stop = threading.Event()

        def dribble():
            while not stop.is_set():
                time.sleep(0.05)
                try:
                    connection.sendall(b"x: y\r\n")
                except OSError:
                    return

        thread = threading.Thread(target=dribble)
        thread.start()
        try:
            with suppress(ConnectionResetError):
                assert answer(connection) == ""
        finally:
            stop.set()
            thread.join()


def test_a_connection_that_is_used_again_is_not_given_up(serving, folder, monkeypatch):
    monkeypatch.setattr(connections, "HEAD_SECONDS", 0.2)
    request = b"GET /gates HTTP/1.1\r\nHost: localhost\r\n\r\n"
    with serving(folder / "rows") as found, connect(found) as connection:
        for _ in range(3):
            connection.sendall(request)
            received = b""
            while not received.endswith(b"}"):
                received += connection.recv(65536)
            assert b"200 OK" in received
            time.sleep(0.4)


def test_too_many_large_bodies_at_once_are_refused(serving, folder):
    with serving(folder / "rows", max_body_mb=1.0) as found:
        held = [connect(found) for _ in range(9)]
        try:
            for connection in held:
                connection.sendall(f"{HEAD}Content-Length: 1000000\r\n\r\n".encode() + b" " * 960_000)
            said, _, _ = select.select(held, [], [], 20)
            assert b"HTTP/1.1 429" in said[0].recv(65536)
        finally:
            for connection in held:
                connection.close()
    assert found.service.bodies._held == 0  # none of it is counted for ever


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
