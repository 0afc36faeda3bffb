from dataclasses import replace

import numpy as np
import pytest
import torch
from rich.console import Console

from benchmarks.archive import Archive
from benchmarks.paper import runs
from benchmarks.paper.benchmarks import BENCHMARKS, Sizes, load_inputs
from benchmarks.paper.presets import find_preset
from benchmarks.paper.runs import PaperRun, replace_pixels
from benchmarks.records import Records
from benchmarks.runner import Report, Task, measure
from dissensus.errors import SettingsError

SIZES = Sizes(training=64, test=12, validation=8, typical=6)
FASHION = BENCHMARKS["fashion-mnist-vs-mnist"]
GPU = "cuda"


def key(run="bvae1", preset="settled", seed=0, **changes):
    return PaperRun(FASHION, run, replace(find_preset(preset), **changes), SIZES, seed)


def make(*keys, inputs):
    return dict(PaperRun.make(keys, inputs, lambda _: None, None))


def execute(key, inputs):
    (result,) = make(key, inputs=inputs).values()
    return result


@pytest.mark.parametrize("rate", [0.0, 0.15, 0.2, 1.0])
def test_pixels_are_replaced_at_the_rate_and_by_uniform_noise(rate):
    images = torch.full((200, 1, 28, 28), 7, dtype=torch.uint8)
    noisy = replace_pixels(images, rate, torch.Generator().manual_seed(0))
    pixels = images.numel()
    # A replaced pixel keeps its value once in 256 times; five standard errors.
    changed = rate * 255 / 256
    assert abs((noisy != 7).double().mean() - changed) <= 5 * (changed * (1 - changed) / pixels) ** 0.5
    assert (images == 7).all()
    if rate:
        values = noisy[noisy != 7].double()
        assert abs(values.mean() - 127.5) < 5 * 73.9 / len(values) ** 0.5
        assert (values.min(), values.max()) == (0, 255)


def test_matrices_have_a_row_a_draw_and_a_column_an_input():
    inputs = load_inputs(FASHION, SIZES, seed=0)
    result = execute(key(), inputs)
    assert result["test"].shape == (6, 24)  # 2 chains of 3 draws
    assert result["validation"].shape == (6, 8)
    assert result["typical"].shape == (6, 0)  # only plain VAEs are asked about training inputs
    assert execute(key("vaes"), inputs)["typical"].shape[1] == 6
    assert result.info["inliers"] == 12
    assert (result["pictured"][:8] < 12).all()
    assert (result["pictured"][8:] >= 12).all()
    assert result["pictures"].shape == (16, 1, 28, 28)
    assert result["reconstructions"].shape == (5, 16, 1, 28, 28)
    found = result.info["diagnostics"]
    assert found["validation_log_likelihood"] == pytest.approx(result["validation"].mean())
    assert found["validation_log_likelihood_of_mixture"] >= found["validation_log_likelihood"]
    assert set(found["last_epoch"]) == {"decoder"}
    assert {"kappa_05", "kappa_50", "kappa_95", "kinetic_temperature"} <= set(found["last_epoch"]["decoder"])
    assert len(found["training_elbo"]) == 4
    assert found["noise_floor"] > 0


def test_runs_made_together_are_what_each_is_alone():
    inputs = load_inputs(FASHION, SIZES, seed=0)
    keys = [key("vaes", members=2, member_epochs=3), key("bvae2", chains=1, epochs=3, burn_in=2)]
    together = make(*keys, inputs=inputs)
    assert list(together) == keys
    for one in keys:
        np.testing.assert_array_equal(together[one]["test"], execute(one, inputs)["test"])
    assert together[keys[0]].info["trained_with"] == ["bvae2"]
    assert execute(keys[0], inputs).info["trained_with"] == []


@pytest.mark.gpu
def test_on_a_gpu_trainings_share_it_and_are_what_each_is_alone(tmp_path):
    """By the runner, which puts both into one graph; one after the other they are recorded apart."""
    keys = [key("vaes", members=2, member_epochs=3), key("bvae2", chains=1, epochs=3, burn_in=2)]
    tasks = [Task("all", one.run, 0, one.settings, {"run": one}, lambda _: Report([])) for one in keys]
    device, log = torch.device(GPU), Console(quiet=True)
    with torch.backends.cudnn.flags(enabled=True, benchmark=False, deterministic=True, allow_tf32=False):
        together, alone = Records(tmp_path / "together"), Records(tmp_path / "alone")
        assert not measure(together, tasks, cache=tmp_path / "1", device=device, console=log)
        for task in tasks:
            assert not measure(alone, [task], cache=tmp_path / "2", device=device, console=log)
    with_others = [record.about["runs"]["run"]["trained_with"] for record in together.read("all")]
    assert sorted(with_others) == [["bvae2"], ["vaes"]]
    for one in keys:
        found, expected = (Archive.load(tmp_path / cache / f"{one.name}.npz") for cache in "12")
        np.testing.assert_allclose(found["test"], expected["test"], rtol=1e-3, err_msg=one.run)


def test_background_sees_perturbed_images(monkeypatch):
    seen = []
    begin = runs.PosteriorRun
    monkeypatch.setattr(
        runs,
        "PosteriorRun",
        lambda vae, data, *rest, **more: seen.append(data) or begin(vae, data, *rest, **more),
    )
    inputs = load_inputs(FASHION, SIZES, seed=0)
    for run in ("vaes", "background"):
        execute(key(run), inputs)
    assert torch.equal(seen[0], inputs.training)
    changed = (seen[1] != inputs.training).double().mean()
    assert changed == pytest.approx(0.2 * 255 / 256, abs=0.01)


def test_a_selection_sees_no_test_image():
    chosen = replace(key(), purpose="selection")
    inputs = chosen.load(torch.device("cpu"))
    assert len(inputs.test) == 0
    result = execute(chosen, inputs)
    whole = execute(key(), load_inputs(FASHION, SIZES, seed=0))
    np.testing.assert_array_equal(result["validation"], whole["validation"])
    assert "pictures" not in result.arrays
    assert chosen.name != key().name


def test_presets_share_what_they_do_not_change():
    assert key("vaes", "settled").name == key("vaes", "as-published").name
    assert key("background").name == key("background", step_size=0.5).name
    assert key("bvae1").name != key("bvae1", step_size=0.5).name
    assert key("vaes").name == key("vaes", samples=3).name != key("vaes", member_samples=3).name
    assert key("bvae1").name == key("bvae1", member_samples=3).name != key("bvae1", samples=3).name
    assert key("vaes").name != key("vaes", latent_size=3).name
    assert key("vaes", seed=0).name != key("vaes", seed=1).name
    assert (
        key("vaes").name != PaperRun(FASHION, "vaes", find_preset("settled"), replace(SIZES, test=5), 0).name
    )


def test_unknown_preset():
    with pytest.raises(SettingsError, match="no preset 'best'"):
        find_preset("best")
