"""A fit that was interrupted goes on from its checkpoint to the same detector."""

import numpy as np
import pytest

from dissensus.errors import CheckpointError


class Interruption:
    """Ctrl-C after some epochs."""

    def __init__(self, epochs):
        self.epochs = epochs

    def __call__(self, stage, done, _):
        if stage == "sampling" and done == self.epochs:
            raise KeyboardInterrupt


@pytest.mark.parametrize("kind", ["rows", "pictures"])
@pytest.mark.parametrize("variant", [1, 2])
def test_interrupted_and_resumed_is_as_if_never_interrupted(quick, fitted, inputs, kind, variant, tmp_path):
    for epochs in (1, 3):
        with pytest.raises(KeyboardInterrupt):
            quick(variant=variant).fit(inputs[kind], checkpoint=tmp_path, on_progress=Interruption(epochs))
    seen = []
    gate = quick(variant=variant).fit(
        inputs[kind], checkpoint=tmp_path, on_progress=lambda stage, done, _: seen.append((stage, done))
    )
    assert [done for stage, done in seen if stage == "sampling"] == [4]
    whole = fitted(kind, variant=variant)
    np.testing.assert_array_equal(gate.score_samples(inputs[kind]), whole.score_samples(inputs[kind]))


def test_a_finished_fit_is_not_run_again(quick, row_gate, rows, tmp_path):
    quick().fit(rows, checkpoint=tmp_path)
    again = quick().fit(rows, checkpoint=tmp_path, on_progress=Interruption(1))
    np.testing.assert_array_equal(again.score_samples(rows), row_gate.score_samples(rows))


@pytest.mark.parametrize("changes", [{"variant": 2}, {"random_state": 1}, {"epochs": 5}, {"latent_size": 3}])
def test_a_checkpoint_of_other_settings_is_refused(quick, rows, changes, tmp_path):
    quick().fit(rows, checkpoint=tmp_path)
    with pytest.raises(
        CheckpointError, match="made with other settings or data: give the run a folder of its own"
    ):
        quick(**changes).fit(rows, checkpoint=tmp_path)


def test_a_checkpoint_of_other_data_is_refused(quick, rows, tmp_path):
    quick().fit(rows, checkpoint=tmp_path)
    with pytest.raises(CheckpointError, match="other settings or data"):
        quick().fit(rows + np.arange(4) ** 2 * rows**2, checkpoint=tmp_path)


def test_a_file_in_the_way_of_the_checkpoint(quick, rows, tmp_path):
    (tmp_path / "file").write_text("mine")
    with pytest.raises(CheckpointError, match="cannot be made"):
        quick().fit(rows, checkpoint=tmp_path / "file")
    assert (tmp_path / "file").read_text() == "mine"
