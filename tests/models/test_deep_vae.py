"""A VAE of several stochastic layers: which part of the picture each moves, and what each explains."""

import pytest
import torch
from torch.distributions import Normal, kl_divergence

from dissensus.errors import SettingsError
from dissensus.models import DeepVAE, model_from_config, model_to_config
from dissensus.models.vae.residual import group_shapes


def seeded(seed):
    return torch.Generator().manual_seed(seed)


@pytest.fixture(scope="module")
def model():
    made = DeepVAE((3, 16, 18), latents=(4, 2, 1), widths=(6, 5, 4), observation="gaussian")
    made.initialise_(seeded(0))
    return made


def test_groups_lie_on_finer_and_finer_maps(model):
    assert group_shapes((3, 16, 18), (4, 2, 1), 3) == [(4, 1, 1), (2, 4, 4), (1, 8, 9)]
    assert model.latent_size == 4 + 2 * 16 + 72
    assert group_shapes((1, 28, 28), (7,), 2) == [(7, 1, 1)]


def test_the_top_moves_the_whole_picture_and_finer_numbers_a_part_of_it(model):
    z = torch.zeros(1, model.latent_size)
    with torch.no_grad():
        blank = model.decode(z)

        def moved(number):
            changed = z.clone()
            changed[0, number] = 2
            return (model.decode(changed) != blank).any(1)[0, 0]

        assert moved(0).all()
        assert 0 < moved(4 + 32)[:, :].sum() < moved(0).sum() / 2  # the first of the finest map
        assert moved(4 + 32)[0, 0]
        assert not moved(4 + 32)[-1, -1]


def test_gains_are_what_elbos_lose_where_lower_groups_are_left_to_the_prior(model):
    x = torch.randint(0, 256, (5, 3, 16, 18), generator=seeded(1)).byte()
    with torch.no_grad():
        mean, log_std = model.encode(x)
        seen = model.observe(x, (mean, log_std))
        for name, kept in (("lower", 4), ("lowest", 4 + 32)):
            kl = kl_divergence(Normal(mean.double(), log_std.double().exp()), Normal(0.0, 1.0))
            cut = mean.clone()
            cut[:, kept:] = 0
            whole = model.log_prob(x, mean) - kl.sum(1)
            expected = whole - (model.log_prob(x, cut) - kl[:, :kept].sum(1))
            torch.testing.assert_close(seen[name], expected, rtol=1e-5, atol=1e-3)


def test_it_is_made_again_by_its_name(model):
    described = model_to_config(model)
    assert described["model"] == "deep-vae"
    again = model_from_config(described)
    again.load_state_dict(model.state_dict())
    z = torch.randn(2, model.latent_size, generator=seeded(3))
    with torch.no_grad():
        assert torch.equal(again.decode(z), model.decode(z))


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"input_shape": (9,)}, "one of pictures"),
        ({"input_shape": (1, 16, 16), "latents": (4, 0)}, "positive sizes"),
        ({"input_shape": (1, 16, 16), "latents": (4, 1 << 22), "widths": (4, 4)}, "give fewer channels"),
    ],
)
def test_what_no_deep_vae_can_be_made_of_is_refused(arguments, words):
    with pytest.raises(SettingsError, match=words):
        DeepVAE(**arguments)
