"""The presets as shipped; the tests in ``paper/`` replace them by tiny ones."""

import pytest

from benchmarks.paper.presets import CHOSEN, PRESETS, measured_everywhere
from dissensus.posterior import GammaHyperprior


def test_as_published_is_what_the_paper_says():
    preset = PRESETS["as-published"]
    first, second = preset.sampling("bvae1"), preset.sampling("bvae2")
    for settings in (first, second):
        assert settings.rule.step_size == 1e-3
        assert settings.rule.momentum_decay == 0.05
        assert (settings.burn_in, settings.thinning) == (1, 1)
        assert settings.hyperprior == GammaHyperprior(1.0, 1.0, per_part=True)
        assert settings.adaptation_steps == 3_000
    assert first.inference.learning_rate == 1e-3
    assert second.inference is None
    assert preset.sampling("vaes").draws == 5


def test_settled_adapts_in_its_burn_in_alone():
    settings = PRESETS["settled"].sampling("bvae2")
    assert settings.adaptation_epochs(226) <= settings.burn_in
    assert settings.chains > 1


@pytest.mark.parametrize("run", ["bvae1", "bvae2", "vaes", "background"])
@pytest.mark.parametrize("name", ["as-published", "settled"])
def test_quick_is_less_work_and_still_several_draws(name, run):
    full, quick = PRESETS[name].sampling(run), PRESETS[name].quick().sampling(run)
    assert quick.epochs * quick.chains * 4 <= full.epochs * full.chains + 4
    assert quick.draws >= 2 or run == "background"


def test_what_was_chosen_for_held_out_classes_is_measured_there_alone():
    assert [*measured_everywhere(), CHOSEN][:2] == list(PRESETS)[:2]
    assert CHOSEN not in measured_everywhere()
