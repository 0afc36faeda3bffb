"""Baselines on the paper's splits."""

from dataclasses import asdict

import numpy as np
import pytest
from rich.console import Console

from benchmarks.baselines.detectors import BASELINES
from benchmarks.baselines.measure import pictures
from benchmarks.paper import baselines
from benchmarks.paper.baselines import measure_paper
from benchmarks.paper.benchmarks import BENCHMARKS, Sizes, load_inputs
from benchmarks.paper.table import table_grids
from benchmarks.records import Record, Records
from dissensus.evaluation import evaluate

TINY = Sizes(training=64, test=12, validation=20, typical=6)

PAIRS = ("01", "23", "45", "67", "89")
NEIGHBOUR = "kNN"


@pytest.fixture(autouse=True)
def tiny_sizes(monkeypatch):
    monkeypatch.setattr(baselines, "QUICK", TINY)


def measure(where, name, seeds):
    records = Records(where, quick=True)
    measure_paper(records, [BENCHMARKS[name]], seeds, console=Console(quiet=True))
    return records.read(name)


@pytest.mark.parametrize("name", ["svhn-vs-cifar10", "fashion-mnist-heldout-23"])
def test_all_metrics_of_every_baseline_on_the_paper_s_images(tmp_path, name):
    found = {each.name: each for each in measure(tmp_path, name, [3])}
    assert set(found) == {f"baseline/{each}" for each in BASELINES}
    inputs = load_inputs(BENCHMARKS[name], TINY, seed=3)
    score = BASELINES["nearest-neighbour"].fit(pictures(inputs.training), seed=3)
    wanted = evaluate(score(pictures(inputs.inliers)), score(pictures(inputs.outliers)))
    (row,) = found["baseline/nearest-neighbour"].rows
    assert row["n_in"] == row["n_out"] == 12
    for metric, value in asdict(wanted).items():
        np.testing.assert_allclose(row[metric], value, atol=1e-5)
    assert found["baseline/image-statistics"].about["learnt_from"] == TINY.validation
    assert found["baseline/gaussian-mixture"].about["learnt_from"] == TINY.training


def test_nothing_is_measured_twice(tmp_path, monkeypatch):
    before = measure(tmp_path, "fashion-mnist-vs-mnist", [0])
    monkeypatch.delattr(baselines, "load_inputs")
    assert measure(tmp_path, "fashion-mnist-vs-mnist", [0]) == before


def test_tables_have_means_over_seeds_and_over_a_group_s_members(tmp_path):
    records = Records(tmp_path)

    def add(group, seed, auroc):
        row = {"auroc": auroc, "auprc_out": auroc, "fpr80_out": 1 - auroc}
        records.add(group, Record("baseline/nearest-neighbour", seed, {}, [row], {}))

    add("svhn-vs-cifar10", 0, 0.8)
    add("svhn-vs-cifar10", 1, 0.9)
    for number, pair in enumerate(PAIRS):
        add(f"fashion-mnist-heldout-{pair}", 0, 0.5 + number / 10)
    add("fashion-mnist-heldout-01", 1, 0.1)  # the other members have no such seed
    assert table_grids(records) == []  # without a method there is nothing to stand beside
    row = {"auroc": 0.75, "auprc_out": 0.75, "fpr80_out": 0.25}
    for group in ("svhn-vs-cifar10", *(f"fashion-mnist-heldout-{pair}" for pair in PAIRS)):
        records.add(group, Record("settled/LL", 0, {}, [row], {}))
    svhn, held_out = table_grids(records)
    blank = ("", "")
    assert svhn.lines[2][:3] == ("LL", ".750", ".574")
    assert svhn.lines[-1] == (NEIGHBOUR, ".850±.071", *blank, ".850±.071", *blank, ".150±.071", *blank)
    assert held_out.lines[-1] == (NEIGHBOUR, ".700", *blank, ".700", *blank, ".300", *blank)
