"""Draws put together by hand from VAEs."""

import numpy as np
import pytest
import torch

from dissensus.posterior import PartDraws, WeightDraws


@pytest.fixture
def draws_of():
    """WeightDraws of the given VAEs, one draw each; ``encoder_of`` says whose encoders are shared."""

    def stack(vaes, encoder_of=None):
        encoder_of = list(range(len(vaes))) if encoder_of is None else encoder_of
        owners = [vaes[encoder_of.index(e)] for e in sorted(set(encoder_of))]
        decoder, encoder = (
            {
                name: torch.stack([dict(network(vae).named_parameters())[name].detach() for vae in group])
                for name, _ in network(vaes[0]).named_parameters()
            }
            for network, group in ((lambda v: v.decoder, vaes), (lambda v: v.encoder, owners))
        )
        count = np.arange(len(vaes))
        parts = {"decoder": PartDraws(decoder, count), "encoder": PartDraws(encoder, np.array(encoder_of))}
        return WeightDraws(parts, np.zeros_like(count), count + 1)

    return stack


@pytest.fixture
def use_threads():
    """Sets how many threads torch may use; after the test they are as many as before."""
    before = torch.get_num_threads()
    yield torch.set_num_threads
    torch.set_num_threads(before)
