"""Replayed steps are the plain loop's steps."""

import pytest
import torch

from dissensus.models import build_vae
from dissensus.posterior import SamplingSettings, posterior_settings
from dissensus.posterior.chain import Chain
from dissensus.posterior.engines import CapturedEngine, EagerEngine, engine_for


def chains_of(vae, data, settings):
    return [Chain(vae, settings, data, index, 7) for index in range(settings.chains)]


def test_the_plain_loop_runs_on_a_cpu_and_reports_every_step(vectors, vector_vae):
    settings = SamplingSettings.variant_1(epochs=2, chains=3, batch_size=40)
    chains = chains_of(vector_vae, vectors, settings)
    engine = engine_for(chains)
    assert isinstance(engine, EagerEngine)
    trace = engine.run_epoch(1)
    assert trace.shape == (3, 5)
    assert trace.dtype == torch.float64
    twin = chains_of(vector_vae, vectors, settings)[1]
    assert trace[1].tolist() == [float(twin.step(rows)) for rows in twin.begin_epoch(1)]


@pytest.mark.gpu
@pytest.mark.parametrize("name", ["cyclical-sghmc", "sgld", "swag", "variational"])
@pytest.mark.parametrize("variant", [1, 2])
def test_every_posterior_is_captured(name, variant):
    """Every epoch of two replayed chains equals the plain loop's started from the same state."""
    random = torch.Generator().manual_seed(0)
    data = torch.randint(0, 256, (512, 1, 28, 28), generator=random, dtype=torch.uint8).cuda()
    vae = build_vae((1, 28, 28), generator=random)
    settings = posterior_settings(name, variant=variant, epochs=6, draws=4, chains=2, batch_size=64)
    plain, captured = (chains_of(vae, data, settings) for _ in range(2))
    engines = EagerEngine(plain), CapturedEngine(captured)
    with torch.backends.cudnn.flags(enabled=True, benchmark=False, deterministic=True, allow_tf32=False):
        for epoch in range(1, settings.epochs + 1):
            # Rounding grows from epoch to epoch, which is not what is asked here.
            for one, other in zip(plain, captured, strict=True):
                one.restore({key: tensor.clone() for key, tensor in other.tensors().items()})
            expected, trace = (engine.run_epoch(epoch) for engine in engines)
            torch.testing.assert_close(trace, expected, rtol=1e-3, atol=0)
            for one, other in zip(plain, captured, strict=True):
                for key, tensor in one.tensors().items():
                    difference = (other.tensors()[key] - tensor).double().norm()
                    assert difference <= 1e-3 * tensor.double().norm() + 1e-9, key


@pytest.mark.gpu
def test_chains_of_several_runs_in_one_graph_are_the_plain_loop_s():
    random = torch.Generator().manual_seed(0)
    data = torch.randint(0, 256, (512, 1, 28, 28), generator=random, dtype=torch.uint8).cuda()
    vae = build_vae((1, 28, 28), generator=random)
    runs = [
        SamplingSettings.variant_1(epochs=3, chains=1, batch_size=64, adaptation=1),
        SamplingSettings.variant_2(epochs=3, chains=2, batch_size=64, adaptation=2),
        SamplingSettings.ensemble(1, 3, batch_size=64),
    ]
    plain, captured = ([chain for run in runs for chain in chains_of(vae, data, run)] for _ in range(2))
    engines = EagerEngine(plain), CapturedEngine(captured)
    with torch.backends.cudnn.flags(enabled=True, benchmark=False, deterministic=True, allow_tf32=False):
        for epoch in (1, 2, 3):
            for one, other in zip(plain, captured, strict=True):
                one.restore({key: tensor.clone() for key, tensor in other.tensors().items()})
            expected, trace = (engine.run_epoch(epoch) for engine in engines)
            torch.testing.assert_close(trace, expected, rtol=1e-3, atol=0)


@pytest.mark.gpu
@pytest.mark.parametrize("variant", [SamplingSettings.variant_1, SamplingSettings.variant_2])
def test_captured_trajectory_equals_the_plain_loop_s(variant):
    random = torch.Generator().manual_seed(0)
    data = torch.randint(0, 256, (512, 1, 28, 28), generator=random, dtype=torch.uint8).cuda()
    vae = build_vae((1, 28, 28), generator=random)
    # Adaptation ends after the first of two epochs, so the graph is recorded twice.
    settings = variant(epochs=2, chains=2, batch_size=64, adaptation=1)
    plain, captured = (chains_of(vae, data, settings) for _ in range(2))
    engines = EagerEngine(plain), CapturedEngine(captured)
    with torch.backends.cudnn.flags(enabled=True, benchmark=False, deterministic=True, allow_tf32=False):
        for epoch in (1, 2):
            expected, trace = (engine.run_epoch(epoch) for engine in engines)
            torch.testing.assert_close(trace, expected, rtol=1e-4, atol=0)
    for one, other in zip(plain, captured, strict=True):
        for name, tensor in one.tensors().items():
            distance = (other.tensors()[name] - tensor).norm()
            assert distance <= 1e-4 * tensor.norm(), name
        for name, part in one.parts.items():
            assert float(other.parts[name].virial) == pytest.approx(float(part.virial), rel=1e-3, abs=1e-6)
