"""Measures what fusing statistics brings on the clothes that come with the package, and what it costs.

A detector with its defaults but ``statistic="fused"`` is fitted as ``dissensus demo`` does it, once for each
seed, and asked about unseen clothes, enlarged digits and all made-up outliers. The AUROC of several
statistics of the same draws, and the share of outliers above each one's own threshold, go to
``results/fused/fused.json``, with the seconds that scoring takes fused and by ``kl``. Nothing is chosen by
these numbers.
"""

from __future__ import annotations

import argparse
import copy
import json
import statistics
import sys
import time
from pathlib import Path
from typing import Any

import torch

from dissensus.decisions import conformal_threshold
from dissensus.demo import Demo, run_demo
from dissensus.detector import BayesianVAE
from dissensus.evaluation import auroc, environment, write_record
from dissensus.inputs import load_sample
from dissensus.scores import score

COMPARED = ("kl", "waic", "whitened", "fused")
SETTINGS = ("variant", "statistic", "false_alarm_rate", "chains", "draws", "samples", "step_size")
TIMED_IMAGES, REPEATS = 256, 5


def measured(demo: Demo) -> dict[str, Any]:
    """AUROC and share flagged by kind of outlier and statistic; of inliers the share flagged."""
    gate = demo.gate
    found: dict[str, Any] = {"inliers": {}, "outliers": {kind: {} for kind in demo.outliers}}
    for name in COMPARED:
        inliers, outliers = demo.scores(name)
        threshold = conformal_threshold(gate.calibration_statistics_[name], gate.false_alarm_rate)
        found["inliers"][name] = {"flagged": float((inliers > threshold).mean())}
        for kind, scores in outliers.items():
            found["outliers"][kind][name] = {
                "auroc": auroc(inliers, scores),
                "flagged": float((scores > threshold).mean()),
            }
    return found


def seconds_to_score(gate: BayesianVAE) -> dict[str, Any]:
    """The least of several runs on the same images, by turns, of the same draws scored in both ways."""
    plain = copy.copy(gate)
    plain.statistic_, plain.score_ = "kl", score("kl")
    plain.calibration_scores_ = gate.calibration_statistics_["kl"]
    images = load_sample()[1].images
    found: dict[str, Any] = {}
    for count in (1, TIMED_IMAGES):
        runs: dict[str, list[float]] = {"kl": [], "fused": []}
        for _ in range(REPEATS):
            for name, own in (("kl", plain), ("fused", gate)):
                began = time.perf_counter()
                own.decide(images[:count])
                runs[name].append(time.perf_counter() - began)
        least = {name: min(times) for name, times in runs.items()}
        found[f"{count} images"] = {**least, "ratio": least["fused"] / least["kl"]}
    return found


def means(runs: list[dict[str, Any]]) -> dict[str, dict[str, float]]:
    """AUROC over seeds, by kind of outlier and statistic, and over all kinds."""
    kinds = runs[0]["outliers"]
    found = {
        kind: {
            name: statistics.fmean(run["outliers"][kind][name]["auroc"] for run in runs) for name in COMPARED
        }
        for kind in kinds
    }
    found["mean of all"] = {name: statistics.fmean(found[kind][name] for kind in kinds) for name in COMPARED}
    found["worst of all"] = {name: min(found[kind][name] for kind in kinds) for name in COMPARED}
    return found


def main() -> None:
    """Writes the record."""
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--seeds", type=int, default=3)
    arguments.add_argument("--output", type=Path, default=Path("results/fused/fused.json"))
    chosen = arguments.parse_args()
    runs = []
    for seed in range(chosen.seeds):
        gate = BayesianVAE(statistic="fused", device="cpu", random_state=seed)
        demo = run_demo(gate)
        runs.append({"seed": seed, **measured(demo), "seconds": dict(demo.seconds)})
    record = {
        "training": demo.training,
        "fitted_rows": gate.fitted_rows_,
        "settings": {name: getattr(gate, name) for name in SETTINGS},
        "observation": gate.vae_.observation.name,
        "fused": gate.score_.config()["statistics"],
        "threads": torch.get_num_threads(),
        "auroc": means(runs),
        "seconds_to_score": seconds_to_score(gate),
        "runs": runs,
        "environment": environment(),
    }
    write_record(chosen.output, record)
    shown = {"auroc": record["auroc"], "seconds_to_score": record["seconds_to_score"]}
    sys.stdout.write(json.dumps(shown, indent=1) + "\n")


if __name__ == "__main__":
    main()
