"""Search in a latent space by BoTorch, kept to where draws agree."""

import importlib.util
import warnings

import pytest
import torch

if not importlib.util.find_spec("botorch"):
    pytest.skip("needs BoTorch", allow_module_level=True)
with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # of deprecations within
    from botorch.acquisition import AcquisitionFunction
    from botorch.optim import optimize_acqf

    from dissensus.integrations.botorch import (
        DisagreementPenalty,
        constraint,
        feasible_starts,
        keep,
        penalized,
    )

from dissensus import Detector
from dissensus.errors import SettingsError

pytestmark = pytest.mark.filterwarnings("ignore")


class FirstLatent(AcquisitionFunction):
    """The further along the first latent the better: it leads away from the data."""

    def __init__(self):
        super().__init__(model=None)

    def forward(self, X):
        return X[..., 0].mean(dim=-1)


@pytest.fixture(scope="module")
def space(inliers):
    gate = Detector(model="vae", chains=1, draws=4, epochs=20, samples=2, statistic="mean-ll").fit(inliers)
    return gate.latent


@pytest.fixture
def bounds(space):
    return torch.stack([torch.full((space.size,), -9.0), torch.full((space.size,), 9.0)]).double()


def asked(space, bounds, acquisition, **options):
    limit = space.limit(0.2)
    starts = feasible_starts(space, limit, bounds, restarts=3, seed=1)
    found, _ = optimize_acqf(
        acquisition, bounds, q=1, num_restarts=3, batch_initial_conditions=starts, **options
    )
    return space.disagreement(found).max().item() / limit


def test_without_it_the_search_leaves_the_data(space, bounds):
    assert asked(space, bounds, FirstLatent()) > 1.5


def test_the_penalty_keeps_it(space, bounds):
    assert asked(space, bounds, penalized(FirstLatent(), space, space.limit(0.2), strength=100)) < 1.2


def test_the_constraint_keeps_it(space, bounds):
    given = {"nonlinear_inequality_constraints": [constraint(space, space.limit(0.2))]}
    assert asked(space, bounds, FirstLatent(), **given) < 1.05


def test_the_penalty_is_of_the_worst_of_a_batch(space):
    limit = space.limit(0.2)
    near, far = space.sample(1, max_disagreement=limit), torch.full((1, space.size), 9.0)
    penalty = DisagreementPenalty(space, limit)
    assert penalty(near[None]).item() == 0
    assert penalty(torch.stack([near, far], dim=1)).item() == penalty(far[None]).item() > 0


def test_what_is_kept_and_where_it_starts(space, bounds):
    limit = space.limit(0.2)
    starts = feasible_starts(space, limit, bounds, restarts=4, q=2, acquisition=FirstLatent())
    assert starts.shape == (4, 2, space.size)
    assert len(keep(space, starts.flatten(0, 1), limit)) == 8
    with pytest.raises(SettingsError, match="limit"):
        keep(space, starts.flatten(0, 1), 0.0)
    with pytest.raises(SettingsError, match="points of the prior"):
        feasible_starts(space, 1e-9, bounds, restarts=1)


def test_codes_are_starts_where_no_point_of_the_prior_would_do(space, bounds, monkeypatch):
    away = torch.full((1000, space.size), 50.0)
    monkeypatch.setattr(space, "sample", lambda count, **_: away[:count])
    limit = space.limit(0.2)
    starts = feasible_starts(space, limit, bounds, restarts=4, acquisition=FirstLatent())
    assert (space.disagreement(starts) < limit).all()


def test_a_search_among_texts_in_small(tmp_path):
    from benchmarks.latent.pieces import search_pieces
    from tests.benchmarks.test_latent import some_expressions

    (tmp_path / "some.txt").write_text("\n".join(some_expressions()))
    (piece,) = search_pieces("expressions", [0], data=tmp_path / "some.txt", device="cpu", quick=True)
    plain, gate = piece.measure(lambda _: None).rows
    assert (plain["arm"], gate["arm"]) == ("plain", "gate")
    assert plain["limit"] is None
    assert gate["limit"] > 0
    assert plain["evaluated"] == 2
