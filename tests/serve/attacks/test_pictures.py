"""Pictures of few bytes and many pixels: what they take is bounded, and nothing is decoded in vain."""

import asyncio
import threading

import numpy as np
import pytest

from dissensus.serve import images
from dissensus.serve.decoders import Decoders

LONG = 600.0  # seconds that only a hang takes


def test_a_picture_that_cannot_fit_is_refused_before_it_is_decoded(asked, as_png, monkeypatch):
    monkeypatch.setattr(images, "decode_image", lambda *_, **__: 1 / 0)
    answer = asked.score([as_png(np.zeros((40, 30, 1), np.uint8))])
    assert answer.status_code == 422
    assert (
        "40×30" in answer.json()["results"][0]["error"] or "(40, 30" in answer.json()["results"][0]["error"]
    )


@pytest.mark.parametrize(("pixels", "together"), [(60, 1), (50, 2), (500, 1)])
def test_pixels_in_flight_are_bounded(monkeypatch, pixels, together):
    """A picture that is larger than all that may be in flight is decoded by itself."""
    begun, go = [], threading.Event()

    def decode(*_, **__):
        begun.append(True)
        assert go.wait(LONG)
        return np.zeros((1, 1), np.uint8)

    monkeypatch.setattr("dissensus.inputs.decoder_process.DecoderProcess.start", lambda _: None)
    monkeypatch.setattr("dissensus.inputs.decoder_process.DecoderProcess.decode", decode)
    monkeypatch.setattr("dissensus.inputs.decoder_process.DecoderProcess.running", True)

    async def main():
        decoders = Decoders(2, seconds=LONG, memory=1 << 30, most_pixels=100)
        tasks = [asyncio.create_task(decoders.decode(b"", pixels=pixels, name="it")) for _ in range(4)]
        async with asyncio.timeout(LONG):
            while len(begun) < together:
                await asyncio.sleep(0.001)
        for _ in range(20):
            await asyncio.sleep(0.001)
        assert (len(begun), decoders.waiting) == (together, 4 - together)
        go.set()
        await asyncio.gather(*tasks)
        assert (decoders.waiting, decoders.busy) == (0, 0)
        await decoders.close()

    asyncio.run(main())
    assert len(begun) == 4
