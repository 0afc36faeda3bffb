"""What is measured, a record each."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from functools import lru_cache
from itertools import product
from pathlib import Path
from time import perf_counter
from typing import Any

from benchmarks.devices import gpu_name
from benchmarks.diagnostics import run_diagnostics
from benchmarks.latent.acquire import AcquireSizes, measure_acquisition
from benchmarks.latent.languages import LANGUAGES, Language
from benchmarks.latent.plane import PlaneSizes, measure_plane
from benchmarks.latent.search import SearchSizes, search
from benchmarks.latent.timing import measure_timing
from benchmarks.latent.validity import LatentSizes, fitted_gate, measure_validity
from benchmarks.pieces import Found, Piece
from dissensus import Detector
from dissensus.detector.settings import find_device

__all__ = [
    "LEFT_OUT",
    "POSTERIORS",
    "acquire_pieces",
    "language_pieces",
    "plane_pieces",
    "search_pieces",
    "timing_pieces",
]

LEFT_OUT = 0.35
"""The share of texts, the nearest to the target, that no fit and no search is shown."""
POSTERIORS = {"shared-encoder": True, "one-chain": False}
"""Whether the chains share an encoder; else there is one."""
QUICK = LatentSizes(training=300, epochs=6, draws=4, chains=2, points=24, expected=8, inputs=2, samples=2)
QUICK_SEARCH = SearchSizes(rounds=1, proposals=2, known=20, candidates=30, steps=2)


def language_pieces(
    name: str,
    seeds: Sequence[int],
    posteriors: Sequence[str] = tuple(POSTERIORS),
    *,
    data: Path | None,
    device: str,
    quick: bool,
) -> list[Piece]:
    """A record of validity for each posterior and seed."""
    asked = _Asked(name, QUICK if quick else LatentSizes(), data, device)

    def measured(shared: bool, seed: int) -> Callable[[Callable[[str], None]], Found]:
        def measure(say: Callable[[str], None]) -> Found:
            say("fitting")
            started = perf_counter()
            gate = _gate(asked, shared, seed)
            fitted = perf_counter() - started
            rows = measure_validity(gate, asked.language, asked.sizes, seed=seed, say=say)
            about = {"diagnostics": run_diagnostics(gate.draws_), "space": gate.latent.words}
            return Found(rows, about, {"fit": fitted})

        return measure

    gpu = gpu_name(find_device(device))
    return [
        Piece(
            name,
            posterior,
            asked.settings | {"shared": POSTERIORS[posterior]},
            measured(POSTERIORS[posterior], seed),
            seed,
            gpu=gpu,
        )
        for posterior, seed in product(posteriors, seeds)
    ]


def search_pieces(
    name: str, seeds: Sequence[int], *, data: Path | None, device: str, quick: bool
) -> list[Piece]:
    """A record a seed, of the space in which draws disagree most: that of chains that share an encoder."""
    asked = _Asked(name, QUICK if quick else LatentSizes(), data, device)
    sizes = QUICK_SEARCH if quick else SearchSizes()

    def measured(seed: int) -> Callable[[Callable[[str], None]], Found]:
        def measure(say: Callable[[str], None]) -> Found:
            say("fitting")
            gate = _gate(asked, True, seed)
            arms = [
                search(gate, asked.language, _texts(asked), sizes, gated=gated, seed=seed, say=say)
                for gated in (False, True)
            ]
            return Found(arms)

        return measure

    settings = asked.settings | {"shared": True, "search": asdict(sizes)}
    gpu = gpu_name(find_device(device))
    return [
        Piece(f"{name}-search", "shared-encoder", settings, measured(seed), seed, gpu=gpu) for seed in seeds
    ]


@dataclass(frozen=True)
class _Asked:
    """A language, and gates that are fitted on it."""

    name: str
    sizes: LatentSizes
    data: Path | None
    device: str

    @property
    def language(self) -> Language:
        return LANGUAGES[self.name]()

    @property
    def settings(self) -> dict[str, Any]:
        """As plain values."""
        told = asdict(self.language)
        return {
            "language": {name: value for name, value in told.items() if isinstance(value, str | int | float)},
            "sizes": asdict(self.sizes),
            "left_out": LEFT_OUT if self.language.distance else None,
        }


@lru_cache(maxsize=1)
def _texts(asked: _Asked) -> Sequence[str]:
    """Those that a fit and a search are shown."""
    return _shown(asked.language, asked.language.read(asked.data))


@lru_cache(maxsize=1)  # validity and search of one seed ask the same gate
def _gate(asked: _Asked, shared: bool, seed: int) -> Detector:
    return fitted_gate(
        asked.language, _texts(asked), asked.sizes, shared=shared, seed=seed, device=asked.device
    )


def _shown(language: Language, texts: Sequence[str]) -> Sequence[str]:
    """All texts but those nearest to the target of a search."""
    if language.distance is None:
        return texts
    ordered = sorted(texts, key=language.distance)
    return sorted(ordered[int(LEFT_OUT * len(ordered)) :])


def acquire_pieces(seeds: Sequence[int], *, device: str, quick: bool) -> list[Piece]:
    """A record a seed: held-out likelihood by size, for each way to choose images."""
    sizes = AcquireSizes((40, 60), 120, 40, epochs=4, draws=2, samples=2) if quick else AcquireSizes()

    def measured(seed: int) -> Callable[[Callable[[str], None]], Found]:
        return lambda say: Found(measure_acquisition(sizes, seed=seed, device=device, say=say))

    gpu = gpu_name(find_device(device))
    return [Piece("acquire", "fashion-mnist", asdict(sizes), measured(seed), seed, gpu=gpu) for seed in seeds]


def plane_pieces(*, device: str, quick: bool) -> list[Piece]:
    """One record, of which the figures of the tutorial are made."""
    sizes = PlaneSizes(training=200, epochs=3, chains=2, grid=5, points=100) if quick else PlaneSizes()

    def measured(say: Callable[[str], None]) -> Found:
        say("fitting")
        found = measure_plane(sizes, seed=0, device=device)
        return Found(found.rows, found.about)

    return [Piece("plane", "fashion-mnist-sample", asdict(sizes), measured, 0)]


def timing_pieces(*, device: str, quick: bool) -> list[Piece]:
    """One record of the device at hand."""
    points, expected = (100, 2) if quick else (10_000, 16)
    gpu = gpu_name(find_device(device))
    settings = {"points": points, "expected": expected}
    return [
        Piece(
            "timing",
            "cuda" if gpu else "cpu",
            settings,
            lambda _: Found([measure_timing(**settings, device=device)]),
            gpu=gpu,
        )
    ]
