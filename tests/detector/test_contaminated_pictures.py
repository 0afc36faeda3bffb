"""``contamination`` of pictures: a second fit without those that the first found most unusual."""

import numpy as np
import pytest

from dissensus.errors import CheckpointError
from tests.detector.interruption import Interruption

SHARE = 0.1


@pytest.fixture(scope="module")
def mixed_pictures():
    """54 dark squares, and 6 of noise."""
    rng = np.random.default_rng(0)
    pictures = rng.integers(0, 60, (60, 8, 8))
    pictures[:6] = rng.integers(0, 256, (6, 8, 8))
    return rng.permutation(pictures).astype(np.uint8)


def test_pictures_are_fitted_twice(quick, mixed_pictures):
    seen = []
    quick().fit(mixed_pictures, contamination=SHARE, on_progress=lambda *report: seen.append(report))
    assert list(dict.fromkeys(stage for stage, _, _ in seen)) == [
        "sampling",
        "trimming",
        "sampling again",
        "calibrating",
    ]
    for stage in ("sampling", "sampling again"):
        assert [(done, total) for name, done, total in seen if name == stage] == [
            (e, 4) for e in (1, 2, 3, 4)
        ]
    assert [(done, total) for name, done, total in seen if name == "trimming"][-1] == (51, 51)


def test_noise_among_dark_pictures_is_left_out(quick, mixed_pictures):
    def noise(gate):
        return (gate.examples_.inputs.mean(axis=(1, 2, 3)) > 90).sum()

    few, every = (
        quick(epochs=12, examples=60, false_alarm_rate=0.3).fit(mixed_pictures, contamination=share)
        for share in (0.12, None)
    )
    assert few.left_out_.train == 5
    assert noise(few) < noise(every) // 2


def test_an_interrupted_fit_goes_on_in_the_fit_it_was_in(quick, mixed_pictures, tmp_path):
    for stage, epoch in [("sampling", 2), ("sampling again", 1), ("sampling again", 3)]:
        with pytest.raises(KeyboardInterrupt):
            quick().fit(
                mixed_pictures,
                contamination=SHARE,
                checkpoint=tmp_path,
                on_progress=Interruption(stage, epoch),
            )
    seen = []
    gate = quick().fit(
        mixed_pictures,
        contamination=SHARE,
        checkpoint=tmp_path,
        on_progress=lambda stage, done, _: seen.append((stage, done)),
    )
    assert [report for report in seen if report[0].startswith("sampling")] == [("sampling again", 4)]
    straight = quick().fit(mixed_pictures, contamination=SHARE)
    np.testing.assert_array_equal(gate.score_samples(mixed_pictures), straight.score_samples(mixed_pictures))


def test_a_checkpoint_without_contamination_is_the_first_fit_of_pictures_with_it(
    quick, mixed_pictures, tmp_path
):
    quick().fit(mixed_pictures, checkpoint=tmp_path)
    quick().fit(
        mixed_pictures, contamination=SHARE, checkpoint=tmp_path, on_progress=Interruption("sampling", 1)
    )
    with pytest.raises(CheckpointError, match=r"again.* was made with other settings or data"):
        quick().fit(mixed_pictures, contamination=0.05, checkpoint=tmp_path)
