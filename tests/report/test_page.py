"""The figure and the page are made from numbers alone, and hold all they need."""

import io
import itertools
import re
from html.parser import HTMLParser
from types import SimpleNamespace

import numpy as np
import pytest
from matplotlib import legend
from PIL import Image

from dissensus.posterior import Diagnostics
from dissensus.report import DemoFigure, demo_page, draw_demo, strip

STAMPS = np.random.default_rng(0).integers(0, 256, (6, 28, 28), np.uint8)


def figure(**changes):
    rng = np.random.default_rng(0)
    content = {
        "normal": "clothes",
        "strange": "digits",
        "log_likelihood": (rng.normal(-250, 30, 50), rng.normal(-200, 30, 40)),
        "disagreement": (rng.gamma(2, 1, 50), rng.gamma(9, 2, 40)),
        "disagreement_name": "kl",
        "threshold": 6.0,
        "auroc": (0.2, 0.9),
        "strips": {"first": STAMPS, "second": STAMPS[::-1]},
    }
    return DemoFigure(**content | changes)


@pytest.fixture(scope="module")
def record():
    areas = {"mean-ll": 0.25, "kl": 0.875, "std": 0.75}
    cells = {name: {"value": area, "low": area - 0.1, "high": area + 0.1} for name, area in areas.items()}
    return {
        "training": 6000,
        "settings": {
            "statistic": "kl",
            "false_alarm_rate": 0.05,
            "variant": 1,
            "chains": 2,
            "draws": 20,
            "samples": 16,
        },
        "seed": 3,
        "calibration_inputs": 900,
        "inliers": {"count": 300, "flagged": 12},
        "outliers": {
            "digits": {"count": 8, "flagged": 6, "auroc": cells},
            "<script>": {"count": 8, "flagged": 0, "auroc": cells},
        },
        "health": Diagnostics(rhat={9: 1.05}).health(),
        "noise_floor": 0.5,
        "seconds": {"fitting": 90.0, "scoring": 30.0},
        "environment": {"processor": "a <fast> one", "cores": 2, "versions": {"torch": None}},
    }


@pytest.fixture(scope="module")
def page(record):
    return demo_page(record, {"light": b"light", "dark": b"dark"}, {"digits": strip(STAMPS)})


class Balanced(HTMLParser):
    """Complains about tags that are not closed in order, and collects what is fetched."""

    VOID = frozenset({"meta", "link", "img", "source"})

    def __init__(self):
        super().__init__()
        self.open, self.fetched = [], []

    def handle_starttag(self, tag, attrs):
        self.fetched += [value for name, value in attrs if name in ("src", "href", "srcset")]
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag


def test_the_page_is_whole_and_fetches_nothing(page):
    parser = Balanced()
    parser.feed(page)
    assert parser.open == []
    assert len(parser.fetched) == 4
    assert all(address.startswith("data:") for address in parser.fetched)
    assert "url(" not in page
    assert "@import" not in page


def test_the_page_shows_the_numbers(page):
    row = re.search(r"<tr><th scope=row><span>digits.*?</tr>", page)[0]
    assert [float(v) for v in re.findall(r">(\d\.\d\d)<", row)] == [0.25, 0.88, 0.75]
    assert row.count("class=best") == 1
    assert "75%" in row
    assert "12 of 300" in page
    assert "6,000" in page
    assert "2.0 minutes" in page
    assert "Disagreement (kl) beats likelihood" in page


def test_text_is_escaped(page):
    assert "<script>" not in page
    assert "a &lt;fast&gt; one" in page


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_the_figure_is_a_picture_that_depends_on_the_numbers_alone(theme):
    drawn = draw_demo(figure(), theme)
    picture = Image.open(io.BytesIO(drawn))
    assert picture.format == "PNG"
    assert min(picture.size) > 600
    assert draw_demo(figure(), theme) == drawn
    assert draw_demo(figure(threshold=None), theme) != drawn


def test_the_figure_takes_extreme_numbers():
    same, wide = np.zeros(5), np.array([0.0, 1e-300, 1.0, 1e12])
    draw_demo(figure(disagreement=(same, same), log_likelihood=(same, same)))
    draw_demo(figure(disagreement=(wide, wide)))


def test_a_busy_machine_draws_without_a_warning(monkeypatch):
    """Matplotlib warns of a place that took it long to find, unless it was asked to look for the best one."""
    hours = itertools.count(step=3600)
    monkeypatch.setattr(legend, "time", SimpleNamespace(perf_counter=lambda: float(next(hours))))
    draw_demo(figure())


@pytest.mark.parametrize("images", [STAMPS, np.stack([STAMPS] * 3, axis=-1)], ids=["grey", "rgb"])
def test_strips(images):
    picture = Image.open(io.BytesIO(strip(images)))
    assert picture.size == (6 * 30 - 2, 28)
    pixels = np.asarray(picture)
    np.testing.assert_array_equal(pixels[:, 30:58, 0], STAMPS[1])
    assert (pixels[:, 28:30, 3] == 0).all()
