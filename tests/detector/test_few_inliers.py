"""A detector of few inputs: it learns no density of many statistics, and still sees what is far."""

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer
from sklearn.model_selection import train_test_split

from dissensus import BayesianVAE
from dissensus.detector.parts import part_fractions, rows_for_calibration
from dissensus.errors import CalibrationWarning
from dissensus.evaluation import auroc
from dissensus.inputs import image_statistic_names, make_up
from dissensus.models import OBSERVED
from dissensus.scores import SUM, Available, Fused


@pytest.mark.parametrize("shape", [(5,), (8, 8, 1)])
def test_the_number_of_inliers_decides_what_is_fused(shape):
    pictured = len(shape) == 3
    images = image_statistic_names(shape) if pictured else ()
    available = Available(tuple(OBSERVED), (*images, "isolation") if pictured else ())
    few, enough = (Fused().settled(available, inliers=count) for count in (Fused.FEW - 1, Fused.FEW))
    assert (few.fusion.depth, enough.fusion.depth) == (SUM, "mixture")
    leading = Fused.FEW_LEADING if pictured else ("mixture-ll", "corrected-ll")
    assert few.statistics == (*leading, *images)
    assert few.fusion.leading == leading
    assert enough.statistics == (*Fused.PARTS, *available.of_inputs)
    assert enough.fusion.leading == (Fused.LEADING if pictured else ("corrected-ll",))


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
    leading = {
        "rows": "nearest, isolation, gaussians and mean-ll",
        "pictures": "mixture-ll, corrected-ll and isolation",
    }
    assert f"high values of {leading[kind]}" in card
    assert ("high or low, the most unusual of detail-1" in card) is (kind == "pictures")
    assert ("predicted-length" in card) is (kind == "pictures")


@pytest.mark.parametrize("count", [130, 200])
def test_noise_is_unlike_a_few_dozen_coloured_pictures(quick, count):
    """A density learnt from so few flags no noise at all, nor does a mean over all that is seen of them."""
    rng = np.random.default_rng(1)
    y, x = np.mgrid[:16, :16][..., None] / 16
    one_each = (300, 1, 1, 1)
    angle = 2 * np.pi * (rng.uniform(1, 3, one_each) * x + rng.uniform(1, 3, one_each) * y)
    angle = angle + rng.uniform(0, 2 * np.pi, (300, 1, 1, 3))  # each colour has a phase of its own
    waves = 0.5 + rng.uniform(0.3, 0.5, one_each) * np.sin(angle) + rng.normal(0, 0.02, angle.shape)
    pictures = (255 * waves.clip(0, 1)).astype(np.uint8)
    gate = quick(epochs=15, widths=(8, 16), false_alarm_rate=0.05).fit(pictures[:count])
    for kind in ("gaussian-noise", "uniform-noise", "constant"):
        assert (gate.predict(make_up(kind, pictures[200:])) == -1).mean() > 0.9, kind
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
