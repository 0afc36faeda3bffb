"""Numbers in documents are those of the records, and a test fails where they are not."""

import math

import pytest
from typer.testing import CliRunner

from benchmarks.__main__ import app
from benchmarks.checks import numbers as checks_numbers
from benchmarks.filling.formats import formatted
from benchmarks.filling.markers import fill
from benchmarks.filling.pages import fill_page, pages
from benchmarks.filling.registry import SOURCES, find_number, find_table, names
from benchmarks.panel.configuration import RECOMMENDED
from benchmarks.panel.rows import MEASURED
from benchmarks.panel.sets import GROUPS, WHOLE_SETS
from benchmarks.places import RESULTS, ROOT
from benchmarks.records import Record, Records
from dissensus.errors import DataError, SettingsError

IN_A_CHECKOUT = pytest.mark.skipif(not RESULTS.is_dir(), reason="the results are not here")


@IN_A_CHECKOUT
@pytest.mark.parametrize("page", pages(ROOT), ids=lambda page: page.name)
def test_the_documents_say_what_the_records_say(page):
    assert fill_page(page, RESULTS, write=False) == [], "run python -m benchmarks fill"


@IN_A_CHECKOUT
def test_every_number_and_table_can_be_told():
    every = list(names("NUMBERS"))
    assert len(every) == len(set(every)) > 50
    assert {name.partition(".")[0] for name in every} == set(SOURCES)
    for name in every:
        value = find_number(name, RESULTS)
        # What older records of the panel lack, and datasets that are not measured, are a dash in documents.
        # What is compared with something may be less than it.
        assert (
            value >= 0
            or name == "checks.shards.overhead"
            or (math.isnan(value) and name.startswith(("panel.", "checks.svhn.")))
        ), name
    for name in names("TABLES"):
        assert find_table(name, RESULTS).startswith("| ")


PAGE = """# A page

It has <!--n a.b .1f-->1.0<!--/n--> of <!--n c s2-->.25<!--/n-->.

<!-- table: t -->
| old |
<!-- /table -->

| a cell | <!--n a.b .0f--><!--/n--> |
"""


def filled(text, *, value=1.0):
    return fill(text, lambda name, how: formatted(value if name == "a.b" else 0.25, how), lambda _: "| new |")


def test_what_differs_is_filled_in_and_said():
    text, wrong = filled(PAGE, value=2.04)
    assert text == PAGE.replace("1.0<", "2.0<").replace("| old |", "| new |").replace(
        "--><!--/n", "-->2<!--/n"
    )
    assert wrong == [
        "line 3: a.b is 2.0, not 1.0",
        "line 5: t is not what its records give",
        "line 9: a.b is 2, not empty",
    ]
    assert filled(text, value=2.04) == (text, [])


def test_code_is_left_alone():
    text = "```\nb <!--n a .1f-->9<!--/n-->\n```\nas in `<!--n a .1f-->9<!--/n-->` and `<!-- table: t -->`\n"
    assert filled(text) == (text, [])
    table = "<!-- table: t -->\n| `code` |\n<!-- /table -->"
    assert filled(table)[0] == "<!-- table: t -->\n| new |\n<!-- /table -->"
    assert fill(table, lambda *_: "", lambda _: "| `code` |") == (table, [])


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("a\n b <!--n a.b-->1<!--/n-->", "line 2.*no whole marker"),
        ("b <!--n a.b .1f-->1", "no whole marker"),
        ("b 1<!--/n-->", "no whole marker"),
        ("<!-- table: t -->\n| a |\n", "no whole marker"),
        ("b <!--n a .1f-->1 <!--n a .1f-->1<!--/n-->", "no whole marker"),
        ("a\n\n- <!--n a .1f-->1<!--/n-->", "line 3.*begins a line"),
    ],
)
def test_markers_that_would_be_seen_or_missed_are_refused(text, why):
    with pytest.raises(DataError, match=why):
        filled(text)


def test_a_page_is_written_only_where_asked(tmp_path, monkeypatch):
    monkeypatch.setattr(checks_numbers, "NUMBERS", {"x": lambda _: 3.5})
    page = tmp_path / "page.md"
    page.write_text("It is <!--n checks.x .1f-->3.4<!--/n-->.")
    said = ["page.md, line 1: checks.x is 3.5, not 3.4"]
    assert fill_page(page, tmp_path / "no results", write=False) == said
    assert "3.4<" in page.read_text()
    assert fill_page(page, tmp_path / "no results", write=True) == said
    assert fill_page(page, tmp_path / "no results", write=False) == []


def test_unknown_names_and_missing_records_are_named(tmp_path):
    page = tmp_path / "page.md"
    page.write_text("It is <!--n speed.no-such .1f-->1<!--/n-->.")
    with pytest.raises(SettingsError, match=r"page.md: there is no number 'speed.no-such'"):
        fill_page(page, tmp_path, write=False)
    with pytest.raises(SettingsError, match=r"no table 'nothing.x'"):
        find_table("nothing.x", tmp_path)
    with pytest.raises(DataError, match=r"speed.cpu.help.ours cannot be told"):
        find_number("speed.cpu.help.ours", tmp_path)
    with pytest.raises(SettingsError, match="no format"):
        formatted(1.0, "3x")


def test_a_changed_record_makes_the_check_fail(tmp_path, monkeypatch):
    """As a person runs it, on a checkout of one page."""
    row = {"name": "dissensus --help", "other_name": "goal", "ours": 0.25, "other": 0.5, "ratio": 2.0}
    (tmp_path / "README.md").write_text("Starts in <!--n speed.cpu.help.ours .2f-->0.20<!--/n--> s.\n")
    monkeypatch.setattr("benchmarks.places.ROOT", tmp_path)
    monkeypatch.setattr("benchmarks.places.RESULTS", tmp_path)
    Records(tmp_path / "speed").add("cpu", Record("startup", None, {}, [row], {}))

    def run(*options):
        return CliRunner().invoke(app, ["fill", *options])

    failed = run("--check")
    assert (failed.exit_code, failed.stdout) == (
        1,
        "README.md, line 1: speed.cpu.help.ours is 0.25, not 0.20\n",
    )
    assert run().exit_code == 0
    assert run("--check").exit_code == 0
    assert "0.25<" in (tmp_path / "README.md").read_text()


def test_the_demo_s_table(tmp_path):
    scores = dict.fromkeys(checks_numbers.SCORES, 0.5) | {"fused": 0.999, "kl": 1.0}
    rows = [{"outliers": "gaussian-noise", "score": score, "auroc": area} for score, area in scores.items()]
    about = {"outliers": {"gaussian-noise": {"count": 50, "flagged": 20}}}
    Records(tmp_path / "checks").add("demo", Record("d", 0, {}, rows, {}, about))
    head, _, line = find_table("checks.demo", tmp_path).splitlines()
    assert "5th neighbour" in head
    assert line == "| Gaussian noise | .50 | .50 | .50 | .50 | **1.00** | .50 | **1.00** | 40% |"


def test_the_candidates_for_a_preset(tmp_path):
    """The best of both variants first, named by what it changes."""
    records = Records(tmp_path / "paper")
    for name, log_p in (("settled+step_size=0.02", -9.0), ("settled", -8.0)):
        for run in ("bvae1", "bvae2"):
            row = {"validation_log_likelihood": log_p, "validation_log_likelihood_of_mixture": log_p + 1}
            row |= {"rhat": 1.25, "spread_over_draws": 2.0}
            records.add("selection-fashion-mnist-vs-mnist", Record(f"{name}/{run}", 0, {}, [row], {}))
    assert find_table("paper.selection", tmp_path).splitlines()[2:] == [
        "| FashionMNIST | the preset | −8.00 / −8.00 | −7.00 / −7.00 | 1.25 / 1.25 |",
        "| FashionMNIST | step size 0.02 | −9.00 / −9.00 | −8.00 / −8.00 | 1.25 / 1.25 |",
    ]
    assert find_number("paper.selection.spread", tmp_path) == 2.0


def test_the_readme_s_table(tmp_path):
    """Of made-up records: the last line is the mean of all pairs, held-out classes are one line."""
    records = Records(tmp_path / "panel")
    outliers = {"fashion-mnist": ("mnist", "kmnist"), "mnist": ("fashion-mnist",)}
    outliers |= {"svhn": ("cifar10",), "cifar10": ("svhn",)}
    for inliers in (*WHOLE_SETS, *GROUPS["fashion-mnist-heldout"]):
        kinds = outliers.get(inliers, ("held-out classes",))
        for name, score, area in (
            ("sghmc", RECOMMENDED.score, 0.75),
            ("baseline/image-statistics", "image-statistics", 0.5),
            ("baseline/nearest-neighbour", "nearest-neighbour", 1.0),
        ):
            rest = dict.fromkeys(MEASURED, 0.25)
            rows = [{"outliers": kind, "score": score, **rest, "auroc": area} for kind in kinds]
            settings = {"configuration": RECOMMENDED.settings} if score == RECOMMENDED.score else {}
            records.add(inliers, Record(name, 0, settings, rows, {}, environment={}))
    lines = find_table("panel.beside", tmp_path).splitlines()
    cells = [f"{area} · [.25] (.250)" for area in (".750", ".500", "1.000")]
    assert lines[2] == f"| Fashion-MNIST → MNIST | {' | '.join(cells)} |"
    assert lines[-1].startswith("| mean of all 10 pairs | .750 · .00 (.250) |")  # none of them counts
    assert find_number("panel.svhn-to-cifar10.neighbours.auroc", tmp_path) == 1.0
    assert find_number("panel.svhn.false.most", tmp_path) == 0.25
    assert find_number("panel.svhn-to-cifar10.neighbours.alarms.shifted", tmp_path) == 0.25
    assert find_number("panel.mean.dissensus", tmp_path) == 0.75
    assert find_number("panel.mean.dissensus.power", tmp_path) == 0.0
    assert find_number("panel.mean.dissensus.power.with-brackets", tmp_path) == 0.25
    assert (find_number("panel.bracketed", tmp_path), find_number("panel.mnist.bracketed", tmp_path)) == (
        10,
        1,
    )
    assert find_number("panel.mnist-to-fashion-mnist.seeds.false.most", tmp_path) == 0.25
