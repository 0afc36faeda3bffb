import itertools

import numpy as np
import pytest

from dissensus.inputs.pictures import PICTURED, PicturePreprocessor, picture_surroundings
from dissensus.inputs.preprocessing import fit_preprocessor, restore_preprocessor
from dissensus.inputs.textures import texture_size, textures


def some_pictures(count, shape=(9, 11, 3), seed=0):
    return np.random.default_rng(seed).integers(0, 256, (count, *shape), np.uint8)


def by_hand(picture):
    """Block by block, as the words say it."""
    x = picture.astype(float) / 255
    across, down = np.zeros_like(x), np.zeros_like(x)
    across[:, 1:], down[1:] = x[:, 1:] - x[:, :-1], x[1:] - x[:-1]
    rows, columns = ([side * k // 4 for k in range(5)] for side in x.shape[:2])
    blocks = [
        np.s_[top:bottom, left:right]
        for top, bottom in itertools.pairwise(rows)
        for left, right in itertools.pairwise(columns)
    ]
    means = [[values[b].mean(axis=(0, 1)) for b in blocks] for values in (x, abs(across), abs(down))]
    roots = [[np.sqrt((values[b] ** 2).mean(axis=(0, 1))) for b in blocks] for values in (across, down)]
    light, *differences = (np.ravel(each) for each in (*means, *roots))
    return np.concatenate([light, *(np.sqrt(each) for each in differences)])


def test_blocks_are_what_the_words_say():
    pictures = some_pictures(3)
    found = textures(pictures)
    assert found.shape == (3, texture_size((9, 11, 3)))
    np.testing.assert_allclose(found, [by_hand(picture) for picture in pictures], rtol=1e-12)


@pytest.mark.parametrize("shape", [(28, 28, 1), (1, 5, 1), (3, 2, 3), (64, 40, 3)])
def test_any_size_and_the_same_bits_alone_and_in_company(shape):
    pictures = some_pictures(7, shape)
    together = textures(pictures)
    assert together.shape == (7, texture_size(shape))
    for alone, expected in zip(pictures, together, strict=True):
        np.testing.assert_array_equal(textures(alone[None])[0], expected)
    floats = (pictures / 255).astype(np.float32)
    np.testing.assert_array_equal(textures(floats), together)


@pytest.mark.parametrize("shape", [(16, 16, 1), (2, 2, 1)])
def test_what_is_kept_of_pictures_comes_back_from_a_file(shape):
    pictures = some_pictures(60, shape)
    own, _ = fit_preprocessor(pictures, np.arange(50), random=np.random.default_rng(0))
    assert set(own.arrays())
    assert own.statistic_names[-1:] == PICTURED
    back = restore_preprocessor(own.config(), own.arrays(), shape, resize=None)
    for name, values in own.statistics(pictures[50:], pictures[50:]).items():
        np.testing.assert_array_equal(back.statistics(pictures[50:], pictures[50:])[name], values)
    bare = own.without_training_inputs()
    assert not bare.arrays()
    assert "isolation" not in bare.statistics(pictures[:2], pictures[:2])


def test_a_strange_texture_is_isolated_and_a_usual_one_is_not():
    random = np.random.default_rng(1)
    smooth = np.cumsum(random.normal(0, 3, (300, 16, 16, 1)), axis=2) + 128
    smooth = smooth.clip(0, 255).astype(np.uint8)
    near = picture_surroundings(smooth[:250], random)
    gate = PicturePreprocessor((16, 16, 1), surroundings=near)
    noise = some_pictures(50, (16, 16, 1))
    inside, outside = (gate.statistics(each, each)["isolation"] for each in (smooth[250:], noise))
    assert outside.min() > inside.max()


def test_a_random_choice_of_many_pictures_is_kept(monkeypatch):
    monkeypatch.setattr("dissensus.inputs.pictures.MOST_PICTURES", 20)
    assert len(picture_surroundings(some_pictures(50), np.random.default_rng(0)).rows) == 20
