"""Work that nobody waits for any more, and work that must not make others wait."""

import asyncio
import json
import socket
import threading

import numpy as np
import pytest
import torch

from dissensus.evaluation import cores
from dissensus.serve import workers as workers_module
from dissensus.serve.refusals import TooLate
from dissensus.serve.waiting import Deadline
from dissensus.serve.workers import Workers

ROWS = json.dumps({"rows": [[0.0, 0.0, 0.0]]}).encode()
JSON = {"content-type": "application/json"}
LONG = 600.0  # seconds that only a hang takes


def send(found, path, body=ROWS):
    """A connection on which a request has been sent, and nothing else."""
    host, _, port = found.url.removeprefix("http://").partition(":")
    connection = socket.create_connection((host, int(port)), timeout=LONG)
    head = f"POST {path} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
    connection.sendall(f"{head}Content-Length: {len(body)}\r\n\r\n".encode() + body)
    return connection


@pytest.fixture
def busy(serving, folder):
    """A service whose only worker is at work until ``go`` is set, and what it has scored."""
    go, scored = threading.Event(), []
    with serving(folder / "rows", workers=1) as found:
        batcher = found.service.gates.find("rows").batcher
        decide = batcher._decide

        def slow(inputs):
            scored.append(len(inputs))
            assert go.wait(LONG)
            return decide(inputs)

        batcher._decide = slow
        first = threading.Thread(target=lambda: found.client.post("/score", content=ROWS, headers=JSON))
        first.start()
        yield found, go, scored
        go.set()
        first.join(LONG)


@pytest.mark.parametrize("path", ["/score", "/v2/models/rows/infer"])
def test_a_client_that_leaves_takes_its_queued_work_along(busy, until, path):
    found, go, scored = busy
    tensor = {"name": "rows", "shape": [2, 3], "datatype": "FP64", "data": [0.0] * 6}
    body = ROWS if path == "/score" else json.dumps({"inputs": [tensor]}).encode()
    batcher = found.service.gates.find("rows").batcher
    until(lambda: scored)
    with send(found, path, body):
        until(lambda: batcher.waiting)
    until(lambda: not batcher.waiting)
    go.set()
    assert found.client.post("/score", content=ROWS, headers=JSON).status_code == 200
    assert scored == [1, 1]
    assert f'route="{path if path == "/score" else "/v2/models/{name}/infer"}",status="499"' in (
        found.client.get("/metrics").text
    )


def test_who_leaves_an_explanation_leaves_its_place_to_others(busy, until):
    found, go, scored = busy
    served = found.service.gates.find("rows")
    until(lambda: scored)
    with send(found, "/explain"):
        until(lambda: served.explaining)
    until(lambda: not served.explaining)
    go.set()
    assert found.client.post("/explain", content=ROWS, headers=JSON).status_code == 200
    until(lambda: found.service.workers.free == 1)


def test_an_explanation_has_the_time_of_any_request(serving, folder, until, monkeypatch):
    with serving(folder / "rows", workers=1, timeout=0.3) as found:
        go = threading.Event()
        monkeypatch.setattr(found.service.gates.find("rows").gate, "explain", lambda _: go.wait(LONG))
        answer = found.client.post("/explain", content=ROWS, headers=JSON)
        assert (answer.status_code, "0.3 s" in answer.json()["error"]) == (503, True)
        assert found.service.workers.free == 0  # the thread is still at it
        go.set()
        until(lambda: found.service.workers.free == 1)


def test_a_deadline():
    async def main():
        deadline = Deadline(LONG)
        assert await deadline.keep(asyncio.sleep(0, "in time")) == "in time"
        assert 0 < deadline.left <= LONG
        with pytest.raises(TooLate, match="within 0"):
            await Deadline(0.05).keep(asyncio.Event().wait())

    asyncio.run(main())


@pytest.mark.parametrize(("turn", "place"), [(-LONG, 1), (LONG, 5)], ids=["over at once", "endless"])
def test_many_pictures_let_others_have_a_turn(monkeypatch, turn, place):
    """Another picture that comes during the first of five is decoded when the turn of the five is over."""
    monkeypatch.setattr(workers_module, "TURN", turn)
    begun, another, order = threading.Event(), threading.Event(), []

    def pictures():
        for number in range(5):
            begun.set()
            assert another.wait(LONG)
            order.append(number)
            yield number

    async def main():
        workers = Workers(1)
        try:
            many = asyncio.create_task(workers.in_turns(pictures()))
            await asyncio.to_thread(begun.wait, LONG)
            one = asyncio.create_task(workers.decode(order.append, "another"))
            await asyncio.sleep(0)  # it is waiting for the thread now
            another.set()
            await one
            assert await many == list(range(5))
        finally:
            workers.close()

    asyncio.run(main())
    assert order.index("another") == place


@pytest.mark.parametrize("count", [1, 2, 64])
def test_workers_divide_the_cores_between_them(count, library, numbers):
    """Scoring uses as many threads as torch says that its caller has."""
    expected = library["rows"].decide(numbers)

    async def main():
        workers = Workers(count)

        async def ask():
            await workers.take()
            return await workers.score(lambda: (torch.get_num_threads(), library["rows"].decide(numbers)))

        try:
            return await asyncio.gather(*(ask() for _ in range(4)))
        finally:
            workers.close()

    before = torch.get_num_threads()
    for threads, decisions in asyncio.run(main()):
        assert threads == max(1, cores() // count)
        for mine, its in zip(decisions, expected, strict=True):
            np.testing.assert_array_equal(mine, its)
    assert torch.get_num_threads() == before
