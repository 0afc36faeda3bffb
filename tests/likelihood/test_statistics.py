"""Statistics of inputs: against brute force one input and one draw at a time, and in bounded memory."""

import numpy as np
import pytest
import torch

from dissensus.likelihood import input_statistics
from dissensus.likelihood.statistics import BLOCK_NUMBERS
from dissensus.models import OBSERVATIONS, OBSERVED, build_vae
from dissensus.posterior import WeightDraws

SHAPE = (1, 9, 10)


def some_vaes(observation="bernoulli", count=4):
    return [
        build_vae(
            SHAPE,
            latent_size=3,
            widths=(4,),
            hidden=8,
            observation=observation,
            generator=torch.Generator().manual_seed(seed),
        )
        for seed in range(count)
    ]


TILE = some_vaes(count=1)[0].observed_tile(torch.device("cpu"))


def with_chains(draws, chain):
    return WeightDraws(draws.parts, np.array(chain), draws.epoch)


@torch.no_grad()
def brute_force(vaes, encoder_of, chain, image):
    """Every statistic of one input in float64; encoder e is that of the first draw that uses it."""
    owners = {e: vaes[encoder_of.index(e)].double() for e in encoder_of}
    x = image.double()[None] / 255
    codes = {}
    for e, vae in owners.items():
        mean, log_std = vae.encode(x)
        codes[e] = mean[0].numpy(), log_std[0].numpy()
    terms, reconstructions, model = [], [], vaes[0].observation
    for vae, e in zip(vaes, encoder_of, strict=True):
        parameters = vae.double().decode(torch.tensor(codes[e][0])[None])
        terms.append(model.log_prob_terms(x, parameters)[0].numpy().ravel())
        reconstructions.append(model.mean(parameters)[0].numpy().ravel())
    terms, reconstructions, pixels = np.array(terms), np.array(reconstructions), x.numpy().ravel()
    used = [codes[e] for e in encoder_of]
    spreads = []
    for c in set(chain):
        own = [codes[e][0] for e in {e for e, d in zip(encoder_of, chain, strict=True) if d == c}]
        if len(own) > 1:
            spreads.append(np.var(own, axis=0).sum())
    found = {
        "latent-norm": np.mean([np.log(np.sum(mean**2)) for mean, _ in used]),
        "latent-scale": np.mean([np.sum(2 * log_std) for _, log_std in used]),
        "reconstruction": np.mean([np.sum((pixels - r) ** 2) for r in reconstructions]),
        "corrected-ll": float(model.best_log_prob(x)) - terms.sum(axis=1).mean(),
        "pixel-variance": terms.var(axis=0).sum(),
        "reconstruction-spread": reconstructions.var(axis=0).sum(),
    }
    return found | ({"latent-spread": np.mean(spreads)} if spreads else {})


@pytest.mark.parametrize("observation", OBSERVATIONS)
@pytest.mark.parametrize(
    ("encoder_of", "chain"),
    [([0, 1, 0, 1], [0, 1, 0, 1]), ([0, 1, 2, 3], [0, 0, 1, 1]), ([0, 1, 2, 3], [0, 0, 0, 1])],
    ids=["an encoder a chain", "sampled encoders", "a chain of one"],
)
def test_equal_brute_force(images, draws_of, observation, encoder_of, chain):
    vaes = some_vaes(observation)
    draws = with_chains(draws_of(vaes, encoder_of), chain)
    found = input_statistics(vaes[3], draws, images[:5])
    for n in range(5):
        expected = brute_force(some_vaes(observation), encoder_of, chain, images[n])
        assert list(found) == [name for name in OBSERVED if name in expected]
        for name, value in expected.items():
            assert found[name][n] == pytest.approx(value, rel=1e-3, abs=1e-4), name
            assert found[name].dtype == np.float64


def test_an_input_s_values_depend_on_nothing_but_itself(image_vaes, draws_of):
    random = torch.Generator().manual_seed(1)
    images = torch.randint(0, 256, (TILE + 7, *SHAPE), generator=random, dtype=torch.uint8)
    draws = draws_of(image_vaes)

    def ask(rows):
        return input_statistics(image_vaes[0], draws, rows)

    whole, backwards = ask(images), ask(images.flip(0))
    alone = [ask(images[n : n + 1]) for n in range(0, len(images), 10)]
    for name, values in whole.items():
        np.testing.assert_allclose(backwards[name][::-1], values, rtol=1e-6)
        np.testing.assert_allclose([one[name][0] for one in alone], values[::10], rtol=1e-6)


def test_some_of_them_are_the_same_as_among_all(images, image_vaes, draws_of):
    draws = draws_of(image_vaes)
    everything = input_statistics(image_vaes[0], draws, images)
    some = input_statistics(image_vaes[0], draws, images, only=("reconstruction", "latent-norm", "none"))
    assert list(some) == ["latent-norm", "reconstruction"]
    for name, values in some.items():
        np.testing.assert_array_equal(values, everything[name])
    assert input_statistics(image_vaes[0], draws, images, only=()) == {}


def test_blocks_change_nothing(image_vaes, draws_of, monkeypatch):
    random = torch.Generator().manual_seed(1)
    images = torch.randint(0, 256, (3 * TILE + 5, *SHAPE), generator=random, dtype=torch.uint8)
    draws = draws_of(image_vaes)
    whole = input_statistics(image_vaes[0], draws, images)
    monkeypatch.setitem(BLOCK_NUMBERS, "cpu", 1)
    for name, values in input_statistics(image_vaes[0], draws, images).items():
        np.testing.assert_array_equal(values, whole[name])


@pytest.mark.parametrize("count", [1, 3 * TILE + 5])
def test_the_number_of_cores_changes_nothing(image_vaes, draws_of, count):
    random = torch.Generator().manual_seed(1)
    images = torch.randint(0, 256, (count, *SHAPE), generator=random, dtype=torch.uint8)
    before, found = torch.get_num_threads(), []
    try:
        for cores in (1, 2, 5):
            torch.set_num_threads(cores)
            found.append(input_statistics(image_vaes[0], draws_of(image_vaes), images))
            assert torch.get_num_threads() == cores
    finally:
        torch.set_num_threads(before)
    for name, values in found[0].items():
        np.testing.assert_array_equal(found[1][name], values)
        np.testing.assert_array_equal(found[2][name], values)


def test_floats_are_taken_as_they_are_and_the_vae_is_left_as_it_was(image_vaes, images, draws_of):
    vae, draws = image_vaes[1], draws_of(image_vaes)
    before = {name: weight.clone() for name, weight in vae.state_dict().items()}
    found = input_statistics(vae, draws, images)
    for name, values in input_statistics(vae, draws, images.float() / 255).items():
        np.testing.assert_array_equal(values, found[name])
    assert all(torch.equal(weight, before[name]) for name, weight in vae.state_dict().items())


def test_one_draw_has_no_spread_and_no_inputs_have_no_values(image_vaes, images, draws_of):
    found = input_statistics(image_vaes[0], draws_of(image_vaes[:1]), images)
    assert "latent-spread" not in found
    assert (found["pixel-variance"] == 0).all()
    assert (found["reconstruction-spread"] == 0).all()
    none = input_statistics(image_vaes[0], draws_of(image_vaes), images[:0])
    assert all(values.shape == (0,) for values in none.values())
    assert set(none) == set(OBSERVED)


def test_progress_counts_pairs_of_draws_and_inputs(image_vaes, images, draws_of):
    seen = []
    input_statistics(image_vaes[0], draws_of(image_vaes, [0, 1, 0]), images, on_tile=seen.append)
    assert sum(seen) == 3 * len(images)


def test_a_spread_far_smaller_than_its_mean_keeps_its_digits(images, draws_of):
    """Sums of squares would lose it: two decoders whose logits near 1,000 differ by a hundredth."""
    first, second = some_vaes(count=1) + some_vaes(count=1)
    with torch.no_grad():
        for vae, bias in ((first, 1000.0), (second, 1000.01)):
            for parameter in vae.decoder.parameters():
                parameter.zero_()
            list(vae.decoder.parameters())[-1].fill_(bias)
    images = torch.zeros_like(images)
    found = input_statistics(first, draws_of([first, second], [0, 0]), images)
    difference = np.float32(1000.01) - np.float32(1000.0)
    np.testing.assert_allclose(found["pixel-variance"], 90 * (difference / 2) ** 2, rtol=1e-6)
