"""A detector of few inputs: it learns no density of many statistics, and still sees what is far."""

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer
from sklearn.model_selection import train_test_split

from dissensus import BayesianVAE
from dissensus.data import image_statistic_names, make_up
from dissensus.detector.parts import part_fractions, rows_for_calibration
from dissensus.errors import CalibrationWarning
from dissensus.evaluation import auroc
from dissensus.models import OBSERVED
from dissensus.scores import SUM, Available, Fused


@pytest.mark.parametrize("shape", [(5,), (8, 8, 1)])
def test_the_number_of_inliers_decides_what_is_fused(shape):
    images = image_statistic_names(shape) if len(shape) == 3 else ()
    available = Available(tuple(OBSERVED), images)
    few, enough = (Fused().settled(available, inliers=count) for count in (Fused.FEW - 1, Fused.FEW))
    assert (few.fusion.depth, enough.fusion.depth) == (SUM, "mixture")
    assert few.statistics == (*Fused.FEW_LEADING, *images)
    assert enough.statistics == (*Fused.PARTS, *images)


def test_a_model_that_tells_less_is_fused_of_what_there_is():
    little = Available(("latent-norm",))
    enough, few = (Fused().settled(little, inliers=count) for count in (1000, 10))
    assert enough.statistics == ("whitened", "kl", "mean-ll", "latent-norm")
    assert few.statistics == few.fusion.leading == ("mixture-ll",)


@pytest.mark.parametrize("kind", ["rows", "pictures"])
def test_a_sum_comes_back_from_a_folder(fitted, inputs, kind, tmp_path):
    gate = fitted(kind)
    assert gate.score_.fusion.depth == SUM
    gate.save(tmp_path / "gate")
    again = BayesianVAE.load(tmp_path / "gate", device="cpu")
    np.testing.assert_array_equal(again.score_samples(inputs[kind]), gate.score_samples(inputs[kind]))
    card = (tmp_path / "gate/README.md").read_text("utf-8")
    assert "high values of mixture-ll and corrected-ll" in card
    assert ("high or low ones of code-length" in card) is (kind == "pictures")


def test_a_few_dozen_pictures_do_not_blind_a_gate(quick):
    """Noise and flat pictures are flagged, and unseen ones of the same kind seldom."""
    rng = np.random.default_rng(0)
    waves = np.sin(np.arange(16) / 2 + rng.uniform(0, 6, (270, 16, 1))) + 0.3 * rng.normal(size=(270, 16, 16))
    pictures = (110 + 50 * waves).clip(0, 255).astype(np.uint8)
    gate = quick(epochs=15, widths=(8, 16), false_alarm_rate=0.05).fit(pictures[:200])
    for kind in ("uniform-noise", "constant"):
        assert (gate.predict(make_up(kind, pictures[200:])) == -1).all()
    assert (gate.predict(pictures[200:]) == -1).mean() < 0.2


def test_breast_cancer_is_told_from_healthy_tissue():
    """The split of the example, at the default settings and seed."""
    data = load_breast_cancer()
    benign, malignant = data.data[data.target == 1], data.data[data.target != 1]
    train, unseen = train_test_split(benign, test_size=0.2, random_state=0)
    gate = BayesianVAE(false_alarm_rate=0.1, device="cpu").fit(train)
    assert auroc(-gate.score_samples(unseen), -gate.score_samples(malignant)) > 0.95


@pytest.mark.parametrize("rows", [5, 7, 19, 100, 270, 511, 512, 1280, 10_000])
def test_parts_leave_no_row_out(rows):
    shares = part_fractions(rows)
    counts = {name: round(share * rows) for name, share in shares.items()}
    assert sum(counts.values()) == rows
    assert all(counts.values())
    assert counts["validation"] >= min(rows // 8, 64)


def test_the_warning_says_how_many_rows_it_takes(quick):
    rows = np.random.default_rng(0).normal(size=(100, 2))
    with pytest.warns(CalibrationWarning, match="fit on at least 660 rows, recalibrate with 99"):
        quick(false_alarm_rate=0.01).fit(rows)
    assert round(part_fractions(660)["calibration"] * 660) == 99
    assert round(part_fractions(659)["calibration"] * 659) == 98
    assert rows_for_calibration(99) == 660
