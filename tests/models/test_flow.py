"""Flows: densities that are exact, columns that see what is before them alone, and tails that fall."""

import math
import sys

import numpy as np
import pytest
import torch
from scipy import stats

from dissensus.errors import SettingsError
from dissensus.models import MAF, NSF, RealNVP
from dissensus.models.flow.base import log_base
from dissensus.posterior import SamplingSettings, load_draw, sample_posterior

FAMILIES = [MAF, NSF, RealNVP]
NO_NOISE = torch.empty(1, 0)


def drawn(family, columns, seed=0, wild=1.0, **settings):
    """A flow with random weights, so many times as large as a chain starts from."""
    flow = family((columns,), **{"hidden": (16,), **settings})
    flow.initialise_(torch.Generator().manual_seed(seed))
    with torch.no_grad():
        for name, weights in flow.named_parameters():
            if name.endswith("bias"):
                weights.normal_(0, 0.3, generator=torch.Generator().manual_seed(seed))
            else:
                weights.mul_(wild)
    return flow


def log_p(flow, x):
    with torch.no_grad():
        return flow.log_likelihood(torch.as_tensor(x, dtype=torch.float32), NO_NOISE, ())[0].numpy()


# ---- the density


def test_an_affine_flow_of_given_weights_is_the_normal_law_worked_out_by_hand():
    """z₀ = a₀x₀ + b₀ and z₁ = a₁x₁ + b₁ + c·x₀, where c·x₀ = c·relu(x₀) − c·relu(−x₀)."""
    a, b, c = (0.5, 2.0), (0.3, -1.0), 1.5
    flow = MAF((2,), transforms=1, hidden=(2,), degrees_of_freedom=None)
    bound = math.log(20)
    unbounded = [math.log(scale) / (1 - abs(math.log(scale)) / bound) for scale in a]  # as zuko bounds scales
    first, last = flow.conditioners[0].layers
    with torch.no_grad():
        first.weight.copy_(torch.tensor([[1.0, 9.0], [-1.0, 9.0]]))  # the 9s are masked
        last.weight.copy_(torch.tensor([[9.0, 9.0], [9.0, 9.0], [c, -c], [0.0, 0.0]]))
        last.bias.copy_(torch.tensor([b[0], unbounded[0], b[1], unbounded[1]]))
    A = np.array([[a[0], 0], [c, a[1]]])
    law = stats.multivariate_normal(-np.linalg.solve(A, b), np.linalg.inv(A.T @ A))
    x = np.random.default_rng(0).normal(size=(20, 2))
    np.testing.assert_allclose(log_p(flow, x), law.logpdf(x), rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("degrees", [None, 1.0, 5.0])
def test_the_base_density_integrates_to_one(degrees):
    z = torch.linspace(-3000, 3000, 600_001, dtype=torch.float64)
    assert torch.trapezoid(log_base(z, degrees).exp(), z).item() == pytest.approx(1, abs=1e-6)


def test_the_base_density_is_student_s_t_near_and_falls_in_a_line_far_away():
    near = torch.tensor([0.0, 1.0, -5.0, 20.0], dtype=torch.float64)
    np.testing.assert_allclose(log_base(near, 5.0), stats.t(5).logpdf(near), atol=1e-5)
    far = log_base(torch.tensor([140.0, 1140.0, 2140.0], dtype=torch.float64), 5.0)
    assert far[0] - far[1] == pytest.approx((far[1] - far[2]).item())


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize(("columns", "points"), [(1, 2001), (2, 301)])
def test_a_flow_integrates_to_one(family, columns, points):
    flow = drawn(family, columns, wild=2.0, transforms=2)
    u = np.linspace(-8, 8, points)  # x = sinh u reaches far out
    axes = np.meshgrid(*[u] * columns, indexing="ij")
    values = np.exp(log_p(flow, np.stack([np.sinh(each).ravel() for each in axes], axis=1)))
    values = values.reshape([points] * columns) * np.prod([np.cosh(each) for each in axes], axis=0)
    for _ in range(columns):
        values = np.trapezoid(values, u, axis=0)
    assert values == pytest.approx(1, abs=5e-3)


def test_a_linear_gaussian_law_is_learnt():
    random = np.random.default_rng(0)
    A = np.array([[1.0, 0, 0], [0.8, 0.5, 0], [-0.5, 0.3, 0.7]])
    x = torch.from_numpy(random.normal(size=(3000, 3)) @ A.T).float()
    flow = MAF((3,), transforms=2, hidden=(16,), degrees_of_freedom=None, jitter=0.02)
    settings = SamplingSettings.ensemble(1, 20, batch_size=100)
    settings = settings.with_(rule=type(settings.rule)(1e-2), inference=type(settings.rule)(1e-2))
    load_draw(flow, sample_posterior(flow, x[:2000], settings, seed=0), 0)
    true = stats.multivariate_normal(np.zeros(3), A @ A.T).logpdf(x[2000:].numpy())
    assert np.mean(true - log_p(flow, x[2000:])) < 0.06


# ---- what columns see


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize(("columns", "hidden"), [(1, (4,)), (2, (1,)), (5, (3, 7)), (6, (16, 16))])
def test_a_column_is_moved_by_itself_and_by_those_before_it(family, columns, hidden):
    flow = drawn(family, columns, hidden=hidden)
    for number, conditioner in enumerate(flow.conditioners):
        places, _ = flow.places(columns, number)
        seen = torch.autograd.functional.jacobian(
            lambda x, of=conditioner: of(x[None])[0], torch.randn(columns)
        )
        assert not seen.abs().sum(1)[places[:, None] <= places].any()


@pytest.mark.parametrize("hidden", [(1,), (16, 16), (64, 8, 32)])
def test_the_last_of_many_columns_sees_all_others(hidden):
    conditioner = MAF((200,), transforms=1, hidden=hidden).conditioners[0]
    paths = torch.eye(200)
    for layer in conditioner.layers:
        paths = (layer.mask.float() @ paths > 0).float()
    assert paths[-1].tolist() == [1.0] * 199 + [0.0]


@pytest.mark.parametrize("family", FAMILIES)
def test_the_columns_terms_add_up_to_the_log_likelihood(family):
    flow, x = drawn(family, 4), torch.randn(10, 4, generator=torch.Generator().manual_seed(0))
    with torch.no_grad():
        terms = flow.terms(x)
    assert terms.shape == (10, 4)
    np.testing.assert_allclose(terms.double().sum(1), log_p(flow, x))


# ---- far away


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("direction", [(1.0, 0, 0), (0, -1.0, 0), (1.0, 1.0, -1.0)])
@pytest.mark.parametrize("degrees", [None, 5.0])
def test_far_away_the_density_is_finite_and_falls(family, direction, degrees):
    for seed in range(5):
        flow = drawn(family, 3, seed, wild=3.0, degrees_of_freedom=degrees)
        steps = torch.tensor([1e3, 2e3, 3e3, 5e3, 1e4])[:, None] * torch.tensor(direction)
        values = log_p(flow, torch.tensor([0.1, -0.2, 0.3]) + steps)
        assert np.isfinite(values).all()
        assert (np.diff(values) < 0).all()


def test_training_far_away_has_finite_gradients():
    flow = drawn(NSF, 3)
    flow.objective(torch.tensor([[10.0, -10.0, 0.0], [5.0, -5.0, 5.0]]), torch.zeros(2, 3)).sum().backward()
    assert all(p.grad.isfinite().all() for p in flow.parameters())


# ---- manners


def test_neither_randomness_nor_torch_s_checks_of_arguments_are_touched(monkeypatch):
    from dissensus.models.flow import families

    for module in [name for name in sys.modules if name.partition(".")[0] == "zuko"]:
        monkeypatch.delitem(sys.modules, module)
    families._zuko.cache_clear()
    before, checked = torch.get_rng_state(), torch.distributions.Distribution._validate_args
    log_p(drawn(MAF, 2), [[0.0, 1.0]])
    assert "zuko" in sys.modules
    assert torch.distributions.Distribution._validate_args == checked
    with pytest.raises(ValueError, match="scale"):
        torch.distributions.Normal(0.0, -1.0)
    assert torch.equal(torch.get_rng_state(), before)


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"input_shape": (1, 8, 8)}, "a flow is a density of rows"),
        ({"input_shape": (0,)}, "at least one column"),
        ({"transforms": 0}, "transforms must lie between 1 and 64"),
        ({"transforms": 10**9}, "transforms must lie between 1 and 64"),
        ({"hidden": ()}, "hidden must be 1 to 16 widths"),
        ({"hidden": (8, 0)}, "hidden must be 1 to 16 widths"),
        ({"jitter": -1.0}, "jitter must be a number of at least 0"),
        ({"clip": 0.0}, "clip must be a number above 0"),
        ({"degrees_of_freedom": math.nan}, "degrees_of_freedom must be a number above 0"),
    ],
)
def test_what_no_flow_can_be_made_of_is_refused(wrong, said):
    with pytest.raises(SettingsError, match=said):
        MAF(**{"input_shape": (3,), **wrong})
