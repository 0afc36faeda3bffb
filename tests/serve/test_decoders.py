"""One picture does not stop the service: bombs are refused, slow decoders ended, others served meanwhile."""

import functools
import os
import signal
import sys
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest
from picture_bombs import jpeg_with_scans, png_with

from dissensus.inputs.decoder_process import DecoderProcess
from dissensus.serve import decoders as decoders_module

LONG = 600.0  # seconds that only a hang takes
STUB = """
import sys, time
from dissensus.inputs import decoder_child
real = decoder_child.decode_image
def decode(source, **options):
    if b"hang" in source.getvalue(): time.sleep(1e6)
    if b"crash" in source.getvalue(): sys.exit(1)
    return real(source, **options)
decoder_child.answer(sys.stdin.buffer, sys.stdout.buffer, decode)
"""


def large(word=b"honest"):
    """A picture of the gate's size that is left to a process, for all that it holds beside its pixels."""
    return png_with(8, (b"tEXt", b"Comment\0" + word + b" " * 20_000))


@pytest.fixture
def serving(serving):
    """With two decoders, as many as there are for users."""
    return functools.partial(serving, decoders=2)


@pytest.fixture
def stub(monkeypatch):
    """Decoders that hang or crash over pictures that tell them to."""
    monkeypatch.setattr(DecoderProcess, "command", lambda _: [sys.executable, "-c", STUB])
    monkeypatch.setattr(decoders_module, "LAST", 0.1)


@pytest.fixture
def behind():
    """Does something in a thread of its own: its future."""
    with ThreadPoolExecutor(8) as pool:
        yield pool.submit


def outcomes(found):
    lines = found.client.get("/metrics").text.splitlines()
    counts = [line.split() for line in lines if line.startswith("dissensus_pictures_total{")]
    return {name.split('"')[1]: float(count) for name, count in counts if float(count)}


def ready(found):
    answer = found.client.get("/v2/health/ready")
    return answer.status_code, answer.json()["problems"]


def test_a_bomb_is_refused_before_it_is_decoded(serving, folder, as_png, pictures, monkeypatch):
    with serving(folder / "pictures") as found:
        monkeypatch.setattr(found.service.decoders, "decode", None)  # whoever asks it fails
        answer = found.score([jpeg_with_scans(5000, 5000), as_png(pictures[0])], convert=True)
        first, second = answer.json()["results"]
        assert answer.status_code == 200
        assert first["error"].startswith("the picture has more than 100 scans")
        assert second["error"] is None
        assert found.score([jpeg_with_scans(4900, 90)], convert=True).status_code == 422
        assert outcomes(found) == {"refused": 2, "read": 1}


def test_honest_requests_are_answered_while_a_picture_hangs(
    serving, folder, as_png, pictures, stub, behind, until
):
    with serving(folder / "pictures") as found:
        bomb = behind(found.score, [large(b"hang")])
        until(lambda: found.service.decoders.busy == 1)
        honest = [[as_png(pictures[0])], [large()], [as_png(pictures[1]), large()]]
        for _ in range(5):
            answers = [one.result(LONG) for one in [behind(found.score, files) for files in honest]]
            assert [answer.status_code for answer in answers] == [200, 200, 200]
        assert not bomb.done()
        assert ready(found) == (200, [])
        found.server.should_exit = True  # it ends, and does not wait for the picture
        assert bomb.result(LONG).status_code == 503
        assert "stopping" in bomb.result().json()["error"]


def test_small_pictures_are_answered_while_all_decoders_hang(
    serving, folder, as_png, pictures, stub, behind, until
):
    with serving(folder / "pictures") as found:
        bombs = [behind(found.score, [large(b"hang")]) for _ in range(4)]
        until(lambda: found.service.decoders.busy == 2)
        for picture in pictures[:5]:
            assert found.score([as_png(picture)]).status_code == 200
        assert not any(bomb.done() for bomb in bombs)
        found.server.should_exit = True
        assert [bomb.result(LONG).status_code for bomb in bombs] == [503] * 4


def test_a_picture_that_takes_too_long_is_its_own_problem(
    serving, folder, as_png, pictures, stub, until, monkeypatch
):
    decode = DecoderProcess.decode

    def in_time(self, content, *, seconds, **options):
        """An honest picture has all the time it needs, even on a busy machine."""
        return decode(self, content, seconds=seconds if b"hang" in bytes(content) else LONG, **options)

    monkeypatch.setattr(DecoderProcess, "decode", in_time)
    with serving(folder / "pictures", decode_timeout=0.3) as found:
        before = {decoder._process.pid for decoder in found.service.decoders.all}
        answer = found.score([as_png(pictures[0]), large(b"hang"), large()])
        errors = [result["error"] for result in answer.json()["results"]]
        assert answer.status_code == 200
        assert errors[1].startswith("the picture took longer than 0.3 s to decode")
        assert (errors[0], errors[2]) == (None, None)
        # The one that was ended is replaced, though nobody asks for it.
        until(lambda: all(decoder.running for decoder in found.service.decoders.all))
        assert len({decoder._process.pid for decoder in found.service.decoders.all} - before) == 1
        assert outcomes(found) == {"read": 2, "timeout": 1}
        assert ready(found) == (200, [])


def test_a_decoder_that_crashes_is_replaced(serving, folder, stub, until):
    with serving(folder / "pictures") as found:
        answer = found.score([large(b"crash")])
        assert answer.status_code == 422
        assert "the decoder ended over it" in answer.json()["error"]
        assert outcomes(found) == {"crash": 1}
        until(lambda: all(decoder.running for decoder in found.service.decoders.all))


@pytest.mark.skipif(sys.platform == "win32", reason="there is no such signal")
def test_decoders_that_somebody_else_ended_are_started_again(serving, folder, until):
    with serving(folder / "pictures") as found:
        processes = [decoder._process for decoder in found.service.decoders.all]
        for process in processes:
            os.kill(process.pid, signal.SIGKILL)
        until(lambda: not any(decoder.running for decoder in found.service.decoders.all))
        for _ in processes:
            assert found.score([large()]).status_code == 200


def test_without_decoders_it_is_not_ready_until_there_are_some(
    serving, folder, as_png, pictures, monkeypatch, until
):
    monkeypatch.setattr(decoders_module, "PAUSE", 0.05)
    command = DecoderProcess.command
    monkeypatch.setattr(DecoderProcess, "command", lambda _: ["/nowhere/python"])
    with serving(folder / "pictures") as found:
        assert ready(found) == (503, ["no picture decoder is running"])
        assert "dissensus_ready 0.0" in found.client.get("/metrics").text
        refusal = found.score([large()])
        assert (refusal.status_code, "decoder" in refusal.json()["error"]) == (503, True)
        assert found.score([as_png(pictures[0])]).status_code == 200
        monkeypatch.setattr(DecoderProcess, "command", command)
        until(lambda: ready(found) == (200, []))
        assert found.score([large()]).status_code == 200


def test_a_decoder_that_cannot_be_ended_is_noticed(serving, folder, stub, behind, until, monkeypatch):
    with serving(folder / "pictures") as found:
        hanging = behind(found.score, [large(b"hang")])
        until(lambda: found.service.decoders.busy == 1)
        assert ready(found) == (200, [])
        monkeypatch.setattr(decoders_module, "STUCK", -LONG)
        assert ready(found) == (503, ["a picture decoder is stuck"])
        found.server.should_exit = True
        assert hanging.result(LONG).status_code == 503


def test_gates_of_rows_need_no_decoders(serving, folder, monkeypatch):
    monkeypatch.setattr(DecoderProcess, "command", lambda _: ["/nowhere/python"])
    with serving(folder / "rows") as found:
        assert ready(found) == (200, [])
        assert not any(decoder.running for decoder in found.service.decoders.all)


def test_who_gives_up_waiting_leaves_the_turn_to_others(serving, folder, stub, until):
    """A request that has waited for its whole time is refused, and the decoders go on to the next."""
    with serving(folder / "pictures", decoders=1, timeout=1.0) as found:
        # On a busy machine its time may be over before it reaches the decoder: then another is sent.
        until(lambda: found.score([large(b"hang")]).status_code == 503 and found.service.decoders.busy)
        assert found.score([large()]).status_code == 503
        found.service.decoders.all[0].kill()
        until(lambda: outcomes(found) == {"crash": 1})  # though nobody waits for it any more
        until(lambda: found.score([large()]).status_code == 200)


@pytest.mark.skipif(not hasattr(os, "getpriority"), reason="the system knows no niceness")
def test_decoders_let_scoring_go_first(serving, folder):
    own = os.getpriority(os.PRIO_PROCESS, 0)
    with serving(folder / "pictures") as found:
        for decoder in found.service.decoders.all:
            assert os.getpriority(os.PRIO_PROCESS, decoder._process.pid) == min(
                19, own + decoders_module.NICE
            )


def test_threads_are_not_left_behind(serving, folder):
    before = threading.enumerate()
    with serving(folder / "pictures") as found:
        assert found.score([large()]).status_code == 200
        processes = [decoder._process for decoder in found.service.decoders.all]
    assert all(process.poll() is not None for process in processes)
    left = {thread.name for thread in threading.enumerate() if thread not in before}
    assert not [name for name in left if name.startswith("decoder")]
