"""A gate's report on a set of inputs: one HTML file that needs nothing else, and the same as JSON."""

from __future__ import annotations

import json
from datetime import UTC
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dissensus._version import __version__
from dissensus.destination import Destination, write_output
from dissensus.report.document import document
from dissensus.report.gate_cases import case_cards, full_glow
from dissensus.report.gate_figures import drift_figures, p_value_figure, score_figure
from dissensus.report.gate_lists import flagged_listing, moved_columns
from dissensus.report.gate_summary import gate_summary, label, share, what_changed
from dissensus.report.health import describe_health
from dissensus.report.model_words import model_in_words

if TYPE_CHECKING:
    from dissensus.inspection import Assessment

__all__ = ["gate_page", "gate_record", "write_gate_report"]

LISTED = 50  # unreadable files that the page names
SETTINGS = {
    "input_shape": "one input",
    "model": "model",
    "variant": "variant",
    "statistic": "statistic",
    "false_alarm_rate": "false-alarm rate",
    "left_out": "left out of the fit",
    "draws": "draws",
    "chains": "chains",
    "samples": "importance samples",
    "step_size": "step size",
    "adaptation": "adaptation, in epochs",
    "resize": "pictures resized to",
    "seed": "seed",
}


def gate_record(assessment: Assessment) -> dict[str, Any]:
    """The report as JSON values: the numbers, the summary and the sampler's health in words."""
    return {
        **assessment.to_dict(),
        "summary": gate_summary(assessment),
        "health": _health(assessment),
        "version": __version__,
    }


def gate_page(assessment: Assessment, *, record: str | None = None) -> str:
    """The report as one HTML file without scripts, for screens of any width and for paper.

    ``record`` is the name of the record beside it, if there is one: it lists what the page leaves out.
    """
    a = assessment
    glow = full_glow((*a.unusual, *a.typical))
    return document(
        "gate",
        source=a.source,
        gate=a.gate,
        made="" if a.made is None else f"{a.made.astimezone(UTC):%-d %B %Y, %H:%M} UTC",
        passed=a.passed(),
        changed=what_changed(a),
        flagged=flagged_listing(a, record),
        columns=moved_columns(a),
        training_rows=f"{a.training_rows:,}",
        summary=gate_summary(a),
        distributions=[score_figure(a), p_value_figure(a)],
        calibration=f"{len(a.calibration_scores):,}",
        pictured=any(case.explanation.pictured for case in (*a.unusual, *a.typical)),
        occluded=a.settings["explained_by"] == "occlusion",
        unusual=case_cards(a.unusual, glow=glow),
        typical=case_cards(a.typical, glow=glow),
        drift=drift_figures(a),
        unreadable=[(label(name), reason) for name, reason in a.unreadable[:LISTED]],
        more_unreadable=len(a.unreadable) - LISTED,
        health=_health(a),
        settings=_settings(a),
        rate=share(a.false_alarm_rate),
        version=__version__,
    )


def write_gate_report(
    page: str | Path | Destination, assessment: Assessment, *, record: str | Path | Destination | None = None
) -> None:
    """Writes the page, and the record as JSON if it is named, each whole or not at all."""
    beside = None if record is None else _name_of(record)
    files = [(page, gate_page(assessment, record=beside))]
    if record is not None:
        files.append((record, json.dumps(gate_record(assessment), indent=1, ensure_ascii=False) + "\n"))
    for output, text in files:
        # A file's name may hold bytes that are no text; JSON has them as escapes, and the page has none left.
        write_output(output, text.encode("utf-8", "backslashreplace"))


def _name_of(output: str | Path | Destination) -> str:
    """How a file beside the page is called."""
    return Path(output.name if isinstance(output, Destination) else output).name


def _health(a: Assessment) -> list[str]:
    if a.health is None:
        return ["the sampler left no diagnostics with this gate."]
    return describe_health(a.health, a.noise_floor)


def _settings(a: Assessment) -> dict[str, str]:
    """The settings that are shown, by the words they are shown under."""
    settings = {**a.settings, "model": model_in_words(a.settings["model"])}
    if (left_out := settings.get("left_out")) is not None:
        settings["left_out"] = (
            f"the most unusual {left_out['train']:,} training and {left_out['validation']:,} validation "
            f"inputs (contamination {left_out['contamination']:g})"
        )
    shown = {title: settings[name] for name, title in SETTINGS.items() if settings.get(name) is not None}
    return {
        title: " × ".join(map(str, value)) if isinstance(value, list | tuple) else str(value)
        for title, value in shown.items()
    }
