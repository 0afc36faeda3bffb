"""The paper's experiments: its benchmarks, baselines, table and figures, by one command.

From left to right: ``benchmarks`` (which inputs), ``presets`` (which settings), ``runs`` (weight draws to
log-likelihood matrices), ``methods`` (matrices to scores), ``tasks`` (scores to records, which
:mod:`benchmarks.runner` makes), then ``table`` and ``figures``, which read records alone. ``latent`` is the
experiment of the paper's section 5.2.

Nothing is imported here, so that the command line can describe the command without loading torch.
"""

__all__: list[str] = []
