"""An input's score is its own: company, order, process and threads change nothing."""

import json
import os
import sys
from dataclasses import replace

import numpy as np
import pytest
import torch
from sklearn.base import clone

from dissensus import BayesianVAE
from dissensus.decisions import conformal_p_values
from dissensus.scores import SCORES, Score
from tests import warm_python

KINDS = pytest.mark.parametrize("kind", ["rows", "pictures"])

SCORE_ELSEWHERE = """
import json, sys
from pathlib import Path
import numpy as np
from dissensus import BayesianVAE
for folder in sorted(Path(sys.argv[1]).iterdir()):
    gate = BayesianVAE.load(folder / "gate", device="cpu")
    print(json.dumps(gate.score_samples(np.load(folder / "some.npy")).tolist()))
"""


# What a variant changes is the matrix, and every score is made of it in the same way.
@KINDS
@pytest.mark.parametrize(("variant", "statistic"), [*((1, name) for name in SCORES), (2, "fused"), (2, "kl")])
def test_a_row_scores_the_same_in_any_company(fitted, inputs, kind, variant, statistic):
    gate, some = fitted(kind, variant=variant, statistic=statistic), inputs[kind][:37]
    together = gate.score_samples(some)
    alone = np.concatenate([gate.score_samples(one[None]) for one in some[:16]])
    doubled = gate.score_samples(np.repeat(some, 2, axis=0))
    assert np.isfinite(together).all()
    assert np.ptp(together) > 0
    np.testing.assert_allclose(alone, together[:16], rtol=1e-6)
    np.testing.assert_allclose(gate.score_samples(some[::-1])[::-1], together, rtol=1e-6)
    np.testing.assert_allclose(doubled[::2], together, rtol=1e-6)
    np.testing.assert_array_equal(doubled[::2], doubled[1::2])


@KINDS
def test_a_row_keeps_its_score_beside_monsters(fitted, inputs, kind):
    gate, some = fitted(kind), inputs[kind][:5]
    monsters = np.full_like(some, 255 if kind == "pictures" else 1e300)
    mixed = np.stack([some, monsters], axis=1).reshape(-1, *some.shape[1:])
    np.testing.assert_allclose(gate.score_samples(mixed)[::2], gate.score_samples(some), rtol=1e-6)


def test_another_process_gives_the_same_scores(fitted, inputs, tmp_path):
    expected = []
    for kind in ("pictures", "rows"):  # sorted, as the other process reads them
        for variant in (1, 2):
            gate, some = fitted(kind, variant=variant), inputs[kind][:20]
            gate.save(tmp_path / f"{kind} {variant}" / "gate")
            np.save(tmp_path / f"{kind} {variant}" / "some.npy", some)
            expected.append(gate.score_samples(some))
    answer = warm_python.run(
        [sys.executable, "-c", SCORE_ELSEWHERE, tmp_path],
        env={**os.environ, "OMP_NUM_THREADS": "1"},
        capture_output=True,
        check=True,
    )
    scores = [json.loads(line) for line in answer.stdout.splitlines()]
    np.testing.assert_allclose(scores, expected, rtol=1e-6)


@KINDS
def test_the_number_of_threads_hardly_matters(fitted, inputs, kind):
    gate, some = fitted(kind), inputs[kind][:20]
    one = gate.score_samples(some)
    threads = torch.get_num_threads()
    torch.set_num_threads(2)
    try:
        two = gate.score_samples(some)
    finally:
        torch.set_num_threads(threads)
    np.testing.assert_allclose(two, one, rtol=1e-5)


@KINDS
@pytest.mark.parametrize("statistic", SCORES)
def test_the_methods_agree(fitted, inputs, kind, statistic):
    gate, some = fitted(kind, statistic=statistic), inputs[kind]
    scores, decision = gate.score_samples(some), gate.decision_function(some)
    flagged = gate.predict(some) == -1
    assert flagged.any()
    assert not flagged.all()
    np.testing.assert_array_equal(flagged, decision < 0)
    np.testing.assert_array_equal(flagged, gate.p_values(some) <= gate.false_alarm_rate)
    np.testing.assert_allclose(decision, scores - gate.offset_, rtol=1e-12)
    np.testing.assert_array_equal(gate.p_values(some), conformal_p_values(gate.calibration_scores_, -scores))
    decisions = gate.decide(some)
    np.testing.assert_array_equal(decisions.score, -scores)
    np.testing.assert_array_equal(decisions.flagged, flagged)
    np.testing.assert_array_equal(decisions.p_value, gate.p_values(some))


def test_the_matrix_is_what_the_scores_are_made_of(fitted, inputs):
    gate = fitted("pictures", statistic="std")
    matrix = gate.log_likelihoods(inputs["pictures"][:9])
    assert matrix.values.shape == matrix.errors.shape == (4, 9)
    np.testing.assert_allclose(
        -matrix.values.std(axis=0), gate.score_samples(inputs["pictures"][:9]), rtol=1e-9
    )


class Infinite(Score):
    """Gives scores at both ends."""

    name, description = "infinite", "how endless"

    def __call__(self, measured):
        return np.array([np.inf, 0.0, -np.inf])


@pytest.mark.parametrize("threshold", [1.0, np.inf])
def test_infinite_scores_are_decided_not_lost(row_gate, rows, threshold):
    gate = clone(row_gate)
    gate.__dict__.update(row_gate.__dict__)
    calibration = {"infinite": np.full(100, threshold)}
    gate.learnt_ = replace(row_gate.learnt_, score=Infinite(), calibration=calibration)
    decision = gate.decision_function(rows[:3])
    assert not np.isnan(decision).any()
    np.testing.assert_array_equal(decision < 0, gate.predict(rows[:3]) == -1)
    assert (decision[0] < 0) == np.isfinite(threshold)


def test_progress_is_reported_to_the_end(quick, rows):
    seen = []
    gate = quick().fit(rows, on_progress=lambda *report: seen.append(report))
    assert [report for report in seen if report[0] == "sampling"] == [
        ("sampling", e, 4) for e in (1, 2, 3, 4)
    ]
    calibrating = [(done, total) for stage, done, total in seen if stage == "calibrating"]
    assert calibrating[-1] == (4 * 15, 4 * 15)
    assert calibrating == sorted(calibrating)
    seen.clear()
    gate.decide(rows, on_progress=lambda *report: seen.append(report))
    assert seen[-1] == ("scoring", 400, 400)


def test_what_fit_learnt_has_the_documented_form(row_gate, picture_gate):
    assert isinstance(row_gate, BayesianVAE)
    assert len(row_gate.draws_) == 4
    assert row_gate.calibration_scores_.shape == (15,)
    assert row_gate.noise_floor_ >= 0
    assert row_gate.n_features_in_ == 4
    assert picture_gate.n_features_in_ == 120
    assert row_gate.offset_ == -row_gate.threshold_
