"""A service that is told to end does so, whoever would keep it."""

import socket
import threading

import pytest

from dissensus.serve import server as server_module

LONG = 600.0  # seconds that only a hang takes


@pytest.fixture
def never():
    """Something that does not happen while the test lasts."""
    event = threading.Event()
    yield event
    event.set()


def test_neither_a_webhook_nor_a_gate_that_is_read_holds_it_up(
    serving, own_folder, never, monkeypatch, until
):
    reached = threading.Semaphore(0)

    def hang(*_):
        reached.release()
        never.wait(LONG)
        raise OSError("too late")

    monkeypatch.setattr("dissensus.serve.webhook.Webhook._send", hang)
    monkeypatch.setattr("dissensus.serve.webhook.LAST_SECONDS", 0.01)
    with serving(own_folder / "rows", webhook="http://127.0.0.1:9/", poll=0.05) as found:
        monkeypatch.setattr(found.service.gates._folder, "load", hang)
        (own_folder / "rows" / "config.json").touch()
        found.loop.call_soon_threadsafe(found.service._webhook.post, {"event": "drift"})
        assert reached.acquire(timeout=LONG)
        assert reached.acquire(timeout=LONG)
    assert not never.is_set()


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
