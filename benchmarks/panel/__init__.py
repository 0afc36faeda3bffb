"""Which detector to use when nobody knows what the outliers will look like: all posteriors, scores, outliers.

From left to right: ``configuration`` (one for all datasets), ``sets`` (what is in-distribution, and what is
to be told from it), ``inputs`` (which images), ``runs`` (weight draws, matrix and statistics, once for all
outliers and scores), ``scores``, ``power`` and ``rows`` (one number each), ``tasks`` (rows to records, which
:mod:`benchmarks.runner` makes), then ``summary``, ``table`` and ``figures``, which read records alone, and
``recorded``, ``documents`` and ``numbers``, which fill documents.
``baselines`` measures simple detectors on the same images; ``ablation`` changes one thing at a time.

Nothing is imported here, so that the command line can describe the command without loading torch.
"""

__all__: list[str] = []
