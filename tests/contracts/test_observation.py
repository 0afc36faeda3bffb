"""What every observation model must do, checked on all of them by one class."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from dataclasses import dataclass

import mpmath
import numpy as np
import pytest
import torch
from scipy import integrate, optimize

from dissensus.models import (
    OBSERVATIONS,
    Bernoulli,
    Categorical,
    ContinuousBernoulli,
    DiscretisedLogistic,
    Gaussian,
    ObservationModel,
    observation_from_config,
)


def bernoulli_reference(x: float, logit: float) -> mpmath.mpf:
    p = 1 / (1 + mpmath.exp(-mpmath.mpf(logit)))
    return x * mpmath.log(p) + (1 - x) * mpmath.log(1 - p)


def continuous_bernoulli_reference(x: float, logit: float) -> mpmath.mpf:
    if logit == 0:
        return mpmath.mpf(0)
    rate = 1 / (1 + mpmath.exp(-mpmath.mpf(logit)))
    normaliser = 2 * mpmath.atanh(1 - 2 * rate) / (1 - 2 * rate)
    return mpmath.log(normaliser * rate**x * (1 - rate) ** (1 - x))


def gaussian_reference(x: float, mean: float, scale: mpmath.mpf) -> mpmath.mpf:
    return mpmath.log(mpmath.npdf(x, mean, scale))


def learned_gaussian_reference(x: float, mean: float, raw: float) -> mpmath.mpf:
    return gaussian_reference(x, mean, mpmath.mpf("0.01") + mpmath.log(1 + mpmath.exp(raw)))


def categorical_reference(x: float, *logits: float) -> mpmath.mpf:
    weights = [mpmath.exp(logit) for logit in logits]
    return mpmath.log(weights[round(x * (len(logits) - 1))] / sum(weights))


def logistic_reference(x: float, mean: float, raw: float, *, levels: int) -> mpmath.mpf:
    scale = mpmath.exp(-2 + 5 * mpmath.tanh(mpmath.mpf(raw) / 5))
    k = round(x * (levels - 1))

    def below(edge: float) -> mpmath.mpf:
        return 1 / (1 + mpmath.exp(-(mpmath.mpf(edge) / (levels - 1) - mean) / scale))

    upper = 1 if k == levels - 1 else below(k + 0.5)
    lower = 0 if k == 0 else below(k - 0.5)
    return mpmath.log(upper - lower)


@dataclass(frozen=True)
class Case:
    model: ObservationModel
    support: str  # "binary", "unit", "real" or "levels"
    reference: Callable[..., mpmath.mpf]
    levels: int = 2


CASES = [
    Case(Bernoulli(), "binary", bernoulli_reference),
    Case(ContinuousBernoulli(), "unit", continuous_bernoulli_reference),
    Case(Gaussian(), "real", lambda x, mean: gaussian_reference(x, mean, mpmath.mpf(0.1))),
    Case(Gaussian(scale=None), "real", learned_gaussian_reference),
    Case(Categorical(), "levels", categorical_reference, levels=256),
    Case(Categorical(levels=5), "levels", categorical_reference, levels=5),
    Case(
        DiscretisedLogistic(),
        "levels",
        lambda x, mean, raw: logistic_reference(x, mean, raw, levels=256),
        levels=256,
    ),
    Case(
        DiscretisedLogistic(levels=2),
        "levels",
        lambda x, mean, raw: logistic_reference(x, mean, raw, levels=2),
        levels=2,
    ),
]


def case_name(case: Case) -> str:
    return str(case.model)


def seeded(seed: int = 0) -> torch.Generator:
    return torch.Generator().manual_seed(seed)


def some_parameters(case: Case, rows: int, *shape: int, dtype: torch.dtype = torch.float64) -> torch.Tensor:
    """(B, Q, *S) of moderate size; the first rows straddle the places where formulas change branch."""
    Q = case.model.parameters_per_dimension
    parameters = 2 * torch.randn(rows, Q, *shape, generator=seeded(1), dtype=torch.float64)
    for row, value in enumerate((0.0, 1e-12, -1e-5, 0.2499, 0.2501, -0.2501)[:rows]):
        parameters[row, 0] = value
    return parameters.to(dtype)


def some_inputs(case: Case, rows: int, *shape: int, dtype: torch.dtype = torch.float64) -> torch.Tensor:
    """(B, *S) inside the support, its ends included."""
    u = torch.rand(rows, *shape, generator=seeded(2), dtype=torch.float64)
    u.view(-1)[0], u.view(-1)[-1] = 0.0, 1.0
    x = {
        "binary": u,  # grey values are allowed
        "unit": u,
        "real": 3 * u - 1,
        "levels": (u * (case.levels - 1)).round() / (case.levels - 1),
    }[case.support]
    return x.to(dtype)


def expectation(case: Case, parameters: torch.Tensor, f: Callable[[float], float]) -> float:
    """E[f(x)] for one dimension, parameters (Q,), by summing or integrating the model's own density."""

    def density(x: float) -> float:
        point = torch.tensor([[x]], dtype=torch.float64)
        return math.exp(case.model.log_prob(point, parameters.reshape(1, -1, 1)).item())

    if case.support in ("binary", "levels"):
        grid = np.arange(case.levels) / (case.levels - 1)
        return sum(f(x) * density(x) for x in grid)
    low, high = 0.0, 1.0
    if case.support == "real":
        centre = case.model.mean(parameters.reshape(1, -1, 1)).item()
        sigma = 1 / (density(centre) * math.sqrt(2 * math.pi))
        low, high = centre - 12 * sigma, centre + 12 * sigma
    value, _ = integrate.quad(lambda x: f(x) * density(x), low, high, epsabs=1e-11, limit=200)
    return float(value)


def largest_log_prob(case: Case, x: float) -> float:
    """The largest log p(x | parameters) that a search over one dimension's parameters finds."""
    Q = case.model.parameters_per_dimension
    point = torch.tensor([[x]], dtype=torch.float64)

    def lost(parameters: np.ndarray) -> float:
        return -case.model.log_prob(point, torch.as_tensor(parameters).reshape(1, Q, 1)).item()

    if Q > 2:  # logits: nothing to search for that a large one does not show
        k = round(x * (case.levels - 1))
        return -lost(np.where(np.arange(Q) == k, 50.0, 0.0))
    if isinstance(case.model, ContinuousBernoulli):
        limit = case.model.LARGEST_LOGIT
        found = optimize.minimize_scalar(
            lambda logit: lost(np.array([logit])), bounds=(-limit, limit), method="bounded"
        )
        return -min(float(found.fun), lost(np.array([-limit])), lost(np.array([limit])))
    starts = [np.array(start) for start in itertools.product((x, -40.0, 40.0), (-60.0, 0.0))]
    options = {"maxiter": 4000, "maxfev": 4000, "xatol": 1e-9, "fatol": 1e-12}
    return -min(
        float(optimize.minimize(lost, start[:Q], method="Nelder-Mead", options=options).fun)
        for start in starts
    )


@pytest.mark.parametrize("case", CASES, ids=case_name)
class TestObservationContract:
    def test_shapes_and_types(self, case: Case):
        x = some_inputs(case, 3, 2, 4, dtype=torch.float32)
        parameters = some_parameters(case, 3, 2, 4, dtype=torch.float32)
        assert case.model.log_prob(x, parameters).shape == (3,)
        assert case.model.log_prob(x, parameters).dtype == torch.float64
        for value in (case.model.log_prob_terms(x, parameters), case.model.mean(parameters)):
            assert value.shape == (3, 2, 4)
            assert value.dtype == torch.float32
        assert case.model.sample(parameters, seeded()).shape == (3, 2, 4)
        assert case.model.log_prob_terms(x.double(), parameters.double()).dtype == torch.float64

    def test_normalised(self, case: Case):
        for parameters in some_parameters(case, 9, 1)[..., 0]:
            assert expectation(case, parameters, lambda _: 1.0) == pytest.approx(1, abs=1e-9)

    def test_agrees_with_brute_force(self, case: Case):
        x, parameters = some_inputs(case, 12, 2), some_parameters(case, 12, 2)
        terms = case.model.log_prob_terms(x, parameters)
        for b, d in itertools.product(range(12), range(2)):
            with mpmath.workdps(400):  # enough for differences of numbers that agree to 10⁻³⁰⁰
                expected = float(case.reference(x[b, d].item(), *parameters[b, :, d].tolist()))
            assert terms[b, d].item() == pytest.approx(expected, rel=1e-12, abs=1e-13)

    def test_single_precision_is_close(self, case: Case):
        x, parameters = some_inputs(case, 50, 6), some_parameters(case, 50, 6)
        single = case.model.log_prob_terms(x.float(), parameters.float())
        double = case.model.log_prob_terms(x.float().double(), parameters.float().double())
        torch.testing.assert_close(single.double(), double, rtol=2e-5, atol=2e-5)

    def test_gradients(self, case: Case):
        x, parameters = some_inputs(case, 7, 1), some_parameters(case, 7, 1).requires_grad_()
        # By default gradcheck's step is 1e-6 and its tolerance 1e-5 absolute.
        assert torch.autograd.gradcheck(lambda p: case.model.log_prob(x, p), (parameters,), atol=1e-4)

    @pytest.mark.parametrize("size", [1e3, 1e4])
    def test_extreme_parameters_stay_finite(self, case: Case, size: float):
        Q = case.model.parameters_per_dimension
        if Q <= 2:
            corners = torch.tensor(list(itertools.product((-size, 0.0, size), repeat=Q)))
        else:
            corners = size * torch.randint(-1, 2, (9, Q), generator=seeded()).float()
        for x in (0.0, 1 / (case.levels - 1), 1.0):
            parameters = corners.unsqueeze(-1).clone().requires_grad_()
            value = case.model.log_prob(torch.full((len(corners), 1), x), parameters)
            (gradient,) = torch.autograd.grad(value.sum(), parameters)
            assert value.isfinite().all()
            assert gradient.isfinite().all()
        assert case.model.mean(corners.unsqueeze(-1)).isfinite().all()
        assert case.model.sample(corners.unsqueeze(-1), seeded()).isfinite().all()

    def test_mean_and_samples_follow_the_density(self, case: Case):
        draws = 40_000
        for parameters in some_parameters(case, 9, 1)[[0, 3, 6, 7, 8], :, 0]:
            first = expectation(case, parameters, lambda x: x)
            second = expectation(case, parameters, lambda x: x**2)
            fourth = expectation(case, parameters, lambda x: x**4)
            assert case.model.mean(parameters.reshape(1, -1, 1)).item() == pytest.approx(first, abs=1e-8)
            x = case.model.sample(parameters.reshape(1, -1, 1).expand(1, -1, draws), seeded()).flatten()
            five_errors = 5 * math.sqrt(max(second - first**2, 0) / draws) + 1e-9
            assert x.mean().item() == pytest.approx(first, abs=five_errors)
            five_errors = 5 * math.sqrt(max(fourth - second**2, 0) / draws) + 1e-9
            assert x.square().mean().item() == pytest.approx(second, abs=five_errors)

    def test_samples_lie_in_the_support(self, case: Case):
        x = case.model.sample(some_parameters(case, 20, 30, dtype=torch.float32), seeded())
        if case.support != "real":
            assert x.min() >= 0
            assert x.max() <= 1
        if case.support in ("binary", "levels"):
            k = x * (case.levels - 1)
            torch.testing.assert_close(k, k.round(), rtol=0, atol=1e-4)

    def test_samples_are_a_function_of_the_generator(self, case: Case):
        parameters = some_parameters(case, 4, 5, dtype=torch.float32)
        state = torch.random.get_rng_state()
        first, again, other = (case.model.sample(parameters, seeded(seed)) for seed in (3, 3, 4))
        assert torch.equal(first, again)
        assert not torch.equal(first, other)
        assert torch.equal(state, torch.random.get_rng_state())

    def test_terms_are_summed_in_double_precision(self, case: Case):
        dimensions = 200_000 if case.model.parameters_per_dimension <= 2 else 5_000
        x = some_inputs(case, 1, dimensions, dtype=torch.float32)
        parameters = some_parameters(case, 1, dimensions, dtype=torch.float32)
        exact = math.fsum(case.model.log_prob_terms(x, parameters).flatten().tolist())
        assert case.model.log_prob(x, parameters).item() == pytest.approx(exact, rel=1e-13)

    def test_rows_do_not_see_each_other(self, case: Case):
        x, parameters = (f(case, 7, 3, 5, dtype=torch.float32) for f in (some_inputs, some_parameters))
        together = case.model.log_prob(x, parameters)
        alone = torch.cat([case.model.log_prob(x[i : i + 1], parameters[i : i + 1]) for i in range(7)])
        torch.testing.assert_close(together, alone, rtol=1e-6, atol=1e-6)
        parameters[3], x[3] = 50.0, 0.0
        changed = case.model.log_prob(x, parameters) != together
        assert changed.nonzero().flatten().tolist() == [3]

    def test_the_best_is_what_numerical_maximisation_finds(self, case: Case):
        """Over all that a decoder may say: from many starts, by a method that needs no gradients."""
        x = some_inputs(case, 1, 6)
        best = case.model.best_log_prob_terms(x)[0]
        assert best.shape == (6,)
        for value, expected in zip(x[0].tolist(), best.tolist(), strict=True):
            found = largest_log_prob(case, value)
            assert found == pytest.approx(expected, abs=1e-3)
            assert found <= expected + 1e-9

    def test_no_parameters_beat_the_best(self, case: Case):
        x, parameters = some_inputs(case, 200, 4), some_parameters(case, 200, 4)
        terms = case.model.log_prob_terms(x, parameters)
        assert (terms <= case.model.best_log_prob_terms(x) + 1e-12).all()

    def test_the_best_of_an_input_is_the_sum_over_its_dimensions(self, case: Case):
        x = some_inputs(case, 5, 3, 4, dtype=torch.float32)
        best = case.model.best_log_prob(x)
        assert best.dtype == torch.float64
        terms = case.model.best_log_prob_terms(x)
        assert terms.dtype == torch.float32
        assert terms.shape == x.shape
        torch.testing.assert_close(best, terms.double().sum((1, 2)), rtol=1e-12, atol=1e-12)
        exact = case.model.best_log_prob(x.double())
        torch.testing.assert_close(best, exact, rtol=1e-5, atol=1e-4)

    def test_nothing_depends_on_values_on_the_host(self, case: Case):
        """Tensors without storage: reading a value, as CUDA graphs forbid, would raise."""
        x = torch.empty(2, 3, device="meta")
        parameters = torch.empty(2, case.model.parameters_per_dimension, 3, device="meta", requires_grad=True)
        value = case.model.log_prob(x, parameters)
        (gradient,) = torch.autograd.grad(value.sum(), parameters)
        assert gradient.shape == parameters.shape
        assert case.model.mean(parameters).shape == (2, 3)
        assert case.model.best_log_prob(x).shape == (2,)

    def test_config_round_trip(self, case: Case):
        assert observation_from_config(case.model.to_config()) == case.model


def test_every_model_is_under_contract():
    assert {type(case.model) for case in CASES} == set(OBSERVATIONS.values())
