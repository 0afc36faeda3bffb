"""Every score of the package, and two that are not, keep one contract."""

import pytest

from dissensus.scores import SCORES, Fused

from .own_scores import Distance, Range
from .scores import ScoreContract


class TestEveryScoreOfThePackage(ScoreContract):
    @pytest.fixture(params=SCORES)
    def new(self, request):
        return SCORES[request.param]


class TestFusionsOfOnesOwn(ScoreContract):
    @pytest.fixture(params=["gaussian", "mixture", "sum"])
    def new(self, request):
        names = ["kl", "typicality", "code-length"]
        return lambda: Fused(names, depth=request.param, leading=["kl"])


class TestScoresOfOnesOwn(ScoreContract):
    @pytest.fixture(
        params=[Range, Distance, lambda: Distance("code-length", power=2.0)],
        ids=["Range", "Distance", "Distance with arguments"],
    )
    def new(self, request):
        return request.param
