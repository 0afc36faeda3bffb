"""Several posteriors sampled at once are what each is alone."""

import numpy as np
import pytest
import torch

from dissensus.errors import SettingsError
from dissensus.posterior import PosteriorRun, SamplingSettings, sample_posterior, sample_together

SETTINGS = {
    "variant 1": SamplingSettings.variant_1(epochs=4, burn_in=2, chains=2, batch_size=50),
    "variant 2": SamplingSettings.variant_2(epochs=6, burn_in=2, chains=1, batch_size=50),
    "ensemble": SamplingSettings.ensemble(2, 3, batch_size=50),
}


def all_weights(draws):
    return [stack for part in draws.parts.values() for stack in part.stacks.values()]


def assert_same(draws, others):
    np.testing.assert_array_equal(draws.chain, others.chain)
    np.testing.assert_array_equal(draws.epoch, others.epoch)
    assert all(map(torch.equal, all_weights(draws), all_weights(others)))
    assert draws.diagnostics.rhat == others.diagnostics.rhat
    assert [r.training_elbo for r in draws.diagnostics.reports] == [
        r.training_elbo for r in others.diagnostics.reports
    ]


def test_runs_of_other_rules_lengths_and_data(vectors, vector_vae):
    datas = [vectors, vectors + 1, vectors * 0.5]
    seen = [[], [], []]
    together = sample_together(
        [
            PosteriorRun(
                vector_vae, data, settings, seed=number, held_out=data[:20], on_epoch=seen[number].append
            )
            for number, (settings, data) in enumerate(zip(SETTINGS.values(), datas, strict=True))
        ]
    )
    for number, (draws, settings, data) in enumerate(zip(together, SETTINGS.values(), datas, strict=True)):
        assert_same(draws, sample_posterior(vector_vae, data, settings, seed=number, held_out=data[:20]))
        assert [reports[0].epoch for reports in seen[number]] == list(range(1, settings.epochs + 1))
        assert {len(reports) for reports in seen[number]} == {settings.chains}


def test_nothing_to_sample():
    assert sample_together([]) == []


def test_each_goes_on_where_it_was_interrupted(vectors, vector_vae, tmp_path):
    def runs(stop_at):
        def stop(reports):
            if reports[0].epoch == stop_at:
                raise KeyboardInterrupt

        # The first is saved before the second stops, so they resume at different epochs.
        return [
            PosteriorRun(
                vector_vae, vectors, settings, seed=1, checkpoint=tmp_path / str(number), on_epoch=stop
            )
            for number, settings in enumerate([SETTINGS["variant 1"], SETTINGS["variant 2"]])
        ]

    with pytest.raises(KeyboardInterrupt):
        sample_together(runs(3))
    resumed = runs(None)
    assert [run.finished for run in resumed] == [3, 2]
    for draws, settings in zip(sample_together(resumed), SETTINGS.values(), strict=False):
        assert_same(draws, sample_posterior(vector_vae, vectors, settings, seed=1))


@pytest.mark.parametrize(("rows", "batch_size"), [(200, 40), (150, 50)])
def test_runs_that_do_not_step_alike_are_refused(vectors, vector_vae, rows, batch_size):
    settings = SETTINGS["variant 1"]
    first = PosteriorRun(vector_vae, vectors, settings, seed=0)
    second = PosteriorRun(vector_vae, vectors[:rows], settings.with_(batch_size=batch_size), seed=0)
    with pytest.raises(SettingsError, match="as many rows and the same batch size"):
        sample_together([first, second])
