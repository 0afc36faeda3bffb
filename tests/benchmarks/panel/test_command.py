import json
from functools import partial

import pytest
import typer
from typer.testing import CliRunner

from benchmarks.baselines.detectors import BASELINES
from benchmarks.panel import ablation, records, runner, runs, scores
from benchmarks.panel.command import panel
from benchmarks.panel.scores import FUSIONS, FusedScore
from dissensus.errors import DivergenceError
from dissensus.inputs import MADE_UP
from dissensus.models.vae import likelihood_regret

CHOSEN = ("--inliers", "mnist", "--posterior", "sghmc", "--posterior", "ensemble")
CHEAP = {"fused": FUSIONS["fused-gaussian"]}


@pytest.fixture(autouse=True)
def cheap_fusion(monkeypatch):
    """Mixtures take most of the time here, and have tests of their own."""
    for module in (scores, records):
        monkeypatch.setattr(module, "FUSIONS", CHEAP)


@pytest.fixture
def invoke(tmp_path):
    app = typer.Typer()
    app.command()(panel)

    def call(*arguments, quick=True):
        options = ["--device", "cpu", "--output", str(tmp_path), *(["--quick"] if quick else [])]
        return CliRunner().invoke(app, [*options, *map(str, arguments)])

    return call


@pytest.fixture
def trained(monkeypatch):
    """The posteriors that were really run."""
    made, execute = [], runner.execute

    def remember(keys, *rest, **more):
        made.append(keys[0].configuration.posterior)
        return execute(keys, *rest, **more)

    monkeypatch.setattr(runner, "execute", remember)
    return made


def test_from_nothing_to_tables_and_figures_and_nothing_twice(invoke, tmp_path, trained, monkeypatch):
    measured = invoke(*CHOSEN)
    assert measured.exit_code == 0, measured.output
    assert "Recommended: sghmc, fused (QUICK" in measured.output
    assert trained == ["sghmc", "ensemble"]
    flat = json.loads((tmp_path / "panel.json").read_text())
    assert {row["outliers"] for row in flat} == {"fashion-mnist", "kmnist", "digits", *MADE_UP}
    assert {row["posterior"] for row in flat if row["recommended"]} == {"sghmc"}
    assert {row["score"] for row in flat if row["recommended"]} == {"fused"}
    promised = {"inliers", "outliers", "posterior", "score", "recommended", "seed", "auroc", "kind"}
    assert promised | {"fpr80_in", "fpr95_in", "bh_power"} <= set(flat[0])
    record = json.loads((tmp_path / "records/mnist/sghmc-seed0.json").read_text())
    assert (tmp_path / record["matrix"]).exists()
    assert record["quick"] is True
    assert record["settings"]["sampling"]["chains"] == 2
    assert record["environment"]["versions"]["torch"]
    assert not list(tmp_path.rglob("*.checkpoint"))
    assert invoke(*CHOSEN).exit_code == 0
    assert len(trained) == 2
    # Another way to score needs no other run.
    path, before = tmp_path / "records/mnist/ensemble-seed0.json", record["scoring"]["fusions"]
    monkeypatch.setattr(records, "FUSIONS", {**CHEAP, "other": FusedScore("draws")})
    assert invoke(*CHOSEN, "--seeds", "0").exit_code == 0
    assert set(json.loads(path.read_text())["scoring"]["fusions"]) == {*before, "other"}
    # And a way that is no longer asked for is no reason to score again.
    monkeypatch.setattr(records, "FUSIONS", CHEAP)
    assert invoke(*CHOSEN, "--seeds", "0").exit_code == 0
    assert set(json.loads(path.read_text())["scoring"]["fusions"]) == {*before, "other"}
    assert len(trained) == 2
    assert invoke("--table").exit_code == 0
    assert "mnist → kmnist" in (tmp_path / "panel.md").read_text()
    assert invoke("--figures").exit_code == 0
    drawn = {path.name for path in (tmp_path / "figures").iterdir()}
    assert drawn == {"scores-mnist-sghmc.png", "scores-mnist-ensemble.png", "posteriors.png"}


def test_regret_has_records_of_its_own(invoke, tmp_path, trained, monkeypatch):
    monkeypatch.setattr(runs, "likelihood_regret", partial(likelihood_regret, steps=2, samples=1))
    assert invoke(*CHOSEN[:4]).exit_code == 0
    assert invoke(*CHOSEN[:4], "--regret", 3).exit_code == 0
    assert invoke(*CHOSEN[:4]).exit_code == 0
    assert len(trained) == 2
    record = json.loads((tmp_path / "records/mnist/sghmc-likelihood-regret-seed0.json").read_text())
    assert {(row["score"], row["n_in"], row["n_out"]) for row in record["rows"]} == {
        ("likelihood-regret", 3, 3)
    }
    found = {row["score"] for row in json.loads((tmp_path / "panel.json").read_text())}
    assert {"likelihood-regret", "kl"} <= found


def test_quick_and_full_never_mix(invoke, tmp_path):
    assert invoke(*CHOSEN[:4]).exit_code == 0
    full = invoke(*CHOSEN[:4], quick=False)
    assert full.exit_code == 3
    assert "a quick record in the wrong folder" in " ".join(full.output.split())


def test_selection_writes_its_own_records_and_a_choice(invoke, tmp_path):
    wanted = ("--select", "--inliers", "svhn", "--posterior", "sghmc", "--vary", "samples=1,2")
    result = invoke(*wanted)
    assert result.exit_code == 0, result.output
    names = sorted(path.name for path in (tmp_path / "selection/svhn").iterdir())
    assert names == ["sghmc+samples=1-seed0.json", "sghmc-seed0.json"]  # two are as many as here by default
    record = json.loads((tmp_path / "selection/svhn" / names[0]).read_text())
    assert {row["outliers"] for row in record["rows"]} == set(MADE_UP)
    assert record["changes"] == {"samples": 1}
    chosen = json.loads((tmp_path / "selection.json").read_text())
    assert chosen["chosen"] in chosen["candidates"]
    assert not (tmp_path / "panel.json").exists()
    refused = invoke("--select", "--inliers", "fashion-mnist-heldout")
    assert refused.exit_code == 2
    assert "whole datasets" in refused.output


def test_ablation_changes_one_thing_at_a_time(invoke, tmp_path, trained, monkeypatch):
    kept = ("unchanged", "chains", "z-noise")
    every = ablation.ablations
    monkeypatch.setattr(
        ablation, "ablations", lambda base: {axis: each for axis, each in every(base).items() if axis in kept}
    )
    result = invoke("--ablate", "--inliers", "mnist")
    assert result.exit_code == 0, result.output
    assert trained == ["sghmc"]
    names = {path.stem for path in (tmp_path / "ablation/mnist").iterdir()}
    assert names == {f"{each}-seed0" for each in ("unchanged", "chains-1", "chains-2", "chains-4")} | {
        f"z-noise-{noise}-seed0" for noise in ("shared", "fresh")
    }
    record = json.loads((tmp_path / "ablation/mnist/chains-1-seed0.json").read_text())
    assert (record["axis"], record["value"], record["draws"]) == ("chains", "1", 2)
    text = (tmp_path / "ablation.md").read_text()
    assert "### mnist: which score finds which outliers" in text
    assert text.index("| 1 fused |") < text.index("| 2 fused |")


def test_baselines_are_records_beside_the_others_and_a_table_beside_the_detector(invoke, tmp_path, trained):
    chosen = ("--baselines", "--inliers", "mnist", "--seeds", "0,1")
    measured = invoke(*chosen)
    assert measured.exit_code == 0, measured.output
    assert not trained
    path = tmp_path / "mnist.jsonl"
    before = path.read_bytes()
    assert invoke(*chosen).exit_code == 0
    assert path.read_bytes() == before
    assert invoke(*CHOSEN[:4]).exit_code == 0
    text = (tmp_path / "panel.md").read_text()
    beside = text.partition("### Beside simple baselines (QUICK: not a result)")[2].partition("###")
    assert all(name in beside[0] for name in BASELINES)
    # A baseline is none of the posteriors that are compared, nor one of their scores.
    assert "nearest-neighbour" not in beside[2]
    flat = json.loads((tmp_path / "panel.json").read_text())
    assert {(row["score"], row["seed"]) for row in flat if row["posterior"] == "no model"} == {
        (name, seed) for name in BASELINES for seed in (0, 1)
    }
    full = invoke(*chosen, quick=False)
    assert full.exit_code == 3
    assert "holds quick records" in " ".join(full.output.split())


def test_a_diverged_chain_fails_its_own_record_only(invoke, tmp_path, monkeypatch):
    execute = runner.execute

    def diverge(keys, *rest, **more):
        if keys[0].configuration.posterior == "ensemble":
            raise DivergenceError("chain 0 runs away")
        return execute(keys, *rest, **more)

    monkeypatch.setattr(runner, "execute", diverge)
    result = invoke(*CHOSEN)
    assert result.exit_code == 3
    assert "not measured: mnist, ensemble, seed 0: chain 0 runs away" in " ".join(result.output.split())
    assert [path.name for path in (tmp_path / "records/mnist").iterdir()] == ["sghmc-seed0.json"]


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
