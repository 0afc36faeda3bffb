from functools import partial

import pytest
from typer.testing import CliRunner

from benchmarks.__main__ import app
from benchmarks.baselines.detectors import BASELINES
from benchmarks.panel import ablation, baselines, runs, scores, tasks
from benchmarks.panel.runs import PanelRun
from benchmarks.panel.scores import FUSIONS, FusedScore
from benchmarks.records import Records
from dissensus.errors import DivergenceError
from dissensus.inputs import MADE_UP
from dissensus.models.vae import likelihood_regret

CHOSEN = ("--inliers", "mnist", "--posterior", "sghmc", "--posterior", "ensemble")
CHEAP = {"fused": FUSIONS["fused-gaussian"]}


@pytest.fixture(autouse=True)
def cheap_fusion(monkeypatch):
    """Mixtures take most of the time here, and have tests of their own."""
    for module in (scores, tasks):
        monkeypatch.setattr(module, "FUSIONS", CHEAP)


@pytest.fixture
def invoke(tmp_path):
    def call(*arguments, quick=True):
        places = ["--output", str(tmp_path), "--cache", str(tmp_path / "cache"), "--device", "cpu"]
        options = ["panel", *places, *(["--quick"] if quick else [])]
        return CliRunner().invoke(app, [*options, *map(str, arguments)])

    return call


@pytest.fixture
def read(tmp_path):
    return lambda group: {(each.name, each.seed): each for each in Records(tmp_path, quick=True).read(group)}


@pytest.fixture
def trained(monkeypatch):
    """The posteriors that were really run."""
    made, make = [], PanelRun.make

    def remember(own, *rest):
        made.append(own[0].configuration.posterior)
        return make(own, *rest)

    monkeypatch.setattr(PanelRun, "make", staticmethod(remember))
    return made


def test_from_nothing_to_tables_and_figures_and_nothing_twice(invoke, read, tmp_path, trained, monkeypatch):
    measured = invoke(*CHOSEN)
    assert measured.exit_code == 0, measured.output
    assert "Recommended: sghmc, fused (QUICK" in measured.output
    assert trained == ["sghmc", "ensemble"]
    record = read("mnist")["sghmc", 0]
    assert {row["outliers"] for row in record.rows} == {"fashion-mnist", "kmnist", "digits", *MADE_UP}
    assert {"fused", "kl", "code-length"} <= {row["score"] for row in record.rows}
    assert record.quick is True
    assert record.settings["sampling"]["chains"] == 2
    assert record.about["runs"]["run"]["diagnostics"]["noise_floor"] > 0
    assert not list(tmp_path.rglob("*.checkpoint"))
    assert "mnist → kmnist" in (tmp_path / "panel.md").read_text()
    before = (tmp_path / "mnist.jsonl").stat().st_mtime_ns
    assert invoke(*CHOSEN).exit_code == 0
    assert (tmp_path / "mnist.jsonl").stat().st_mtime_ns == before
    # Another way to score needs no other run.
    for module in (scores, tasks):
        monkeypatch.setattr(module, "FUSIONS", {**CHEAP, "other": FusedScore("draws", "gaussian")})
        monkeypatch.setattr(module, "PANEL_SCORES", (*scores.PANEL_SCORES, "other"))
    assert invoke(*CHOSEN).exit_code == 0
    assert "other" in {row["score"] for row in read("mnist")["ensemble", 0].rows}
    assert len(trained) == 2
    assert invoke("--table").exit_code == 0
    assert invoke("--figures").exit_code == 0
    drawn = {path.name for path in (tmp_path / "figures").iterdir()}
    assert drawn == {"scores-mnist.png", "posteriors.png"}


def test_regret_has_records_of_its_own(invoke, read, trained, monkeypatch):
    monkeypatch.setattr(runs, "likelihood_regret", partial(likelihood_regret, steps=2, samples=1))
    assert invoke(*CHOSEN[:4]).exit_code == 0
    assert invoke(*CHOSEN[:4], "--regret", 3).exit_code == 0
    assert invoke(*CHOSEN[:4]).exit_code == 0
    assert len(trained) == 2
    record = read("mnist")["sghmc/likelihood-regret", 0]
    assert {(row["score"], row["n_in"], row["n_out"]) for row in record.rows} == {("likelihood-regret", 3, 3)}


def test_quick_and_full_never_mix(invoke):
    assert invoke(*CHOSEN[:4]).exit_code == 0
    full = invoke(*CHOSEN[:4], quick=False)
    assert full.exit_code == 2
    assert "holds quick records" in " ".join(full.output.split())


def test_selection_has_records_of_its_own_and_a_choice(invoke, read, tmp_path):
    wanted = ("--select", "--inliers", "svhn", "--posterior", "sghmc", "--vary", "samples=1,2")
    result = invoke(*wanted)
    assert result.exit_code == 0, result.output
    found = read("selection-svhn")
    assert set(found) == {("sghmc+samples=1", 0), ("sghmc", 0)}  # two are as many as here by default
    assert {row["outliers"] for row in found["sghmc", 0].rows} == set(MADE_UP)
    assert found["sghmc", 0].settings["purpose"] == "selection"
    assert "; chosen: sghmc" in (tmp_path / "selection.md").read_text()
    assert not (tmp_path / "panel.md").exists()
    refused = invoke("--select", "--inliers", "fashion-mnist-heldout")
    assert refused.exit_code == 2
    assert "whole datasets" in refused.output


def test_ablation_changes_one_thing_at_a_time(invoke, read, tmp_path, trained, monkeypatch):
    kept = ("unchanged", "chains", "z-noise")
    every = ablation.ablations
    monkeypatch.setattr(
        ablation, "ablations", lambda base: {axis: each for axis, each in every(base).items() if axis in kept}
    )
    result = invoke("--ablate", "--inliers", "mnist")
    assert result.exit_code == 0, result.output
    assert trained == ["sghmc"]
    found = read("ablation-mnist")
    names = ("unchanged", "chains=1", "chains=2", "chains=4", "z-noise=shared", "z-noise=fresh")
    assert set(found) == {(name, 0) for name in names}
    assert found["chains=1", 0].about["runs"]["run"]["draws"] == 2
    text = (tmp_path / "ablation.md").read_text()
    assert "### mnist: which score finds which outliers" in text
    assert text.index("| 1 fused |") < text.index("| 2 fused |")


def test_baselines_are_records_beside_the_others_and_a_table_beside_the_detector(
    invoke, read, tmp_path, trained
):
    chosen = ("--baselines", "--inliers", "mnist", "--seeds", "0,1")
    measured = invoke(*chosen)
    assert measured.exit_code == 0, measured.output
    assert not trained
    assert set(read("mnist")) == {(f"baseline/{name}", seed) for name in BASELINES for seed in (0, 1)}
    before = (tmp_path / "mnist.jsonl").stat().st_mtime_ns
    assert invoke(*chosen).exit_code == 0
    assert (tmp_path / "mnist.jsonl").stat().st_mtime_ns == before
    assert invoke(*CHOSEN[:4]).exit_code == 0
    text = (tmp_path / "panel.md").read_text()
    beside = text.partition("### Beside simple baselines (QUICK: not a result)")[2].partition("###")[0]
    assert all(name in beside for name in BASELINES)


def test_the_baselines_candidates_have_a_table_of_their_own(invoke, tmp_path, monkeypatch):
    few = {"nearest-neighbour": baselines.CANDIDATES["nearest-neighbour"]}
    monkeypatch.setattr(baselines, "CANDIDATES", few)
    result = invoke("--baselines", "--select", "--inliers", "mnist")
    assert result.exit_code == 0, result.output
    assert "| nearest-neighbour |" in (tmp_path / "baseline-selection.md").read_text()
    assert not (tmp_path / "mnist.jsonl").exists()


def test_a_diverged_chain_fails_its_own_record_only(invoke, read, monkeypatch):
    make = PanelRun.make

    def diverge(own, *rest):
        if own[0].configuration.posterior == "ensemble":
            raise DivergenceError("chain 0 runs away")
        return make(own, *rest)

    monkeypatch.setattr(PanelRun, "make", staticmethod(diverge))
    result = invoke(*CHOSEN)
    assert result.exit_code == 3
    assert "not measured: mnist, ensemble, seed 0: chain 0 runs away" in " ".join(result.output.split())
    assert set(read("mnist")) == {("sghmc", 0)}


@pytest.mark.parametrize(
    ("wrong", "says"),
    [
        (("--inliers", "imagenet"), "no in-distribution set"),
        (("--posterior", "laplace"), "no posterior"),
        (("--seeds", "one"), "whole numbers"),
        (("--vary", "chains=2"), "--vary is for --select"),
        (("--select", "--ablate"), "a measurement of its own"),
        (("--ablate", "--baselines"), "a measurement of its own"),
        (("--baselines", "--posterior", "swag"), "--baselines have no posterior"),
        (("--select", "--vary", "nonsense=2"), "not a setting"),
    ],
)
def test_wrong_calls_fail_before_any_work(invoke, wrong, says):
    result = invoke(*wrong)
    assert result.exit_code == 2
    assert says in " ".join(result.output.replace("│", " ").split())


def test_without_records_it_says_what_to_do(invoke):
    assert "run the benchmark first" in " ".join(invoke("--table").output.split())
