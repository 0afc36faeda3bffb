"""Densities side by side: each is one of grey levels, and the tables say what was measured."""

import itertools
import math

import numpy as np
import pytest
import torch

from benchmarks.densities import measure
from benchmarks.densities.candidates import CANDIDATES, FLOW, make_candidate, setup
from benchmarks.densities.measure import measure_density
from benchmarks.densities.table import ablation, comparison, markdown
from benchmarks.panel.inputs import FITTED_ON, OF_TEST_FILE, Inputs
from benchmarks.panel.sets import EVERY_SET
from benchmarks.records import Record

SIDE = 12
SECTIONS = {**dict.fromkeys(FITTED_ON, 40), "inliers": 24, "svhn": 12, "constant": 12, OF_TEST_FILE: 24}


def made_up(*_, **__):
    random, count = torch.Generator().manual_seed(0), sum(SECTIONS.values())
    pictures = torch.randint(0, 60, (60 + count, 3, 2 * SIDE, 2 * SIDE), generator=random)
    ends = np.cumsum([0, *SECTIONS.values()]).tolist()
    sections = {name: slice(*both) for name, both in zip(SECTIONS, itertools.pairwise(ends), strict=False)}
    pictures[60 + sections["svhn"].start : 60 + sections["svhn"].stop] += 150
    return Inputs(pictures[:60].byte(), pictures[60:].byte(), sections)


@pytest.fixture(scope="module")
def records():
    tiny = {"members": 2, "epochs": 2, "samples": 2}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(measure, "load_inputs", made_up)
        found = {}
        for name in CANDIDATES:
            own = setup(name, "small") | tiny
            found[name] = measure_density(own, "cifar10", "test", 0, "cpu", lambda _: None)
    return [Record(name, 0, {}, each.rows, {}, each.about, environment={}) for name, each in found.items()]


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
    assert [line[2] for line in compared[1:5]] == list(CANDIDATES)
    of_vae, in_turn = (next(line for line in compared if line[2] == name)[3] for name in CANDIDATES[1:3])
    assert of_vae.startswith("≤")
    assert not in_turn.startswith("≤")
    added = ablation(EVERY_SET["cifar10"], records)
    told = {name: {line[2] for line in added if line[1] == name} for name in CANDIDATES}
    assert told[FLOW] == {"with complexity", "with all"}
    own = ("code-fit", "code-dependence", "gradient-norm", "complexity", "all")
    assert told["autoregressive"] == {*(f"with {name}" for name in own), "not led by corrected-ll"}
    assert {"with lowest-gain", "with top-norm"} <= told["deep-vae"]
    assert markdown(added).startswith("| learnt |")


def test_the_flow_s_density_is_one_of_grey_levels():
    """What is told of z, less the logarithms of the scales, is what is told of pixels plus noise."""
    random = torch.Generator().manual_seed(0)
    pictures = torch.randint(0, 256, (500, 1, 2, 2), generator=random).byte()
    rows, _, offset = measure.as_rows(pictures, pictures[:5], 0)
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
