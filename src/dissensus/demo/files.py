"""What the demonstration leaves behind: the gate, the numbers, a figure and a page."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from dissensus.defaults import EFFORT
from dissensus.demo.run import Demo
from dissensus.destination import write_output
from dissensus.detector.effort import at_effort
from dissensus.evaluation import write_record
from dissensus.report import DemoFigure, called, demo_page, draw_demo, strip

__all__ = ["write_files"]

SHOWN_IN_FIGURE = 16
SHOWN_IN_TABLE = 5


def write_files(folder: Path, demo: Demo, record: Mapping[str, Any]) -> None:
    """Writes ``gate/``, ``results.json``, ``figure.png`` and ``report.html``, each whole or not at all.

    The numbers are of the gate as it was asked here; the one that is saved is asked with the default effort.
    """
    at_effort(demo.gate, EFFORT).save(folder / "gate")
    write_record(folder / "results.json", record)
    content = _figure(demo, record)
    light, dark = draw_demo(content, "light"), draw_demo(content, "dark")
    pictures = {kind: strip(images[:SHOWN_IN_TABLE]) for kind, images in demo.outliers.items()}
    page = demo_page(record, {"light": light, "dark": dark}, pictures)
    for name, data in (("figure.png", light), ("report.html", page.encode())):
        write_output(folder / name, data)


def _figure(demo: Demo, record: Mapping[str, Any]) -> DemoFigure:
    statistic = demo.gate.statistic_
    likelihood, likelihoods = demo.scores("mean-ll")
    own, others = demo.scores(statistic)
    areas = record["outliers"]["digits"]["auroc"]
    clothes, digits = np.argsort(own, kind="stable"), np.argsort(others["digits"], kind="stable")
    return DemoFigure(
        normal="unseen clothes",
        strange="digits",
        log_likelihood=(-likelihood, -likelihoods["digits"]),
        disagreement=(own, others["digits"]),
        disagreement_name=called(statistic),
        threshold=record["threshold"],
        auroc=(areas["mean-ll"]["value"], areas[statistic]["value"]),
        strips={
            "clothes,\nleast unusual": demo.inliers[clothes[:SHOWN_IN_FIGURE]],
            "clothes,\nmost unusual": demo.inliers[clothes[::-1][:SHOWN_IN_FIGURE]],
            "digits,\nleast unusual": demo.outliers["digits"][digits[:SHOWN_IN_FIGURE]],
            "digits,\nmost unusual": demo.outliers["digits"][digits[::-1][:SHOWN_IN_FIGURE]],
        },
    )
