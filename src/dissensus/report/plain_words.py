"""What is unusual about an input, as one would tell somebody who knows no statistics."""

from __future__ import annotations

from collections.abc import Mapping

__all__ = ["plainly"]

BANDS = {2: "coarsest", 3: "coarse", 4: "middling", 5: "fine", 6: "finest"}
DISAGREE = ("the draws disagree about it", "the draws agree about it more than usual")
UNLIKELY = (
    "it is unlikely to have come from the training data",
    "it is more typical than inputs usually are",
)
PLAIN: Mapping[str, tuple[str, str]] = {
    **dict.fromkeys(
        ("whitened", "kl", "ess", "entropy", "std", "mad", "iqr", "relative-std", "pixel-variance"), DISAGREE
    ),
    **dict.fromkeys(("mean-ll", "mixture-ll", "corrected-ll", "typicality", "waic"), UNLIKELY),
    "latent-norm": ("it is encoded far from everything usual", "it is encoded unusually near the centre"),
    "latent-scale": ("its encoding is unusually uncertain", "its encoding is unusually certain"),
    "latent-spread": ("the draws encode it differently", "the draws encode it unusually alike"),
    "reconstruction": ("the draws cannot rebuild it", "the draws rebuild it unusually well"),
    "reconstruction-spread": ("the draws rebuild it differently", "the draws rebuild it unusually alike"),
    "code-length": ("there is unusually much detail in it", "there is unusually little detail in it"),
    "detail-1": ("it is unusually bright", "it is unusually dark"),
    **{
        f"detail-{n}": (f"unusually much {band} detail", f"unusually little {band} detail")
        for n, band in BANDS.items()
    },
    "colour-1": ("it is unusually colourful", "it is unusually pale"),
    **{
        f"colour-{n}": (f"unusually colourful {band} detail", f"unusually pale {band} detail")
        for n, band in BANDS.items()
    },
    "direction-coarse": ("its coarse detail runs in an unusual direction",) * 2,
    "direction-fine": ("its fine detail runs in an unusual direction",) * 2,
    "nearest": ("no training input is near it", "a training input is unusually near it"),
    "isolation": (
        "it stands alone among the training inputs",
        "the training inputs are dense around it",
    ),
    "gaussians": (
        "its values do not go together as usual",
        "its values go together unusually well",
    ),
}
"""What a statistic says where it is unusually high, and where it is unusually low."""


def plainly(statistic: str, percentile: float, meaning: str) -> str:
    """Return what an unusual value of a statistic says, by where it stands among calibration inputs.

    >>> plainly("detail-5", 99.9, "how strong its fine detail is")
    'unusually much fine detail'
    >>> plainly("my-own", 1.0, "how odd it is")
    'how odd it is: unusually low'
    """
    low = percentile < 50
    if statistic in PLAIN:
        return PLAIN[statistic][low]
    return f"{meaning}: unusually {'low' if low else 'high'}"
