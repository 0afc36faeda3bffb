"""Statistics of many pictures are made on all cores, and are those that each picture has alone."""

import threading

import numpy as np
import pytest
import torch

from dissensus.inputs.pictures import SHARE, PicturePreprocessor, picture_surroundings


@pytest.fixture
def pictures():
    return np.random.default_rng(0).integers(0, 256, size=(2 * SHARE + 5, 9, 8, 1), dtype=np.uint8)


@pytest.fixture
def preprocessor(pictures):
    near = picture_surroundings(pictures[:40], np.random.default_rng(1))
    return PicturePreprocessor((9, 8, 1), surroundings=near)


def test_every_picture_has_its_own_numbers_on_any_number_of_cores(preprocessor, pictures, two_cores):
    divided = preprocessor.statistics(pictures, pictures)
    torch.set_num_threads(1)
    whole = preprocessor.statistics(pictures, pictures)
    assert set(divided) == set(whole) == set(preprocessor.statistic_names)
    for name, values in whole.items():
        np.testing.assert_array_equal(divided[name], values)
        np.testing.assert_array_equal(values[:1], preprocessor.statistics(pictures[:1], pictures[:1])[name])


def test_many_are_divided_and_few_are_not(preprocessor, pictures, two_cores, monkeypatch):
    own, threads = PicturePreprocessor._statistics, []

    def noted(self, array, wanted):
        threads.append((threading.current_thread() is threading.main_thread(), len(array)))
        return own(self, array, wanted)

    monkeypatch.setattr(PicturePreprocessor, "_statistics", noted)
    preprocessor.statistics(pictures, pictures)
    assert sorted(threads) == [(False, SHARE), (False, SHARE + 5)]
    threads.clear()
    preprocessor.statistics(pictures[:SHARE], pictures[:SHARE])
    assert threads == [(True, SHARE)]
