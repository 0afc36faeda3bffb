"""Load, overload and the benchmark of both: its clients count right, and it notices what is not kept."""

import asyncio
import copy
import itertools
import json
import os
import threading
import time
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from benchmarks.records import Record
from benchmarks.rows import in_rows
from benchmarks.service import library, measure
from benchmarks.service.library import library_rates
from benchmarks.service.load import Question, run_clients, score_questions
from benchmarks.service.measure import Plan, measure_service
from benchmarks.service.sentences import service_sentences
from dissensus.errors import DissensusError
from dissensus.serve import batching
from dissensus.serve import server as server_module
from dissensus.serve.refusals import Overloaded
from tests import warm_python

LONG = 600.0  # seconds that only a hang takes
PARTS = ("throughput", "several_a_request", "overload", "swap", "termination", "memory")


def address(found):
    host, port = found.url.removeprefix("http://").split(":")
    return host, int(port)


def asking(found, questions, *, requests, clients=8):
    numbers = iter(range(requests + clients))
    return asyncio.run(
        run_clients(*address(found), questions, clients=clients, more=lambda: next(numbers) < requests)
    )


def hold_until_one_is_refused(batcher):
    """Lets nothing be scored before the queue was too full for somebody, however fast the machine is."""
    refused, admit, decide = threading.Event(), batcher._admit, batcher._decide

    def admitted(*arguments):
        try:
            admit(*arguments)
        except Overloaded:
            refused.set()
            raise

    def decided(inputs):
        assert refused.wait(LONG)
        return decide(inputs)

    batcher._admit, batcher._decide = admitted, decided


@pytest.fixture
def questions(pictures, library):
    return score_questions(pictures, library["pictures"].decide(pictures).score, size=2, host="localhost")


def test_overload_is_answered_with_429_and_nothing_else(serving, folder, questions, monkeypatch):
    monkeypatch.setattr(batching, "PAUSE", 0.05)
    with serving(folder / "pictures", queue=8, max_batch=4, workers=1) as found:
        batcher = found.service.gates.find("pictures").batcher
        hold_until_one_is_refused(batcher)
        load = asking(found, questions, requests=300, clients=48)
        assert set(load.statuses) == {200, 429}
        assert (load.lost, load.wrong, load.without_retry_after) == (0, 0, 0)
        assert load.inputs == 2 * load.statuses[200]
        assert found.client.get("/v2/health/ready").status_code == 200
        assert batcher.waiting == 0


def test_a_time_that_is_too_short_is_503_and_the_service_goes_on(serving, folder, until, numbers):
    with serving(folder / "rows", timeout=0.5) as found:
        batcher = found.service.gates.find("rows").batcher
        go, decide = threading.Event(), batcher._decide
        batcher._decide = lambda inputs: go.wait(LONG) and decide(inputs)
        answer = found.client.post("/score", json={"rows": numbers[:1].tolist()})
        assert answer.status_code == 503
        assert int(answer.headers["retry-after"]) >= 1
        batcher._decide = decide
        go.set()
        ask = lambda: found.client.post("/score", json={"rows": numbers[:1].tolist()}).status_code  # noqa: E731
        until(lambda: ask() == 200)


def test_memory_does_not_grow_with_requests(serving, folder, numbers):
    """Objects that stay behind each request would show up as at least one a request."""
    import gc

    with serving(folder / "rows", max_delay_ms=0) as found:
        ask = lambda: found.client.post("/score", json={"rows": numbers[:8].tolist()})  # noqa: E731
        for _ in range(65):  # beyond the window of recent decisions
            ask()
        gc.collect()
        before = len(gc.get_objects())
        for _ in range(330):
            ask()
        gc.collect()
        # An event loop keeps up to a hundred timers of requests that are over, each with a context.
        assert len(gc.get_objects()) - before < 300


def test_the_clients_notice_wrong_answers_and_lost_requests(serving, folder, questions):
    with serving(folder / "pictures") as found:
        load = asking(found, questions, requests=40)
        assert (load.statuses, load.lost, load.wrong, load.inputs) == ({200: 40}, 0, 0, 80)
        assert len(load.seconds) == 40
        lying = [Question(question.request, (1e9, 1e9)) for question in questions]
        assert asking(found, lying, requests=10).wrong == 10
        cut_off = [Question(b"POST /score HTTP/1.1\r\nHost: localhost\r\nContent-Length: x\r\n\r\n", ())]
        assert set(asking(found, cut_off, requests=2, clients=2).statuses) == {400}

    async def deaf(reader, writer):
        await reader.read(10)
        writer.close()

    async def main():
        server = await asyncio.start_server(deaf, "127.0.0.1", 0)
        async with server:
            where = server.sockets[0].getsockname()[:2]
            numbers = iter(range(10))
            return await run_clients(*where, questions, clients=2, more=lambda: next(numbers) < 4)

    assert asyncio.run(main()).lost == 2


@pytest.fixture
def in_thread(serving, monkeypatch):
    """Lets the benchmark's servers run in threads, which start at once, and by a clock of its own."""
    ticks = itertools.count()
    # It goes on by a thousandth of a second whenever somebody looks at it.
    monkeypatch.setattr(measure, "time", SimpleNamespace(perf_counter=lambda: next(ticks) / 1000))
    monkeypatch.setattr(measure, "PATIENCE", LONG)
    monkeypatch.setattr(measure, "SWAPS", 1)  # as long as one takes, clients go on asking
    monkeypatch.setattr(server_module, "LINGER", LONG)  # a client may be slow to use its connection again
    monkeypatch.setattr(batching, "PAUSE", 0.05)

    @contextmanager
    def started(gate, *options):
        given = dict(zip((name.removeprefix("--") for name in options[::2]), options[1::2], strict=True))
        settings = {"timeout": float(given["timeout"]), "poll": float(given.get("poll", 60))}
        settings["queue"] = int(given.get("queue", 512))
        with serving(Path(gate), **settings) as found:
            if "queue" in given:
                hold_until_one_is_refused(found.service.gates.find().batcher)
            host, port = address(found)
            yield SimpleNamespace(
                host=host,
                port=port,
                memory=lambda: float(Path(f"/proc/{os.getpid()}/statm").read_text().split()[1]) / 256,
                processor_seconds=time.process_time,
                terminate=lambda: setattr(found.server, "should_exit", True),
                exit_code=lambda: 0,
            )

    monkeypatch.setattr(measure, "server_process", started)
    monkeypatch.setattr(measure, "library_rates", lambda *_, runs: [100.0 + run for run in range(runs)])


@pytest.fixture
def parts(in_thread, library, pictures):
    plan = Plan(clients=8, seconds=0.06, requests=40, bound=LONG)
    return measure_service(library["pictures"], pictures[:32], plan)


def recorded(parts):
    rows, about = in_rows(parts)
    return Record("load", None, {}, rows, {"all": 60.0}, about)


def test_the_benchmark(parts):
    assert json.loads(json.dumps(parts, allow_nan=False)) == parts
    for part in ("overload", "swap", "termination"):
        assert parts[part]["kept"], parts[part]
    assert parts["swap"]["versions"] == 2
    assert parts["memory"]["requests"] >= 40
    assert len(parts["memory"]["samples"]) >= 20
    one = parts["throughput"]
    assert parts["library"]["inputs_a_second"] == 101
    assert one["share_of_library"] == pytest.approx(one["inputs_a_second"] / 101)
    assert one["kept"] == (one["share_of_library"] >= 0.8)
    sentences = service_sentences(recorded(parts))
    assert len(sentences) == 8
    assert "101.0 a second, the median of 6 runs from 100.0 to 102.0" in sentences[0]

    for kept in (True, False):
        judged = copy.deepcopy(parts)
        for name in PARTS:
            judged[name]["kept"] = kept
        *said, whole = service_sentences(recorded(judged))[1:]
        assert [sentence.endswith("NOT KEPT.") for sentence in said] == [not kept] * len(PARTS)
        assert whole.startswith("All kept, in 1.0 minutes") == kept
        assert whole.endswith(f"NOT KEPT: {', '.join(PARTS)}.") == (not kept)


def test_the_library_is_measured_in_a_process_of_its_own(folder, pictures, tmp_path, monkeypatch):
    np.save(tmp_path / "images.npy", pictures)
    monkeypatch.setattr(library, "subprocess", warm_python)
    rates = library_rates(folder / "pictures", tmp_path / "images.npy", runs=2)
    assert len(rates) == 2
    assert min(rates) > 0
    monkeypatch.setattr(library.sys, "executable", "false")
    with pytest.raises(DissensusError, match="could not be measured"):
        library_rates(folder / "pictures", tmp_path / "images.npy", runs=1)


def test_what_is_lost_or_wrong_is_not_kept(in_thread, library, pictures, monkeypatch):
    plan = Plan(clients=2, seconds=0.04, requests=20, bound=LONG)
    monkeypatch.setattr(
        measure,
        "score_questions",
        lambda *given, **more: [Question(q.request, (0.0,)) for q in score_questions(*given, **more)],
    )
    parts = measure_service(library["pictures"], pictures[:16], plan)
    assert not any(parts[name]["kept"] for name in PARTS)
