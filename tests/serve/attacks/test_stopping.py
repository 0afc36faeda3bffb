"""A service that is told to end does so, whoever would keep it."""

import asyncio
import socket
import threading

import pytest

from dissensus.serve import server as server_module
from dissensus.serve.ending import Ending
from dissensus.serve.settings import ServeSettings

LONG = 600.0  # seconds that only a hang takes
POST = b"POST /score HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"


@pytest.fixture
def never():
    """Something that does not happen while the test lasts."""
    event = threading.Event()
    yield event
    event.set()


def kept_up(found, never, monkeypatch, until):
    """Has a service that is to end wait for all that it may have to wait for, and nothing of it comes."""
    reached = threading.Semaphore(0)

    def hang(*_):
        reached.release()
        never.wait(LONG)
        raise OSError("too late")

    served, port = found.service.gates.find(), int(found.url.rpartition(":")[2])
    monkeypatch.setattr("dissensus.serve.webhook.Webhook._send", hang)
    monkeypatch.setattr(found.service.gates._folder, "load", hang)
    monkeypatch.setattr(found.service, "_end_traces", hang)
    monkeypatch.setattr(served.batcher, "_decide", hang)
    asyncio.run_coroutine_threadsafe(found.service.gates.load("rows"), found.loop)
    found.loop.call_soon_threadsafe(found.service._webhook.post, {"event": "drift"})
    for listening in found.server.servers[0].sockets:  # and with it the connections that it takes
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 4096)
    whole, half, deaf = (socket.socket() for _ in range(3))
    deaf.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    for client in (whole, half, deaf):
        client.connect(("127.0.0.1", port))
    whole.sendall(POST + b'Content-Length: 21\r\n\r\n{"rows": [[1, 2, 3]]}')
    half.sendall(POST + b"Content-Length: 100\r\n\r\n{")
    deaf.sendall(b"GET /openapi.json HTTP/1.1\r\nHost: localhost\r\n\r\n")
    for _ in range(3):  # the webhook, the gate, the batch
        assert reached.acquire(timeout=LONG)
    until(lambda: len(found.server.server_state.tasks) >= 2)
    until(lambda: any(one.transport.get_write_buffer_size() for one in found.service.connections))
    return whole, half, deaf


def test_each_step_of_the_end_has_a_limit(serving, folder, never, monkeypatch, until):
    """A client that does not read, half a request, a batch, a gate, a webhook, a collector: none ends."""
    steps = Ending(drain=0.02, requests=0.02, handlers=0.02, batches=0.02, farewells=0.02)
    monkeypatch.setattr(Ending, "of", lambda _: steps)
    with serving(folder / "rows", webhook="http://127.0.0.1:9/") as found:
        clients = kept_up(found, never, monkeypatch, until)
    assert not never.is_set()
    for client in clients:
        client.close()


@pytest.mark.parametrize("settings", [{}, {"timeout": 1.0}, {"drain": 5.0}])
def test_all_steps_together_take_five_seconds_more_than_settings_say(settings):
    settings = ServeSettings(**settings)
    assert Ending.of(settings).seconds <= settings.drain + settings.timeout + 5


def test_it_ends_within_35_seconds_unless_settings_say_otherwise():
    assert Ending.of(ServeSettings()).seconds <= 35


def test_neither_silent_clients_nor_half_requests_hold_it_up(serving, folder, monkeypatch, until):
    monkeypatch.setattr(server_module, "LAST_WAIT", 0.05)
    monkeypatch.setattr(server_module, "LINGER", LONG)  # their connections would be waited for
    with serving(folder / "rows") as found:
        host, _, port = found.url.removeprefix("http://").partition(":")
        silent, half = (socket.create_connection((host, int(port)), timeout=LONG) for _ in range(2))
        half.sendall(b"POST /score HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100\r\n\r\n{")
        until(lambda: found.server.server_state.tasks)
        found.client.close()
    silent.close()
    half.close()
