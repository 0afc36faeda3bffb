"""Clients that connect to a service with TLS and never greet, or send more than is taken from them."""

import asyncio
import socket
import ssl
import subprocess
import threading
from contextlib import ExitStack

import pytest

from dissensus.serve.bodies import Bodies
from dissensus.serve.connections import READ_BYTES, BoundedConnection

LONG = 600.0  # seconds that only a hang takes
ASK = b"GET /gates HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"


@pytest.fixture(scope="module")
def certified(tmp_path_factory):
    """Settings with a certificate of its own making."""
    folder = tmp_path_factory.mktemp("tls")
    certificate, key = folder / "cert.pem", folder / "key.pem"
    command = "openssl req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=localhost"
    made = subprocess.run(
        [*command.split(), "-keyout", str(key), "-out", str(certificate)], capture_output=True
    )
    if made.returncode:
        pytest.skip("there is no openssl to make a certificate with")
    return {"tls_cert": certificate, "tls_key": key}


def connected(found):
    """A connection whose client has not greeted."""
    return socket.create_connection(("127.0.0.1", int(found.url.rpartition(":")[2])), timeout=LONG)


def greeted(found):
    context = ssl.create_default_context()
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    return context.wrap_socket(connected(found))


def test_silent_clients_give_way_before_they_have_greeted(serving, folder, certified, until_closed):
    with serving(folder / "rows", connections=4, **certified) as found, ExitStack() as stack:
        found.client.close()
        silent = []
        for _ in range(12):
            silent.append(stack.enter_context(connected(found)))
            with greeted(found) as honest:
                honest.sendall(ASK)
                assert b"200 OK" in until_closed(honest)
            assert len(found.service.connections) <= 4
        for connection in silent[:8]:
            assert until_closed(connection) == b""
    assert not found.service.connections  # those that never greeted are gone, too


def test_what_is_no_tls_is_closed_and_its_place_is_free(serving, folder, certified, until, until_closed):
    with serving(folder / "rows", **certified) as found:
        found.client.close()
        with connected(found) as connection:
            connection.sendall(ASK)
            assert not until_closed(connection).startswith(b"HTTP")
        until(lambda: not found.service.connections)


def test_a_body_comes_in_bounded_parts_and_waits_where_nobody_reads_it(
    serving, folder, certified, monkeypatch, until
):
    """What the connection and its TLS hold together stays small while the rest waits at the client."""
    parts, connections, go = [], [], []
    take, fill = BoundedConnection.data_received, Bodies._fill

    def noted(self, data):
        parts.append(len(data))
        connections.append(self)
        take(self, data)

    async def late(*arguments):
        go.append(asyncio.Event())
        await go[0].wait()
        await fill(*arguments)

    monkeypatch.setattr(BoundedConnection, "data_received", noted)
    monkeypatch.setattr(Bodies, "_fill", late)
    size = 1 << 24
    head = b"POST /score HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: "
    with serving(folder / "rows", **certified) as found, greeted(found) as connection:
        request = head + b"%d\r\n\r\n" % size + bytes(size)
        sending = threading.Thread(target=connection.sendall, args=(request,))
        sending.start()
        until(lambda: connections and connections[-1].transport._ssl_protocol._ssl_reading_paused)
        assert connections[-1].transport._ssl_protocol._get_read_buffer_size() <= READ_BYTES
        assert sum(parts) <= 4 * READ_BYTES
        assert sending.is_alive()
        found.loop.call_soon_threadsafe(go[0].set)
        assert connection.recv(65536).startswith(b"HTTP/1.1 413")  # of JSON
        sending.join(LONG)
    assert sum(parts) > size
    assert max(parts) <= READ_BYTES  # those, too, that gathered while nobody read
