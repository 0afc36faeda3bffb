"""What a gate says about itself, to programs and to people."""

import json
import platform

import numpy as np
import pytest
import torch

from dissensus import BayesianVAE, __version__

SETTINGS = {"epochs": 2, "draws": 2, "samples": 2, "latent_size": 1, "device": "cpu"}


def config(folder):
    return json.loads((folder / "config.json").read_text("utf-8"))


def test_the_configuration_says_what_goes_in_and_who_wrote_it(saved):
    written = config(saved)
    assert written["versions"] == {
        "dissensus": __version__,
        "torch": torch.__version__,
        "numpy": np.__version__,
        "python": platform.python_version(),
    }
    detector = written["detector"]
    assert detector["input"] == {"kind": "vectors", "shape": [3], "accepts": {"float64": "finite"}}
    assert detector["preprocessing"] == [{"step": "standardise"}, {"step": "clip", "to": [-1e4, 1e4]}]
    assert detector["fitted_rows"] == {"train": 44, "validation": 7, "calibration": 9}


def test_images_say_their_range_and_resizing(tmp_path):
    pictures = np.random.default_rng(0).integers(0, 256, (40, 8, 10, 3), dtype=np.uint8)
    settings = {**SETTINGS, "widths": (2,), "resize": (8, 10), "false_alarm_rate": 0.2}
    BayesianVAE(**settings).fit(pictures).save(tmp_path / "gate")
    detector = config(tmp_path / "gate")["detector"]
    assert detector["input"] == {
        "kind": "images",
        "shape": [8, 10, 3],
        "accepts": {"uint8": [0, 255], "float32": [0.0, 1.0]},
    }
    assert detector["preprocessing"] == [
        {"step": "resize", "to": [8, 10]},
        {"step": "scale", "to": [0.0, 1.0]},
    ]
    assert "Images of shape 8 × 10 × 3" in (tmp_path / "gate" / "README.md").read_text("utf-8")


def test_the_card_says_what_a_flag_means(saved):
    card = (saved / "README.md").read_text("utf-8")
    assert "Fitted on 44 inputs, with 7 for validation and 9 for calibration." in card
    assert "a share of 0.2 is flagged" in card
    assert "with probability 90%" in card
    assert "nats" in card
    assert "| statistic | typicality |" in card
    assert "training inputs, which whoever has this folder can see" in card
    assert "the latent codes of 44 training and 9 calibration inputs" in card


@pytest.mark.filterwarnings("ignore::dissensus.errors.CalibrationWarning")
def test_the_card_says_when_nothing_can_be_flagged_and_nothing_is_kept(rows, tmp_path):
    gate = BayesianVAE(**SETTINGS, false_alarm_rate=0.001, examples=0, neighbours=False)
    gate.fit(rows).save(tmp_path / "gate")
    card = (tmp_path / "gate" / "README.md").read_text("utf-8")
    assert "Nothing is ever flagged: 9 calibration inputs are too few for a rate of 0.001." in card
    assert "training inputs" not in card


def test_an_edited_card_changes_nothing(gate, rows, saved):
    (saved / "README.md").write_text("mine", "utf-8")
    np.testing.assert_array_equal(
        BayesianVAE.load(saved, device="cpu").score_samples(rows), gate.score_samples(rows)
    )
    (saved / "README.md").unlink()
    BayesianVAE.load(saved, device="cpu").save(saved)
    assert (saved / "README.md").read_text("utf-8").startswith("---")
