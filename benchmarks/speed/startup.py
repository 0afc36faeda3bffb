"""Part (f): what it costs to start, in processes of their own."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import torch

from benchmarks.speed.comparison import faster
from benchmarks.speed.sizes import Sizes
from benchmarks.speed.timing import alternate, median

__all__ = ["measure_startup"]

TORCH = "import torch"
BOTH = (
    "import torch, sklearn.base, sklearn.utils.validation"  # scikit-learn as any of its estimators needs it
)
OURS = "import torch, dissensus"
DETECTOR = "from dissensus import BayesianVAE"
HELP = "dissensus --help"
COMMANDS = {code: ["-c", code] for code in (TORCH, BOTH, OURS, DETECTOR)} | {
    HELP: ["-m", "dissensus", "--help"]
}
IMPORT_GOAL, HELP_GOAL = 0.3, 0.5  # seconds
MORE_ROUNDS = 2  # than elsewhere, times: a start is short, and its time scatters
LEAST = 1e-3  # seconds that a difference can be told from none


def measure_startup(sizes: Sizes, device: torch.device) -> dict[str, Any]:
    """Seconds of each command, in turn; of imports, what they cost over those of other packages."""

    def start(arguments: list[str]) -> None:
        subprocess.run([sys.executable, *arguments], check=True, stdout=subprocess.DEVNULL)

    works = [lambda arguments=arguments: start(arguments) for arguments in COMMANDS.values()]
    found = alternate(works, device, rounds=MORE_ROUNDS * sizes.rounds)
    times = dict(zip(COMMANDS, found, strict=True))

    def over(ours: str, others: str) -> float:
        """Within a round: what slows a round down slows both."""
        differences = [mine - theirs for mine, theirs in zip(times[ours], times[others], strict=True)]
        return max(median(differences), LEAST)

    goals = [
        ("import dissensus, over import torch", over(OURS, TORCH), IMPORT_GOAL),
        (f"{DETECTOR}, over torch and scikit-learn", over(DETECTOR, BOTH), IMPORT_GOAL),
        (HELP, median(times[HELP]), HELP_GOAL),
    ]
    return {
        "starts": {name: median(own) for name, own in times.items()},
        "comparisons": [faster(name, ours, goal, "goal").to_dict() for name, ours, goal in goals],
    }
