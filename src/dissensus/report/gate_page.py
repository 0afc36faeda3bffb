"""A gate's report on a set of inputs: one HTML file that needs nothing else, and the same as JSON."""

from __future__ import annotations

import json
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dissensus._version import __version__
from dissensus.destination import Destination, write_output
from dissensus.report.document import document, items
from dissensus.report.gate_cases import case_cards, full_glow
from dissensus.report.gate_figures import drift_figures, p_value_figure, score_figure
from dissensus.report.gate_summary import gate_summary, label, share
from dissensus.report.health import describe_health

if TYPE_CHECKING:
    from dissensus.inspection import Assessment

__all__ = ["gate_page", "gate_record", "write_gate_report"]

LISTED = 50  # unreadable files that the page names
SETTINGS = {
    "input_shape": "one input",
    "variant": "variant",
    "statistic": "statistic",
    "false_alarm_rate": "false-alarm rate",
    "draws": "draws",
    "chains": "chains",
    "samples": "importance samples",
    "observation": "observation model",
    "latent_size": "latent size",
    "step_size": "step size",
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


def gate_page(assessment: Assessment) -> str:
    """The report as one HTML file without scripts, for screens of any width and for paper."""
    a = assessment
    glow = full_glow((*a.unusual, *a.typical))
    passed = a.passed()
    return document(
        "gate",
        f"dissensus: {a.source}",
        source=escape(a.source),
        verdict="passed" if passed else "failed",
        sign="✓" if passed else "✕",
        verdict_words="Passed" if passed else "Not passed",
        reason="as few are flagged as chance allows" if passed else "more are flagged than chance explains",
        summary=items(gate_summary(a)),
        distributions=_figures([score_figure(a), p_value_figure(a)]),
        calibration=f"{len(a.calibration_scores):,}",
        unusual=case_cards(a.unusual, glow=glow),
        typical=case_cards(a.typical, glow=glow),
        explanation=_explanation(a, glow),
        drift=_drift(a),
        unreadable=_unreadable(a),
        health=items(_health(a)),
        settings=_settings(a),
        rate=share(a.false_alarm_rate),
        version=escape(__version__),
    )


def write_gate_report(
    page: str | Path | Destination, assessment: Assessment, *, record: str | Path | Destination | None = None
) -> None:
    """Writes the page, and the record as JSON if it is named, each whole or not at all."""
    files = [(page, gate_page(assessment))]
    if record is not None:
        files.append((record, json.dumps(gate_record(assessment), indent=1, ensure_ascii=False) + "\n"))
    for output, text in files:
        write_output(output, text.encode())


def _health(a: Assessment) -> list[str]:
    if a.health is None:
        return ["the sampler left no diagnostics with this gate."]
    return describe_health(a.health, a.noise_floor)


def _figures(figures: list[str]) -> str:
    return '<div class="figures">' + "".join(f"<figure>{figure}</figure>" for figure in figures) + "</div>"


def _explanation(a: Assessment, glow: float) -> str:
    """How to read the cards."""
    if len(a.settings["input_shape"]) == 1:
        return (
            "Listed are the columns that cause most of the disagreement: by how many nats the spread of the "
            "draws’ log-likelihoods falls once the column is set to its training mean. Beside each value "
            "stand the range that some of the draws expect and the range among the nearest training rows."
        )
    return (
        f"Orange marks where the draws’ log-likelihoods of a pixel spread; it glows fully at {glow:.2g} "
        "nats, in all pictures alike. The nearest training inputs are nearest in latent space."
    )


def _drift(a: Assessment) -> str:
    figures = drift_figures(a)
    if not figures:
        return "<p>There are too few inputs to look for drift.</p>"
    return (
        _figures(figures)
        + '<p class="faint">In the order of the inputs. First the share flagged, and the band it stays in '
        "for inputs like the training data; then the evidence that the stream has changed, a martingale’s "
        "capital, which passes the alarm in 1 of 100 streams without drift.</p>"
    )


def _unreadable(a: Assessment) -> str:
    if not a.unreadable:
        return ""
    rows = "".join(
        f"<tr><th scope=row>{escape(label(name))}</th><td>{escape(reason)}</td></tr>"
        for name, reason in a.unreadable[:LISTED]
    )
    more = len(a.unreadable) - LISTED
    rest = f'<p class="faint">and {more:,} more.</p>' if more > 0 else ""
    return (
        '<h2>What could not be read</h2>\n<div class="scroll"><table class="words"><tbody>'
        f"{rows}</tbody></table></div>{rest}"
    )


def _settings(a: Assessment) -> str:
    shown = {title: a.settings[name] for name, title in SETTINGS.items() if a.settings.get(name) is not None}
    return "".join(
        f"<div><dt>{escape(title)}</dt><dd>{escape(_value(value))}</dd></div>"
        for title, value in shown.items()
    )


def _value(value: Any) -> str:
    return " × ".join(map(str, value)) if isinstance(value, list | tuple) else str(value)
