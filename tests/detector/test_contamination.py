"""``contamination``: a fit without the inputs that are most unusual."""

import json

import numpy as np
import pytest

from dissensus import BayesianFlow, Detector
from dissensus.detector.parts import part_fractions
from dissensus.detector.trimming import usual
from dissensus.errors import ArtifactError, CalibrationWarning, CheckpointError, InputWarning, SettingsError
from dissensus.inputs import split
from tests.contracts.own_embedders import Projection
from tests.detector.interruption import Interruption


class Counting(Projection):
    """Counts the inputs that it, or a copy of it, was asked for."""

    asked = 0

    def __call__(self, batch):
        Counting.asked += len(batch)
        return super().__call__(batch)


ODD = 20
SHARE = 0.1


@pytest.fixture(scope="module")
def mixed():
    """180 rows around 0, and 20 that are close together around 8."""
    rng = np.random.default_rng(0)
    normal, odd = rng.normal(size=(200 - ODD, 3)), 8 + 0.1 * rng.normal(size=(ODD, 3))
    return rng.permutation(np.concatenate([normal, odd]))


@pytest.fixture(scope="module")
def gates(quick, mixed):
    return {share: quick(epochs=12).fit(mixed, contamination=share) for share in (None, SHARE)}


def kept_rows(gate):
    """The training rows that it keeps, in their own units."""
    scales = gate.preprocessor_.standardiser
    return gate.preprocessor_.surroundings.rows * scales.scale + scales.mean


def test_outliers_are_left_out_of_scales_neighbours_and_score(gates, mixed):
    whole, trimmed = gates[None], gates[SHARE]
    assert whole.left_out_ is None
    assert whole.fitted_rows_ == {"train": 145, "validation": 25, "calibration": 30}
    assert (trimmed.left_out_.train, trimmed.left_out_.validation) == (22, 4)  # half as many again
    assert trimmed.fitted_rows_ == {"train": 123, "validation": 21, "calibration": 30}

    def odd(gate):
        return (kept_rows(gate).mean(axis=1) > 4).sum()

    assert odd(whole) >= 10
    assert odd(trimmed) <= odd(whole) // 10
    assert (trimmed.preprocessor_.standardiser.scale < 0.75 * whole.preprocessor_.standardiser.scale).all()
    far = mixed.mean(axis=1) > 4
    found = [
        np.median(gate.score_samples(mixed[~far])) - np.median(gate.score_samples(mixed[far]))
        for gate in gates.values()
    ]
    assert found[1] > found[0] + 1


def test_no_calibration_input_is_left_out(gates, mixed):
    gate = gates[SHARE]
    aside = mixed[split(len(mixed), part_fractions(len(mixed)), seed=gate.seed_)["calibration"]]
    assert (aside.mean(axis=1) > 4).any()
    np.testing.assert_array_equal(np.sort(gate.calibration_scores_), np.sort(-gate.score_samples(aside)))


@pytest.mark.parametrize("count", [5, 6, 10])
def test_of_few_rows_with_many_outliers_some_are_kept(quick, mixed, count):
    gate = quick(false_alarm_rate=0.5).fit(mixed[:count], contamination=0.49)
    assert min(gate.fitted_rows_.values()) >= 1
    assert gate.left_out_.train <= (gate.fitted_rows_["train"] + gate.left_out_.train + 1) // 2


def test_the_same_seed_gives_the_same_bits(quick, gates, mixed):
    again = quick(epochs=12).fit(mixed, contamination=SHARE)
    np.testing.assert_array_equal(again.score_samples(mixed), gates[SHARE].score_samples(mixed))


@pytest.mark.parametrize("share", [0, 0.002])
def test_where_there_is_nothing_to_leave_out_there_is_one_fit(quick, gates, mixed, share):
    stages = []
    gate = quick(epochs=12).fit(mixed, contamination=share, on_progress=lambda *seen: stages.append(seen[0]))
    assert set(stages) == {"sampling", "calibrating"}
    assert gate.left_out_ is None
    np.testing.assert_array_equal(gate.score_samples(mixed), gates[None].score_samples(mixed))


@pytest.mark.parametrize(
    ("count", "share", "kept"), [(1, 0.49, 1), (2, 0.49, 1), (10, 0.25, 8), (10, 0.0, 10)]
)
def test_some_rows_are_always_kept(count, share, kept):
    scores = np.arange(count, dtype=float)
    np.testing.assert_array_equal(usual(scores, share), np.arange(kept))


def test_of_equal_scores_the_later_ones_are_left_out():
    np.testing.assert_array_equal(usual(np.zeros(10), 0.2), np.arange(8))
    assert usual(np.array([0.0, np.inf, 1.0]), 0.4).tolist() == [0, 2]


def test_rows_are_fitted_once(quick, mixed):
    stages = []
    quick().fit(mixed, contamination=SHARE, on_progress=lambda *seen: stages.append(seen[0]))
    assert set(stages) == {"sampling", "calibrating"}


def test_an_interrupted_fit_of_rows_goes_on(quick, gates, mixed, tmp_path):
    with pytest.raises(KeyboardInterrupt):
        quick(epochs=12).fit(
            mixed, contamination=SHARE, checkpoint=tmp_path, on_progress=Interruption("sampling", 5)
        )
    with pytest.raises(CheckpointError, match="was made with other settings or data"):
        quick(epochs=12).fit(mixed, checkpoint=tmp_path)
    seen = []
    gate = quick(epochs=12).fit(
        mixed,
        contamination=SHARE,
        checkpoint=tmp_path,
        on_progress=lambda stage, done, _: seen.append((stage, done)),
    )
    assert min(done for stage, done in seen if stage == "sampling") > 5
    np.testing.assert_array_equal(gate.score_samples(mixed), gates[SHARE].score_samples(mixed))


def test_saved_and_loaded(gates, mixed, tmp_path):
    gate = gates[SHARE]
    gate.save(tmp_path / "gate")
    again = Detector.load(tmp_path / "gate", device="cpu")
    assert again.left_out_ == gate.left_out_
    assert again.left_out_.contamination == SHARE
    np.testing.assert_array_equal(again.score_samples(mixed), gate.score_samples(mixed))
    card = (tmp_path / "gate/README.md").read_text("utf-8")
    assert "With contamination 0.1, 22 training and 4 validation inputs" in card
    assert "make flags rarer than is said below" in card
    config = json.loads((tmp_path / "gate/config.json").read_text("utf-8"))["detector"]
    assert config["left_out"] == {"contamination": 0.1, "train": 22, "validation": 4}


def test_a_flow_leaves_out_as_well(mixed, tmp_path):
    settings = {"epochs": 12, "draws": 4, "hidden": (16,), "false_alarm_rate": 0.2, "device": "cpu"}
    gate = BayesianFlow(**settings).fit(mixed, contamination=SHARE)
    assert (gate.examples_.inputs.mean(axis=1) > 4).sum() <= 2
    gate.save(tmp_path / "gate")
    again = BayesianFlow.load(tmp_path / "gate", device="cpu")
    assert again.left_out_ == gate.left_out_
    assert again.left_out_.contamination == SHARE


def test_a_gate_fitted_on_everything_says_nothing_of_it(gates, tmp_path):
    gates[None].save(tmp_path / "gate")
    assert Detector.load(tmp_path / "gate", device="cpu").left_out_ is None
    assert "contamination" not in (tmp_path / "gate/README.md").read_text("utf-8")
    assert "left_out" not in json.loads((tmp_path / "gate/config.json").read_text("utf-8"))["detector"]


@pytest.mark.parametrize(
    ("claim", "message"),
    [
        ({"train": 1.5}, "left_out is no share"),
        ({"validation": -1}, "left_out is no share"),
        ({"contamination": "0.1"}, "left_out is no share"),
        ({"contamination": 0.7}, "contamination must be the share"),
        ({"calibration": 3}, "left_out has 'calibration'"),
    ],
)
def test_claims_that_no_fit_made_are_refused(gates, claim, message, tmp_path):
    from dissensus.detector.saving import restored, to_artifact

    artifact = to_artifact(gates[SHARE])
    artifact.config["left_out"].update(claim)
    own = dict.fromkeys(("model", "observation", "networks", "embed"))
    with pytest.raises((ArtifactError, ValueError), match=message):
        restored(type(gates[SHARE]), artifact, device="cpu", statistic=None, own=own)


def test_outliers_that_are_the_threshold_are_warned_of_until_it_is_recalibrated(quick, mixed, rows):
    with pytest.warns(
        CalibrationWarning,
        match=r"about 3 outliers among the 30 calibration inputs too.* only about 75% will be flagged: "
        r"recalibrate .* ask for a rate of 0\.19, which flags about 0\.1 of normal",
    ) as seen:
        gate = quick(false_alarm_rate=0.1).fit(mixed, contamination=0.1)  # 3 of 30 calibration inputs
    assert seen[0].filename == __file__
    gate.recalibrate(mixed[mixed.mean(axis=1) < 4])  # warnings are errors here
    quick(false_alarm_rate=0.1).fit(mixed, contamination=0.05)


def test_outliers_are_left_out_of_what_is_embedded(quick, mixed):
    whole, trimmed = (
        (quick(embed=Projection(3), examples=200).fit(mixed, contamination=share).examples_.inputs)
        for share in (None, SHARE)
    )
    assert (trimmed.mean(axis=1) > 4).sum() <= (whole.mean(axis=1) > 4).sum() // 10


def test_inputs_are_embedded_once_and_warned_of_once(quick, mixed):
    counts = []
    for share in (None, SHARE):
        Counting.asked = 0
        quick(embed=Counting(3)).fit(mixed, contamination=share)
        counts.append(Counting.asked)
    assert counts[0] == counts[1] >= len(mixed)

    absurd = mixed.copy()
    absurd[5, 1] = 1e9
    with pytest.warns(InputWarning, match="row 5") as seen:
        quick().fit(absurd, contamination=SHARE)
    assert [warning.filename for warning in seen] == [__file__]


@pytest.mark.parametrize(
    ("share", "message"),
    [
        (0.5, "share of outliers among the inputs, from 0 to below 0.5"),
        (-0.1, "or None, got -0.1"),
        (np.nan, "or None, got nan"),
        ("auto", "or None, got 'auto'"),
    ],
)
def test_what_is_no_share_of_outliers_is_refused(quick, mixed, share, message):
    with pytest.raises(SettingsError, match=message):
        quick().fit(mixed, contamination=share)
