"""The benchmark measures what it says: the straightforward way is the same method, records become a table."""

import itertools
import json
import math
import os
import subprocess
import sys
import warnings
from pathlib import Path

import numpy as np
import pytest
import torch
from rich.console import Console
from typer.testing import CliRunner

from benchmarks.__main__ import app
from benchmarks.pieces import measure_missing
from benchmarks.records import Record, Records
from benchmarks.speed import peers, rivals
from benchmarks.speed.beside_anomalib import measure_anomalib
from benchmarks.speed.comparison import faster, more
from benchmarks.speed.end_to_end import measure_end_to_end
from benchmarks.speed.figures import draw_all
from benchmarks.speed.growth import slope
from benchmarks.speed.paper_table import measure_table, measure_table_row
from benchmarks.speed.parts import PARTS, find_parts
from benchmarks.speed.records import pieces
from benchmarks.speed.same_bits import measure_same_bits
from benchmarks.speed.sizes import find_sizes
from benchmarks.speed.straightforward import ScaleAdaptedSGHMC, Training, score
from benchmarks.speed.subject import (
    conv_vae,
    copied_draws,
    default_vae,
    dense,
    images,
    plain_conv,
    plain_default,
    plain_dense,
    random_draws,
)
from benchmarks.speed.table import comparisons, markdown
from benchmarks.speed.training import our_epochs
from benchmarks.speed.training_bound import measure_training_bound
from benchmarks.speed.trajectory import measure_trajectory
from benchmarks.speed.worker import Worker
from dissensus.errors import DissensusError, SettingsError
from dissensus.likelihood import log_likelihoods
from dissensus.models import VAE, build_vae
from dissensus.models.inputs import unit_scale
from dissensus.posterior import SGHMC
from dissensus.posterior.engines import EagerEngine
from dissensus.seeding import torch_stream
from tests import warm_python

CPU = torch.device("cpu")


def tiny_vae():
    random = torch.Generator().manual_seed(0)
    return build_vae((1, 28, 28), latent_size=2, widths=(2,), hidden=4, generator=random)


@pytest.mark.parametrize(
    ("ours", "plain"), [(conv_vae, plain_conv), (default_vae, plain_default), (dense, plain_dense)]
)
def test_the_networks_are_equal(ours, plain):
    shapes = [[tuple(p.shape) for p in network().parameters()] for network in (ours, plain)]
    assert shapes[0] == shapes[1]


@pytest.mark.parametrize("repeat", [True, False])
def test_both_score_the_same_likelihoods(repeat, monkeypatch):
    """From the same noise."""
    vae, data, K = conv_vae(), images(6), 8
    draws = random_draws(vae, 2)
    ours = log_likelihoods(vae, draws, data, samples=K)
    noise = torch.randn(K, vae.latent_size, generator=torch_stream(0, "scoring noise"))
    one_by_one = itertools.cycle(noise)

    def same_noise(mean):
        return noise.repeat(len(mean) // K, 1) if repeat else next(one_by_one).expand_as(mean)

    monkeypatch.setattr(torch, "randn_like", same_noise)
    theirs = score(
        plain_conv(),
        copied_draws(draws),
        unit_scale(data),
        samples=K,
        batch_size=4,
        device=CPU,
        repeat=repeat,
    )
    np.testing.assert_allclose(theirs.numpy(), ours.values, rtol=0, atol=2e-3)
    assert np.ptp(ours.values) > 1


def test_the_sampler_is_ours():
    """The same step from the same gradient, noise and precision."""
    torch.manual_seed(3)
    start, gradients = torch.randn(50), torch.randn(3, 50)
    parameter = torch.nn.Parameter(start.clone())
    sampler = ScaleAdaptedSGHMC(iter([parameter]), N=10)
    sampler.state[parameter]["precision"] = 2.0
    rule = SGHMC()
    weights = start.clone()
    state = rule.init(weights)
    for number, gradient in enumerate(gradients):
        torch.manual_seed(number)
        noise = torch.randn(50)
        rule.step_(state, weights, 10 * gradient + 2 * weights, noise, adapt=True)
        torch.manual_seed(number)
        parameter.grad = gradient.clone()
        sampler.step()
    torch.testing.assert_close(parameter.detach(), weights, rtol=1e-5, atol=1e-6)


def test_both_learn():
    data = images(256)
    training = Training(plain_dense(), unit_scale(data).flatten(1), batch_size=64, device=CPU)
    losses = [training.epoch() for _ in range(4)]
    assert losses[-1] < losses[0]
    calls = []
    times = our_epochs(dense(), data.flatten(1), batch_size=64, rounds=2, between=lambda: calls.append(0))
    assert len(times.whole) == len(times.steps) == 2
    assert len(calls) == 3
    assert all(whole >= steps > 0 for whole, steps in zip(times.whole, times.steps, strict=True))


def test_ratios_are_above_one_where_ours_is_better():
    assert faster("t", 1.0, 3.0, "x").ratio == more("r", 3.0, 1.0, "x", "1/s").ratio == 3.0


def test_a_slope_is_the_exponent():
    values = [2, 4, 8, 16]
    assert slope(values, [7.0 * value**1.5 for value in values]) == pytest.approx(1.5)
    assert slope(values, [5.0] * 4) == pytest.approx(0, abs=1e-12)


@pytest.mark.parametrize("samples", [8, 32])
def test_the_bound_decodes_all_samples_of_all_images_and_nothing_else(monkeypatch, samples):
    rows, decode = [], VAE.decode
    monkeypatch.setattr(VAE, "decode", lambda self, z: rows.append(len(z)) or decode(self, z))
    monkeypatch.setattr(rivals, "seconds", lambda work, _device: work() or 0.5)
    sizes = find_sizes("cpu", quick=True)
    rate = rivals._decoder_alone(samples, sizes, torch.device("cpu"))
    decoded = sum(rows) / (1 + sizes.rounds)  # once to warm up
    assert rate * 0.5 * samples == decoded
    assert decoded == pytest.approx(rivals.OUR_LIKELIHOODS * samples, rel=0.5)  # whole tiles for each core


def part(name, hardware, comparisons=(), **about):
    return Record(name, None, {"hardware": hardware}, [one.to_dict() for one in comparisons], {}, about)


def test_a_part_is_measured_once_for_its_settings_and_hardware(tmp_path, monkeypatch):
    calls, sizes, log = [], find_sizes("cpu", quick=True), Console(quiet=True)

    def measure(*given):
        calls.append(given)
        return {"comparisons": [faster("a", len(calls), 4.0, "other", "ms").to_dict()], "notes": ["n"]}

    monkeypatch.setitem(PARTS, "startup", measure)
    records = Records(tmp_path, quick=True)
    for again in (False, False, True):
        measure_missing(records, pieces(["startup"], sizes, CPU, data="d"), log, again=again)
    assert calls == [(sizes, CPU)] * 2
    monkeypatch.setattr(torch.cuda, "get_device_name", lambda _=None: "a GPU")
    measure_missing(records, pieces(["startup"], sizes, torch.device("cuda"), data="d"), log)
    (own,), (gpu,) = records.read("cpu"), records.read("cuda")
    assert [row["ours"] for row in (*own.rows, *gpu.rows)] == [2, 3]
    assert own.settings["hardware"].endswith("cores")
    assert own.settings["base_draws"] == sizes.base_draws
    assert own.about == {"notes": ["n"]}
    assert gpu.settings["hardware"] == gpu.environment["gpu"] == "a GPU"


def test_the_table_has_every_comparison_with_its_hardware():
    records = [
        part("startup", "a CPU", [faster("b", 2.0, 4.0, "other", "ms")]),
        part("decoding", "a GPU", [faster("c", 8.0, 4.0, "other", "ms")]),
    ]
    assert [row["part"] for row in comparisons(records)] == ["startup", "decoding"]
    text = markdown(records)
    assert "| b | 2 | 4 | ms | 2.00 | other | a CPU |" in text
    assert "| c | 8 | 4 | ms | 0.50 | other | a GPU |" in text


def test_the_table_has_the_accuracy_of_every_path():
    found = [
        {"observation": model, "path": path, "largest_difference": difference}
        for model, path, difference in (("bernoulli", "fast", 0.021), ("bernoulli", "eager", 3.4e-5))
    ]
    text = markdown([part("accuracy", "a CPU", differences=found), part("startup", "a GPU")])
    assert "nats, a CPU:" in text
    assert "a GPU" not in text
    assert "|  | fast | eager |\n| --- | --- | --- |\n| bernoulli | 0.02 | 3e-05 |" in text


def test_decisions_from_the_host_to_verdicts_are_timed_by_effort():
    """A little of it on a CPU: the part itself is a GPU's."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = measure_end_to_end(find_sizes("cpu", quick=True), CPU)
    lines = found["comparisons"]
    assert [line["name"].rsplit(" ", 1)[1] for line in lines] == ["fast", "standard"]
    assert all(line["ours"] > 0 and line["other"] == 100_000 for line in lines)
    assert set(found["seconds"]) == {"fast", "standard"}
    assert all(min(parts.values()) > 0 and len(parts) == 3 for parts in found["seconds"].values())


def test_the_layers_alone_are_timed_beside_a_whole_step():
    """They are all of the network's, and each is asked for the gradients that a step asks it for."""
    found = measure_training_bound(find_sizes("cpu", quick=True), CPU)
    assert set(found["seconds"]) == {"ours", "straightforward", "layers alone"}
    assert all(value > 0 for value in found["seconds"].values())
    assert len(found["comparisons"]) == 2


def test_parts_by_name_and_device():
    gpu_alone = ("end-to-end", "table-row", "whole-table")
    assert find_parts([], "cpu") == [name for name in PARTS if name not in gpu_alone]
    assert find_parts([], "cuda") == [
        "training",
        "decoding",
        "growth",
        "accuracy",
        "trajectory",
        "end-to-end",
        "table-row",
        "whole-table",
    ]
    assert find_parts(["growth", "training"], "cpu") == ["training", "growth"]
    with pytest.raises(SettingsError, match="no part"):
        find_parts(["nothing"], "cpu")
    with pytest.raises(SettingsError, match="use --device cpu"):
        find_parts(["single"], "cuda")
    with pytest.raises(SettingsError, match="use --device cuda"):
        find_parts(["table-row"], "cpu")
    assert find_parts(["training"], "mps") == ["training"]
    for device in ("cpu", "cuda"):
        whole, quick = (find_sizes(device, quick=quick) for quick in (False, True))
        assert set(whole.compared_chains) <= set(whole.chains)
        assert set(quick.compared_chains) <= set(quick.chains)


def test_tiles_and_one_a_call_are_timed_for_many_inputs_and_for_one():
    found = measure_same_bits(find_sizes("cpu", quick=True), CPU)
    assert [one["input"] for one in found["measured"]] == ["row", "picture"]
    pairs = zip(found["comparisons"][::2], found["comparisons"][1::2], strict=True)
    for one, (many, alone) in zip(found["measured"], pairs, strict=True):
        assert one["inputs"] >= one["tile"]
        assert many["ratio"] == pytest.approx(one["one_a_call_over_tiles"])
        assert alone["ratio"] == pytest.approx(1 / one["padded_over_unpadded"])


def test_trajectories_are_told_apart(monkeypatch):
    """Engines that are off by a factor after each epoch; the real ones have tests of their own."""
    monkeypatch.setattr("benchmarks.speed.trajectory.IMAGES", 96)
    monkeypatch.setattr("benchmarks.speed.trajectory.BATCH_SIZE", 48)
    monkeypatch.setattr("benchmarks.speed.trajectory.conv_vae", tiny_vae)
    found = {}
    for factor in (1.0, 1 + 1e-5, 1.01, math.nan):

        class Off(EagerEngine):
            def run_epoch(self, epoch, factor=factor):
                trace = super().run_epoch(epoch)
                list(self.chains[-1].tensors().values())[-1].mul_(factor)
                return trace

        monkeypatch.setattr("benchmarks.speed.trajectory.engine_for", Off)
        rows = measure_trajectory(find_sizes("cpu", quick=True), CPU)["trajectories"]
        assert {(row["variant"], row["steps"]) for row in rows} == {(v, n) for v in "12" for n in (2, 4)}
        assert {(row["engine"], row["chains"]) for row in rows} == {("Off", 2)}
        found[factor] = rows[0]["largest_relative_distance"]
    assert found.pop(1.0) == 0
    assert math.isnan(found.pop(math.nan))
    assert found == {factor: pytest.approx(factor - 1, rel=0.1) for factor in found}


@pytest.mark.parametrize(
    ("measure", "options", "goal"),
    [
        (measure_table_row, ["--benchmark", "fashion-mnist-vs-mnist", "--preset", "settled"], 60),
        (measure_table, [], 600),
    ],
)
def test_the_paper_s_table_is_timed_as_a_person_would_run_it(monkeypatch, measure, options, goal):

    def run(command, **_):
        records = Records(Path(command[command.index("--output") + 1]), quick=True)
        records.add("fashion", Record("vaes", 0, {}, [], {"training": 1.5}, environment={}, quick=True))
        assert command[command.index("--cache") + 1].startswith(str(records.folder))
        asked = command[2 : command.index("--seeds") + 2]
        assert asked == ["benchmarks", "paper", *options, "--seeds", "0"]
        assert "--quick" in command
        return subprocess.CompletedProcess(command, 0, "", "")

    monkeypatch.setattr("benchmarks.speed.paper_table.subprocess.run", run)
    found = measure(find_sizes("cpu", quick=True), CPU)
    assert found["runs"] == {"fashion, vaes": {"training": 1.5}}
    assert found["comparisons"][0]["other"] == goal


def test_a_row_that_cannot_be_measured_says_why(monkeypatch):
    monkeypatch.setattr("benchmarks.speed.paper_table.ROW", "no-such-benchmark")
    monkeypatch.setattr("benchmarks.speed.paper_table.subprocess", warm_python)
    with pytest.raises(DissensusError, match="no-such-benchmark"):
        measure_table_row(find_sizes("cpu", quick=True), CPU)


def test_the_command_measures_draws_and_prints(tmp_path):
    arguments = ["speed", "--quick", "--device", "cpu", "--output", str(tmp_path)]
    answer = CliRunner().invoke(app, [*arguments, "--only", "decoding", "--json"])
    assert answer.exit_code == 0, answer.output
    rows = json.loads(answer.stdout)
    assert {row["part"] for row in rows} == {"decoding"}
    (record,) = Records(tmp_path, quick=True).read("cpu")
    assert record.environment["versions"]["torch"]
    printed = CliRunner().invoke(app, [*arguments, "--table"])
    assert printed.exit_code == 0, printed.output
    assert "decodings a second" in printed.stdout
    assert (tmp_path / "figures" / "decoding-cpu.png").exists()


def test_figures_come_from_records_alone(tmp_path):
    point = {"seconds": 1.0, "peak_bytes": 1 << 20}
    row = {"network": "conv", "epoch_seconds": 1.0, "step_seconds_per_chain": 0.1}
    settings = {"hardware": "a machine", "training_images": 512, "batch_size": 128}
    about = {
        "training": {
            "chains": [
                row | {"chains": 1, "straightforward_epoch_seconds": 2.0},
                row | {"chains": 2, "straightforward_epoch_seconds": None},
            ]
        },
        "growth": {
            "axes": {
                "N": {"points": [{"N": 1} | point, {"N": 2} | point], "time_slope": 1, "memory_slope": 0}
            }
        },
        "startup": {},
    }
    records = [("cpu", Record(name, None, settings, [], {}, own)) for name, own in about.items()]
    drawn = draw_all(records, tmp_path)
    assert [path.name for path in drawn] == ["training-cpu.png", "growth-cpu.png"]
    assert all(path.read_bytes().startswith(b"\x89PNG") for path in drawn)


def test_a_worker_answers_and_its_failure_has_its_last_words():
    echo = "from benchmarks.speed.worker import answer_requests as a; a({'double': lambda x: 2 * x})"
    with Worker([sys.executable, "-c", echo]) as worker:
        assert worker.ask("double", x=21) == 42
        with pytest.raises(DissensusError, match=r"failed at 'halve'.*KeyError"):
            worker.ask("halve", x=1)


def test_missing_peers_are_one_sentence(tmp_path, monkeypatch):
    def offline(command):
        raise peers.subprocess.CalledProcessError(1, command, stderr="noise\nERROR: no network\n")

    monkeypatch.setattr(peers, "_run", offline)
    with pytest.raises(peers.PeersMissingError, match=r"left out.*no network") as caught:
        peers.peer_python(tmp_path / "env")
    assert "\n" not in str(caught.value)


def test_without_anomalib_there_is_a_note_and_no_number(monkeypatch):
    def offline(folder=None, packages=()):
        raise peers.PeersMissingError(f"{packages[0]}: left out")

    monkeypatch.setattr("benchmarks.speed.beside_anomalib.peer_python", offline)
    found = measure_anomalib(find_sizes("cpu", quick=True), CPU)
    assert found == {"notes": ["anomalib==2.2.0: left out"], "comparisons": []}


def test_anomalib_lives_apart_from_the_other_peers(tmp_path, monkeypatch):
    monkeypatch.setenv("DISSENSUS_PEERS", str(tmp_path / "peers"))
    made = {packages: peers._default_folder(packages) for packages in (peers.PEERS, peers.ANOMALIB)}
    assert made == {peers.PEERS: tmp_path / "peers", peers.ANOMALIB: tmp_path / "peers-anomalib"}


@pytest.mark.parametrize("script", ["peer_process.py", "anomalib_process.py"])
def test_what_runs_beside_other_packages_finds_the_library_s_own_modules(script):
    """The folder of these scripts has modules that are called as some of Python's: ``numbers`` is one."""
    done = subprocess.run(
        peers.peer_command(sys.executable, script),
        input="",
        text=True,
        capture_output=True,
        check=False,
        env={**os.environ, "PYTHONPATH": ""},
    )
    assert done.returncode == 0, done.stderr
