"""``dissensus inspect``: what a gate is, what it was fitted on, and what it promises."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from dissensus.cli.console import print_bullets, print_json, results, warnings_as_messages
from dissensus.cli.failures import speaking_of
from dissensus.cli.gate_words import what_is_flagged, what_was_confirmed, what_was_left_out
from dissensus.cli.options import Gate, Json, OwnEmbedder, OwnModel, OwnObservation, OwnScore, Quiet, own_code
from dissensus.cli.progress import StageProgress

if TYPE_CHECKING:
    from dissensus.detector import Detector

__all__ = ["gate_facts", "inspect"]

PARTS = {"train": "training"}
KINDS = {
    "images": "images",
    "vectors": "rows",
    "table": "rows",
    "objects": "lists of what its embedder reads",
}


def inspect(
    gate: Gate,
    recent: Annotated[
        str | None,
        typer.Option(
            metavar="DATA",
            help="Recent inputs known to be normal: do they score as the calibration inputs did?",
        ),
    ] = None,
    score: OwnScore = None,
    model: OwnModel = None,
    observation: OwnObservation = None,
    embed: OwnEmbedder = None,
    json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Say what a GATE was fitted on, with which settings, what it flags, and how healthy its sampler was.

    With --recent it also says whether its promises still hold, or whether to recalibrate. With --quiet only
    the exit code tells whether the gate is whole.
    """
    from dissensus.detector import Detector

    with warnings_as_messages():
        detector = Detector.load(gate, device="cpu", **own_code(score, model, observation, embed))
    facts = gate_facts(detector, gate)
    if recent is not None:
        bar = StageProgress({"scoring": 1.0}, quiet=quiet)
        with warnings_as_messages(), speaking_of(recent), bar as progress:
            facts["recent"] = detector.check_exchangeable(recent, on_progress=progress).to_dict()
    if json:
        print_json(facts)
    elif not quiet:
        _print(facts)


def gate_facts(gate: Detector, folder: Path) -> dict[str, Any]:
    """What there is to say about a gate, as JSON values."""
    from dissensus.detector.describing import about_confirmed, about_left_out, about_model, about_sampler
    from dissensus.detector.posterior import posterior_in_words
    from dissensus.report import describe_health

    interval, health, threshold = gate.false_alarm_interval_, about_sampler(gate), gate.threshold_
    return {
        "gate": str(folder),
        "kind": gate.preprocessor_.kind,
        "input_shape": list(gate.preprocessor_.shape),
        "preprocessing": gate.preprocessor_.steps(),
        "columns": None if (names := gate.preprocessor_.feature_names) is None else list(names),
        "id_column": gate.preprocessor_.id_column,
        "resize": None if gate.resize is None else list(gate.resize),
        "fitted_rows": gate.fitted_rows_,
        "left_out": about_left_out(gate),
        "calibration_inputs": len(gate.calibration_scores_),
        "confirmed": about_confirmed(gate),
        "statistic": gate.statistic_,
        "statistic_in_words": gate.score_.description,
        "false_alarm_rate": gate.false_alarm_rate,
        "threshold": threshold if math.isfinite(threshold) else None,
        "false_alarm_interval": {"low": interval.low, "high": interval.high, "level": interval.level},
        **{"variant": None, "samples": None, **about_model(gate)},
        "effort": gate.asked_.effort.name,
        "efforts": [effort.name for effort in gate.efforts_],
        "asked_draws": len(gate.asked_.draws),
        "posterior": posterior_in_words(gate.sampler_.posterior),
        "chains": gate.sampler_.chains,
        "draws": len(gate.draws_),
        "seed": gate.seed_,
        "noise_floor": gate.noise_floor_,
        "health": health,
        "health_in_words": [] if health is None else describe_health(health, gate.noise_floor_),
    }


def _print(facts: Mapping[str, Any]) -> None:
    from dissensus.report import model_in_words

    out = results()
    out.print(facts["gate"], style="bold", markup=False, soft_wrap=True)
    rows, interval = facts["fitted_rows"], facts["false_alarm_interval"]
    shape = "×".join(map(str, facts["input_shape"]))
    kind = KINDS[facts["kind"]] + (f" of {shape}" if shape else "")
    embedders = [step["by"] for step in facts["preprocessing"] if step["step"] == "embed"]
    fitted = ", ".join(f"{count} for {PARTS.get(part, part)}" for part, count in rows.items())
    variant = "" if facts["variant"] is None else f", variant {facts['variant']}"
    samples = "" if facts["samples"] is None else f", and {facts['samples']} importance samples of each input"
    others = " and ".join(name for name in facts["efforts"] if name != facts["effort"])
    sentences = [
        f"takes {kind}" if not (columns := facts["columns"]) else _columns(columns, shape),
        *(f"embeds them by {name}" for name in embedders),
        f"was fitted on {sum(rows.values())} inputs: {fitted}",
        *what_was_left_out(facts),
        *what_was_confirmed(facts),
        f"flags {what_is_flagged(facts)}, at a false-alarm rate of {facts['false_alarm_rate']:g}; with "
        f"{facts['calibration_inputs']} calibration inputs the true rate lies between "
        f"{interval['low']:.3g} and {interval['high']:.3g} in {interval['level']:.0%} of cases",
        f"scores with {facts['statistic']}: {facts['statistic_in_words']}",
        f"has {facts['draws']} draws of {facts['chains']} chains ({facts['posterior']}{variant}) of the "
        f"model {model_in_words(facts['model'])}{samples}; seed {facts['seed']}",
    ]
    if others:
        effort = f"with effort {facts['effort']}; {others} are calibrated too"
        sentences.append(f"asks {facts['asked_draws']} of its draws about an input, {effort}")
    print_bullets(out, sentences)
    out.print("\n[bold]The sampler's health[/bold]")
    print_bullets(out, facts["health_in_words"] or ["the sampler left no diagnostics with this gate."])
    if "recent" in facts:
        out.print("\n[bold]Recent inputs[/bold]")
        print_bullets(out, [facts["recent"]["sentence"]])


def _columns(names: Sequence[str], numbers: str) -> str:
    """What rows hold, and how many numbers become of it, if these are not the same."""
    if not numbers:  # an embedder of its owner's own reads them
        return f"takes rows: {', '.join(names)}"
    count = "1 column" if len(names) == 1 else f"{len(names)} columns"
    become = "" if numbers == str(len(names)) else f", which become {numbers} numbers"
    return f"takes rows of {count}{become}: {', '.join(names)}"
