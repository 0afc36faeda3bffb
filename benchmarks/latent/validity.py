"""Which points decode to what is valid, and which score tells so beforehand?"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from sklearn.metrics import roc_auc_score
from torch import Tensor

from benchmarks.latent.languages import Language
from dissensus import Detector
from dissensus.inputs import Vocabulary
from dissensus.latent import LatentSpace
from dissensus.models import Sequences
from dissensus.posterior import SGHMC, SamplingSettings
from dissensus.seeding import numpy_stream, torch_stream

__all__ = ["SCORES", "LatentSizes", "fitted_gate", "measure_validity", "points_of", "scores_of"]

NEIGHBOURS = 10
AGREED = 0.1  # p-values above it: as nine in ten held-out codes have
SCORES = ("information", "expectation", "norm", "annulus", "qz", "knn")
"""Ours in both forms, ‖z‖, the distance to the annulus, −log q(z), the distance to the tenth nearest code."""


@dataclass(frozen=True)
class LatentSizes:
    """How much is trained and asked."""

    training: int | None = None
    """None: as many texts as the language wants."""
    epochs: int | None = None
    draws: int = 8
    points: int = 2000
    """Of each kind."""
    expected: int = 400
    """How many of them are asked about in the expensive form."""
    inputs: int = 16
    samples: int = 8
    chains: int | None = None
    """None: as many as the language wants."""


def fitted_gate(
    language: Language, texts: Sequence[str], sizes: LatentSizes, *, shared: bool, seed: int, device: str
) -> Detector:
    """A gate of one chain, or of several that share its encoder, fitted on a random choice of the texts."""
    count = min(sizes.training or language.training, len(texts))
    chosen = numpy_stream(seed, "latent", language.name).permutation(len(texts))[:count]
    own = [texts[place] for place in chosen]
    # A search is told of other texts too.
    vocabulary = Vocabulary.of(texts if language.distance else own, by=language.by)
    chains = (sizes.chains or language.chains) if shared else 1
    model = Sequences(
        vocabulary.length,
        len(vocabulary.symbols) + 1,
        latent_size=language.latent_size,
        hidden=language.hidden,
        kl_weight=language.kl_weight,
        forgetting=language.forgetting,
    )
    gate = Detector(
        model=model,
        embed=vocabulary,
        posterior=_posterior(language, sizes, chains),
        chains=chains,
        draws=sizes.draws,
        statistic="mean-ll",
        samples=sizes.samples,
        examples=0,
        device=device,
        random_state=seed,
    )
    return gate.fit(own)


def _posterior(language: Language, sizes: LatentSizes, chains: int) -> SamplingSettings:
    """SGHMC, whose last epochs give the draws."""
    epochs = sizes.epochs or language.epochs
    epochs = 2 * epochs // 3 if chains > 1 else epochs
    return SamplingSettings.variant_1(
        SGHMC(),
        epochs=epochs,
        burn_in=epochs + 1 - sizes.draws // chains,
        chains=chains,
        batch_size=language.batch_size,
        shared_inference=chains > 1,
    )


def measure_validity(
    gate: Detector, language: Language, sizes: LatentSizes, *, seed: int, say: Callable[[str], None]
) -> list[dict[str, Any]]:
    """A row for each kind of points: the share that decodes to what is valid, and the AUROC of each score."""
    space, rows = gate.latent, []
    for kind, z in points_of(space, sizes.points, seed=seed).items():
        say(f"{kind}: scores")
        valid = np.array([language.valid(text) for text in space.decode(z)])
        scores = scores_of(space, z, sizes)
        row: dict[str, Any] = {"points": kind, "count": len(z), "valid": float(valid.mean())}
        for name, values in scores.items():
            own = valid[: len(values)]
            both = 0 < own.mean() < 1
            row[name] = float(roc_auc_score(~own, values)) if both else None
        agreed = space.p_values(z).cpu().numpy() > AGREED
        row["agreed"] = float(agreed.mean())
        row["valid where agreed"] = float(valid[agreed].mean()) if agreed.any() else None
        rows.append(row)
    return rows


def points_of(space: LatentSpace, count: int, *, seed: int) -> dict[str, Tensor]:
    """Points (n, Z) by kind: of the prior, further out, and between the codes of two training texts."""
    generator = torch_stream(seed, "latent", "points")
    assert space.codes is not None
    codes = torch.from_numpy(space.codes.means)
    first, second = (codes[torch.randint(len(codes), (count,), generator=generator)] for _ in range(2))
    between = torch.rand(count, 1, generator=generator)
    noise = torch.randn(count, space.size, generator=generator)
    return {
        "prior": noise,
        "2 × prior": 2 * torch.randn(count, space.size, generator=generator),
        "5 × prior": 5 * torch.randn(count, space.size, generator=generator),
        "between codes": torch.lerp(first, second, between),
    }


def scores_of(space: LatentSpace, z: Tensor, sizes: LatentSizes) -> Mapping[str, NDArray[np.float64]]:
    """By name, each (n,), higher = more unusual; of the expensive form the first few only."""
    assert space.codes is not None
    means = torch.from_numpy(space.codes.means)
    few = z[: sizes.expected]
    found = {
        "information": space.disagreement(z),
        "expectation": space.disagreement(
            few, form="expectation", inputs=sizes.inputs, samples=sizes.samples
        ),
        "norm": z.norm(dim=1),
        "annulus": space.annulus(z),
        "qz": -space.log_q(z),
        "knn": torch.cdist(z, means).topk(NEIGHBOURS, dim=1, largest=False).values[:, -1],
    }
    return {name: values.double().numpy() for name, values in found.items()}
