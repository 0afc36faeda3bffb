"""Why an input got its score: where the draws disagree, what they see instead, and what is most like it."""

from dissensus.explain.examples import Examples, choose_examples, first_codes
from dissensus.explain.explanation import (
    Decision,
    Explanation,
    Standing,
    Views,
    occlusion,
    standing,
    statistics_of,
    views,
)

__all__ = [
    "Decision",
    "Examples",
    "Explanation",
    "Standing",
    "Views",
    "choose_examples",
    "first_codes",
    "occlusion",
    "standing",
    "statistics_of",
    "views",
]
