"""What is unusual about an input, as one would tell somebody who knows no statistics."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from dissensus.inputs import SPECTRUM, SURROUNDINGS
from dissensus.scores import SCORES, score

__all__ = ["MEANINGS", "carried", "decided", "noted", "plainly"]

UNUSUAL = 3.0  # nats: 1 of 20 normal inputs is as far out
NAMED = 3  # parts of a score that a sentence names
MEANINGS = {
    **{name: score(name).description for name in SCORES},
    "corrected-ll": "how far the draws fall short of a perfect model",
    "latent-norm": "how far from the centre it is encoded",
    "latent-scale": "how uncertain its encoding is",
    "latent-spread": "how far the draws’ encodings of it lie apart",
    "reconstruction": "how far the draws’ reconstructions are from it",
    "reconstruction-spread": "how far the draws’ reconstructions lie apart",
    "pixel-variance": "how far the draws disagree, pixel by pixel or column by column",
    "code-fit": "how unlike a draw from the prior its encoding is",
    "code-dependence": "how much the surprises of neighbouring pixels go together",
    "gradient-norm": "how far it would move the weights of the last layer",
    "lowest-gain": "what the finest latent numbers add to its likelihood",
    "lower-gain": "what all but the coarsest latent numbers add to its likelihood",
    "top-norm": "how far from the centre its coarsest latent numbers lie",
    "code-length": "how many bits a lossless coder needs for it",
    "predicted-length": "how badly each of its pixels is foretold by those next to it",
    **SPECTRUM,
    **SURROUNDINGS,
}
"""What each statistic measures."""
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
    "predicted-length": ("its detail is unusually irregular", "its detail is unusually regular"),
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


def decided(p_value: float, *, flagged: bool) -> str:
    """Return the decision as a sentence, with how rare such a score is among inputs like the training data.

    >>> decided(0.002, flagged=True)
    'Flagged: about 1 in 500 normal inputs would score as high.'
    """
    often = f"1 in {1 / p_value:,.0f}" if p_value <= 0.1 else f"{p_value:.0%} of"
    return f"{'Flagged' if flagged else 'Not flagged'}: about {often} normal inputs would score as high."


def noted(notes: Sequence[str], known: str | None) -> list[str]:
    """Return what no training input had, and what a person said before of such an input, as sentences.

    >>> noted(["country: Mars, never seen"], "confirmed as an outlier before")[1]
    'Such an input was looked at, and confirmed as an outlier before.'
    """
    said = [f"No training input had this: {note}." for note in notes]
    return said if known is None else [*said, f"Such an input was looked at, and {known}."]


def carried(
    surprises: Mapping[str, float], percentiles: Mapping[str, float], *, flagged: bool
) -> Sequence[str]:
    """Return what carries a score that is made of parts, in plain words; nothing where it has none.

    ``surprises`` are −log p of each part by itself, in nats.
    """
    if not surprises:
        return []
    largest = sorted(surprises, key=lambda name: -surprises[name])
    found = [name for name in largest if surprises[name] >= UNUSUAL and name in percentiles]
    told = dict.fromkeys(plainly(name, percentiles[name], MEANINGS.get(name, name)) for name in found)
    if not told:
        return [f"Nothing about it is unusual by itself{': all together is' if flagged else ''}."]
    return [f"What is unusual: {'; '.join(list(told)[:NAMED])}."]
