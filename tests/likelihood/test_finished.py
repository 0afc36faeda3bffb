"""A matrix that was interrupted goes on to the same numbers, and only with rows that are its own."""

import numpy as np
import pytest

from dissensus.likelihood import log_likelihoods
from dissensus.likelihood.rows import CALL_ROWS
from dissensus.models.vae.scorer import ReferenceScorer


class StoppedError(Exception):
    pass


def interrupted_after(pairs):
    done = 0

    def on_tile(count):
        nonlocal done
        done += count
        if done > pairs:
            raise StoppedError

    return on_tile


@pytest.fixture
def score(image_vaes, images, draws_of, tmp_path):
    """The matrix with a checkpoint, and how many tiles were worked on for it."""

    def call(draws=None, data=images, **settings):
        scored = []

        class Counting:
            def __init__(self, *arguments):
                self.scorer = ReferenceScorer(*arguments)

            def load(self):
                scored.append(0)

            def __call__(self, *tile):
                return self.scorer(*tile)

        settings = {"samples": 4, "checkpoint": tmp_path / "rows", **settings}
        draws = draws_of(image_vaes) if draws is None else draws
        return log_likelihoods(image_vaes[0], draws, data, scorer=Counting, **settings), len(scored)

    return call


@pytest.mark.parametrize("encoder_of", [[0, 1, 2], [0, 0, 1], [0, 1, 0]])
def test_goes_on_to_the_same_numbers(score, image_vaes, images, draws_of, monkeypatch, encoder_of):
    monkeypatch.setitem(CALL_ROWS, "cpu", 1)  # or all inputs would be one piece of work
    draws = draws_of(image_vaes, encoder_of)
    whole, _ = score(draws, checkpoint=None)
    with pytest.raises(StoppedError):
        score(draws, on_tile=interrupted_after(1.5 * len(images)))
    counted = []
    resumed, loaded = score(draws, on_tile=counted.append)
    assert loaded == 2  # the first draw was finished, the second only half
    assert sum(counted) == 3 * len(images)
    for name in ("values", "errors"):
        assert np.array_equal(getattr(resumed, name), getattr(whole, name))
    again, loaded = score(draws)
    assert loaded == 0
    assert np.array_equal(again.values, whole.values)


def test_early_draws_serve_a_longer_run(score, image_vaes, draws_of):
    score(draws_of(image_vaes[:2]))
    longer, loaded = score(draws_of(image_vaes))
    assert loaded == 1
    assert np.array_equal(longer.values, score(checkpoint=None)[0].values)


@pytest.mark.parametrize("change", ["samples", "seed", "data", "weights", "encoder", "one_a_call"])
def test_rows_of_other_work_are_not_taken(score, images, image_vaes, draws_of, change):
    score()
    changed = images.clone()
    changed[3, 0, 2, 2] ^= 1
    draws = draws_of(image_vaes)
    settings = {
        "samples": {"samples": 5},
        "seed": {"seed": 1},
        "data": {"data": changed},
        "one_a_call": {"one_a_call": True},
    }.get(change, {})
    if change in ("weights", "encoder"):
        part = draws.parts["decoder" if change == "weights" else "encoder"]
        next(iter(part.stacks.values())).view(3, -1)[1, 0] += 1e-3
    found, loaded = score(draws, **settings)
    assert loaded == (1 if change in ("weights", "encoder") else 3)
    assert np.array_equal(found.values, score(draws, checkpoint=None, **settings)[0].values)


def test_a_damaged_row_is_made_again(score, tmp_path):
    whole, _ = score()
    for number, path in enumerate(sorted((tmp_path / "rows").glob("*.safetensors"))):
        content = bytearray(path.read_bytes())
        if number == 0:
            content[-3] ^= 1
        path.write_bytes(content[:50] if number == 1 else content)
    again, loaded = score()
    assert loaded == 2
    assert np.array_equal(again.values, whole.values)
