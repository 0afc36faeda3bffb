"""A chain whose batches are divided between cores walks to the bit as it does on one, and beside others."""

import threading

import pytest
import torch
from torch import nn

from dissensus.models import VAE, Bernoulli, build_vae
from dissensus.posterior import SamplingSettings, posterior_settings, step_work
from dissensus.posterior.chain import Chain
from dissensus.posterior.engines import EagerEngine, engine_for
from dissensus.posterior.engines.divided import DividedEngine
from dissensus.posterior.engines.threaded import ThreadedEngine


@pytest.fixture(params=[2, 3, 4], ids=lambda cores: f"{cores} cores")
def cores(request):
    before = torch.get_num_threads()
    torch.set_num_threads(request.param)
    yield request.param
    torch.set_num_threads(before)


@pytest.fixture(autouse=True)
def long_steps(monkeypatch):
    """Every step on pictures is as long as those whose batches are divided."""
    monkeypatch.setattr(step_work, "LEAST_WORK", 0)


@pytest.fixture
def data():
    random = torch.Generator().manual_seed(0)
    return torch.randint(0, 256, (100, 1, 8, 8), generator=random, dtype=torch.uint8)


def some_vae():
    return build_vae((1, 8, 8), latent_size=3, widths=(8,), generator=torch.Generator().manual_seed(1))


def chains_of(data, settings, vae=None):
    return [Chain(vae or some_vae(), settings, data, index, 7) for index in range(settings.chains)]


SETTINGS = {
    "variant 1": SamplingSettings.variant_1(epochs=2, batch_size=25, adaptation=1),
    "variant 2": SamplingSettings.variant_2(epochs=2, batch_size=25, adaptation=1),
    "two chains": SamplingSettings.variant_1(epochs=2, chains=2, batch_size=25),
    "swag": posterior_settings("swag", epochs=4, draws=2, batch_size=25),
}


@pytest.mark.parametrize("settings", SETTINGS.values(), ids=SETTINGS)
def test_the_same_trajectories(data, cores, settings):
    """To the bit, however many cores there are; 25 rows are divided unevenly."""
    plain, *others = (chains_of(data, settings) for _ in range(3))
    engines = EagerEngine(plain), DividedEngine(others[0]), ThreadedEngine(others[1])
    assert {chain.shares for chain in plain} == {step_work.SHARES}
    for epoch in (1, 2):
        expected, *found = (engine.run_epoch(epoch) for engine in engines)
        assert all(torch.equal(trace, expected) for trace in found)
    assert torch.get_num_threads() == cores
    for chains in others:
        for one, other in zip(plain, chains, strict=True):
            for name, tensor in one.tensors().items():
                assert torch.equal(other.tensors()[name], tensor), name


def test_the_shares_gradients_add_up_to_the_batch_s(data, cores, monkeypatch):
    """Up to the order of a sum, the step of a batch that is not divided."""
    divided = chains_of(data, SETTINGS["variant 2"])
    monkeypatch.setattr(step_work, "LEAST_WORK", 1 << 60)
    whole = chains_of(data, SETTINGS["variant 2"])
    assert (divided[0].shares, whole[0].shares) == (step_work.SHARES, 1)
    expected, found = EagerEngine(whole).run_epoch(1), DividedEngine(divided).run_epoch(1)
    torch.testing.assert_close(found, expected, rtol=1e-5, atol=0)
    for name, tensor in whole[0].tensors().items():
        distance = (divided[0].tensors()[name] - tensor).norm()
        assert distance <= 1e-4 * tensor.norm(), name


def test_the_same_bits_again(data, cores):
    first, second = (chains_of(data, SETTINGS["variant 1"]) for _ in range(2))
    for chains in (first, second):
        DividedEngine(chains).run_epoch(1)
    for name, tensor in first[0].tensors().items():
        assert torch.equal(tensor, second[0].tensors()[name]), name


def test_weights_that_are_put_back_are_seen(data, cores):
    """As when a run goes on from a checkpoint."""
    chains, others = chains_of(data, SETTINGS["variant 1"]), chains_of(data, SETTINGS["variant 1"])
    engine = DividedEngine(chains)
    start = {name: tensor.clone() for name, tensor in chains[0].tensors().items()}
    engine.run_epoch(1)
    chains[0].restore(start)
    assert torch.equal(engine.run_epoch(1), DividedEngine(others).run_epoch(1))


class WithBuffer(nn.Module):
    def __init__(self, network):
        super().__init__()
        self.network = network
        self.register_buffer("seen", torch.zeros(()))

    def forward(self, x):
        return self.network(x)


def test_used_where_it_pays(data, cores, monkeypatch):
    settings = SETTINGS["variant 1"]
    assert isinstance(engine_for(chains_of(data, settings)), DividedEngine)
    tiny = SamplingSettings.variant_1(epochs=1, batch_size=1)
    assert isinstance(engine_for(chains_of(data, tiny)), EagerEngine)
    vectors = build_vae((64,), latent_size=3, generator=torch.Generator().manual_seed(1))
    assert isinstance(engine_for(chains_of(data.flatten(1), settings, vectors)), EagerEngine)
    noisy = posterior_settings("variational", epochs=4, draws=2, batch_size=25)
    assert isinstance(engine_for(chains_of(data, noisy)), EagerEngine)
    vae = some_vae()
    kept = VAE(WithBuffer(vae.encoder), vae.decoder, Bernoulli(), (1, 8, 8), 3)
    assert isinstance(engine_for(chains_of(data, settings, kept)), EagerEngine)
    torch.set_num_threads(1)
    assert isinstance(engine_for(chains_of(data, settings)), EagerEngine)
    torch.set_num_threads(cores)
    monkeypatch.setattr(step_work, "LEAST_WORK", 1 << 60)
    assert isinstance(engine_for(chains_of(data, settings)), EagerEngine)  # too little work in a step


@pytest.mark.parametrize("where", ["a copy", "the chain"])
def test_an_error_comes_out_and_leaves_nothing_behind(data, cores, where):
    chains = chains_of(data, SETTINGS["variant 1"])
    engine = DividedEngine(chains)

    def fail(*share):
        raise RuntimeError("lost")

    (engine.chains[0].copies[0][0] if where == "a copy" else chains[0]).backward = fail
    before = threading.active_count()
    with pytest.raises(RuntimeError, match="lost"):
        engine.run_epoch(1)
    assert threading.active_count() == before
    assert torch.get_num_threads() == cores


def test_an_error_in_one_of_several_chains_ends_all_helping_threads(data):
    before = torch.get_num_threads()
    torch.set_num_threads(4)
    try:
        chains = chains_of(data, SETTINGS["two chains"])
        engine = ThreadedEngine(chains)
        assert [len(chain.copies) for chain in engine.chains] == [1, 1]

        def fail(*share):
            raise RuntimeError("lost")

        engine.chains[1].copies[0][-1].backward = fail
        running = threading.active_count()
        with pytest.raises(RuntimeError, match="lost"):
            engine.run_epoch(1)
        assert threading.active_count() == running
    finally:
        torch.set_num_threads(before)
