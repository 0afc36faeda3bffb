"""What is measured, a record each."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict
from pathlib import Path
from time import perf_counter

from benchmarks.diagnostics import run_diagnostics
from benchmarks.latent.languages import LANGUAGES, Language
from benchmarks.latent.search import SearchSizes, search
from benchmarks.latent.validity import LatentSizes, fitted_gate, measure_validity
from benchmarks.pieces import Found, Piece

__all__ = ["LEFT_OUT", "language_pieces"]

LEFT_OUT = 0.35
"""The share of texts, the nearest to the target, that no fit and no search is shown."""
QUICK = LatentSizes(training=600, epochs=4, draws=3, points=60, expected=20, inputs=2, samples=2)
QUICK_SEARCH = SearchSizes(rounds=2, proposals=4, known=40, candidates=100, steps=4)


def language_pieces(
    name: str, seeds: Sequence[int], *, data: Path | None, device: str, quick: bool
) -> list[Piece]:
    """A record a seed: validity, and where there is something to search, the search."""
    language = LANGUAGES[name]()
    sizes, own_search = (QUICK, QUICK_SEARCH) if quick else (LatentSizes(), SearchSizes())
    settings = {
        "language": {
            key: getattr(language, key) for key in ("by", "training", "latent_size", "hidden", "epochs")
        },
        "sizes": asdict(sizes),
        "search": asdict(own_search) if language.distance else None,
        "left_out": LEFT_OUT if language.distance else None,
    }

    def measured(seed: int) -> Callable[[Callable[[str], None]], Found]:
        return lambda say: _measure(language, sizes, own_search, data, device, seed, say)

    return [Piece(name, "sghmc", settings, measured(seed), seed) for seed in seeds]


def _measure(
    language: Language,
    sizes: LatentSizes,
    own_search: SearchSizes,
    data: Path | None,
    device: str,
    seed: int,
    say: Callable[[str], None],
) -> Found:
    texts = _shown(language, language.read(data))
    say("fitting")
    started = perf_counter()
    gate = fitted_gate(language, texts, sizes, seed=seed, device=device)
    fitted = perf_counter()
    rows = measure_validity(gate, language, sizes, seed=seed, say=say)
    asked = perf_counter()
    searches = []
    if language.distance is not None:
        searches = [
            search(gate, language, texts, own_search, gated=gated, seed=seed, say=say)
            for gated in (False, True)
        ]
    seconds = {"fit": fitted - started, "validity": asked - fitted, "search": perf_counter() - asked}
    about = {"search": searches, "diagnostics": run_diagnostics(gate.draws_), "space": gate.latent.words}
    return Found(rows, about, seconds)


def _shown(language: Language, texts: Sequence[str]) -> Sequence[str]:
    """All texts but those nearest to the target of a search."""
    if language.distance is None:
        return texts
    ordered = sorted(texts, key=language.distance)
    return sorted(ordered[int(LEFT_OUT * len(ordered)) :])
