"""A person's browser at a running service with small gates.

Without a browser these tests are skipped with a message; with ``CI_BROWSER=1`` they fail instead.
"""

import io
import os
import shutil
import threading
from contextlib import ExitStack, contextmanager
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from dissensus import BayesianVAE
from dissensus.inputs import load_sample

if os.environ.get("CI_BROWSER") == "1":
    import playwright.sync_api  # noqa: F401 missing, it is an error and not a reason to skip

LONG = 300.0  # seconds that only a hang takes, however busy the machine is
# Nothing is given up for want of time.
PATIENT = {"workers": 1, "decoders": 1, "timeout": LONG, "decode_timeout": LONG}
QUICK = {"samples": 4, "widths": (8,), "latent_size": 4, "batch_size": 32, "device": "cpu", "random_state": 0}
BROWSERS = ("chromium", "google-chrome")
WITHOUT_SANDBOX = ["--no-sandbox"]  # containers run it as root
FAKE_CAMERA = ["--use-fake-device-for-media-stream", "--use-fake-ui-for-media-stream"]


# --- what is served


@pytest.fixture(scope="session")
def clothes():
    """Pictures of clothes (N, 28, 28) that no gate here has seen."""
    return load_sample()[1].images


@pytest.fixture(scope="session")
def picture_gate():
    """Fitted on few clothes: it tells negatives from positives, which is enough to be asked."""
    gate = BayesianVAE(**QUICK, epochs=8, draws=8, false_alarm_rate=0.05)
    return gate.fit(load_sample()[0].images[:600])


@pytest.fixture(scope="session")
def row_gate():
    rows = np.random.default_rng(0).normal(size=(200, 3)) * [1, 10, 0.1] + [0, 5, 0]
    return BayesianVAE(**QUICK, epochs=4, draws=4, false_alarm_rate=0.1).fit(rows)


@pytest.fixture(scope="session")
def table_gate(tmp_path_factory):
    """Fitted on a CSV file with a column of texts."""
    rng, file = np.random.default_rng(0), tmp_path_factory.mktemp("table") / "people.csv"
    lines = [f"{rng.normal(40, 10):.2f},{rng.choice(['cat', 'big dog'])}" for _ in range(120)]
    file.write_text("\n".join(["age,pet", *lines]))
    return BayesianVAE(**QUICK, epochs=4, draws=4, false_alarm_rate=0.1).fit(file)


@pytest.fixture(scope="session")
def gate_folder(tmp_path_factory, picture_gate, row_gate, table_gate):
    folder = tmp_path_factory.mktemp("served")
    table_gate.save(folder / "people")
    picture_gate.save(folder / "clothes")
    picture_gate.save(folder / "clothes-again")
    row_gate.save(folder / "measurements")
    return folder


@contextmanager
def running(path, **settings):
    """The address of a service that runs in a thread of this process."""
    pytest.importorskip("fastapi")
    from dissensus.serve.server import Server, listen
    from dissensus.serve.service import Service
    from dissensus.serve.settings import ServeSettings

    listening, ready = listen("127.0.0.1", 0), threading.Event()
    server = Server(Service(path, ServeSettings(**{**PATIENT, **settings})), ready.set)
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]}, daemon=True)
    thread.start()
    try:
        assert ready.wait(LONG)
        yield f"http://127.0.0.1:{listening.getsockname()[1]}"
    finally:
        server.should_exit = True
        thread.join(LONG)


@pytest.fixture(scope="session")
def address(gate_folder):
    with running(gate_folder) as found:
        yield found


@pytest.fixture
def served():
    """Starts another service, ``served(folder, **settings)``, and gives its address.

    It runs until its visitors have left: a page asks how the gate is doing every few seconds.
    """
    with ExitStack() as until_the_end:
        yield lambda path, **settings: until_the_end.enter_context(running(path, **settings))


@pytest.fixture
def locked(served, gate_folder, tmp_path):
    """The address of a service that asks for a key, and the key."""
    from dissensus.serve.keys import new_key

    key = new_key(tmp_path / "keys", "tester")
    return served(gate_folder, keys=tmp_path / "keys"), key


# --- who asks


def without_browser(reason):
    if os.environ.get("CI_BROWSER") == "1":
        pytest.fail(f"CI_BROWSER=1, but {reason}")
    pytest.skip(f"{reason}: `make browser` sets one up")


# Playwright keeps an event loop in this thread for as long as it runs, and tests of other files start their
# own: so it ends with the file.
@pytest.fixture(scope="module")
def browser():
    from playwright.sync_api import Error, expect, sync_playwright

    expect.set_options(timeout=1000 * LONG)
    with sync_playwright() as playwright:
        path = next(filter(None, map(shutil.which, BROWSERS)), None) or playwright.chromium.executable_path
        if not Path(path).exists():
            without_browser("there is no Chromium on this machine")
        try:
            started = playwright.chromium.launch(executable_path=path, args=[*WITHOUT_SANDBOX, *FAKE_CAMERA])
        except Error as error:
            without_browser(f"{path} does not start ({error.message.splitlines()[0]})")
        yield started
        started.close()


class Visit:
    """A page that was opened, and what went wrong in it or left it."""

    def __init__(self, page, address):
        self.page, self.address = page, address
        self.errors, self.asked = [], []
        page.set_default_timeout(1000 * LONG)
        page.on("console", lambda message: message.type == "error" and self.errors.append(message.text))
        page.on("pageerror", lambda error: self.errors.append(str(error)))
        page.on("request", lambda request: self.asked.append(request.url))
        # Choosers are caught from the start: one that opens before the browser knows they are is lost.
        page.on("filechooser", lambda _: None)
        page.goto(address)

    def ready(self):
        self.page.locator("#facts dt").first.wait_for(state="attached")
        return self

    def calls(self, path):
        """How often the page asked the service for that path."""
        return sum(url.startswith(self.address + path) for url in self.asked)

    def choose(self, *files):
        """Chooses files as a person does, and waits until each is answered."""
        before = self.page.locator(".card").count()
        with self.page.expect_file_chooser() as chooser:
            self.page.get_by_role("button", name="Choose pictures").click()
        chooser.value.set_files(list(files))
        self.answered(before + len(files))

    def answered(self, count):
        self.page.wait_for_function(
            "n => document.querySelectorAll('.card:not([data-state=waiting])').length === n", arg=count
        )

    def card(self, name):
        return self.page.get_by_role("article", name=name, exact=True)

    def check(self, expected=()):
        """Nothing broke, the content policy was kept, and nobody else was asked."""
        unexpected = [error for error in self.errors if not any(words in error for words in expected)]
        assert not unexpected
        own = (f"{self.address}/", "data:", f"blob:{self.address}/")
        assert [url for url in self.asked if not url.startswith(own)] == []


@pytest.fixture
def visit(browser, address, served):  # served: no server leaves before its visitors
    """Opens the page; when the test ends, the visit must have been without errors but those ``expected``."""
    opened = []

    def open_page(at=None, *, expected=(), **context):
        settings = {"viewport": {"width": 1200, "height": 900}, "reduced_motion": "reduce", **context}
        found = Visit(browser.new_context(**settings).new_page(), at or address)
        opened.append((found, expected))
        return found

    yield open_page
    for found, expected in opened:
        found.page.context.close()
        found.check(expected)


@pytest.fixture
def modules(browser, address):
    """Evaluates a function that imports the page's modules, without the page."""
    page = browser.new_page()
    page.goto(f"{address}/static/icon.svg")
    yield page.evaluate
    page.close()


@pytest.fixture(scope="session")
def file():
    """A file for a chooser, from pixels or bytes."""

    def make(name, content):
        if isinstance(content, np.ndarray):
            buffer = io.BytesIO()
            Image.fromarray(content).save(buffer, "PNG")
            content = buffer.getvalue()
        return {"name": name, "mimeType": "image/png", "buffer": content}

    return make
