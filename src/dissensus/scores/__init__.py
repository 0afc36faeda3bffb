"""How unusual an input is: functions of numbers that were measured of it, which never see a model.

A :class:`Score` takes what was :class:`Measured` of N inputs, the matrix l of shape (M, N), l[m, n] =
log p(x_n | θ_m), and statistics (N,) by name, and gives N numbers, **higher = more out-of-distribution**, so
likelihoods come out negated. Disagreement scores (ess, kl, entropy, std, mad, iqr, whitened) see only how far
apart the draws are: adding a constant to a column changes nothing. They, relative-std and WAIC need at least
two draws. The order of the draws never matters, except that a score that learns must be given them in the
order it was fitted on. Beside the class of a score that learns nothing stands a pure function of the matrix.

:class:`Fusion` makes one score of several statistics of an input, those of the matrix and any others;
:class:`Fused` chooses them, and also makes, and fits, those of the matrix.

A log-likelihood of -inf is a draw that rules the input out: its weight is zero and each score takes its
limit, which may be +inf. An input that every draw rules out, NaN, and +inf are refused.

Names are imported when they are first used, so that the scores can be listed without NumPy.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from dissensus.scores._complexity import input_complexity
    from dissensus.scores._contract import MatrixScore, Score, scored
    from dissensus.scores._depth import DEPTHS
    from dissensus.scores._entropy import entropy
    from dissensus.scores._ess import effective_sample_size, ess_disagreement
    from dissensus.scores._fused import Fused
    from dissensus.scores._fusion import SUM, Fusion
    from dissensus.scores._kl import kl_to_uniform
    from dissensus.scores._likelihood import mean_log_likelihood, mixture_log_likelihood
    from dissensus.scores._measured import MATRIX, Available, Measured
    from dissensus.scores._registry import SCORES, is_built_in, score
    from dissensus.scores._rehearsal import check_own, made_up, rehearse
    from dissensus.scores._relative_std import RelativeStd
    from dissensus.scores._robust_spread import interquartile_range, median_absolute_deviation
    from dissensus.scores._spread import std_of_log_likelihood, waic
    from dissensus.scores._typicality import Typicality
    from dissensus.scores._weighing import weight
    from dissensus.scores._whitened import Whitened

__all__ = [
    "DEPTHS",
    "MATRIX",
    "SCORES",
    "SUM",
    "Available",
    "Fused",
    "Fusion",
    "MatrixScore",
    "Measured",
    "RelativeStd",
    "Score",
    "Typicality",
    "Whitened",
    "check_own",
    "effective_sample_size",
    "entropy",
    "ess_disagreement",
    "input_complexity",
    "interquartile_range",
    "is_built_in",
    "kl_to_uniform",
    "made_up",
    "mean_log_likelihood",
    "median_absolute_deviation",
    "mixture_log_likelihood",
    "rehearse",
    "score",
    "scored",
    "std_of_log_likelihood",
    "waic",
    "weight",
]

_HOME = {
    "_complexity": ("input_complexity",),
    "_contract": ("MatrixScore", "Score", "scored"),
    "_depth": ("DEPTHS",),
    "_entropy": ("entropy",),
    "_ess": ("effective_sample_size", "ess_disagreement"),
    "_fused": ("Fused",),
    "_fusion": ("SUM", "Fusion"),
    "_kl": ("kl_to_uniform",),
    "_likelihood": ("mean_log_likelihood", "mixture_log_likelihood"),
    "_measured": ("MATRIX", "Available", "Measured"),
    "_registry": ("SCORES", "is_built_in", "score"),
    "_rehearsal": ("check_own", "made_up", "rehearse"),
    "_relative_std": ("RelativeStd",),
    "_robust_spread": ("interquartile_range", "median_absolute_deviation"),
    "_spread": ("std_of_log_likelihood", "waic"),
    "_typicality": ("Typicality",),
    "_weighing": ("weight",),
    "_whitened": ("Whitened",),
}


def __getattr__(name: str) -> Any:
    for module, names in _HOME.items():
        if name in names:
            return getattr(import_module(f"dissensus.scores.{module}"), name)
    raise AttributeError(f"module 'dissensus.scores' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
