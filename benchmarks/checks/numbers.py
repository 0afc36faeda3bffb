"""Numbers of the checks that documents name."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from statistics import fmean

from benchmarks.checks import few_numbers, fused, scale_numbers, svhn_numbers
from benchmarks.filling.formats import formatted
from benchmarks.filling.registry import Number, Table
from benchmarks.records import Record, Records
from benchmarks.temperatures import temperature_table

__all__ = ["NUMBERS", "TABLES"]

SCORES = {
    "neighbours": "5th neighbour",
    "mean-ll": "log-likelihood",
    "waic": "WAIC",
    "ess": "ESS",
    "kl": "KL",
    "std": "std",
    "fused": "fused",
}
KINDS = {"gaussian-noise": "Gaussian noise", "mixture": "mixture of two"}


def _read(results: Path, check: str) -> list[Record]:
    return Records(results / "checks").read(check)


def _demo_auroc(results: Path, kind: str, score: str) -> float:
    rows = _read(results, "demo")[0].rows
    return next(float(row["auroc"]) for row in rows if (row["outliers"], row["score"]) == (kind, score))


def _inliers(results: Path, name: str) -> float:
    return float(_read(results, "demo")[0].about["inliers"][name])


def _demo_table(results: Path) -> str:
    about = _read(results, "demo")[0].about
    lines = [["outliers", *SCORES.values(), "flagged"], ["---"] * (len(SCORES) + 2)]
    for kind, asked in about["outliers"].items():
        shown = [f"{_demo_auroc(results, kind, score):.2f}".removeprefix("0") for score in SCORES]
        best = max(shown, key=float)
        cells = [f"**{cell}**" if cell == best else cell for cell in shown]
        name = KINDS.get(kind, kind.replace("-", " "))
        lines.append([name, *cells, f"{asked['flagged'] / asked['count']:.0%}"])
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def _fused(results: Path, tell: Callable[[list[Record], str], float], statistic: str) -> float:
    return tell(_read(results, "fused"), statistic)


def _in_colour(results: Path, model: str, effort: str, column: str) -> float:
    if column == "per_two_cores":
        return 2000 / _in_colour(results, model, effort, "milliseconds")
    (record,) = (each for each in _read(results, "in_colour") if each.name == model)
    return next(float(row[column]) for row in record.rows if row["effort"] == effort)


def _colour_fit(results: Path, model: str) -> float:
    """Minutes."""
    (record,) = (each for each in _read(results, "colour_fit") if each.name == model)
    return float(record.rows[0]["seconds"]) / 60


def _onnx(results: Path, effort: str, column: str) -> float:
    return next(float(row[column]) for row in _read(results, "onnx")[0].rows if row["effort"] == effort)


def _gpu(results: Path, outcome: str) -> float:
    return float(_read(results, "gpu")[0].about[outcome])


def _importance(results: Path, samples: int, column: str) -> float:
    """In nats, without a sign."""
    rows = _read(results, "importance")[0].rows
    return abs(float(next(row[column] for row in rows if row["samples"] == samples)))


def _times_slower(results: Path, images: int) -> float:
    """Of all seeds that were timed."""
    return fmean(
        one["ratio"]
        for record in _read(results, "fused")
        for one in record.about.get("seconds_to_score", ())
        if (one["images"] == 1) is (images == 1)
    )


def _streamed(results: Path, run: str, column: str) -> float:
    rows = _read(results, "streaming")[0].rows
    return next(float(row[column]) for row in rows if row["run"] == run)


def _proposals(results: Path) -> str:
    """Each score's AUROC and the error of a log-likelihood, by where the importance samples come from."""
    columns = {"ess": "ess", "kl": "kl", "error": "error in nats"}
    heads = [f"{shown}, {way}" for shown in columns.values() for way in ("own", "pooled")]
    lines = [f"| AUROC by | {' | '.join(heads)} |", "|---" * (1 + len(heads)) + "|"]
    for record in _read(results, "proposals"):
        by = {row["proposal"]: row for row in record.rows}
        cells = [
            formatted(float(by[way][column]), "s2" if column == "error" else "s3")
            for column in columns
            for way in ("own", "pooled")
        ]
        shown = {"fashion-mnist → mnist": "Fashion-MNIST → MNIST", "svhn → cifar10": "SVHN → CIFAR10"}
        lines.append(f"| {' | '.join([shown[record.name], *cells])} |")
    return "\n".join(lines)


def _shift(results: Path, name: str, column: str, where: Mapping[str, float]) -> float:
    """The number of this column in the row that has these others."""
    record = next(record for record in _read(results, "shift") if record.name == name)
    return next(float(row[column]) for row in record.rows if where.items() <= row.items())


def _delay_table(results: Path) -> str:
    lines = [
        "| calibration inputs | move | on average (default) | with 95% confidence |",
        "|---|---|---|---|",
    ]
    for calibration, move in ((1000, 1), (1000, 0.5), (100, 1), (100, 0.5)):
        cells = []
        for confidence in (0, 0.95):
            where = {"calibration": calibration, "move": move, "confidence": confidence}
            tell = partial(_shift, results, "delay of drift alarms", where=where)
            missed = tell(column="not_seen")
            rest = f"; {missed:.0%} are not seen within 600" if missed >= 0.005 else ""
            cells.append(f"{tell(column='median_delay'):g}{rest}")
        lines.append(f"| {calibration:,} | {move:g} | {' | '.join(cells)} |")
    return "\n".join(lines)


def _times_later(results: Path) -> float:
    """How much later an alarm comes that holds for the gate's own calibration set."""
    usual, sure = (
        _shift(
            results,
            "delay of drift alarms",
            "median_delay",
            {"calibration": 1000, "move": 0.5, "confidence": confidence},
        )
        for confidence in (0, 0.95)
    )
    return sure / usual


NUMBERS: Mapping[str, Number] = {
    "demo.seconds": lambda results: _read(results, "demo")[0].seconds["all"],
    "demo.fitting": lambda results: _read(results, "demo")[0].seconds["fitting"],
    "demo.inliers": partial(_inliers, name="count"),
    "demo.inliers.flagged": partial(_inliers, name="flagged"),
    "demo.inliers.share": lambda results: _inliers(results, "flagged") / _inliers(results, "count"),
    **{
        f"demo.{kind}.{score}": partial(_demo_auroc, kind=kind, score=score)
        for kind in ("blurred", "mixture", "flipped")
        for score in ("kl", "fused")
    },
    **{
        f"fused.mean.{name}": partial(_fused, tell=fused.mean_auroc, statistic=name)
        for name in fused.COMPARED
    },
    **{
        f"fused.worst.{name}": partial(_fused, tell=fused.worst_auroc, statistic=name)
        for name in fused.COMPARED
    },
    "fused.slower.batch": partial(_times_slower, images=fused.TIMED_IMAGES),
    "fused.slower.one": partial(_times_slower, images=1),
    **{
        f"importance.{samples}.{name}": partial(_importance, samples=samples, column=column)
        for samples in (16, 512)
        for name, column in {
            "bias": "bias",
            "spread": "spread",
            "stated-error": "stated_error",
            "stated-bias": "stated_bias",
            "jackknife": "jackknife_bias",
        }.items()
    },
    **{f"gpu.{outcome}": partial(_gpu, outcome=outcome) for outcome in ("passed", "failed", "skipped")},
    "gpu.seconds": lambda results: _read(results, "gpu")[0].seconds["all"],
    **{
        f"in_colour.{model}.{effort}.{column}": partial(_in_colour, model=model, effort=effort, column=column)
        for model in ("vae", "deep-vae", "pixelcnn")
        for effort in ("fast", "standard", "thorough")
        for column in ("a_second", "milliseconds", "per_two_cores")
    },
    "colour_fit.pixelcnn": partial(_colour_fit, model="pixelcnn"),
    **{
        f"onnx.{effort}.{column}": partial(_onnx, effort=effort, column=column)
        for effort in ("fast", "standard")
        for column in ("inputs", "largest_difference", "same_verdicts", "onnxruntime_ms", "gate_ms")
    },
    "fuzz.cases": lambda results: _read(results, "fuzz")[0].settings["cases"],
    **{
        f"shift.seen.{recent}": partial(
            _shift, name="checks that see a shift", column="seen", where={"recent": recent}
        )
        for recent in (50, 200, 1000)
    },
    **{
        f"shift.rate.{way}": partial(_shift, name="normal inputs flagged at 10%", column=way, where={})
        for way in ("plain", "weighted", "fixed", "adaptive")
    },
    **{
        f"shift.alarms.{size}.{confidence:g}.{column}": partial(
            _shift,
            name="false drift alarms",
            column=column,
            where={"calibration": size, "confidence": confidence},
        )
        for size in (100, 1000)
        for confidence in (0, 0.95)
        for column in ("mean", "sets_above", "worst")
    },
    "shift.later": _times_later,
    **{
        f"streaming.{run}.{column}": partial(_streamed, run=run, column=column)
        for run in ("few", "all")
        for column in ("images", "input_megabytes", "peak_megabytes")
    },
    **svhn_numbers.NUMBERS,
    **scale_numbers.NUMBERS,
}
TABLES: Mapping[str, Table] = {
    "demo": _demo_table,
    "proposals": _proposals,
    "shift.delays": _delay_table,
    **svhn_numbers.TABLES,
    **few_numbers.TABLES,
    "temperatures": temperature_table,
}
