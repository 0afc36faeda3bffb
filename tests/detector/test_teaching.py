"""What a score learns from validation inputs, however these are divided."""

from types import SimpleNamespace

import numpy as np
import torch

from dissensus.detector import teaching
from dissensus.scores import Measured


class Weighing:
    """A score that keeps what it was to weigh."""

    requires, weighs = (), ("isolation",)

    def weigh(self, inliers, made_up):
        self.learnt = [own.statistic("isolation") for own in made_up]

    def fit(self, measured):
        pass


def learnt(monkeypatch, *batches, most=10):
    monkeypatch.setattr(teaching, "MADE_OF", most)

    def means(_, some, wanted, **__):
        return Measured(None, {name: some.mean((1, 2, 3)) for name in wanted or ["nothing"]})

    monkeypatch.setattr(teaching, "measure", means)
    score = Weighing()
    model = SimpleNamespace(observes_likelihood=False)
    drawn = SimpleNamespace(preprocessor=SimpleNamespace(pictured=True), model=model, seed=3)
    teaching.teach(score, drawn, [(batch, None) for batch in batches], device=torch.device("cpu"))
    return np.stack(score.learnt)


def test_of_large_pictures_there_are_enough(monkeypatch):
    monkeypatch.setattr(teaching, "MADE_OF_NUMBERS", 1)
    pictures = np.random.default_rng(0).integers(0, 256, (30, 8, 8, 1), np.uint8)
    assert learnt(monkeypatch, pictures, most=100).shape[1] == teaching.MADE_OF_LEAST


def test_outliers_are_made_of_the_same_pictures_however_they_come(monkeypatch):
    pictures = np.random.default_rng(0).integers(0, 256, (14, 8, 8, 1), np.uint8)
    whole = learnt(monkeypatch, pictures)
    assert whole.shape[1] == 10
    np.testing.assert_array_equal(learnt(monkeypatch, pictures[:4], pictures[4:9], pictures[9:]), whole)
