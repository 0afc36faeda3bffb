"""An explanation as a few lines of text."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dissensus.unusual import carried, decided, noted

if TYPE_CHECKING:
    from dissensus.explain.explanation import Explanation

__all__ = ["in_words"]

NAMED = 5  # columns or pixels


def in_words(e: Explanation) -> str:
    """Return what there is to say about one input, for a terminal or a notebook."""
    percentiles = {name: standing.percentile for name, standing in e.statistics.items()}
    score, p_value, flagged = e.decision
    lines = [
        decided(p_value, flagged=flagged),
        *noted(e.notes, e.known),
        *carried(e.surprises, percentiles, flagged=flagged),
    ]
    if e.cells:
        lines.append("What matters most, and what the nearest training rows hold:")
        width = max(len(f"{cell.column} = {cell.value}") for cell in e.cells[:NAMED])
        lines += [f"  {f'{cell.column} = {cell.value}':<{width}}  {cell.nearest}" for cell in e.cells[:NAMED]]
    elif e.disagreement.any():
        places = "; ".join(_place(e, int(place)) for place in e.ranking[:NAMED])
        lines.append(f"What matters most: {'the pixels at ' if e.pictured else ''}{places}.")
    lines.append(f"(score {score:.4g}, p-value {p_value:.3g})")
    return "\n".join(lines)


def _place(e: Explanation, place: int) -> str:
    if e.pictured:
        row, column = divmod(place, e.disagreement.shape[1])
        return f"row {row}, column {column}"
    name = f"column {place}" if e.columns is None else e.columns[place]
    return f"{name} = {float(e.input[place]):.6g}"
