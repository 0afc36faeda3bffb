"""A gate's report: made from numbers alone, whole, self-contained, and true to them."""

import functools
import json
import re
import sys
from dataclasses import replace
from html.parser import HTMLParser

import numpy as np
import pytest

from dissensus.errors import SettingsError
from dissensus.explain import Decision, Explanation, Standing
from dissensus.inspection import Assessment, Case
from dissensus.report import gate_page, gate_record, gate_summary, require_jinja, write_gate_report
from dissensus.report.document import document
from dissensus.report.gate_figures import svg
from dissensus.report.pictures import heat_map, picture

SETTINGS = {
    "false_alarm_rate": 0.05,
    "statistic": "kl",
    "seed": 0,
    "resize": None,
    "step_size": 0.01,
    "model": {"name": "vae", "latent_size": 20},
    "explained_by": "terms",
}


def _explanation(kind, flagged, random, columns=None):
    shape = {"grey": (9, 10, 1), "rgb": (9, 10, 3), "row": (12,)}[kind]
    pixels = random.random((10, *shape)) if kind == "row" else random.integers(0, 256, (10, *shape), np.uint8)
    return Explanation(
        Decision(12.5, 0.0012, flagged),
        pixels[0],
        random.random(shape[:2] if kind != "row" else shape),
        pixels[1:5],
        pixels[5:],
        np.arange(5.0),
        {"kl": Standing(12.5, 99.95), "std": Standing(3.0, 100.0), "mean-ll": Standing(200.0, 40.0)},
        columns,
        pictured=kind != "row",
        notes=("country: <Mars>, never seen",) if kind == "row" else (),
    )


def _assessment(kind="grey", count=300, flagged=12, **changes):
    random = np.random.default_rng(0)
    cases = tuple(Case(f"<b>{n}.png", n, _explanation(kind, True, random)) for n in range(3))
    typical = tuple(Case(n, n, _explanation(kind, False, random)) for n in range(2))
    flags = np.zeros(count, bool)
    flags[:flagged] = True
    made = Assessment(
        "folder & <more>", random.gamma(2, 1, count), random.random(count), flags, cases, typical,
        (("bad.png", "no <picture>"),), random.gamma(2, 1, 999), 6.0,
        SETTINGS | {"input_shape": [9, 10, 1] if kind != "row" else [12]},
        None, 0.5, np.linspace(0, 6, count), None,
    )  # fmt: skip
    return replace(made, **changes)


@functools.cache
def _page(kind="grey"):
    """A page that many tests look at, made once."""
    return gate_page(_assessment(kind))


class _Whole(HTMLParser):
    VOID = frozenset({"meta", "link", "img"})

    def __init__(self):
        super().__init__()
        self.open, self.fetched, self.ids, self.without_alt = [], [], [], 0

    def handle_starttag(self, tag, attrs):
        self.fetched += [v for name, v in attrs if name in ("src", "href", "srcset", "xlink:href")]
        self.ids += [v for name, v in attrs if name == "id"]
        names = {name for name, v in attrs if v}
        self.without_alt += (tag == "img" and "alt" not in names) or (
            tag == "svg" and "aria-label" not in names
        )
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.handle_starttag(tag, attrs)
        if tag not in self.VOID:
            self.open.pop()

    def handle_endtag(self, tag):
        assert self.open.pop() == tag


@pytest.mark.parametrize("kind", ["grey", "rgb", "row"])
def test_the_page_is_whole_and_fetches_nothing(kind):
    page = _page(kind)
    parser = _Whole()
    parser.feed(page)
    assert parser.open == []
    assert parser.without_alt == 0
    assert all(address.startswith(("data:", "#")) for address in parser.fetched)
    assert all(address.startswith("#") for address in re.findall(r"url\(([^)]*)\)", page))
    assert "@import" not in page
    assert "<script" not in page
    assert page == gate_page(_assessment(kind))  # the same numbers, the same bytes


def test_every_name_is_used_once():
    parser = _Whole()
    parser.feed(_page())
    # Matplotlib names groups alike in every figure; what is referred to must be unique.
    referred = {address[1:] for address in parser.fetched if address.startswith("#")}
    assert referred
    assert all(parser.ids.count(name) == 1 for name in referred)


def test_text_is_escaped():
    page = _page()
    assert "<b>0.png" not in page
    assert "&lt;b&gt;0.png" in page
    assert "folder &amp; &lt;more&gt;" in page
    assert "no &lt;picture&gt;" in page


HOSTILE = (
    "<script>alert(1)</script> \"' onerror=x {{ 7 * 7 }} {% raw %} $x &amp; \u202egnp.exe \udcff \x1b[2J"
)


class _Texts(HTMLParser):
    """Collects texts and attributes as a browser would read them, and the tags there are."""

    def __init__(self):
        super().__init__()
        self.texts, self.tags, self.attributes = [], set(), set()

    def handle_starttag(self, tag, attrs):
        self.tags.add(tag)
        self.attributes |= {name for name, _ in attrs}
        self.texts += [value for _, value in attrs if value]

    def handle_data(self, data):
        self.texts.append(data)


@pytest.mark.parametrize("kind", ["grey", "row"])
def test_hostile_text_stays_text(kind, tmp_path):
    random = np.random.default_rng(0)
    shown = _explanation(kind, True, random, columns=None if kind == "grey" else (HOSTILE,) * 12)
    shown = replace(shown, statistics={HOSTILE: Standing(12.5, 99.95)})
    assessment = _assessment(
        kind, source=HOSTILE, unusual=(Case(HOSTILE, 7, shown),), unreadable=((HOSTILE, HOSTILE),)
    )
    assessment = replace(assessment, settings={**assessment.settings, "statistic": HOSTILE})
    write_gate_report(tmp_path / "r.html", assessment, record=tmp_path / "r.json")
    page = (tmp_path / "r.html").read_text("utf-8")
    harmless, hostile = _Texts(), _Texts()
    harmless.feed(_page(kind))
    hostile.feed(page)
    assert hostile.tags == harmless.tags
    assert hostile.attributes == harmless.attributes
    # Word for word, but for what nobody could see.
    seen = HOSTILE.replace("\u202e", "\\u202e").replace("\udcff", "\\udcff").replace("\x1b", "\\x1b")
    assert sum(seen in text for text in hostile.texts) >= 8
    assert not re.search("[\x00-\x08\u202a-\u202e\u2066-\u2069]", page)
    assert json.loads((tmp_path / "r.json").read_text("utf-8"))["unreadable"][0]["input"] == HOSTILE


def test_a_value_that_was_forgotten_is_an_error():
    from jinja2 import UndefinedError

    with pytest.raises(UndefinedError, match="'source' is undefined"):
        document("gate")


def test_without_jinja_the_extra_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "jinja2", None)
    with pytest.raises(SettingsError, match=r"needs jinja2: pip install 'dissensus\[report\]'"):
        require_jinja()


def test_colours_are_the_pages():
    page = _page()
    assert page.count("var(--strange)") > 10
    assert not re.search(r"#0[1-5]0[1-5]0[1-5]\b", page)


def test_columns_by_name_or_number():
    random = np.random.default_rng(0)
    named = _explanation("row", True, random, columns=tuple(f"name<{n}>" for n in range(12)))
    page = gate_page(_assessment("row", unusual=(Case(7, 7, named),)))
    first = int(np.argmax(named.disagreement))
    assert f"name&lt;{first}&gt;" in page
    assert "and 6 more columns" in page
    assert "No training input had this: country: &lt;Mars&gt;, never seen." in page
    assert re.search(r">column \d+<", page)


def test_the_verdict():
    passed, failed = _assessment(), _assessment(flagged=60)
    assert "<strong>Passed</strong>" in _page()
    assert "<strong>Not passed</strong>" in gate_page(failed)
    assert "12 of 300 inputs were flagged (4%)" in gate_summary(passed)[0]
    assert "something is different" in gate_summary(failed)[0]
    assert "less than 0.01%" in gate_summary(failed)[0]


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"drift_alarm": 41}, "by input 42 of 300"),
        ({}, "show no drift"),
        ({"unreadable": ()}, None),
        ({"unreadable": (("a", "b"), ("c", "d"))}, "2 inputs could not be read"),
        ({"threshold": np.inf}, "Nothing can be flagged"),
        ({}, "These inputs score like the calibration inputs"),
        ({"scores": np.linspace(3, 9, 300)}, "score higher than the calibration inputs did"),
    ],
)
def test_the_summary(changes, words):
    text = " ".join(gate_summary(_assessment(**changes)))
    assert words is None or words in text
    assert ("could not be read" in text) == bool(_assessment(**changes).unreadable)


@pytest.mark.parametrize(
    "changes",
    [
        {"scores": np.zeros(300)},
        {"scores": np.full(300, np.inf)},
        {"scores": np.linspace(-5, 5, 300)},
        {"scores": np.geomspace(1e-12, 1e12, 300)},
        {"unusual": (), "typical": ()},
        {"threshold": np.inf},
    ],
)
def test_extreme_numbers(changes):
    assessment = _assessment(**changes)
    assert "</html>" in gate_page(assessment)
    json.dumps(gate_record(assessment), allow_nan=False)


@pytest.mark.parametrize("count", [1, 2, 19, 20, 21])
def test_few_inputs(count):
    page = gate_page(_assessment(count=count, flagged=1))
    assert ("too few inputs to look for drift" in page) == (count < 20)


def test_files(tmp_path):
    write_gate_report(tmp_path / "r.html", _assessment(), record=tmp_path / "r.json")
    assert (tmp_path / "r.html").read_text(encoding="utf-8") == _page()
    record = json.loads((tmp_path / "r.json").read_text(encoding="utf-8"))
    assert record["flagged"] == 12
    assert record["passed"] is True
    assert record["unreadable"] == [{"input": "bad.png", "reason": "no <picture>"}]
    assert [case["position"] for case in record["most_unusual"]] == [0, 1, 2]


def test_pictures():
    import io

    from PIL import Image

    image = np.zeros((8, 300, 1), np.uint8)
    assert Image.open(io.BytesIO(picture(image))).size == (192, 5)
    disagreement = np.zeros((8, 9))
    disagreement[2, 3] = 5.0
    drawn = np.asarray(Image.open(io.BytesIO(heat_map(image[:, :9], disagreement, 1.0))))
    assert drawn[2, 3].tolist() == [255, 120, 20]
    assert drawn.sum() == 395


def test_a_figure_says_what_it_shows():
    drawn = svg(lambda axes: axes.plot([0, 1]), name="line", alt='a "line"')
    assert 'aria-label="a &quot;line&quot;"' in drawn
    assert drawn.startswith("<svg")


def test_what_is_unusual_by_itself_comes_first_and_the_rest_is_folded():
    names = ["fused", *(f"part-{n}" for n in range(12))]
    standings = {name: Standing(1.0, 4.0 * n) for n, name in enumerate(names)}
    surprises = {"part-9": 7.0, "part-0": 3.0}
    own = _explanation("grey", True, np.random.default_rng(0))
    case = Case("a", 0, replace(own, statistics=standings, surprises=surprises))
    card = gate_page(_assessment(unusual=(case,), typical=())).split("<article", 1)[1].split("</article>")[0]
    shown, folded = card.split("<details>")
    assert "part-" not in shown.split("What is unusual")[0]
    assert "part-9: unusually low; part-0: unusually low" in shown
    assert "part-9 7.0; part-0 3.0" in folded
    ordered = re.findall(r"<span>([a-z0-9-]+)</span><i", card)
    assert ordered[:4] == ["fused", "part-9", "part-0", "part-1"]
    assert sorted(ordered) == sorted(names)
    assert (shown.count("<li title"), folded.count("<li title")) == (0, 13)
    # From the middle to either side: part-0 stands at 4, part-11 at 48.
    assert "margin-left:4.0%;width:46.0%" in folded
    assert "margin-left:48.0%;width:2.0%" in folded


def test_a_score_that_is_not_fused_has_bars_from_the_left():
    page = _page()
    assert "margin-left:0.0%;width:40.0%" in page
