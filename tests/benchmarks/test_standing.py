"""Where we stand: the hardest simple baseline stands beside ours, and what is lost is seen."""

import math

import pytest

from benchmarks.standing import lines as module
from benchmarks.standing import numbers
from benchmarks.standing.figure import LOST, WON, draw_standing
from benchmarks.standing.lines import standing_lines


@pytest.fixture
def told(monkeypatch):
    """Numbers by name; what is not given is not measured."""
    values = {
        "panel.fashion-mnist-to-mnist.dissensus.auroc": 0.9,
        "panel.fashion-mnist-to-mnist.neighbours.auroc": 0.7,
        "panel.fashion-mnist-to-mnist.forest.auroc": 0.8,
        "tables.tables.sets": 3.0,
        "tables.tables.detector.auroc": 0.6,
        "tables.tables.knn.auroc": 0.75,
    }
    monkeypatch.setattr(module, "find_number", lambda name, _: values.get(name, math.nan))
    return values


def test_the_best_of_the_simple_ones_is_what_ours_is_beside(told, tmp_path):
    first, second = standing_lines(tmp_path)
    assert (first.ours, first.baseline.value, first.baseline.name) == (0.9, 0.8, "isolation forest")
    assert first.published is not None
    assert (second.title, second.ours, second.baseline.value) == ("mean of 3 tables", 0.6, 0.75)
    assert second.published is None


def test_a_loss_is_drawn_in_another_colour_and_is_not_bold(told, tmp_path):
    axes = draw_standing(list(standing_lines(tmp_path))).axes[0]
    signs = {note.get_text(): note.get_color() for note in axes.texts if note.get_text()[0] in "+−"}
    assert signs == {"+.100": WON, "−.150": LOST}
    first, second = numbers.TABLES["all"](tmp_path).splitlines()[2:]
    assert "**.900**" in first
    assert "| .600 |" in second
