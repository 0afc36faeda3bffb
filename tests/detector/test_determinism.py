"""One seed, one detector: all randomness comes from ``random_state`` and none of it from a global state."""

import numpy as np
import pytest
import torch

pytestmark = pytest.mark.usefixtures("whole_self_test")

KINDS = pytest.mark.parametrize("kind", ["rows", "pictures"])


@KINDS
@pytest.mark.parametrize("variant", [1, 2])
def test_the_same_seed_gives_the_same_bits(quick, fitted, inputs, kind, variant):
    first, second = fitted(kind, variant=variant), quick(variant=variant).fit(inputs[kind])
    np.testing.assert_array_equal(first.calibration_scores_, second.calibration_scores_)
    np.testing.assert_array_equal(first.score_samples(inputs[kind]), second.score_samples(inputs[kind]))
    for part, own in first.draws_.parts.items():
        other = second.draws_.parts[part]
        np.testing.assert_array_equal(own.of, other.of)
        assert own.stacks.keys() == other.stacks.keys()
        assert all(torch.equal(stack, other.stacks[name]) for name, stack in own.stacks.items())


@KINDS
def test_another_seed_gives_another_detector(quick, fitted, inputs, kind):
    other = quick(random_state=1).fit(inputs[kind])
    assert not np.array_equal(fitted(kind).score_samples(inputs[kind]), other.score_samples(inputs[kind]))


def test_fitting_again_forgets_the_first_fit(quick, row_gate, rows, pictures):
    gate = quick().fit(pictures).fit(rows)
    np.testing.assert_array_equal(gate.score_samples(rows), row_gate.score_samples(rows))


def test_a_random_state_object_is_a_stream(quick, rows):
    first = quick(random_state=np.random.RandomState(7)).fit(rows)
    again = quick(random_state=np.random.RandomState(7)).fit(rows)
    np.testing.assert_array_equal(first.score_samples(rows), again.score_samples(rows))
    further = first.fit(rows)  # the stream has moved on
    assert not np.array_equal(further.score_samples(rows), again.score_samples(rows))


def test_no_random_state_means_another_detector_each_time(quick, rows):
    first, second = (quick(random_state=None).fit(rows) for _ in range(2))
    assert first.seed_ != second.seed_


@pytest.mark.parametrize("seed", [0, -1, 2**40, True])
def test_any_whole_number_is_a_seed(quick, rows, seed):
    assert np.isfinite(quick(random_state=seed, epochs=2).fit(rows).score_samples(rows)).all()


@KINDS
@pytest.mark.parametrize("random_state", [0, None])
def test_global_random_states_are_left_alone(quick, inputs, kind, random_state):
    torch.manual_seed(5)
    np.random.seed(5)  # noqa: NPY002 the global state is what this is about
    states = torch.get_rng_state(), np.random.get_state()[1].copy()  # noqa: NPY002
    gate = quick(random_state=random_state).fit(inputs[kind])
    gate.predict(inputs[kind])
    assert torch.equal(states[0], torch.get_rng_state())
    np.testing.assert_array_equal(states[1], np.random.get_state()[1])  # noqa: NPY002


@KINDS
def test_global_random_states_do_not_matter(quick, fitted, inputs, kind):
    torch.manual_seed(99)
    np.testing.assert_array_equal(
        quick().fit(inputs[kind]).score_samples(inputs[kind]), fitted(kind).score_samples(inputs[kind])
    )
