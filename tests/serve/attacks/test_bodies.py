"""Uploads that stall, and bodies that nobody will read."""

import gzip
import json
import mmap
import sys
import threading
import weakref
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, suppress
from http.client import HTTPResponse

import httpx
import pytest

from dissensus.serve import bodies, framing, json_body
from dissensus.serve.bodies import AT_ONCE
from dissensus.serve.connections import TINY_CHUNKS
from dissensus.serve.forms import parse_files
from dissensus.serve.json_body import parse_object
from dissensus.serve.keys import new_key
from dissensus.serve.refusals import Refusal

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
        stalled = [stack.enter_context(connect(found)) for _ in range(AT_ONCE)]
        for connection in stalled:
            connection.sendall(f"{HEAD}Content-Length: {size}\r\n\r\n".encode() + b" " * (size - 1))
        bodies = found.service.bodies
        until(lambda: bodies.held >= AT_ONCE * (size - 70_000))
        asked = found.client.post("/score", json={"rows": numbers[:1].tolist()})
        assert asked.status_code == 200
        large = b" " * (size - 100) + b'{"rows": [[1, 2, 3]]}'
        answer = found.client.post("/score", content=large, headers={"content-type": "application/json"})
        assert answer.status_code == 200
        assert until_closed(stalled[0]).startswith(b"HTTP/1.1 429")  # the one that has been at it longest
    assert bodies.held == 0


@pytest.fixture
def bodies_alive(monkeypatch):
    """How many large bodies of requests are in memory."""
    known = []

    class Known(mmap.mmap):
        def __init__(self, *arguments):
            known.append(weakref.ref(self))

    monkeypatch.setattr(bodies, "mmap", Known)
    return lambda: sum(each() is not None for each in known)


def test_a_body_is_gone_once_it_was_taken_apart(serving, folder, until, bodies_alive):
    """Its inputs may wait for half a minute, and hundreds of others with them."""
    padding, go = b" " * 200_000, threading.Event()
    row = b'{"rows": [[1, 2, 3]]}'
    tensor = {"name": "rows", "shape": [1, 3], "datatype": "FP64", "parameters": {"binary_data_size": 24}}
    head = json.dumps({"inputs": [tensor]}).encode() + padding
    with serving(folder / "rows", workers=1) as found, ThreadPoolExecutor(3) as others:
        batcher = found.service.gates.find().batcher
        score = batcher._decide
        batcher._decide = lambda inputs: go.wait(LONG) and score(inputs)
        answers = [
            others.submit(found.client.post, path, content=content, headers=headers)
            for path, content, headers in (
                ("/score", row, {"content-type": "application/json"}),
                ("/score", padding + row, {"content-type": "application/json"}),
                (
                    "/v2/models/rows/infer",
                    head + bytes(24),
                    {"inference-header-content-length": str(len(head))},
                ),
            )
        ]
        try:
            until(lambda: batcher.waiting + sum(batcher._started.values()) == 3)
            assert bodies_alive() == 0
        finally:
            go.set()
        assert [answer.result(LONG).status_code for answer in answers] == [200] * 3


def test_a_body_that_gave_way_is_gone_before_its_client_hears_of_it(
    serving, folder, monkeypatch, until, connect, bodies_alive
):
    monkeypatch.setattr(framing, "DISCARD_SECONDS", LONG)  # in which the rest of it is awaited
    with serving(folder / "rows", max_body_mb=1.0) as found, ExitStack() as stack:
        for _ in range(6):
            connection = stack.enter_context(connect(found))
            connection.sendall(f"{HEAD}Content-Length: 1000000\r\n\r\n".encode() + b" " * 999_999)
        until(lambda: found.service.bodies.held > (AT_ONCE - 1) << 20 and not found.service.bodies._leaving)
        until(lambda: bodies_alive() <= AT_ONCE)


def test_large_bodies_that_came_packed_take_turns(serving, folder, monkeypatch):
    """Forty of 64 KB each would have been 1.3 GB together. Small ones do not wait for them."""
    unpack, go, lock = bodies._unpacked, threading.Event(), threading.Lock()
    large, most, begun = 0, 0, threading.Event()

    def unpacked(content, coding, limit):
        nonlocal large, most
        if limit > bodies.ROOM:
            with lock:
                large += 1
                most = max(most, large)
                if large == AT_ONCE:
                    begun.set()
            assert go.wait(LONG)
            with lock:
                large -= 1
        return unpack(content, coding, limit)

    monkeypatch.setattr(bodies, "_unpacked", unpacked)
    row, headers = b'{"rows": [[1, 2, 3]]}', {"content-type": "application/json", "content-encoding": "gzip"}
    with serving(folder / "rows", max_body_mb=1.0) as found, ThreadPoolExecutor(8) as others:
        packed = gzip.compress(b" " * 500_000 + row)
        answers = [
            others.submit(found.client.post, "/score", content=packed, headers=headers) for _ in range(6)
        ]
        assert begun.wait(LONG)
        small = found.client.post("/score", content=gzip.compress(row), headers=headers)
        assert small.status_code == 200
        go.set()
        assert [answer.result(LONG).status_code for answer in answers] == [200] * 6
    assert most == AT_ONCE


@pytest.mark.parametrize("item", [b"[],", b"[[[[]]]],", b"{},"])
def test_json_of_nothing_but_lists_is_refused_before_it_is_parsed(item, monkeypatch):
    monkeypatch.setattr(json_body, "from_json", None)
    with pytest.raises(Refusal, match="lists and objects are taken") as refused:
        parse_object(b'{"rows": [' + item * (json_body.MOST_LISTS // item.count(item[:1])) + b"[]]}")
    assert refused.value.status == 413


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


def test_a_body_in_chunks_of_a_few_bytes_is_refused(serving, folder, connect, until_closed):
    """Each chunk takes as long as a whole packet. A few are as good as any, and many if they are longer."""
    with serving(folder / "rows") as found:
        with connect(found) as connection:
            connection.sendall(f"{HEAD}Transfer-Encoding: chunked\r\n\r\n".encode())
            with suppress(OSError):
                connection.sendall(b"1\r\n \r\n" * (2 * TINY_CHUNKS))
            refused = until_closed(connection)
        assert refused == b"" or refused.startswith(b"HTTP/1.1 400")  # it may be lost with what is not read
        for chunk, count in (
            (b"1\r\n \r\n", TINY_CHUNKS // 2),
            (b"20\r\n%b\r\n" % (b" " * 32), 2 * TINY_CHUNKS),
        ):
            row = b'{"rows": [[1, 2, 3]]}'
            with connect(found) as connection:
                connection.sendall(f"{HEAD}Transfer-Encoding: chunked\r\n\r\n".encode() + chunk * count)
                connection.sendall(b"%x\r\n%b\r\n0\r\n\r\n" % (len(row), row))
                assert answer_on(connection).status == 200


NEAR = b"\r\n--edge-"
COLLIDING = b"\r\n--edge\r"


@pytest.mark.parametrize("almost", [NEAR, COLLIDING, b"\r\n--edge" + b" " * 65, b"\r", b"\r\n\r\n"])
def test_what_looks_like_a_boundary_is_looked_at_by_no_line_of_python(almost):
    """Counted, not timed: lines of Python that run while a form of nothing else is taken apart."""
    head = b'--edge\r\nContent-Disposition: form-data; name="files"; filename="a"\r\n\r\n'
    content = almost * ((1 << 20) // len(almost))
    lines = 0

    def count(*_):
        nonlocal lines
        lines += 1
        return count

    before = sys.gettrace()
    sys.settrace(count)
    try:
        *_, files = parse_files(
            head + content + b"\r\n--edge--\r\n", "multipart/form-data; boundary=edge", most=1
        )
    finally:
        sys.settrace(before)
    assert files == [("a", content)]
    assert lines < 20_000  # of a hundred thousand that look like one


def test_a_form_is_taken_apart_beside_the_event_loop(serving, folder, monkeypatch, as_png, pictures):
    """While a part of it is being looked for, the service answers others."""
    reached, go = threading.Event(), threading.Event()

    def parse(*arguments, **options):
        reached.set()
        assert go.wait(LONG)
        yield from parse_files(*arguments, **options)

    monkeypatch.setattr("dissensus.serve.sent.parse_files", parse)
    with serving(folder / "pictures") as found, ThreadPoolExecutor(1) as other:
        answer = other.submit(found.score, [as_png(pictures[0])])
        assert reached.wait(LONG)
        assert httpx.get(f"{found.url}/v2/health/live", timeout=LONG).status_code == 200
        go.set()
        assert answer.result(LONG).status_code == 200
