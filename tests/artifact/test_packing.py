"""Draws become named tensors and come back, whatever their parts hold."""

import numpy as np
import pytest
import torch

from dissensus.persistence.packing import pack_draws, unpack_draws
from dissensus.posterior import Diagnostics, PartDraws, WeightDraws

CHAIN, EPOCH = np.array([0, 0, 1]), np.array([1, 2, 1])


def draws(**parts):
    return WeightDraws(parts, CHAIN, EPOCH)


@pytest.mark.parametrize("of", [np.arange(3), np.array([0, 0, 1])], ids=["one each", "shared"])
def test_a_part_without_weights_to_learn_comes_back(of):
    own = draws(
        head=PartDraws({"w": torch.arange(6.0).reshape(3, 2)}, np.arange(3)), frozen=PartDraws({}, of)
    )
    again = unpack_draws(pack_draws(own), Diagnostics())
    assert set(again.parts) == {"head", "frozen"}
    assert not again.parts["frozen"].stacks
    for name in again.parts:
        np.testing.assert_array_equal(again.parts[name].of, own.parts[name].of)
    assert torch.equal(again.weights("head", 2)["w"], own.weights("head", 2)["w"])


def test_a_tensor_that_is_of_no_part_is_refused():
    packed = pack_draws(draws(head=PartDraws({"w": torch.zeros(3, 2)}, np.arange(3))))
    with pytest.raises(ValueError, match="a tensor 'magic' that no model has"):
        unpack_draws({**packed, "magic": torch.zeros(1)}, Diagnostics())
