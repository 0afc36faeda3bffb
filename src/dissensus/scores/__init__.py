"""How much the posterior draws disagree about an input: pure functions of the log-likelihood matrix.

Every score takes the matrix l of shape (M, N), l[m, n] = log p(x_n | θ_m), and gives N numbers,
**higher = more out-of-distribution**, so likelihoods come out negated. Disagreement scores (ess, kl,
entropy, std, mad, iqr, whitened) see only how far apart the draws are: adding a constant to a column changes
nothing. They, relative-std and WAIC need at least two draws. The order of the draws never matters, except
that a fitted score must be given them in the order it was fitted on.

:class:`Fusion` makes one score of several statistics of an input, those of the matrix and any others;
:class:`Fused` also makes, and fits, those of the matrix.

A log-likelihood of -inf is a draw that rules the input out: its weight is zero and each score takes its
limit, which may be +inf. An input that every draw rules out, NaN, and +inf are refused.
"""

from dissensus.scores._complexity import input_complexity
from dissensus.scores._contract import FittedScore, Score
from dissensus.scores._depth import DEPTHS
from dissensus.scores._entropy import entropy
from dissensus.scores._ess import effective_sample_size, ess_disagreement
from dissensus.scores._fused import Fused
from dissensus.scores._fusion import SUM, Fusion
from dissensus.scores._kl import kl_to_uniform
from dissensus.scores._likelihood import mean_log_likelihood, mixture_log_likelihood
from dissensus.scores._registry import SCORES, ScoreEntry, score
from dissensus.scores._relative_std import RelativeStd
from dissensus.scores._robust_spread import interquartile_range, median_absolute_deviation
from dissensus.scores._spread import std_of_log_likelihood, waic
from dissensus.scores._typicality import Typicality
from dissensus.scores._whitened import Whitened

__all__ = [
    "DEPTHS",
    "SCORES",
    "SUM",
    "FittedScore",
    "Fused",
    "Fusion",
    "RelativeStd",
    "Score",
    "ScoreEntry",
    "Typicality",
    "Whitened",
    "effective_sample_size",
    "entropy",
    "ess_disagreement",
    "input_complexity",
    "interquartile_range",
    "kl_to_uniform",
    "mean_log_likelihood",
    "median_absolute_deviation",
    "mixture_log_likelihood",
    "score",
    "std_of_log_likelihood",
    "waic",
]
