"""What every score must do, whoever wrote it; a test class inherits from it and says which score is meant."""

from __future__ import annotations

import copy
import json
from typing import Any

import numpy as np
import pytest
from safetensors.numpy import load, save

from dissensus.errors import DissensusError, SettingsError
from dissensus.scores import MATRIX, Available, Measured, Score, check_own, rehearse, scored

DRAWS, INLIERS, INPUTS = 8, 300, 37
AVAILABLE = Available(("latent-norm", "corrected-ll", "pixel-variance"), ("code-length",))


def measured(seed: int, count: int, *, strange: float = 1.0, draws: int = DRAWS) -> Measured:
    """Everything there is of inputs like each other; ``strange`` ones are unlikely and disputed."""
    random = np.random.default_rng(seed)
    level = strange * random.normal(-100.0, 4.0, size=count)
    matrix = level + strange**2 * random.normal(size=(draws, count))
    statistics = {name: strange * random.gamma(9.0, size=count) for name in AVAILABLE.names}
    return Measured(matrix, statistics)


class ScoreContract:
    """Inherit from it, and give a fixture ``new`` that makes unfitted scores, all alike."""

    @pytest.fixture
    def own(self, new: Any) -> Score:
        """The score for what can be measured here, unfitted."""
        found = new().settled(AVAILABLE, inliers=INLIERS)
        assert isinstance(found, Score)
        return found

    @pytest.fixture
    def fitted(self, own: Score) -> Score:
        return own.fit(self.asked(own, 0, INLIERS))

    def asked(self, own: Score, seed: int, count: int, **kind: Any) -> Measured:
        """What the score requires, and nothing else: it may read nothing that it does not name."""
        everything = measured(seed, count, **kind)
        return Measured(
            everything.matrix if MATRIX in own.requires else None,
            {name: everything.statistic(name) for name in own.requires if name != MATRIX},
        )

    def test_it_says_what_it_is(self, own):
        assert own.name.strip() == own.name != ""
        assert own.description
        assert "\n" not in own.description
        assert not own.description.endswith(".")
        assert own.requires
        assert set(own.requires) <= {MATRIX, *AVAILABLE.names}
        assert own.least_draws >= 1

    def test_a_number_for_each_input_and_nothing_else_is_changed(self, fitted):
        some = self.asked(fitted, 1, INPUTS)
        before = copy.deepcopy(some)
        values = scored(fitted, some)
        assert values.shape == (INPUTS,)
        assert values.dtype == np.float64
        if MATRIX in some.names:
            np.testing.assert_array_equal(some.matrix, before.matrix)
        for name in some.statistics:
            np.testing.assert_array_equal(some.statistics[name], before.statistics[name])
        assert scored(fitted, some.select(slice(0, 0))).shape == (0,)

    def test_higher_is_more_unusual(self, fitted):
        normal, strange = (self.asked(fitted, 2, 200, strange=factor) for factor in (1.0, 5.0))
        assert np.quantile(fitted(normal), 0.9) < np.quantile(fitted(strange), 0.1)

    def test_an_input_scores_the_same_bits_alone_in_company_and_in_any_order(self, fitted):
        some = self.asked(fitted, 1, INPUTS)
        together = fitted(some)
        alone = np.concatenate([fitted(some.select([n])) for n in range(INPUTS)])
        np.testing.assert_array_equal(alone, together)
        order = np.random.default_rng(0).permutation(INPUTS)
        np.testing.assert_array_equal(fitted(some.select(order)), together[order])

    def test_parts_and_surprises_are_a_number_an_input_too(self, fitted):
        some = self.asked(fitted, 1, INPUTS)
        parts, surprises = fitted.parts(some), fitted.surprises(some)
        assert set(surprises) <= set(parts)
        assert all(np.shape(values) == (INPUTS,) for values in (*parts.values(), *surprises.values()))

    def test_what_it_learnt_goes_through_a_file_and_back(self, own, fitted):
        config = json.loads(json.dumps(own.config(), allow_nan=False))
        again = type(own).from_config(config)
        again.restore(load(save({name: np.array(array) for name, array in fitted.state().items()})))
        some = self.asked(fitted, 1, INPUTS)
        np.testing.assert_array_equal(again(some), fitted(some))
        assert (again.name, again.requires, again.description) == (own.name, own.requires, own.description)
        assert json.loads(json.dumps(again.config())) == config
        check_own(again)
        rehearse(again, draws=DRAWS, inliers=INLIERS)

    def test_a_foreign_state_is_refused(self, own):
        with pytest.raises(DissensusError):
            own.restore({"no such thing": np.zeros(3)})

    def test_unfitted_it_says_so(self, own):
        if own.learns:
            with pytest.raises(SettingsError, match=r"not fitted.*call fit"):
                own(self.asked(own, 1, 3))
            with pytest.raises(SettingsError, match=r"not fitted.*call fit"):
                own.state()
        else:
            assert own.state() == {}
            assert own.fit(self.asked(own, 0, 9)) is own

    def test_fitting_again_forgets_what_was_learnt_before(self, new):
        once, twice = (new().settled(AVAILABLE, inliers=INLIERS) for _ in range(2))
        inliers, some = self.asked(once, 0, INLIERS), self.asked(once, 1, INPUTS)
        twice.fit(self.asked(twice, 5, 50, strange=3.0))
        np.testing.assert_array_equal(twice.fit(inliers)(some), once.fit(inliers)(some))

    def test_fewer_draws_than_it_takes_are_refused(self, fitted):
        if fitted.least_draws > 1:
            with pytest.raises(DissensusError, match="draws"):
                fitted(self.asked(fitted, 1, 3, draws=fitted.least_draws - 1))

    def test_a_copy_learns_for_itself(self, new):
        first = new()
        second = copy.deepcopy(first).settled(AVAILABLE, inliers=INLIERS)
        second.fit(self.asked(second, 0, INLIERS))
        assert repr(first) == repr(new())
        if first.learns:
            with pytest.raises(SettingsError):
                first.state()
