"""The same input gets the same bits: alone, in any batch, in any order, on any number of threads.

For every model that keeps the contract and for odd shapes of each, all that is told of an input is compared
to the bit: its column of the matrix (M, N), the Monte-Carlo errors and the statistics. Where a machine rounds
by an input's place, the model is found out and inputs go one a call, as in a detector.
"""

import zlib

import numpy as np
import pytest
import torch

from dissensus.likelihood import input_statistics, keeps_bits, log_likelihoods
from dissensus.models import MAF, DeepVAE, PixelCNN, build_vae

from .models import LinearGaussian, Tokens, random_draws

pytestmark = pytest.mark.usefixtures("whole_self_test")

MANY, FEW = 300, 12  # inputs in tiles, and one a call
SHUFFLED = 130  # inputs whose order is changed
WIDTHS = [(7,), (10,), (33,), (5, 3), (16,)]
ROW_VAES = {
    f"VAE of {c} columns, widths {w}": (c, w) for c in range(1, 41) for w in [WIDTHS[c % len(WIDTHS)]]
}
PICTURE_VAES = {
    f"VAE of pictures {s}, widths {w}": (s, w)
    for s, w in [
        ((1, 9, 11), (4,)),
        ((3, 8, 13), (3,)),
        ((1, 17, 10), (7, 5)),
        ((2, 11, 9), (8,)),
        ((1, 8, 12), (8,)),
        ((1, 8, 9), (3,)),
    ]
}
DEEP = {f"deep VAE of {s}": s for s in [(1, 9, 17)]}
IN_TURN = {
    f"pixels in turn {s}, width {w}": (s, w) for s, w in [((1, 1, 5), 7), ((3, 6, 7), 3), ((3, 8, 8), 16)]
}
FLOWS = {
    f"flow of {c} columns, width {h}": (c, h)
    for c, h in [(2, 33), (3, 10), (5, 7), (7, 7), (8, 16), (13, 33), (33, 16), (40, 7)]
}
LINEAR = {
    f"linear-Gaussian, {c} columns, {z} latents": (c, z)
    for c, z in [(1, 1), (2, 1), (5, 2), (9, 3), (17, 7), (33, 2), (40, 5)]
}
TOKENS = {f"tokens, {n} long, width {h}": (n, h) for n, h in [(1, 8), (3, 7), (6, 10), (8, 16), (11, 33)]}


def seeded(seed):
    return torch.Generator().manual_seed(seed)


def make(name):
    """The model of this name and 300 inputs for it."""
    if name in ROW_VAES:
        columns, widths = ROW_VAES[name]
        model = build_vae(
            (columns,), latent_size=3, widths=widths, observation="gaussian", generator=seeded(0)
        )
    elif name in PICTURE_VAES:
        shape, widths = PICTURE_VAES[name]
        model = build_vae(shape, latent_size=3, widths=widths, hidden=8, generator=seeded(0))
    elif name in IN_TURN:
        shape, width = IN_TURN[name]
        model = PixelCNN(shape, width=width, dilations=(1, 2), components=3)
    elif name in DEEP:
        model = DeepVAE(DEEP[name], latents=(3, 2), widths=(5, 4))
        model.initialise_(seeded(0))
    elif name in FLOWS:
        columns, hidden = FLOWS[name]
        model = MAF((columns,), transforms=2, hidden=(hidden, hidden))
    elif name in LINEAR:
        model = LinearGaussian(*LINEAR[name])
    else:
        length, hidden = TOKENS[name]
        model = Tokens(length, hidden=hidden)
    shape, random = (MANY, *model.input_shape), seeded(1)
    if name in {*PICTURE_VAES, *IN_TURN, *DEEP}:
        return model, torch.randint(0, 256, shape, generator=random).byte()
    if name in TOKENS:
        return model, torch.randint(0, model.vocabulary, shape, generator=random).byte()
    return model, torch.randn(shape, generator=random)


class Told:
    """All that is told of a model's inputs, as a detector asks for it, for inputs at these places."""

    def __init__(self, name, draws, samples, count=MANY):
        self.model, inputs = make(name)
        self.inputs = inputs[:count]
        self.draws, self.samples = random_draws(self.model, count=draws), samples
        self.one_a_call = not keeps_bits(self.model, self.draws, self.inputs, samples=samples)
        if self.one_a_call:
            self.inputs = self.inputs[:FEW]
        self.all = np.arange(len(self.inputs))

    def __call__(self, places):
        x, how = self.inputs[torch.from_numpy(places)], {"one_a_call": self.one_a_call}
        matrix = log_likelihoods(self.model, self.draws, x, samples=self.samples, **how)
        others = input_statistics(self.model, self.draws, x, **how)
        return np.vstack([matrix.values, matrix.errors, *others.values()])


@pytest.fixture
def use_threads():
    """Sets how many threads torch may use; after the test they are as many as before."""
    before = torch.get_num_threads()
    yield torch.set_num_threads
    torch.set_num_threads(before)


@pytest.mark.parametrize("name", [*ROW_VAES, *PICTURE_VAES, *IN_TURN, *DEEP, *FLOWS, *LINEAR, *TOKENS])
def test_in_any_order_and_on_any_number_of_threads(name, use_threads):
    told = Told(name, draws=3, samples=1 + zlib.crc32(name.encode()) % 5, count=SHUFFLED)
    whole = told(told.all)
    random, count = np.random.default_rng(0), len(told.all)
    np.testing.assert_array_equal(told(told.all[::-1].copy()), whole[:, ::-1])
    for threads in (1, 2, 3, 4):
        use_threads(threads)
        start = int(random.integers(count))
        batch = np.arange(start, random.integers(start, count) + 1)
        for places in (random.permutation(count), batch, batch[:1]):
            np.testing.assert_array_equal(told(places), whole[:, places])


@pytest.mark.parametrize(
    ("name", "draws", "samples"),
    [
        ("VAE of 4 columns, widths (16,)", 2, 2),
        ("VAE of pictures (1, 8, 9), widths (3,)", 1, 1),
        ("flow of 8 columns, width 16", 2, 1),
        ("linear-Gaussian, 5 columns, 2 latents", 2, 1),
        ("tokens, 8 long, width 16", 1, 2),
    ],
)
def test_in_batches_of_every_size(name, draws, samples, use_threads):
    """Every size up to two tiles and one more, then every seventh up to 300.

    Of inputs that go one a call, for which a batch means nothing, sizes are up to a few.
    """
    told = Told(name, draws, samples)
    whole = told(told.all)
    random, cpu = np.random.default_rng(0), torch.device("cpu")
    tiles = 2 * max(told.model.tile(cpu, samples), told.model.observed_tile(cpu))
    for size in filter(lambda size: size <= tiles + 1 or size % 7 == 6, told.all + 1):  # 300 is one of these
        use_threads(1 + int(size) % 4)
        start = int(random.integers(len(told.all) - size + 1))
        places = np.arange(start, start + size)
        np.testing.assert_array_equal(told(places), whole[:, places])
