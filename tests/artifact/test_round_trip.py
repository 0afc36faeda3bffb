"""What is saved comes back whole, from files that hold data and nothing else."""

import json
import os

import numpy as np
import pytest
from safetensors import safe_open

from dissensus import BayesianVAE
from dissensus.models import observation
from dissensus.persistence import read_artifact, write_artifact
from dissensus.scores import SCORES

FILES = {"config.json", "draws.safetensors", "calibration.safetensors", "diagnostics.json", "README.md"}


def test_the_detector_comes_back(gate, rows, saved):
    again = BayesianVAE.load(saved, device="cpu")
    np.testing.assert_array_equal(again.score_samples(rows), gate.score_samples(rows))
    np.testing.assert_array_equal(again.p_values(rows), gate.p_values(rows))
    assert again.threshold_ == gate.threshold_
    assert again.noise_floor_ == gate.noise_floor_
    assert again.n_features_in_ == 3
    used = {"chains": 2, "step_size": 0.01}  # what was left open is saved as it was used
    assert again.get_params() == gate.get_params() | used
    assert again.sampler_ == gate.sampler_
    assert again.draws_.diagnostics == gate.draws_.diagnostics


def test_saved_twice_it_is_the_same(saved, tmp_path):
    BayesianVAE.load(saved).save(tmp_path / "again")
    for name in FILES:
        assert (saved / name).read_bytes() == (tmp_path / "again" / name).read_bytes()


def test_loaded_and_fitted_again_it_is_the_same(gate, rows, saved):
    again = BayesianVAE.load(saved, device="cpu").fit(rows)
    np.testing.assert_array_equal(again.score_samples(rows), gate.score_samples(rows))


def test_a_statistic_set_after_the_fit_is_not_saved_with_the_scores_of_another(rows, tmp_path):
    settings = {"epochs": 2, "draws": 2, "samples": 2, "false_alarm_rate": 0.2, "device": "cpu"}
    gate = BayesianVAE(**settings, statistic="kl").fit(rows)
    expected = gate.p_values(rows)
    gate.set_params(statistic="mean-ll").save(tmp_path / "gate")
    again = BayesianVAE.load(tmp_path / "gate", device="cpu")
    assert again.statistic == "kl"
    np.testing.assert_array_equal(again.p_values(rows), expected)
    assert "`kl`" in (tmp_path / "gate" / "README.md").read_text("utf-8")
    explained, kept = gate.explain(rows[0]), gate.calibration_scores_
    assert explained.statistics["kl"].value == explained.decision.score
    np.testing.assert_array_equal(gate.recalibrate(rows, keep=True).calibration_scores_[: len(kept)], kept)


@pytest.mark.parametrize("statistic", SCORES)
@pytest.mark.parametrize("variant", [1, 2])
def test_every_statistic_and_variant_comes_back(rows, tmp_path, statistic, variant):
    gate = BayesianVAE(
        variant=variant, statistic=statistic, epochs=2, draws=2, samples=2, false_alarm_rate=0.2
    )
    gate.fit(rows).save(tmp_path / "gate")
    again = BayesianVAE.load(tmp_path / "gate")
    np.testing.assert_allclose(again.score_samples(rows), gate.score_samples(rows), rtol=1e-6)


def test_an_observation_model_comes_back(rows, tmp_path):
    gate = BayesianVAE(
        observation=observation("gaussian", scale=0.3), epochs=2, draws=2, false_alarm_rate=0.2
    )
    gate.fit(rows).save(tmp_path / "gate")
    again = BayesianVAE.load(tmp_path / "gate")
    assert again.observation == gate.observation
    np.testing.assert_allclose(again.score_samples(rows), gate.score_samples(rows), rtol=1e-6)


def test_there_is_nothing_but_json_and_safetensors(saved):
    assert {path.name for path in saved.iterdir()} == FILES
    for path in saved.iterdir():
        if path.suffix == ".json":
            json.loads(path.read_text("utf-8"))
        elif path.suffix == ".md":  # for people, never read
            assert path.read_text("utf-8").startswith("---\nlibrary_name: dissensus\n")
        else:
            with safe_open(path, framework="np") as file:
                assert list(file.keys())


def test_whoever_may_read_new_files_may_read_the_detector(saved):
    mask = os.umask(0)
    os.umask(mask)
    assert saved.stat().st_mode & 0o777 == 0o777 & ~mask
    for path in saved.iterdir():
        assert path.stat().st_mode & 0o777 == 0o666 & ~mask


def test_the_digests_do_not_depend_on_the_layout_of_the_configuration(gate, rows, saved):
    config = json.loads((saved / "config.json").read_text("utf-8"))
    (saved / "config.json").write_text(json.dumps(dict(reversed(config.items()))), "utf-8")
    np.testing.assert_array_equal(BayesianVAE.load(saved).score_samples(rows), gate.score_samples(rows))


def test_the_artefact_itself_goes_round(saved, tmp_path):
    artifact = read_artifact(saved)
    write_artifact(tmp_path / "again", artifact)
    again = read_artifact(str(tmp_path / "again"))
    assert again.config == artifact.config
    assert again.draws.diagnostics == artifact.draws.diagnostics
    assert set(again.calibration) == set(artifact.calibration)
    assert set(again.calibration) >= {
        "statistics/typicality",
        "mean",
        "scale",
        "score/typical_log_likelihood",
    }
