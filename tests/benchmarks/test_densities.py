"""Densities side by side: each is one of grey levels, and the tables say what was measured."""

import itertools
import math
from dataclasses import replace

import numpy as np
import pytest
import torch
from rich.console import Console

from benchmarks.archive import Archive
from benchmarks.densities import runs
from benchmarks.densities.candidates import CANDIDATES, FLOW, make_candidate, setup
from benchmarks.densities.table import ablation, comparison, markdown
from benchmarks.densities.tasks import density_tasks
from benchmarks.panel.inputs import FITTED_ON, MADE_UP_TO_LEARN, OF_TEST_FILE, Inputs
from benchmarks.panel.sets import EVERY_SET
from benchmarks.records import Records
from benchmarks.runner import measure
from dissensus.errors import DataError

SIDE = 12
LEARNT_FROM = MADE_UP_TO_LEARN + "constant"
SECTIONS = {
    **dict.fromkeys(FITTED_ON, 40),
    "inliers": 24,
    "svhn": 12,
    "constant": 12,
    OF_TEST_FILE: 24,
    LEARNT_FROM: 12,
}


def made_up(*_, **__):
    random, count = torch.Generator().manual_seed(0), sum(SECTIONS.values())
    pictures = torch.randint(0, 60, (60 + count, 3, 2 * SIDE, 2 * SIDE), generator=random)
    ends = np.cumsum([0, *SECTIONS.values()]).tolist()
    sections = {name: slice(*both) for name, both in zip(SECTIONS, itertools.pairwise(ends), strict=False)}
    pictures[60 + sections["svhn"].start : 60 + sections["svhn"].stop] += 150
    return Inputs(pictures[:60].byte(), pictures[60:].byte(), sections)


def tasks():
    """Of a record for each density, trained hardly at all."""
    for task in density_tasks([EVERY_SET["cifar10"]], CANDIDATES, "small", "test", [0]):
        density = task.runs["density"]
        tiny = replace(density, own=density.own | {"members": 2, "epochs": 2, "samples": 2})
        yield replace(task, settings=tiny.settings, runs={**task.runs, "density": tiny})


@pytest.fixture(scope="module")
def measured(tmp_path_factory):
    """The folder of records, and that of what they are made from."""
    folder = tmp_path_factory.mktemp("densities")
    where = {"cache": folder / "cache", "device": torch.device("cpu"), "console": Console(quiet=True)}
    found = Records(folder / "records")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(runs, "load_inputs", made_up)
        # First what needs a GPU at full size, then the rest.
        assert measure(found, list(tasks()), leave=lambda run: runs.called(run) in CANDIDATES, **where) == []
        assert found.groups() == []
        assert measure(found, list(tasks()), **where) == []
    return found, where


@pytest.fixture(scope="module")
def records(measured):
    return measured[0].read("cifar10-small")


def test_records_are_made_again_without_pictures_or_densities(measured, monkeypatch, tmp_path):
    monkeypatch.delattr(runs, "load_inputs")
    found, where = measured
    again = Records(tmp_path)
    assert measure(again, list(tasks()), anew=True, **where) == []
    assert [each.rows for each in again.read("cifar10-small")] == [
        each.rows for each in found.read("cifar10-small")
    ]


def test_runs_of_other_pictures_make_no_record(measured, tmp_path):
    _, where = measured
    task = next(tasks())
    for run in task.runs.values():
        path = where["cache"] / f"{run.name}.npz"
        kept = Archive.load(path)
        changed = {"pictures": "others"} if run is task.runs["pictures"] else {}
        Archive(kept.arrays, {**kept.info, **changed}).save(tmp_path / path.name)
    with pytest.raises(DataError, match="cifar10, seed 0, are of different pictures"):
        measure(Records(tmp_path / "records"), [task], **{**where, "cache": tmp_path})


def test_every_density_has_all_scores_and_the_baselines(records):
    for record in records:
        names = {row["score"] for row in record.rows}
        assert {"ess", "kl", "whitened", "mixture-ll", "fused", "nearest neighbour", "code-length"} <= names
        assert {row["outliers"] for row in record.rows} == {"svhn", "constant"}
        assert all({"auroc", "bh_power", "bh_false"} <= set(row) for row in record.rows)
        assert 0 < record.about["bits"]["together"] <= record.about["bits"]["one"] < 30


def test_tables_have_a_line_for_each(records):
    compared = comparison(EVERY_SET["cifar10"], records)
    assert len({len(line) for line in compared}) == 1
    assert {line[2] for line in compared[1:5]} == set(CANDIDATES)
    of_vae, in_turn = (next(line for line in compared if line[2] == name)[3] for name in CANDIDATES[1:3])
    assert of_vae.startswith("≤")
    assert not in_turn.startswith("≤")
    added = ablation(EVERY_SET["cifar10"], records)
    told = {name: {line[2] for line in added if line[1] == name} for name in CANDIDATES}
    assert told[FLOW] == {"with complexity", "with all"}
    own = ("code-fit", "code-dependence", "gradient-norm", "complexity", "all")
    assert told["autoregressive"] == {*(f"with {name}" for name in own), "led by corrected-ll too"}
    assert {"with lowest-gain", "with top-norm"} <= told["deep-vae"]
    assert markdown(added).startswith("| learnt |")


def test_the_flow_s_density_is_one_of_grey_levels():
    """What is told of z, less the logarithms of the scales, is what is told of pixels plus noise."""
    random = torch.Generator().manual_seed(0)
    pictures = torch.randint(0, 256, (500, 1, 2, 2), generator=random).byte()
    rows, _, offset = runs.as_rows(pictures, pictures[:5], 0)
    assert rows.mean(0).abs().max() < 1e-4
    # Uniform pixels: the density of z is about 1/(256/σ) each, and that of grey levels 1/256.
    scale = torch.exp(torch.tensor(-offset / 4))
    assert float(offset + 4 * math.log(scale / 256)) == pytest.approx(-4 * math.log(256), rel=1e-6)
    assert float(scale) == pytest.approx(256 / 12**0.5, rel=0.05)


@pytest.mark.parametrize("name", CANDIDATES)
def test_a_start_is_the_seed_s(name):
    own = setup(name, "small")
    one, two, other = (make_candidate(own, (3, 16, 16), seed) for seed in (1, 1, 2))
    same = [torch.equal(a, b) for a, b in zip(one.parameters(), two.parameters(), strict=True)]
    assert all(same)
    assert any(not torch.equal(a, b) for a, b in zip(one.parameters(), other.parameters(), strict=True))
