"""The process that decodes what may take long: the same pixels, within limits of time and memory."""

import io
import os
import signal
import subprocess
import sys
import threading
import time
from contextlib import suppress
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from dissensus.errors import DataError
from dissensus.inputs import decoder_process
from dissensus.inputs.decoder_process import (
    DecoderLostError,
    DecoderProcess,
    DecoderStartError,
    TookTooLongError,
)
from dissensus.inputs.image_file import read_image
from dissensus.inputs.picture_cost import CostlyPictureError

PIXELS = np.random.default_rng(0).integers(0, 256, (30, 20, 3), np.uint8)
ROOM = 4 << 30
SECONDS = 600.0  # for what is not about time: only a hang takes as long

STUB = """
import sys, time
from dissensus.inputs import decoder_child
real = decoder_child.decode_image
def decode(source, **options):
    word = source.getvalue()
    if word == b"hang": time.sleep(1e6)
    if word == b"crash": sys.exit(1)
    if word == b"lie": sys.stdout.buffer.write(b"x" * 100); sys.stdout.flush(); sys.exit(1)
    return real(source, **options)
decoder_child.answer(sys.stdin.buffer, sys.stdout.buffer, decode)
"""


def saved(kind="PNG", pixels=PIXELS, **options):
    buffer = io.BytesIO()
    Image.fromarray(pixels).save(buffer, kind, **options)
    return buffer.getvalue()


@pytest.fixture
def decoder():
    found = DecoderProcess(memory=ROOM)
    yield found
    found.stop()


@pytest.fixture
def stub(decoder, monkeypatch):
    """A process that hangs, crashes or lies when it is told to."""
    monkeypatch.setattr(decoder, "command", lambda: [sys.executable, "-c", STUB])
    return decoder


@pytest.mark.parametrize("kind", ["PNG", "TIFF", "BMP", "PPM"])
def test_the_same_pixels_from_bytes_and_from_a_file(decoder, tmp_path, kind):
    path = tmp_path / "ä picture"
    path.write_bytes(saved(kind))
    for source in (path, path.read_bytes()):
        pixels = decoder.decode(source, name="it", seconds=SECONDS)
        assert pixels.flags.writeable
        np.testing.assert_array_equal(pixels, PIXELS)
    small = decoder.decode(path, name="it", seconds=SECONDS, size=(5, 4), channels=1)
    assert small.shape == (5, 4)


def test_what_is_wrong_with_a_picture_is_said_as_everywhere(decoder):
    with pytest.raises(DataError, match="it cannot be read as an image"):
        decoder.decode(b"nothing", name="it", seconds=SECONDS)
    with pytest.raises(CostlyPictureError, match=r"it has 20×30 pixels, and 10"):
        decoder.decode(saved(), name="it", seconds=SECONDS, most_pixels=10)
    assert decoder.running


def test_a_picture_that_takes_too_long_is_given_up_and_the_next_one_decoded(stub):
    stub.start()
    first = stub._process.pid
    with pytest.raises(TookTooLongError, match=r"it took longer than 0\.2 s to decode: save it again"):
        stub.decode(b"hang", name="it", seconds=0.2)
    assert not stub.running
    np.testing.assert_array_equal(stub.decode(saved(), name="it", seconds=SECONDS), PIXELS)
    assert stub._process.pid != first


@pytest.mark.parametrize("word", [b"crash", b"lie"])
def test_a_process_that_ends_over_a_picture_is_that_pictures_problem(stub, word):
    with pytest.raises(DecoderLostError, match="the decoder ended over it"):
        stub.decode(word, name="it", seconds=SECONDS)
    np.testing.assert_array_equal(stub.decode(saved(), name="it", seconds=SECONDS), PIXELS)


def test_any_thread_may_end_it(stub, monkeypatch):
    send = decoder_process.send

    def sent(*arguments):
        send(*arguments)
        threading.Thread(target=stub.kill).start()

    monkeypatch.setattr(decoder_process, "send", sent)
    with pytest.raises(DecoderLostError):
        stub.decode(b"hang", name="it", seconds=SECONDS)


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="other systems limit no address space")
def test_memory_is_bounded():
    decoder = DecoderProcess(memory=3 << 28)
    try:
        huge = saved(pixels=np.zeros((9000, 9000, 3), np.uint8), compress_level=1)
        with pytest.raises(CostlyPictureError, match="it takes too much memory"):
            decoder.decode(huge, name="it", seconds=SECONDS)
        np.testing.assert_array_equal(decoder.decode(saved(), name="it", seconds=SECONDS), PIXELS)
    finally:
        decoder.stop()


@pytest.mark.parametrize("command", [["/nowhere/python"], [sys.executable, "-c", "1/0"]])
def test_what_cannot_be_started_says_so(decoder, monkeypatch, command):
    monkeypatch.setattr(decoder, "command", lambda: command)
    with pytest.raises(DecoderStartError, match="cannot be started"):
        decoder.decode(saved(), name="it", seconds=SECONDS)
    assert not decoder.running


@pytest.mark.skipif(sys.platform == "win32", reason="there are no such signals")
def test_signals_to_a_whole_group_leave_it_to_the_other_process(decoder):
    decoder.start()
    for number in (signal.SIGINT, signal.SIGTERM):
        os.kill(decoder._process.pid, number)
    np.testing.assert_array_equal(decoder.decode(saved(), name="it", seconds=SECONDS), PIXELS)


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="other systems have no /proc")
def test_it_ends_with_the_process_that_started_it():
    program = (
        "from dissensus.inputs.decoder_process import DecoderProcess as D\n"
        f"import os; d = D(memory={ROOM}); d.start(); print(d._process.pid, flush=True); os._exit(1)"
    )
    made = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    place = Path("/proc", made.stdout.strip(), "cmdline")
    end = time.monotonic() + SECONDS
    with suppress(OSError):  # once it is gone
        while b"decoder_child" in place.read_bytes():
            assert time.monotonic() < end, "it is still there"
            time.sleep(0.05)


def test_it_starts_without_torch():
    program = (
        "import sys, dissensus.inputs.decoder_child\n"
        "print([name for name in ('torch', 'scipy') if name in sys.modules])"
    )
    made = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert made.stdout.strip() == "[]"


def test_files_of_formats_that_nobody_can_reckon_have_a_time_limit(monkeypatch):
    """A TIFF may hold JPEG, and others hold whole pictures: what takes too long is given up there, too."""
    monkeypatch.setattr(decoder_process, "APART_SECONDS", 0.5)
    monkeypatch.setattr(DecoderProcess, "command", lambda _: [sys.executable, "-c", STUB])
    monkeypatch.setattr(decoder_process, "_apart", decoder_process._Apart())
    with pytest.raises(TookTooLongError, match=r"the picture took longer than 0\.5 s"):
        read_image(io.BytesIO(b"hang"))


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system cannot fork")
def test_a_forked_process_has_a_decoder_of_its_own(tmp_path):
    path = tmp_path / "picture.tiff"
    path.write_bytes(saved("TIFF"))
    program = (
        "import os, sys; from dissensus.inputs.image_file import read_image as read\n"
        "read(sys.argv[1]); child = os.fork()\n"
        "for _ in range(20): assert read(sys.argv[1]).shape == (30, 20, 3)\n"
        "sys.exit(0 if child == 0 else os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))"
    )
    calm = ["-W", "ignore::DeprecationWarning"]  # from Python 3.12 on it warns of forks beside threads
    made = subprocess.run([sys.executable, *calm, "-c", program, path], capture_output=True, text=True)
    assert (made.returncode, made.stderr) == (0, "")
