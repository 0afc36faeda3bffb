"""Clients that say nothing, read nothing or say what is no HTTP: they wait, and nobody else does."""

import logging
import re
import socket
import sys
import threading
from contextlib import ExitStack, suppress

import pytest

from dissensus.serve import connections
from dissensus.serve import server as server_module
from dissensus.serve.logs import OFTEN, NotTooOften

LONG = 600.0  # seconds that only a hang takes
ASK = b"GET /gates HTTP/1.1\r\nHost: localhost\r\n\r\n"
POST = b"POST /score HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"


def test_a_newcomer_takes_the_place_of_the_one_that_idles_longest(serving, folder, connect, until_closed):
    with serving(folder / "rows", connections=4) as found, ExitStack() as stack:
        found.client.close()
        silent = []
        for _ in range(12):
            silent.append(stack.enter_context(connect(found)))
            with connect(found) as honest:
                honest.sendall(ASK.replace(b"\r\n\r\n", b"\r\nConnection: close\r\n\r\n"))
                assert b"200 OK" in until_closed(honest)
        for connection in silent[:8]:
            assert until_closed(connection) == b""
        silent[-1].sendall(ASK)
        assert b"200 OK" in silent[-1].recv(65536)


def test_a_request_at_work_keeps_its_place(serving, folder, until, connect, until_closed):
    """Of those who came before: one is being answered, and one has sent half of its request."""
    with serving(folder / "rows", connections=2) as found, connect(found) as half, connect(found) as whole:
        found.client.close()
        half.sendall(POST + b"Content-Length: 100\r\n\r\n{")
        until(lambda: found.server._places.idle)
        batcher, go = found.service.gates.find().batcher, threading.Event()
        score = batcher._decide
        batcher._decide = lambda inputs: go.wait(LONG) and score(inputs)
        body = b'{"rows": [[1, 2, 3]]}'
        whole.sendall(POST + b"Content-Length: %d\r\n\r\n" % len(body) + body)
        until(lambda: found.service.workers.free < 2)
        with connect(found) as third:
            assert until_closed(half) == b""
            third.sendall(ASK)
            assert b"200 OK" in third.recv(65536)
        go.set()
        assert b"200 OK" in whole.recv(65536)


def test_who_never_reads_is_left(serving, folder, monkeypatch, until, connect):
    monkeypatch.setattr(connections, "WRITE_SECONDS", 0.1)
    with serving(folder / "rows") as found, socket.socket() as deaf:
        found.client.close()
        deaf.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        deaf.connect(("127.0.0.1", int(found.url.rpartition(":")[2])))
        state = found.server.server_state
        for number in range(1, 10_000):
            with suppress(OSError):
                deaf.sendall(b"GET /openapi.json HTTP/1.1\r\nHost: localhost\r\n\r\n")
            until(lambda count=number: state.total_requests >= count or not state.connections)
            if not state.connections:
                return
    raise AssertionError("it was answered for ever")


def test_what_comes_before_an_answer_is_dropped_and_the_connection_closed_after_it(
    asked, connect, until_closed
):
    with connect(asked) as connection:
        connection.sendall(ASK * 1000)
        received = until_closed(connection)
    assert received.count(b"HTTP/1.1 200 OK") == 1
    assert b"connection: close" in received.lower()


@pytest.mark.parametrize(
    ("head", "body"),
    [
        (b"Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n", b"0\r\n\r\n"),
        (b"Content-Length: 5\r\nContent-Length: 6\r\n\r\n", b"hello"),
        (b"Transfer-Encoding: chunked\r\nTransfer-Encoding: identity\r\n\r\n", b"0\r\n\r\n"),
        (b"Transfer-Encoding : chunked\r\n\r\n", b"0\r\n\r\n"),
        (b"Content-Length: +5\r\n\r\n", b"hello"),
        (b"Transfer-Encoding: chunked\r\n\r\n", b"5;x\nhello\r\n0\r\n\r\n"),
    ],
)
def test_bodies_whose_end_is_not_clear_are_refused_and_the_connection_is_closed(
    asked, head, body, connect, until_closed
):
    with connect(asked) as connection:
        connection.sendall(POST + head + body + ASK)
        received = until_closed(connection)
    assert received.startswith(b"HTTP/1.1 400")
    assert len(re.findall(rb"HTTP/1.1 \d", received)) == 1


def test_a_transfer_coding_that_is_not_known_is_501(asked, connect):
    with connect(asked) as connection:
        connection.sendall(POST + b"Transfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n" + ASK)
        assert connection.recv(65536).startswith(b"HTTP/1.1 501")


@pytest.mark.parametrize("head", [b"x: " + b"y" * 70_000, b"x: y\r\n" * 12_000, b"x" * 70_000])
def test_heads_are_bounded(asked, head, connect, until_closed):
    with connect(asked) as connection:
        with suppress(OSError):
            connection.sendall(b"GET /gates HTTP/1.1\r\nHost: localhost\r\n" + head + b"\r\n\r\n")
        received = until_closed(connection)
    assert received == b"" or received.startswith(b"HTTP/1.1 400")
    with connect(asked) as connection:
        connection.sendall(ASK.replace(b"\r\n\r\n", b"\r\nX: " + b"y" * 50_000 + b"\r\n\r\n"))
        assert connection.recv(65536).startswith(b"HTTP/1.1 200")


@pytest.mark.skipif(sys.platform == "win32", reason="there are no such limits")
@pytest.mark.parametrize(
    ("soft", "hard", "places"),
    [(1024, 1024, 832), (256, 1 << 20, 1000), (100, 100, 1), (-1, -1, 1000), (65536, 65536, 1000)],
)
def test_there_are_fewer_places_than_files(monkeypatch, soft, hard, places):
    import resource

    limits = [soft, hard]
    monkeypatch.setattr(resource, "getrlimit", lambda _: tuple(limits))
    monkeypatch.setattr(resource, "setrlimit", lambda _, new: limits.__setitem__(slice(None), new))
    assert server_module.places(1000) == places


class Counting(socket.socket):
    """A listening socket that knows how many of its connections are open."""

    def accept(self):
        self.accepted = [each for each in getattr(self, "accepted", []) if each.fileno() >= 0]
        connection, address = super().accept()
        self.accepted.append(connection)
        self.total = getattr(self, "total", 0) + 1
        self.most = max(getattr(self, "most", 0), len(self.accepted))
        return connection, address


def test_a_crowd_takes_no_more_files_than_are_kept_for_it(serving, folder, monkeypatch, connect, until):
    """Else there would be none left at times, and nobody would be taken for a second."""
    listening = []

    def listen(host, port, kept=server_module.listen):
        plain = kept(host, port)
        listening.append(Counting(fileno=plain.detach()))
        return listening[0]

    monkeypatch.setattr(server_module, "listen", listen)
    with serving(folder / "rows", connections=4) as found, ExitStack() as stack:
        found.client.close()
        go = threading.Event()
        found.loop.call_soon_threadsafe(go.wait)
        for _ in range(300):
            stack.enter_context(connect(found))
        go.set()
        until(lambda: getattr(listening[0], "total", 0) >= 300)
        assert listening[0].most <= 4 + server_module.TAKING_FILES


def test_what_clients_can_cause_is_not_logged_without_end():
    limit = NotTooOften()
    record = lambda line: logging.LogRecord("asyncio", 40, "file.py", line, "failed %s", ("x",), None)  # noqa: E731
    passed = [record(7) for _ in range(1000)]
    passed = [one for one in passed if limit.filter(one)]
    assert len(passed) == OFTEN
    assert "no more of these" in passed[-1].getMessage()
    assert limit.filter(record(8))


@pytest.mark.parametrize("hosts", [b"", b"Host: localhost\r\nHost: other\r\n"])
def test_a_request_names_one_host(asked, hosts, connect):
    with connect(asked) as connection:
        connection.sendall(b"GET /v2/health/live HTTP/1.1\r\n" + hosts + b"\r\n")
        assert connection.recv(65536).startswith(b"HTTP/1.1 400")
