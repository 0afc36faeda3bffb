"""A fitted detector's latent space, and what a fit keeps for it."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
import torch
from torch import Tensor

from dissensus.detector.drawing import CODED, HeldOut
from dissensus.detector.inputs import scoring_batches
from dissensus.detector.learnt import Drawn, Learnt
from dissensus.detector.plan import Plan
from dissensus.errors import NoLatentSpaceError, SettingsError
from dissensus.inputs import Preprocessor, TextPreprocessor
from dissensus.latent import MOST_HELD_OUT, MOST_TRAINING, LatentCodes, LatentSpace, shared_space
from dissensus.models import GenerativeModel, LatentModel
from dissensus.models.inputs import channels_last, to_tensor

__all__ = ["codes_of_fit", "how_many_coded", "latent_space"]


def how_many_coded(model: GenerativeModel, plan: Plan) -> int:
    """Of how many training inputs, at most, a fit keeps the codes."""
    return MOST_TRAINING if plan.neighbours and isinstance(model, LatentModel) else 0


def codes_of_fit(drawn: Drawn, held_out: HeldOut, device: torch.device) -> LatentCodes | None:
    """Codes of calibration inputs, and of the training inputs that were chosen for it.

    None where the model has no latent space to be asked.
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
        (seen for _, seen in held_out.batches(CODED)),
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
