"""Small seeded fits as digests: two versions of the code that give equal digests do the same, to the bit.

``python tools/seeded_fits.py record FILE`` writes the digests of draws, log-likelihoods, statistics and
scores; ``python tools/seeded_fits.py compare FILE`` makes the fits again and names what differs. Bits depend
on the processor and on torch's version, so both must run on one machine.
"""

from __future__ import annotations

import hashlib
import json
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from dissensus import BayesianVAE, Detector
from dissensus.likelihood import input_statistics, log_likelihoods
from dissensus.models import build_vae
from dissensus.posterior import WeightDraws, posterior_settings, sample_posterior
from dissensus.scores import MATRIX, SCORES, Measured
from dissensus.scores import score as score_named

SEED = 7
PICTURES = np.random.default_rng(1).integers(0, 256, size=(120, 12, 10), dtype=np.uint8)
ROWS = np.random.default_rng(2).normal(size=(300, 6))


def main() -> None:
    """Records or compares, as the command line says."""
    _, verb, file = sys.argv
    found = {name: make() for name, make in FITS.items()}
    if verb == "record":
        Path(file).write_text(json.dumps(found, indent=1) + "\n", "utf-8")
        return
    expected = json.loads(Path(file).read_text("utf-8"))
    differ = [
        f"{fit}: {part}"
        for fit, parts in expected.items()
        for part, digest in parts.items()
        if found[fit].get(part) != digest
    ]
    print("\n".join(differ) or "every digest is the same")  # noqa: T201
    sys.exit(bool(differ))


def _estimator(X: NDArray[Any], kind: type[Detector] = BayesianVAE, **settings: Any) -> dict[str, str]:
    own = {"effort": "thorough"} if kind is BayesianVAE else {}
    gate = kind(epochs=6, draws=4, samples=4, random_state=SEED, **own, **settings).fit(X)
    found = _of_draws(gate.draws_)
    found["matrix"] = _digest(gate.log_likelihoods(X).values)
    for name, values in gate.statistics(X).items():
        found[f"statistic {name}"] = _digest(values)
    found["p-values"] = _digest(gate.p_values(X))
    return found


def _posterior(name: str, X: NDArray[Any], shape: tuple[int, ...], **budget: Any) -> dict[str, str]:
    vae = build_vae(shape, generator=torch.Generator().manual_seed(SEED), observation=_observation(shape))
    data = torch.from_numpy(X.reshape(len(X), *shape))
    data = data if data.dtype == torch.uint8 else data.float()
    settings = posterior_settings(name, epochs=6, **budget)
    draws = sample_posterior(vae, data[:100], settings, seed=SEED, held_out=data[100:])
    matrix = log_likelihoods(vae, draws, data, samples=4, seed=SEED).values
    found = _of_draws(draws) | {"matrix": _digest(matrix)}
    for statistic, values in input_statistics(vae, draws, data).items():
        found[f"statistic {statistic}"] = _digest(values)
    measured = Measured(matrix)
    for own in map(score_named, SCORES):
        if own.requires == (MATRIX,):
            found[f"score {own.name}"] = _digest(own.fit(measured)(measured))
    return found


def _observation(shape: tuple[int, ...]) -> str:
    return "bernoulli" if len(shape) == 3 else "gaussian"


def _of_draws(draws: WeightDraws) -> dict[str, str]:
    """The digest of each part's weights, in the order of their names."""
    return {f"draws of the {part}": _digest(*_stacks(own.stacks)) for part, own in draws.parts.items()}


def _stacks(stacks: Mapping[str, Any]) -> list[NDArray[Any]]:
    return [np.ascontiguousarray(stacks[name][:].numpy()) for name in sorted(stacks)]


def _digest(*arrays: NDArray[Any]) -> str:
    digest = hashlib.sha256()
    for array in arrays:
        digest.update(np.ascontiguousarray(array).tobytes())
    return digest.hexdigest()[:16]


FITS: dict[str, Callable[[], dict[str, str]]] = {
    "pictures, variant 1, two chains": lambda: _estimator(PICTURES, chains=2),
    "pictures, variant 2, one chain": lambda: _estimator(PICTURES, variant=2, chains=1),
    "rows, variant 1, two chains": lambda: _estimator(ROWS, chains=2),
    "rows, variant 2, one chain": lambda: _estimator(ROWS, variant=2, chains=1),
    "rows, as they come": lambda: _estimator(ROWS, Detector),
    "rows, SWAG": lambda: _posterior("swag", ROWS, (6,), draws=4, chains=2),
    "pictures, ensemble": lambda: _posterior("ensemble", PICTURES, (1, 12, 10), draws=2, chains=2),
}

if __name__ == "__main__":
    main()
