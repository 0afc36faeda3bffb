"""What is measured, a record each."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict
from functools import lru_cache
from itertools import product
from pathlib import Path
from time import perf_counter

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

__all__ = ["LEFT_OUT", "POSTERIORS", "acquire_pieces", "language_pieces", "plane_pieces", "timing_pieces"]

LEFT_OUT = 0.35
"""The share of texts, the nearest to the target, that no fit and no search is shown."""
POSTERIORS = {"shared-encoder": True, "one-chain": False}
"""Whether the chains share an encoder; else there is one."""
QUICK = LatentSizes(training=300, epochs=6, draws=4, chains=2, points=24, expected=8, inputs=2, samples=2)
QUICK_SEARCH = SearchSizes(rounds=1, proposals=2, known=20, candidates=30, steps=2)


def language_pieces(
    name: str, seeds: Sequence[int], *, data: Path | None, device: str, quick: bool
) -> list[Piece]:
    """A record a seed of validity, and where there is something to search, of the search."""
    language = LANGUAGES[name]()
    sizes, own_search = (QUICK, QUICK_SEARCH) if quick else (LatentSizes(), SearchSizes())
    settings = {
        "language": {
            key: getattr(language, key) for key in ("by", "training", "latent_size", "hidden", "epochs")
        },
        "sizes": asdict(sizes),
        "left_out": LEFT_OUT if language.distance else None,
    }

    @lru_cache(maxsize=1)
    def texts() -> Sequence[str]:
        return _shown(language, language.read(data))

    @lru_cache(maxsize=1)  # validity and search ask the same gate
    def gate(shared: bool, seed: int) -> Detector:
        return fitted_gate(language, texts(), sizes, shared=shared, seed=seed, device=device)

    def validity(shared: bool, seed: int) -> Callable[[Callable[[str], None]], Found]:
        def measure(say: Callable[[str], None]) -> Found:
            say("fitting")
            started = perf_counter()
            own = gate(shared, seed)
            fitted = perf_counter() - started
            rows = measure_validity(own, language, sizes, seed=seed, say=say)
            about = {"diagnostics": run_diagnostics(own.draws_), "space": own.latent.words}
            return Found(rows, about, {"fit": fitted})

        return measure

    def searched(seed: int) -> Callable[[Callable[[str], None]], Found]:
        def measure(say: Callable[[str], None]) -> Found:
            own = gate(True, seed)
            return Found(
                [
                    search(own, language, texts(), own_search, gated=gated, seed=seed, say=say)
                    for gated in (False, True)
                ]
            )

        return measure

    pieces = []
    for (posterior, shared), seed in product(POSTERIORS.items(), seeds):
        own = settings | {"shared": shared}
        pieces.append(Piece(name, posterior, own, validity(shared, seed), seed))
        if language.distance is not None and shared:  # a search wants the space in which draws disagree most
            searching = own | {"search": asdict(own_search)}
            pieces.append(Piece(f"{name}-search", posterior, searching, searched(seed), seed))
    return pieces


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

    return [Piece("acquire", "fashion-mnist", asdict(sizes), measured(seed), seed) for seed in seeds]


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
