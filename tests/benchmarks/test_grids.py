"""Tables, candidates, curves and caches, on small made-up numbers."""

import io

import numpy as np
import pytest
from rich.console import Console

from benchmarks.archive import Archive
from benchmarks.curves import BINS, POINTS, histogram, precision_recall, roc_points
from benchmarks.grids import Grid, show, to_latex, to_markdown, to_terminal
from benchmarks.paper.presets import PRESETS
from benchmarks.selection import Candidate, candidates, choose
from dissensus.errors import DataError, SettingsError
from dissensus.evaluation import auprc, auroc

GRID = Grid(
    "Numbers", ("", "kind", "AUROC", "where"), (("a_b", "far", ".9±.1", "x → y"),) * 3, wide=("where",)
)


def printed(form, file=None, grid=GRID):
    stream = io.StringIO()
    show([grid], "A note.", Console(file=stream, width=80), form=form, file=file)
    return stream.getvalue()


def test_the_same_words_in_every_form(tmp_path):
    markdown = printed("markdown", tmp_path / "table.md")
    assert markdown == (tmp_path / "table.md").read_text()
    assert markdown.startswith("### Numbers\n\n|  | kind | AUROC | where |\n|---|---|---|---|\n| a_b | far |")
    assert markdown.endswith("\n\nA note.\n")
    latex = printed("latex")
    assert r"a\_b & far & .9$\pm$.1 & x $\to$ y \\" in latex
    assert latex.count(r"\begin{table*}") == latex.count(r"\end{table*}") == 1
    assert latex.endswith("% A note.\n")
    shown = printed("terminal", tmp_path / "table.md")
    assert "x → y" not in shown
    assert "A note." in shown
    assert markdown == (tmp_path / "table.md").read_text()
    assert to_markdown(GRID).count("\n") == 6
    assert to_latex(GRID).count(r"\\") == 4


def test_the_terminal_shows_the_first_lines_of_long_tables():
    long = Grid("Long", ("", "n"), tuple((str(n), str(n)) for n in range(30)), whole=False)
    assert to_terminal(long).row_count == 20
    assert "and 10 more" in " ".join(printed("terminal", grid=long).split())
    assert to_markdown(long).count("\n") == 33


def test_the_grid_is_every_combination():
    found = list(candidates(PRESETS["settled"], ["step_size=0.003,0.01", "widths=2x4,8"]))
    assert [changes for changes, _ in found] == [
        {"step_size": 0.003, "widths": (2, 4)},
        {"step_size": 0.003, "widths": (8,)},
        {"widths": (2, 4)},  # as it is by default
        {"widths": (8,)},
    ]
    assert found[1][1].step_size == 0.003
    assert found[1][1].widths == (8,)


@pytest.mark.parametrize("axis", ["speed=1", "step_size", "chains=two", "name=x"])
def test_what_is_no_setting_is_refused(axis):
    with pytest.raises(SettingsError, match=axis.partition("=")[0]):
        list(candidates(PRESETS["settled"], [axis]))


def test_the_best_is_chosen_once_it_is_guarded():
    blind, good, better = (
        Candidate("a", 0.97, 2, 0.94),
        Candidate("b", 0.78, 2, 0.96),
        Candidate("c", 0.8, 2, 0.95),
    )
    assert choose([blind, good, better], least=0.95).name == "c"
    assert choose([blind, Candidate("d", 0.99, 2, 0.9)], least=0.95).name == "a"
    assert choose([good, Candidate("e", 0.99, 1, 1.0)]).name == "b"  # measured on less


def test_few_points_are_the_curve():
    random = np.random.default_rng(0)
    inside, outside = random.normal(size=4000), random.normal(1, 1, size=4000)
    roc = roc_points(inside, outside)
    assert len(roc["false"]) <= POINTS
    assert (roc["false"][0], roc["true"][-1]) == (0, 1)
    assert np.trapezoid(roc["true"], roc["false"]) == pytest.approx(auroc(inside, outside), abs=2e-3)
    recall, precision = precision_recall(roc)
    assert np.trapezoid(precision, recall) == pytest.approx(auprc(inside, outside, positive="out"), abs=5e-3)
    # A tenth of positives, as if nine of ten outliers were left out.
    recall, precision = precision_recall(roc, share=1 / 11)
    fewer = auprc(inside, outside[::10], positive="out")
    assert np.trapezoid(precision, recall) == pytest.approx(fewer, abs=0.05)


@pytest.mark.parametrize("logarithmic", [False, True])
def test_bins_hold_nearly_all(logarithmic):
    random = np.random.default_rng(0)
    found = histogram(random.gamma(2, size=1000), random.gamma(9, size=500), logarithmic=logarithmic)
    assert len(found["in"]) == BINS
    assert 990 <= sum(found["in"]) <= 1000
    assert 490 <= sum(found["out"]) <= 500


def test_archives_come_back_and_damaged_ones_are_refused(tmp_path):
    path = tmp_path / "deep" / "run.npz"
    Archive({"test": np.eye(3), "score/a": np.arange(2)}, {"draws": 3, "names": ["x"]}).save(path)
    again = Archive.load(path)
    np.testing.assert_array_equal(again["test"], np.eye(3))
    assert list(again.below("score")) == ["a"]
    assert again.info == {"draws": 3, "names": ["x"]}
    path.write_bytes(path.read_bytes()[:-40])
    with pytest.raises(DataError, match=r"run\.npz is not a readable run"):
        Archive.load(path)
