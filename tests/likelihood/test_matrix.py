"""The matrix: against brute force, the same for an input wherever it stands, and in bounded memory."""

import math
import os
import sys
from pathlib import Path

import numpy as np
import pytest
import torch

from dissensus.errors import SettingsError
from dissensus.likelihood import log_likelihoods, noise_floor
from dissensus.likelihood.rows import CALL_ROWS
from dissensus.models import VAE
from dissensus.models.vae.scorer import CPU_IMAGE_ROWS
from dissensus.seeding import torch_stream
from tests import warm_python

SOURCE = Path(__file__).parents[2] / "src"


def brute_force(vae, images, noise):
    """log p̂ (N,) and its error (N,) in float64, one input and one sample at a time; ``vae`` is in float64."""
    values, errors = [], []
    for image in images:
        x = image.double()[None] / 255
        with torch.no_grad():
            code = vae.encoder(x)[0].numpy()
        mean, std = code[: vae.latent_size], np.exp(code[vae.latent_size :])
        log_weights = []
        for eps in noise:
            z = mean + std * eps
            with torch.no_grad():
                logits = vae.decoder(torch.tensor(z)[None])[0].numpy().ravel()
            p, pixels = 1 / (1 + np.exp(-logits)), x.numpy().ravel()
            log_likelihood = np.sum(pixels * np.log(p) + (1 - pixels) * np.log1p(-p))
            log_prior = np.sum(-0.5 * z**2 - 0.5 * np.log(2 * np.pi))
            log_q = np.sum(-0.5 * eps**2 - np.log(std) - 0.5 * np.log(2 * np.pi))
            log_weights.append(log_likelihood + log_prior - log_q)
        top = max(log_weights)
        weights = np.exp(np.array(log_weights) - top)
        values.append(top + np.log(weights.mean()))
        errors.append(weights.std(ddof=1) / np.sqrt(len(weights)) / weights.mean())
    return np.array(values), np.array(errors)


@pytest.mark.parametrize(("samples", "seed"), [(2, 0), (8, 3), (70, 1), (131, 2)])
def test_equals_brute_force_from_the_same_noise(image_vaes, images, draws_of, samples, seed):
    matrix = log_likelihoods(image_vaes[0], draws_of(image_vaes), images, samples=samples, seed=seed)
    noise = torch.randn(samples, 3, generator=torch_stream(seed, "scoring noise")).double().numpy()
    for m, vae in enumerate(image_vaes):
        values, errors = brute_force(vae.double(), images, noise)
        np.testing.assert_allclose(matrix.values[m], values, rtol=0, atol=1e-4)
        np.testing.assert_allclose(matrix.errors[m], errors, rtol=1e-3, atol=1e-5)
    assert matrix.values.dtype == matrix.errors.dtype == np.float64
    assert (matrix.samples, matrix.seed) == (samples, seed)


def test_shared_encoders_are_used_for_their_own_draws(image_vaes, images, draws_of):
    """Draw 0 and 2 share the first encoder, draw 1 has the second: encoders are not in the order of draws."""
    matrix = log_likelihoods(image_vaes[2], draws_of(image_vaes, [0, 1, 0]), images, samples=4)
    for m, e in ((0, 0), (1, 1), (2, 0)):
        pair = VAE(image_vaes[e].encoder, image_vaes[m].decoder, image_vaes[0].observation, (1, 9, 10), 3)
        alone = log_likelihoods(pair, draws_of([pair]), images, samples=4)
        assert np.array_equal(matrix.values[m], alone.values[0])


def test_identical_draws_give_identical_rows(image_vaes, images, draws_of):
    first, other, _ = image_vaes
    matrix = log_likelihoods(first, draws_of([first, other, first]), images, samples=8)
    assert np.array_equal(matrix.values[0], matrix.values[2])
    assert np.array_equal(matrix.errors[0], matrix.errors[2])
    assert (matrix.values[0] != matrix.values[1]).all()


def test_the_noise_is_a_function_of_the_seed(image_vaes, images, draws_of):
    draws = draws_of(image_vaes)
    first, again, other = (
        log_likelihoods(image_vaes[0], draws, images, samples=4, seed=s).values for s in (0, 0, 1)
    )
    assert np.array_equal(first, again)
    assert (first != other).all()


@pytest.mark.parametrize("samples", [1, 3, 7, CPU_IMAGE_ROWS, CPU_IMAGE_ROWS + 1])
def test_an_input_s_value_depends_on_nothing_but_itself(image_vaes, images, draws_of, samples):
    """Alone, in a batch, in reverse, beside a copy, in a tile that is filled up and in one that is not."""
    draws = draws_of(image_vaes)

    def score(rows):
        return log_likelihoods(image_vaes[0], draws, rows, samples=samples).values

    whole = score(images)
    alone = np.hstack([score(images[n : n + 1]) for n in range(len(images))])
    batched = np.hstack([score(images[:7]), score(images[7:14]), score(images[14:])])
    backwards = score(images.flip(0))[:, ::-1]
    doubled = score(images.repeat_interleave(2, dim=0))
    for other in (alone, batched, backwards, doubled[:, ::2], doubled[:, 1::2]):
        np.testing.assert_allclose(other, whole, rtol=1e-6, atol=0)
        if samples >= CPU_IMAGE_ROWS:  # one input a tile: the same work for every input
            assert np.array_equal(other, whole)


IN_ANOTHER_PROCESS = """
import sys, numpy as np, torch
from dissensus.likelihood import log_likelihoods
from dissensus.models import build_vae
from dissensus.posterior import SamplingSettings, sample_posterior

def matrix(samples):
    random = torch.Generator().manual_seed(9)
    images = torch.randint(0, 256, (20, 1, 8, 8), generator=random, dtype=torch.uint8)
    vae = build_vae((1, 8, 8), latent_size=2, widths=(4,), hidden=8, generator=random)
    settings = SamplingSettings.variant_2(epochs=2, batch_size=10)
    draws = sample_posterior(vae, images, settings, seed=0)
    return log_likelihoods(vae, draws, images, samples=samples).values
"""


def test_another_process_gives_the_same_values(tmp_path):
    script = IN_ANOTHER_PROCESS + "\nnp.save(sys.argv[1], np.stack([matrix(5), matrix(64)]))\n"
    warm_python.run(
        [sys.executable, "-c", script, str(tmp_path / "values.npy")],
        check=True,
        env={**os.environ, "PYTHONPATH": str(SOURCE), "OMP_NUM_THREADS": "1"},
    )
    scope = {}
    exec(IN_ANOTHER_PROCESS, scope)
    here = np.stack([scope["matrix"](5), scope["matrix"](64)])
    np.testing.assert_allclose(np.load(tmp_path / "values.npy"), here, rtol=1e-6, atol=0)


def test_bytes_and_floats_are_the_same_pixels(image_vaes, images, draws_of):
    draws = draws_of(image_vaes)
    from_bytes, from_floats = (
        log_likelihoods(image_vaes[0], draws, x, samples=4).values for x in (images, images / 255)
    )
    assert np.array_equal(from_bytes, from_floats)


def test_one_sample_cannot_state_an_error(image_vaes, images, draws_of):
    matrix = log_likelihoods(image_vaes[0], draws_of(image_vaes), images, samples=1)
    assert np.isfinite(matrix.values).all()
    assert np.isnan(matrix.errors).all()


@pytest.mark.parametrize("samples", [0, -3])
def test_no_samples_are_refused(image_vaes, images, draws_of, samples):
    for function in (log_likelihoods, noise_floor):
        with pytest.raises(SettingsError, match="samples"):
            function(image_vaes[0], draws_of(image_vaes), images, samples=samples)


def test_no_inputs_are_an_empty_matrix(image_vaes, images, draws_of):
    assert log_likelihoods(image_vaes[0], draws_of(image_vaes), images[:0]).values.shape == (3, 0)


def test_the_given_vae_and_global_randomness_are_left_alone(image_vaes, images, draws_of):
    vae = image_vaes[0]
    before = {name: value.clone() for name, value in vae.state_dict().items()}
    state = torch.random.get_rng_state()
    log_likelihoods(vae, draws_of(image_vaes), images, samples=2)
    assert all(torch.equal(before[name], value) for name, value in vae.state_dict().items())
    assert torch.equal(state, torch.random.get_rng_state())


@pytest.mark.parametrize("samples", [5, 64])
@pytest.mark.parametrize(("encoder_of", "encoders"), [([0, 0, 0], 1), ([0, 1, 1], 2), ([0, 1, 2], 3)])
def test_encodes_once_an_encoder_and_counts_every_pair(
    image_vaes, images, draws_of, monkeypatch, encoder_of, encoders, samples
):
    tile = max(1, CPU_IMAGE_ROWS // samples)
    tiles, calls_a_draw = (
        -(-len(images) // size) for size in (tile, tile * max(1, CALL_ROWS["cpu"] // (tile * samples)))
    )
    calls, finished = [], []
    encode = VAE.encode

    def counted(self, x):
        calls.append(len(x))
        return encode(self, x)

    draws = draws_of(image_vaes, encoder_of)
    monkeypatch.setattr(VAE, "encode", counted)
    log_likelihoods(image_vaes[0], draws, images, samples=samples, on_tile=finished.append)
    assert len(calls) == encoders * tiles
    assert sum(finished) == 3 * len(images)
    assert len(finished) == 3 * calls_a_draw


def test_large_inputs_are_taken_a_tile_at_a_time(image_vaes, images, draws_of, monkeypatch):
    draws, tile, finished = draws_of(image_vaes), CPU_IMAGE_ROWS // 4, []
    whole = log_likelihoods(image_vaes[0], draws, images, samples=4)
    monkeypatch.setattr("dissensus.likelihood.rows.CALL_NUMBERS", math.prod(images.shape[1:]) * (tile + 1))
    parts = log_likelihoods(image_vaes[0], draws, images, samples=4, on_tile=finished.append)
    assert max(finished) == tile
    assert sum(finished) == 3 * len(images)
    np.testing.assert_array_equal(parts.values, whole.values)


@pytest.mark.parametrize(("samples", "rows"), [(7, {14}), (64, {64}), (65, {33, 32}), (131, {44, 43})])
def test_many_samples_are_decoded_a_cache_full_at_a_time(
    image_vaes, images, draws_of, monkeypatch, samples, rows
):
    calls, decode = [], VAE.decode

    def counted(self, z):
        calls.append(len(z))
        return decode(self, z)

    monkeypatch.setattr(VAE, "decode", counted)
    log_likelihoods(image_vaes[0], draws_of(image_vaes), images[:4], samples=samples)
    assert set(calls) == rows
    assert sum(calls) == 3 * 4 * samples


def test_scores_in_full_precision_with_the_fast_kernels(image_vaes, images, draws_of):
    seen = []

    def look(_count):
        seen.append((torch.backends.cudnn.enabled, torch.backends.cudnn.allow_tf32))

    before = torch.backends.cudnn.enabled, torch.backends.cudnn.allow_tf32
    log_likelihoods(image_vaes[0], draws_of(image_vaes), images, samples=4, on_tile=look)
    assert set(seen) == {(True, False)}
    assert (torch.backends.cudnn.enabled, torch.backends.cudnn.allow_tf32) == before


def test_noise_floor_is_of_the_last_draw(image_vaes, images, draws_of):
    last = draws_of(image_vaes[2:])
    first, second = (log_likelihoods(image_vaes[2], last, images, samples=4, seed=s).values for s in (6, 7))
    floor = noise_floor(image_vaes[0], draws_of(image_vaes), images, samples=4, seed=6)
    assert floor == pytest.approx(np.sqrt(((first - second) ** 2).mean() / 2))


PEAK_MEMORY = """
import torch
from dissensus.likelihood import log_likelihoods
from dissensus.models import build_vae
from dissensus.posterior import SamplingSettings, sample_posterior

def peak():  # in MB; not getrusage, whose peak starts at that of the process which started this one
    lines = open("/proc/self/status").read().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("VmHWM")) / 1024

torch.set_num_threads(1)
random = torch.Generator().manual_seed(0)
images = torch.randint(0, 256, (4000, 1, 28, 28), generator=random, dtype=torch.uint8)
vae = build_vae((1, 28, 28), latent_size=2, widths=(1,), hidden=2, generator=random)
draws = sample_posterior(vae, images[:16], SamplingSettings.variant_1(epochs=1), seed=0)
for count in (500, 4000):
    log_likelihoods(vae, draws, images[:count], samples=64)
    print(peak())
"""


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="the peak is read from /proc")
def test_memory_does_not_grow_with_the_number_of_inputs():
    output = warm_python.run(
        [sys.executable, "-c", PEAK_MEMORY],
        check=True,
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONPATH": str(SOURCE), "OMP_NUM_THREADS": "1"},
    ).stdout
    few, many = map(float, output.split())
    # All weights' decodings would be 800 MB, all inputs as floats 12 MB.
    assert many - few < 8
