"""Fit and score on a Ray cluster: ray job submit --working-dir . -- python ray_job.py TRAINING DATA RESULTS.

TRAINING and DATA are folders of pictures that all machines can read, RESULTS is a folder.
"""

import sys

import ray

from dissensus import Detector
from dissensus.integrations.ray import fit_chains, flag_together, score_dataset

FDR = 0.1  # of the inputs that are flagged, at most a tenth are expected to be normal


def main(training: str, data: str, results: str) -> None:
    """From training data to inputs that are flagged."""
    ray.init()
    gate = fit_chains(Detector(chains=8), training)
    # Rows come in no order: the path says which is which.
    scored = score_dataset(gate, ray.data.read_images(data, include_paths=True), on_error="skip")
    # Written before it is read again: what is scored once is not scored twice.
    scored.drop_columns(["image"]).write_parquet(f"{results}/scored")
    flag_together(ray.data.read_parquet(f"{results}/scored"), FDR).write_parquet(f"{results}/flagged")


if __name__ == "__main__":
    main(*sys.argv[1:])
