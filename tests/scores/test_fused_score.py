"""The fused score with its fitted parts: what the fusion sees of them, and what comes back from a file."""

import numpy as np
import pytest

from dissensus.errors import DataError, SettingsError
from dissensus.scores import Fused, Fusion, Measured, Whitened, kl_to_uniform

NAMES = ("whitened", "kl", "length")


def inliers(count=200, seed=0, draws=8):
    rng = np.random.default_rng(seed)
    scales = np.linspace(0.2, 3.0, draws)[:, None]
    return -100 + scales * rng.normal(size=(draws, count)), {"length": rng.exponential(size=count)}


def test_fitted_parts_are_fused_as_of_new_inliers():
    matrix, others = inliers()
    as_new = np.empty(200)
    for fold in range(10):
        rest = np.flatnonzero(np.arange(200) % 10 != fold)
        for n in np.flatnonzero(np.arange(200) % 10 == fold):
            as_new[n] = Whitened().fit(matrix[:, rest])(matrix[:, [n]])[0]
    fusion = Fusion("mixture", ["whitened"]).fit({"whitened": as_new, "kl": kl_to_uniform(matrix), **others})
    fresh, more = inliers(50, seed=1)
    whitened = Whitened().fit(matrix)(fresh)
    expected = fusion({"whitened": whitened, "kl": kl_to_uniform(fresh), **more})
    fused = Fused(NAMES, leading=["whitened"]).fit(Measured(matrix, others))
    np.testing.assert_allclose(fused(Measured(fresh, more)), expected, rtol=1e-9)
    # In its own sample the whitened length is shorter than that of new inliers; the fusion must not see that.
    in_sample = Whitened().fit(matrix)(matrix)
    assert np.mean(as_new**2) > 1.02 * np.mean(in_sample**2)


def test_parts_and_surprises_come_in_the_order_of_the_names():
    matrix, others = inliers()
    fused = Fused(NAMES).fit(Measured(matrix, others))
    parts = fused.parts(Measured(matrix, others | {"unasked": np.zeros(200)}))
    assert tuple(parts) == NAMES == tuple(fused.surprises(Measured(matrix, others)))
    np.testing.assert_array_equal(parts["length"], others["length"])
    np.testing.assert_array_equal(parts["kl"], kl_to_uniform(matrix))


def test_a_surprise_is_the_two_sided_p_value_of_one_statistic():
    values = np.random.default_rng(0).normal(size=5000)
    fusion = Fusion("gaussian").fit({"a": values})
    asked = np.array([-1.6, -0.5, 0.0, 0.7, 1.6])
    above = np.array([(values >= x).mean() for x in asked])
    expected = -np.log(2 * np.minimum(above, 1 - above))
    np.testing.assert_allclose(fusion.surprises({"a": asked})["a"], expected, atol=0.05)
    assert (fusion.surprises({"a": values})["a"] >= 0).all()
    low, high = fusion.surprises({"a": [-60.0, 60.0]})["a"]
    assert low > 9
    assert high > 9


def near_and_outside(count, seed=3):
    rng = np.random.default_rng(seed)
    return {"isolation": rng.normal(size=count), "length": rng.exponential(size=count)}


def test_a_statistic_that_finds_every_kind_counts_once_more():
    known = Measured(None, near_and_outside(400))
    asked = Measured(None, {"isolation": np.linspace(1.0, 4.0, 20), "length": np.ones(20)})
    kinds = {"found": 9.0, "found by halves": np.array([9.0, known.statistic("isolation").mean()] * 50)}
    made_up = [Measured(None, {"isolation": np.broadcast_to(kind, 100)}) for kind in kinds.values()]
    plain, weighed, mute = (
        Fused(["isolation", "length"], depth="gaussian", leading=["isolation"]) for _ in range(3)
    )
    weighed.weigh(known, made_up)
    assert 0.3 < weighed.fusion.extra["isolation"] < 0.7  # half of one kind lies among the inliers
    mute.weigh(known, [*made_up, Measured(None, {"isolation": np.full(5, -9.0)})])
    assert mute.fusion.extra == {"isolation": 0.0}
    found = {own: own.fit(known)(asked) for own in (plain, weighed, mute)}
    np.testing.assert_array_equal(found[mute], found[plain])
    assert (np.diff(found[weighed]) > 0).all()
    again = Fused.from_config(weighed.config()).restore(weighed.state())
    np.testing.assert_array_equal(again(asked), found[weighed])
    assert not np.array_equal(found[weighed], found[plain])


def test_a_likelihood_counts_as_much_as_it_finds_of_every_kind():
    rng = np.random.default_rng(4)
    known = Measured(rng.normal(size=(3, 400)), near_and_outside(400))
    fused = Fused(["isolation", "length", "mean-ll"], depth="gaussian", leading=["isolation"])
    assert fused.weighs == ("isolation", "mean-ll")
    kinds = [Measured(np.full((3, 50), least), {"isolation": np.zeros(50)}) for least in (-9.0, -5.0)]
    fused.weigh(known, kinds)
    assert fused.fusion.extra["mean-ll"] == 1.0
    assert "high values of isolation and mean-ll counting more" in fused.description
    fused.fit(known)
    calm, unlikely = (
        Measured(np.full((3, 1), x), {"isolation": [0.0], "length": [1.0]}) for x in (0.0, -4.0)
    )
    assert fused(unlikely) > fused(calm) + 3


def test_weights_that_are_given_are_not_learnt():
    given = Fused(["isolation", "length"], depth="gaussian", leading=["isolation"], extra={"isolation": 0.2})
    assert given.weighs == ()
    assert Fused.from_config(given.config()).fusion.extra == {"isolation": 0.2}
    learnt = Fused(["isolation", "length"], leading=["isolation"])
    assert Fused.from_config(learnt.config()).weighs == learnt.weighs == ("isolation",)
    assert Fused(["isolation", "length"]).weighs == Fused(["length", "kl"], leading=["kl"]).weighs == ()


@pytest.mark.parametrize("extra", [{"kl": 2.0}, {"kl": -1.0}, {"nothing": 0.5}])
def test_weights_are_of_its_statistics_and_at_most_one(extra):
    with pytest.raises(SettingsError, match=r"extra=.* must be weights"):
        Fused(NAMES, leading=["kl"], extra=extra)


def test_a_sum_takes_no_weights():
    with pytest.raises(SettingsError, match="is for a density"):
        Fused(["isolation", "kl"], depth="sum", leading=["isolation"], extra={"isolation": 0.5})


def test_what_was_learnt_comes_back():
    matrix, others = inliers()
    fused = Fused(NAMES, depth="gaussian", leading=["kl"]).fit(Measured(matrix, others))
    again = Fused(NAMES, depth="gaussian", leading=["kl"]).restore(fused.state())
    np.testing.assert_array_equal(again(Measured(matrix, others)), fused(Measured(matrix, others)))
    assert all(array.dtype == np.float64 for array in fused.state().values())


@pytest.mark.parametrize("count", [1, 2, 19, 20])
def test_few_inliers_are_enough(count):
    fused = Fused(NAMES, leading=["whitened"]).fit(Measured(*inliers(count)))
    found = fused(Measured(*inliers(30, seed=2)))
    assert np.isfinite(found).all()
    assert (found >= 0).all()


def test_an_input_scores_alone_as_in_company():
    fused = Fused(NAMES, leading=["whitened"]).fit(Measured(*inliers()))
    matrix, others = inliers(20, seed=3)
    alone = [fused(Measured(matrix, others).select([n]))[0] for n in range(20)]
    np.testing.assert_allclose(alone, fused(Measured(matrix, others)), rtol=1e-9)


def test_infinite_statistics_are_very_unusual():
    fused = Fused(NAMES, leading=["whitened"]).fit(Measured(*inliers()))
    matrix, others = inliers(1, seed=4)
    ordinary = fused(Measured(matrix, others))
    matrix[0] = -np.inf
    ruled_out = fused(Measured(matrix, {"length": np.array([np.inf])}))
    assert np.isfinite(ruled_out).all()
    assert ruled_out > ordinary + 5


def test_what_cannot_be_fused():
    matrix, others = inliers()
    with pytest.raises(DataError, match="the statistic 'length' is missing among none"):
        Fused(NAMES).fit(Measured(matrix))
    with pytest.raises(SettingsError, match=r"leading=\['std'\] must be some of the statistics"):
        Fused(NAMES, leading=["std"])
    with pytest.raises(SettingsError, match="not fitted"):
        Fused(NAMES)(Measured(matrix[:, :1], {"length": [1.0]}))
    with pytest.raises(SettingsError, match="two draws"):
        Fused(NAMES).fit(Measured(matrix[:1], others))
    state = Fused(NAMES).fit(Measured(matrix, others)).state()
    with pytest.raises(
        DataError, match="the state is of a fusion of kl, length, whitened and not of kl, leng"
    ):
        Fused(("kl", "length")).restore(state)
    with pytest.raises(DataError, match="whitened disagreement"):
        Fused(NAMES).restore({k: a for k, a in state.items() if not k.startswith("whitened")})
    assert Fused(["mean-ll", "length"]).least_draws == 1
