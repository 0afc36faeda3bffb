"""Small gates, fitted once, and real servers in threads that serve them."""

import asyncio
import io
import shutil
import threading
import time
from contextlib import contextmanager
from dataclasses import dataclass

import httpx
import numpy as np
import pytest
from PIL import Image

from dissensus import BayesianVAE

LONG = 600.0  # seconds that only a hang takes, however busy the machine is
SMALL = {
    "epochs": 4,
    "draws": 4,
    "samples": 4,
    "latent_size": 2,
    "batch_size": 16,
    "false_alarm_rate": 0.2,
    "device": "cpu",
}


def stripes(count, seed=0, shape=(8, 8)):
    """Grey images (N, H, W, 1) with structure and some noise."""
    rng = np.random.default_rng(seed)
    wave = np.sin(np.arange(shape[1]) + rng.uniform(0, 3, (count, 1, 1)))
    return np.uint8(120 + 80 * wave + rng.integers(0, 40, (count, *shape)))[..., None]


def png(pixels):
    buffer = io.BytesIO()
    Image.fromarray(pixels[..., 0] if pixels.shape[-1] == 1 else pixels).save(buffer, "PNG")
    return buffer.getvalue()


@pytest.fixture(scope="session")
def pictures():
    return stripes(120, seed=7)


@pytest.fixture(scope="session")
def as_png():
    return png


@pytest.fixture(scope="session")
def numbers():
    return np.random.default_rng(1).normal(size=(60, 3))


@pytest.fixture(scope="session")
def folder(tmp_path_factory):
    """A folder of three gates: ``pictures`` (8, 8, 1), ``rows`` (3,) and ``table`` (age, pet)."""
    root = tmp_path_factory.mktemp("gates")
    rng = np.random.default_rng(0)
    BayesianVAE(**SMALL, widths=(4,)).fit(stripes(120)).save(root / "pictures")
    BayesianVAE(**SMALL, widths=(8,)).fit(rng.normal(size=(100, 3))).save(root / "rows")
    table = root.parent / "table.csv"
    lines = [f"{rng.normal(40, 10):.2f},{rng.choice(['cat', 'dog'])}" for _ in range(100)]
    table.write_text("\n".join(["age,pet", *lines]))
    BayesianVAE(**SMALL, widths=(8,)).fit(table).save(root / "table")
    return root


@pytest.fixture(scope="session")
def library(folder):
    """The gates as the library loads them, by name."""
    return {name: BayesianVAE.load(folder / name, device="cpu") for name in ("pictures", "rows", "table")}


@pytest.fixture
def own_folder(folder, tmp_path):
    """A copy of the folder that a test may change."""
    return shutil.copytree(folder, tmp_path / "gates")


# Nothing is given up for want of time unless a test is about that.
PATIENT = {"workers": 2, "decoders": 1, "poll": 60.0, "timeout": LONG, "decode_timeout": LONG}


@dataclass
class Running:
    url: str
    service: object
    client: httpx.Client
    server: object
    loop: object

    def score(self, files, **parameters):
        """``POST /score`` of picture files, given as bytes."""
        form = [("files", (f"{number}.png", content)) for number, content in enumerate(files)]
        return self.client.post("/score", files=form, params=parameters)

    def call(self, coroutine):
        """Runs something inside the server's own loop."""
        return asyncio.run_coroutine_threadsafe(coroutine, self.loop).result(LONG)


@contextmanager
def running(path, **settings):
    from dissensus.serve.server import Server, listen
    from dissensus.serve.service import Service
    from dissensus.serve.settings import ServeSettings

    service = Service(path, ServeSettings(**{**PATIENT, **settings}))
    started, loops = threading.Event(), []

    def on_start():
        loops.append(asyncio.get_running_loop())
        started.set()

    server, listening = Server(service, on_start), listen("127.0.0.1", 0)
    url = f"{service.settings.scheme}://127.0.0.1:{listening.getsockname()[1]}"
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]}, daemon=True)
    thread.start()
    assert started.wait(LONG)
    try:
        with httpx.Client(base_url=url, timeout=LONG, verify=False) as client:
            yield Running(url, service, client, server, loops[0])
    finally:
        server.should_exit = True
        thread.join(LONG)
        assert not thread.is_alive()


@pytest.fixture(scope="session")
def serving():
    """Starts a server for a ``with`` block: ``serving(folder, **settings)``."""
    return running


@pytest.fixture(scope="session")
def asked(folder):
    """One server of all gates, shared by tests that only ask."""
    with running(folder, default="pictures", max_inputs=64, max_pixels=1_000_000, max_body_mb=2.0) as found:
        yield found


@pytest.fixture(scope="session")
def until():
    """Waits until a condition holds."""

    def wait(condition):
        end = time.monotonic() + LONG
        while not condition():
            assert time.monotonic() < end, "it never came to hold"
            time.sleep(0.02)

    return wait
