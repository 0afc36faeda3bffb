"""Draws the pictures of the service's page in ``docs/images``, with the demonstration's gate.

dissensus demo -o demo-report
python tools/make_page_screenshots.py demo-report/gate
"""

import argparse
import io
import shutil
import threading
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image
from playwright.sync_api import Browser, Page, sync_playwright

from dissensus.inputs import digits, load_sample
from dissensus.serve.server import Server, listen
from dissensus.serve.service import Service
from dissensus.serve.settings import ServeSettings

IMAGES = Path(__file__).parents[1] / "docs" / "images"
TRAFFIC = 150  # clothes that others asked about before


def file(name: str, pixels: np.ndarray) -> dict[str, Any]:
    """A picture to choose."""
    buffer = io.BytesIO()
    Image.fromarray(pixels).save(buffer, "PNG")
    return {"name": name, "mimeType": "image/png", "buffer": buffer.getvalue()}


def asked_before(browser: Browser, address: str, clothes: np.ndarray) -> None:
    """Fills the live view."""
    page = browser.new_page()
    page.goto(address)
    page.locator("#facts dt").first.wait_for(state="attached")
    page.set_input_files("#files", [file(f"{number}.png", one) for number, one in enumerate(clothes)])
    page.locator(".card[data-state=waiting]").first.wait_for(state="detached", timeout=120_000)
    page.close()


def shown(browser: Browser, address: str, files: list[dict[str, Any]], **context: object) -> Page:
    """The page with all its cards explained."""
    page = browser.new_context(reduced_motion="reduce", **context).new_page()
    page.goto(address)
    page.locator("#facts dt").first.wait_for(state="attached")
    page.set_input_files("#files", files)
    for one in files:
        card = page.get_by_role("article", name=one["name"], exact=True)
        card.scroll_into_view_if_needed()
        card.locator(".strip").first.wait_for()
    page.evaluate("() => scrollTo(0, 0)")
    page.wait_for_timeout(2500)
    return page


def keep(page: Page, name: str, **options: object) -> None:
    """Writes a picture of 256 colours: enough for a page of few."""
    drawn = Image.open(io.BytesIO(page.screenshot(**options))).convert("RGB")
    path = IMAGES / name
    drawn.quantize(256, dither=Image.Dither.NONE).save(path, optimize=True)
    print(f"{path} {path.stat().st_size // 1000} kB")  # noqa: T201


def main() -> None:
    """Serves the gate, asks it, and draws."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("gate", type=Path)
    listening, ready = listen("127.0.0.1", 0), threading.Event()
    server = Server(Service(parser.parse_args().gate, ServeSettings()), ready.set)
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]}, daemon=True)
    thread.start()
    ready.wait()
    address = f"http://127.0.0.1:{listening.getsockname()[1]}"
    clothes, written = load_sample()[1].images, digits()
    files = [
        file("trousers.png", clothes[2]),
        file("a-written-3.png", written[13]),
        file("bag.png", clothes[10]),
        file("negative.png", 255 - clothes[4]),
    ]
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
        asked_before(browser, address, clothes[100 : 100 + TRAFFIC])
        wide = {"width": 1200, "height": 900}
        page = shown(browser, address, files, viewport=wide, color_scheme="light")
        keep(page, "page-desktop.png", full_page=True)
        page.get_by_role("slider", name="False-alarm rate").press("End")
        keep(page, "page-slider.png", clip={"x": 0, "y": 0, "width": 1200, "height": 1000}, full_page=True)
        dark = shown(browser, address, files[:2], viewport=wide, color_scheme="dark")
        keep(dark, "page-dark.png", full_page=True)
        narrow = {"width": 390, "height": 844}
        phone = shown(
            browser, address, files[:2], viewport=narrow, color_scheme="light", device_scale_factor=2
        )
        phone.get_by_role("heading", name="Answers").scroll_into_view_if_needed()
        phone.evaluate("() => document.querySelector('.answers').scrollIntoView()")
        keep(phone, "page-phone.png")
        browser.close()
    server.should_exit = True
    thread.join()


if __name__ == "__main__":
    main()
