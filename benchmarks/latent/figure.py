"""The figure of latent spaces: how well each score tells invalid decodings, by kind of points."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from statistics import fmean

from benchmarks.latent.pieces import POSTERIORS
from benchmarks.latent.validity import SCORES
from benchmarks.records import Records

__all__ = ["draw_validity"]

LABELS = ("information", "expectation", "‖z‖", "annulus", "−log q(z)", "10th nearest code")
COLOURS = ("#D55E00", "#E69F00", "#999999", "#009E73", "#CC79A7", "#56B4E9")


def draw_validity(records: Records) -> Iterator[Path]:
    """One for each language that was measured, and its path."""
    from matplotlib.figure import Figure

    from benchmarks.drawing import save_figure

    for language in ("expressions", "molecules"):
        all_found = records.read(language)
        own = {name: [each for each in all_found if each.name == name] for name in POSTERIORS}
        own = {name: found for name, found in own.items() if found}
        if not own:
            continue
        figure = Figure(figsize=(4.6 * len(own), 3.4), layout="constrained")
        places = figure.subplots(1, len(own), squeeze=False)[0]
        for axes, (name, found) in zip(places, own.items(), strict=True):
            kinds = list(dict.fromkeys(row["points"] for each in found for row in each.rows))
            for place, (score, label) in enumerate(zip(SCORES, LABELS, strict=True)):
                for number, kind in enumerate(kinds):
                    values = [
                        row[score]
                        for each in found
                        for row in each.rows
                        if row["points"] == kind and row[score] is not None
                    ]
                    if values:
                        axes.bar(
                            number + (place - 2.5) / 8,
                            fmean(values) - 0.5,
                            1 / 9,
                            bottom=0.5,
                            color=COLOURS[place],
                            label=label if number == 0 else None,
                        )
            title = f"{language}, {name.replace('-', ' ')}"
            axes.set(title=title, ylim=(0, 1), ylabel="AUROC of invalid decodings")
            axes.set_xticks(range(len(kinds)), kinds)
            axes.axhline(0.5, color="0.4", linewidth=0.8)
            axes.spines[["top", "right"]].set_visible(False)
        words = axes.get_legend_handles_labels()
        figure.legend(*words, loc="outside lower center", ncols=3 * len(own), fontsize=7, frameon=False)
        yield save_figure(figure, records.folder / f"{language}.png", dpi=150)
