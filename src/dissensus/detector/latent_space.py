"""A fitted detector's latent space, and what a fit keeps for it."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
import torch
from torch import Tensor

from dissensus.detector.drawing import HeldOut
from dissensus.detector.inputs import scoring_batches
from dissensus.detector.learnt import Drawn, Learnt
from dissensus.errors import NoLatentSpaceError, SettingsError
from dissensus.inputs import Preprocessor, TextPreprocessor
from dissensus.latent import MOST_HELD_OUT, LatentCodes, LatentSpace, shared_space
from dissensus.models import LatentModel
from dissensus.models.inputs import channels_last, to_tensor

__all__ = ["codes_of_fit", "latent_space"]


def codes_of_fit(
    drawn: Drawn, held_out: HeldOut, examples: Tensor, device: torch.device, *, keep: bool
) -> LatentCodes | None:
    """Codes of calibration inputs, and of the ``examples`` among training inputs if these are to be kept.

    None where the model has no latent space to be asked. Of the examples alone, because there is no more of
    the training inputs where chains are joined, or where they are not in memory.
    """
    if not isinstance(drawn.model, LatentModel):
        return None
    try:
        shared = shared_space(drawn.model, drawn.draws)
    except SettingsError:  # a single draw a chain: it can score inputs all the same
        return None
    return LatentCodes.measure(
        drawn.model,
        drawn.draws.select(shared.draws),
        examples if keep else examples[:0],
        held_out.first("calibration", MOST_HELD_OUT),
        seed=drawn.seed,
        device=device,
    )


def latent_space(learnt: Learnt, device: torch.device) -> LatentSpace:
    """The latent space that the draws of one chain, or of one encoder, share."""
    if not isinstance(learnt.model, LatentModel):
        raise NoLatentSpaceError(
            f"{type(learnt.model).__name__} has no latent space: fit with model='vae', with "
            "embed=Vocabulary.of(texts) for texts, or with a LatentModel of your own"
        )
    return LatentSpace(
        learnt.model,
        learnt.draws,
        codes=learnt.codes,
        seed=learnt.seed,
        device=device,
        one_a_call=learnt.one_a_call,
        read=partial(_read, learnt.preprocessor),
        shown=partial(_shown, learnt.preprocessor),
    )


def _read(preprocessor: Preprocessor, X: Any) -> Tensor:
    """Inputs as the model reads them (N, *S)."""
    parts = [preprocessor.transform(batch.array) for batch in scoring_batches(preprocessor, X)]
    return to_tensor(np.concatenate(parts))


def _shown(preprocessor: Preprocessor, seen: Tensor) -> Any:
    """What the model gives in a person's terms: texts, or a tensor in the inputs' units, channels last."""
    values = channels_last(seen).float().cpu().numpy()
    if isinstance(preprocessor, TextPreprocessor):
        return preprocessor.vocabulary.texts(values)
    return torch.from_numpy(np.asarray(preprocessor.inverse(values, np.dtype(np.float32))))
