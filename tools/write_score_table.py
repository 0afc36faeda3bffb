"""Writes the table of scores in ``docs/how-it-works.md`` from the registry."""

from __future__ import annotations

from pathlib import Path

from dissensus.scores import SCORES, score

PAGE = Path(__file__).parents[1] / "docs/how-it-works.md"
BEGIN, END = "<!-- scores -->\n", "<!-- /scores -->"


def table() -> str:
    """One row a score: its name, and what it asks about an input."""
    rows = [
        f"| `{own.name}` | {own.description}{' (learns from held-out inliers)' if own.learns else ''} |"
        for own in map(score, SCORES)
    ]
    return "\n".join(["| name | asks |", "|---|---|", *rows, ""])


def main() -> None:
    """Replaces what stands between the two marks."""
    before, _, rest = PAGE.read_text("utf-8").partition(BEGIN)
    _, _, after = rest.partition(END)
    PAGE.write_text(f"{before}{BEGIN}{table()}{END}{after}", "utf-8")


if __name__ == "__main__":
    main()
