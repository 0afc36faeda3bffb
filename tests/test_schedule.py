"""The schedule nobody asked for: always possible, and the draws it promises are the ones that come."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dissensus.errors import SettingsError
from dissensus.posterior import SamplingSettings
from dissensus.schedule import LEAST_EPOCHS, LEAST_STEPS, default_batch_size, default_epochs, kept_epochs

SIZES = st.integers(1, 10**6)
quickly = settings(derandomize=True, deadline=None)


@quickly
@given(SIZES)
def test_a_batch_is_never_more_than_there_is(size):
    assert 1 <= default_batch_size(size) <= min(size, 128)


@quickly
@given(SIZES, SIZES)
def test_more_rows_never_mean_smaller_batches(size, other):
    small, large = sorted((size, other))
    assert default_batch_size(small) <= default_batch_size(large)


@quickly
@given(SIZES)
def test_there_are_enough_epochs_and_steps(size):
    batch_size = default_batch_size(size)
    epochs = default_epochs(size, batch_size)
    steps = max(1, size // batch_size)
    assert epochs >= LEAST_EPOCHS
    assert epochs * steps >= LEAST_STEPS
    assert epochs == LEAST_EPOCHS or (epochs - 1) * steps < LEAST_STEPS


@quickly
@given(st.integers(1, 2000), st.integers(1, 200))
def test_as_many_draws_come_as_were_asked_for(epochs, draws):
    if draws > epochs:
        with pytest.raises(
            SettingsError, match=f"{epochs} epochs give at most {epochs} draws a chain, not {draws}"
        ):
            kept_epochs(epochs, draws)
        return
    burn_in, thinning = kept_epochs(epochs, draws)
    chain = SamplingSettings.variant_1(epochs=epochs, burn_in=burn_in, thinning=thinning)
    kept = [epoch for epoch in range(1, epochs + 1) if chain.keeps(epoch)]
    assert len(kept) == chain.draws == draws
    assert kept[-1] == epochs  # the last weights are always among them
    if draws - 1 <= epochs // 3:
        assert kept[0] >= epochs - epochs // 3
    if draws > 1 and thinning > 1:
        assert thinning * draws > epochs // 3 - draws  # spread over the last third, not bunched at its end
