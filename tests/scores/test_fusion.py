"""Fusion: honest on inliers whatever their statistics look like, and in order on outliers."""

import functools

import numpy as np
import pytest
from scipy import stats

from dissensus.errors import DataError, SettingsError
from dissensus.evaluation import auroc
from dissensus.scores import DEPTHS, SUM, Fusion

every_depth = pytest.mark.parametrize("depth", [*DEPTHS, SUM])
every_density = pytest.mark.parametrize("depth", DEPTHS)
KINDS = {
    "normal": lambda rng, n: {name: rng.normal(size=n) for name in "abc"},
    "correlated": lambda rng, n: _correlated(rng, n),
    "heavy-tailed": lambda rng, n: {name: rng.standard_t(1.5, size=n) ** 3 for name in "abc"},
    "skewed": lambda rng, n: {"a": rng.exponential(size=n), "b": np.exp(2 * rng.normal(size=n))},
    "two kinds": lambda rng, n: _two_kinds(rng, n),
    "rounded": lambda rng, n: {"a": rng.poisson(2.0, size=n).astype(float), "b": rng.normal(size=n)},
}


def _correlated(rng, n):
    common = rng.standard_t(3, size=n)
    return {"a": common, "b": common + 0.05 * rng.normal(size=n), "c": np.exp(common + rng.normal(size=n))}


def _two_kinds(rng, n):
    a = rng.normal(size=n)
    return {"a": a, "b": rng.choice([-1.0, 1.0], size=n) * a + 0.1 * rng.normal(size=n)}


def inliers(kind="correlated", count=1000, seed=0):
    return KINDS[kind](np.random.default_rng(seed), count)


@functools.cache
def fitted(depth, leading, kind="correlated"):
    """A fusion of the 1,000 inliers of a kind, which many tests ask: made once."""
    return Fusion(depth, leading).fit(inliers(kind))


def rows(statistics, index):
    return {name: values[index] for name, values in statistics.items()}


@every_depth
@pytest.mark.parametrize("leading", [(), ("a", "b")])
@pytest.mark.parametrize("kind", KINDS)
def test_fresh_inliers_have_uniform_p_values(depth, leading, kind):
    fusion = fitted(depth, leading, kind)
    p = np.exp(-fusion(inliers(kind, 1000, seed=1)))
    # Both samples count: the distance is that of a two-sample test, at a level of 0.1%. Mixtures of numbers
    # on a grid settle now on these, now on those of them, and the largest of such numbers has many ties.
    tied = kind == "rounded" and depth in ("mixture", SUM)
    allowed = 0.12 if tied else 1.95 * np.sqrt(2 / 1000)
    assert stats.kstest(p, "uniform").statistic < allowed
    assert np.mean(p < 0.02) < 0.04


@every_depth
def test_p_values_of_few_inliers_and_many_statistics_are_not_far_from_uniform(depth):
    def some(seed):
        rng = np.random.default_rng(seed)
        common = rng.normal(size=150)
        return {str(j): common + rng.normal(size=150) for j in range(12)}

    p = np.exp(-np.concatenate([Fusion(depth).fit(some(s))(some(s + 50)) for s in range(6)]))
    assert stats.kstest(p, "uniform").statistic < 0.1


@every_depth
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("sign", [-1.0, 1.0])
def test_scores_rise_without_ties_as_a_statistic_moves_away(depth, kind, sign):
    known, fusion = inliers(kind), fitted(depth, (), kind)
    moved = {name: np.full(300, np.median(values)) for name, values in known.items()}
    moved["b"] = sign * np.abs(known["b"]).max() * np.geomspace(3, 1e290, 300)
    scores = fusion(moved)
    assert np.isfinite(scores).all()
    assert (np.diff(scores) > 0).all()
    assert scores[0] > np.quantile(fusion(known), 0.97)


@every_depth
def test_further_in_two_statistics_is_further_than_in_one(depth):
    fusion = fitted(depth, (), "normal")
    one, two = fusion({"a": [6.0, 6.0], "b": [0.0, 6.0], "c": [0.0, 0.0]})
    assert two > one


@every_density
def test_a_combination_is_seen_that_no_statistic_shows(depth):
    fresh, odd = inliers(seed=1), inliers(seed=2)
    odd["b"] = np.random.default_rng(3).permutation(odd["b"])
    fusion = fitted(depth, ())
    assert auroc(fresh["b"], odd["b"]) == pytest.approx(0.5, abs=0.05)
    assert auroc(fusion(fresh), fusion(odd)) > 0.88


def test_a_mixture_sees_the_gap_between_two_kinds():
    between = {"a": np.array([-2.0, 2.0, 0.0]), "b": np.array([0.0, 0.0, 2.0])}
    for depth, seen in (("gaussian", False), ("mixture", True)):
        p = np.exp(-fitted(depth, (), "two kinds")(between))
        assert (p < 0.02).all() == seen


@every_depth
def test_the_leading_statistic_counts_upwards(depth):
    ends = {"a": np.array([-2.5, 2.5]), "b": np.zeros(2), "c": np.zeros(2)}
    plain, led = (fitted(depth, leading, "normal")(ends) for leading in ((), ("a",)))
    assert led[1] - led[0] > plain[1] - plain[0] + 1
    assert led[1] > led[0] + 1
    # Its far end keeps its order too.
    far = {"a": np.geomspace(10, 1e290, 99), "b": np.zeros(99), "c": np.zeros(99)}
    assert (np.diff(fitted(depth, ("a",), "normal")(far)) > 0).all()


@every_depth
def test_units_and_the_order_of_names_do_not_matter(depth):
    known, asked = inliers(), inliers(seed=1, count=60)
    expected = fitted(depth, ("a",))(asked)

    def other(statistics):
        changed = {name: statistics[name] for name in reversed(statistics)}
        changed["b"] = 1e4 * statistics["b"] - 7.0
        return changed

    found = Fusion(depth, ["a"]).fit(other(known))(other(asked) | {"not asked for": np.full(60, np.nan)})
    np.testing.assert_allclose(found, expected, rtol=1e-6, atol=1e-9)


@every_depth
def test_an_input_counts_for_itself_and_the_same_inliers_give_the_same_fusion(depth):
    known, asked = inliers(), inliers(seed=1, count=9)
    fusion = fitted(depth, ("a",))
    together = fusion(asked)
    alone = np.concatenate([fusion(rows(asked, slice(n, n + 1))) for n in range(9)])
    np.testing.assert_allclose(alone, together, rtol=1e-10)
    np.testing.assert_array_equal(Fusion(depth, ["a"]).fit(known)(asked), together)


@every_depth
@pytest.mark.parametrize("leading", [(), ("a", "b")])
@pytest.mark.parametrize(
    "known",
    [
        {"a": np.full(100, 3.0), "b": np.arange(100.0)},
        {"a": np.full(100, 3.0), "b": np.full(100, -1.0)},
        {"a": np.arange(100.0), "b": np.arange(100.0), "c": -np.arange(100.0)},
        {name: np.random.default_rng(ord(name)).normal(size=4) for name in "abcdefgh"},
        {"a": np.array([1.0]), "b": np.array([2.0])},
        {"a": np.array([1.0, 2.0]), "b": np.array([2.0, 2.0])},
        {"a": np.repeat(np.arange(5.0), 40), "b": np.repeat(np.arange(5.0) ** 2, 40)},
        {"a": np.append(np.arange(99.0), 1e300), "b": np.append(np.arange(99.0), -1e300)},
        {"a": np.append(np.arange(99.0), np.inf), "b": np.append(np.arange(99.0), -np.inf)},
        {"a": np.arange(60.0) * 1e300, "b": np.arange(60.0) * 1e-300},
    ],
    ids=[
        *("constant", "all constant", "copies", "few", "one", "two", "duplicates"),
        *("one far", "infinite", "extreme"),
    ],
)
def test_degenerate_inliers_give_finite_scores_and_far_points_higher_ones(depth, leading, known):
    fusion = Fusion(depth, leading).fit(known)
    asked = {name: np.array([np.median(values), 1e301]) for name, values in known.items()}
    usual, far = fusion(asked)
    assert np.isfinite([usual, far]).all()
    assert far > usual
    assert np.isfinite(fusion({name: np.array([np.inf, -np.inf, 1.7e308]) for name in known})).all()
    assert np.isfinite(fusion(known)).all()


@every_depth
def test_it_survives_its_state(depth):
    fusion, asked = fitted(depth, ("c",)), inliers(seed=1)
    state = fusion.state()
    assert all(array.dtype == np.float64 for array in state.values())
    again = Fusion(depth, ["c"]).restore(dict(reversed(state.items())))
    np.testing.assert_array_equal(again(asked), fusion(asked))
    assert again.names_ == fusion.names_ == ("a", "b", "c")


def test_names_may_hold_any_character():
    known = {"a/b": np.arange(50.0), "ü ": np.arange(50.0) ** 2}
    fusion = Fusion().fit(known)
    np.testing.assert_array_equal(Fusion().restore(fusion.state())(known), fusion(known))


@every_density
def test_a_foreign_state_is_refused(depth):
    state = fitted(depth, ()).state()
    other = next(name for name in DEPTHS if name != depth)
    for fusion, damaged in (
        (Fusion(depth), {}),
        (Fusion(other), state),
        (Fusion(depth, ["z"]), state),
        (Fusion(depth), {k: v for k, v in state.items() if not k.startswith("sums")}),
        (Fusion(depth), {k: v for k, v in state.items() if k != "statistic/a/knots"}),
        (Fusion(depth), {k: v for k, v in state.items() if not k.startswith("statistic/a/")}),
        (Fusion(depth), state | {"statistic/a/scales": np.array([np.nan, 1.0])}),
    ):
        with pytest.raises(DataError, match="fit again"):
            fusion.restore(damaged)


def test_what_cannot_work_is_refused_in_one_sentence():
    known = inliers()
    with pytest.raises(SettingsError, match="gaussian, mixture, sum"):
        Fusion("deep")
    with pytest.raises(SettingsError, match="list of names"):
        Fusion(leading="a")
    with pytest.raises(SettingsError, match="'d' is not among a, b, c"):
        Fusion(leading=["a", "d"]).fit(known)
    with pytest.raises(SettingsError, match="at least one statistic"):
        Fusion().fit({})
    with pytest.raises(DataError, match="at least one inlier"):
        Fusion().fit({"a": np.empty(0)})
    with pytest.raises(DataError, match=r"'b' of input 7 is NaN"):
        Fusion().fit(known | {"b": np.where(np.arange(1000) == 7, np.nan, known["b"])})
    with pytest.raises(DataError, match=r"'c' is of shape \(3,\) and 'a' of shape \(1000,\)"):
        Fusion().fit(known | {"c": np.zeros(3)})
    for call in (lambda: Fusion()(known), lambda: Fusion().state()):
        with pytest.raises(SettingsError, match="call fit"):
            call()
    fusion = Fusion().fit(known)
    with pytest.raises(DataError, match="'c' is missing"):
        fusion({"a": np.zeros(1), "b": np.zeros(1)})
    with pytest.raises(DataError, match=r"'a' of input 1 is NaN"):
        fusion(known | {"a": np.where(np.arange(1000) == 1, np.nan, known["a"])})
    assert fusion({name: np.empty(0) for name in known}).shape == (0,)


def test_a_sum_adds_up_the_leading_and_the_largest_of_the_others():
    known = inliers("normal", 800)
    fusion = Fusion(SUM, ["a"]).fit(known)
    probe = {"a": np.array([-9.0, 0.0, 3.0]), "b": np.array([0.0, 4.0, 0.0]), "c": np.array([0.0, -4.0, 0.0])}
    own = {name: fusion._marginals[name](probe[name]) for name in "abc"}
    two_sided = {name: np.maximum(0, -stats.norm.logsf(np.abs(z)) - np.log(2)) for name, z in own.items()}
    expected = -stats.norm.logsf(own["a"]) + np.maximum(two_sided["b"], two_sided["c"])
    np.testing.assert_allclose(fusion(probe), -stats.norm.logsf(fusion._sums(expected)), rtol=1e-9)
    scores = fusion(probe)
    assert scores[1] > 3 > scores[0]  # low values of a leading statistic are not unusual


@pytest.mark.parametrize("part", ["sums", "statistic/a/knots"])
def test_a_sum_with_a_part_missing_is_refused(part):
    state = fitted(SUM, ("a",)).state()
    with pytest.raises(DataError, match="fit again"):
        Fusion(SUM, ["a"]).restore({key: array for key, array in state.items() if not key.startswith(part)})


def test_low_values_of_what_leads_a_sum_are_no_surprise():
    inliers = {name: np.random.default_rng(n).normal(size=400) for n, name in enumerate("ab")}
    asked = {"a": [-9.0, 9.0, 0.0], "b": [-9.0, 9.0, 0.0]}
    found = Fusion(SUM, leading=["a"]).fit(inliers).surprises(asked)
    assert found["a"][0] == 0.0
    assert min(found["a"][1], *found["b"][:2]) > 3
    both = Fusion(SUM).fit(inliers).surprises(asked)
    np.testing.assert_array_equal(both["a"][1:2], found["a"][1:2])
