"""Hypotheses about the likelihood ratio, each with what would falsify it."""

import math

import pytest
import torch
from rich.console import Console

from benchmarks.paper import ratio_runs
from benchmarks.paper.benchmarks import BENCHMARKS
from benchmarks.paper.ratio import ASKED, forms, ratio_grids, ratio_tasks
from benchmarks.paper.ratio_runs import DecayedAdam, perfect_ratio
from benchmarks.records import Record, Records
from benchmarks.runner import measure
from dissensus.posterior import Adam
from dissensus.posterior.potential import Potential


def test_ratio_of_perfect_models_is_what_two_reconstructions_differ_by():
    images = torch.tensor([0, 255, 51, 128], dtype=torch.uint8).view(1, 1, 2, 2)
    wanted = 0.0
    for x in (0.0, 1.0, 0.2, 128 / 255):
        shrunk = 0.8 * x + 0.1
        wanted += sum(p * math.log(p / q) for p, q in ((x, shrunk), (1 - x, 1 - shrunk)) if p)
    assert perfect_ratio(images, 0.2) == pytest.approx([wanted], rel=1e-5)
    assert perfect_ratio(images, 0.0) == pytest.approx([0.0], abs=1e-6)


def test_decay_adds_the_penalty_s_gradient():
    weights, potential = torch.tensor([1.0, -2.0]), Potential(100, 4)
    plain, decayed = torch.tensor([4.0, 8.0]), torch.tensor([4.0, 8.0])
    Adam().scale_(None, weights, plain, torch.zeros(2), potential)
    DecayedAdam(weight_decay=0.5).scale_(None, weights, decayed, torch.zeros(2), potential)
    torch.testing.assert_close(decayed, plain + 0.5 * weights)


@pytest.fixture
def measured(tmp_path, monkeypatch):
    monkeypatch.setattr(ratio_runs, "MADE_UP_EACH", 5)
    records = Records(tmp_path / "records", quick=True)
    tasks = ratio_tasks([BENCHMARKS[ASKED[0]]], [0], quick=True)
    device = torch.device("cpu")
    assert measure(records, tasks, cache=tmp_path, device=device, console=Console(quiet=True)) == []
    return records


def test_every_form_is_reported_and_dimensions_change_no_rank(measured):
    (record,) = measured.read("likelihood-ratio")
    assert [row["form"] for row in record.rows] == [form.name for form in forms(BENCHMARKS[ASKED[0]])]
    found = {(row["hypothesis"], row["form"]): row for row in record.rows}
    base = record.rows[0]
    assert base["closed"] == 0
    scaled = found["normalisation", "by the number of dimensions"]
    assert (scaled["auroc"], scaled["made_up"]) == (base["auroc"], base["made_up"])
    assert found["mutation rate", "rate=0.2"]["auroc"] == base["auroc"]
    assert -1 <= record.about["rank_correlation_with_contrast"] <= 1
    assert len(ratio_grids(measured)) == 1


def test_the_form_that_made_up_outliers_choose_decides(tmp_path):
    rows = [
        {"hypothesis": "as in the table", "form": "rate=0.2", "auroc": 0.2, "made_up": 0.5, "closed": 0.0},
        {"hypothesis": "mutation rate", "form": "rate=0.1", "auroc": 0.6, "made_up": 0.5, "closed": 0.95},
        {"hypothesis": "mutation rate", "form": "rate=0.3", "auroc": 0.3, "made_up": 0.7, "closed": 0.24},
        {"hypothesis": "observation model", "form": "other", "auroc": 0.5, "made_up": 0.2, "closed": 0.71},
    ]
    records = Records(tmp_path)
    records.add("likelihood-ratio", Record(ASKED[0], 0, {}, rows, {}))
    (grid,) = ratio_grids(records)
    assert [line[-1] for line in grid.lines] == ["", "", "falsified", "stands"]
