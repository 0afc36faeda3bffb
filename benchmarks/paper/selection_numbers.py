"""Numbers of the paper's presets that documents name: what they were chosen by, and how they sample."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial
from pathlib import Path
from statistics import fmean
from typing import Any

from benchmarks.filling.registry import Number, Table
from benchmarks.paper.benchmarks import BENCHMARKS
from benchmarks.paper.published import COLUMNS
from benchmarks.paper.tasks import selection_group
from benchmarks.records import Record, Records

__all__ = ["NUMBERS", "TABLES"]

COMPARED = {
    "validation_log_likelihood": "mean",
    "validation_log_likelihood_of_mixture": "mixture of the draws",
    "rhat": "R̂",
}
RUNS = ("bvae1", "bvae2")
SAMPLED = ("BVAE1", "BVAE2")
BENCHMARK_SHOWN = ("fashion-mnist-vs-mnist", "svhn-vs-cifar10")


def _selected(results: Path, benchmark: str) -> dict[str, dict[str, Mapping[str, Any]]]:
    """The numbers of each candidate, by variant."""
    found: dict[str, dict[str, Mapping[str, Any]]] = {}
    for record in Records(results / "paper").read(selection_group(benchmark)):
        name, run = record.name.rsplit("/", 1)
        if record.rows:
            found.setdefault(name, {})[run] = record.rows[0]
    return found


def _table(results: Path) -> str:
    """Validation likelihood and R̂ of every candidate for the settled preset, variant 1 / variant 2."""
    lines = [f"| | candidate | {' | '.join(COMPARED.values())} |", "|---" * (2 + len(COMPARED)) + "|"]
    for benchmark in BENCHMARK_SHOWN:
        found = _selected(results, benchmark)
        # Both variants vote: the best mean first.
        ranked = sorted(
            found, key=lambda name: -fmean(found[name][run]["validation_log_likelihood"] for run in RUNS)
        )
        for name in ranked:
            own = [found[name][run] for run in RUNS]
            cells = (" / ".join(f"{row[column]:.2f}".replace("-", "−") for row in own) for column in COMPARED)
            changed = name.partition("+")[2].replace("+", ", ").replace("=", " ").replace("_", " ")
            shown = COLUMNS[benchmark].partition(" vs ")[0]
            lines.append(f"| {shown} | {' | '.join([changed or 'the preset', *cells])} |")
    return "\n".join(lines)


def _spread(results: Path) -> float:
    """How far the draws of the preset are apart on validation images, in nats."""
    own = _selected(results, "fashion-mnist-vs-mnist")["settled"]
    return fmean(own[run]["spread_over_draws"] for run in RUNS)


def _diagnostics(record: Record) -> Mapping[str, Any]:
    (run,) = record.about["runs"].values()
    told: Mapping[str, Any] = run["diagnostics"]
    return told


def _noise(results: Path, choose: Callable[[Iterable[float]], float]) -> float:
    """Of all runs of the settled preset."""
    records = Records(results / "paper")
    names = [f"settled/{method}" for method in SAMPLED]
    every = (record for benchmark in BENCHMARKS for record in records.read(benchmark))
    return choose(_diagnostics(record)["noise_floor"] for record in every if record.name in names)


def _behind(results: Path, choose: Callable[[Iterable[float]], float], benchmark: str) -> float:
    """Nats of validation likelihood by which ``as-published`` is behind a plain VAE of the same seed."""
    records = Records(results / "paper").read(benchmark)
    found = {(record.name, record.seed): record for record in records}

    def differences() -> Iterator[float]:
        for method in SAMPLED:
            for seed in sorted({record.seed or 0 for record in records}):
                plain, sampled = (found[f"as-published/{name}", seed] for name in ("LL", method))
                told = [_diagnostics(each)["validation_log_likelihood"] for each in (plain, sampled)]
                yield told[0] - told[1]

    return choose(differences())


NUMBERS: Mapping[str, Number] = {
    "selection.spread": _spread,
    **{
        f"noise-floor.{end}": partial(_noise, choose=choose)
        for end, choose in (("least", min), ("most", max))
    },
    **{
        f"{benchmark}.behind.{end}": partial(_behind, choose=choose, benchmark=benchmark)
        for benchmark in BENCHMARK_SHOWN
        for end, choose in (("least", min), ("most", max))
    },
}
TABLES: Mapping[str, Table] = {"selection": _table}
