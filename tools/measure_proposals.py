"""What the paper's mixture of proposals changes: AUROC and Monte-Carlo error beside each draw's own encoder.

``python tools/measure_proposals.py RECORD.json``: variant 2 on 1,500 pictures each of Fashion-MNIST and SVHN,
asked about MNIST and CIFAR-10, both ways on the same draws. Data are found as by ``dissensus fit``.
"""

from __future__ import annotations

import sys
from typing import Any

import numpy as np

from dissensus import BayesianVAE
from dissensus.evaluation import auroc, environment, write_record
from dissensus.inputs import load_dataset
from dissensus.scores import Measured, score

PAIRS = (("fashion-mnist", "mnist"), ("svhn", "cifar10"))
TRAINING, ASKED, SEED = 1500, 300, 0
SHOWN = ("ess", "kl", "std", "mixture-ll")


def main() -> None:
    """Measures and records both pairs."""
    found = {f"{known} → {other}": measured(known, other) for known, other in PAIRS}
    settings = {"variant": 2, "training": TRAINING, "asked": ASKED, "seed": SEED}
    write_record(sys.argv[1], {"settings": settings, **environment(), "pairs": found})
    for pair, ways in found.items():
        for way, numbers in ways.items():
            print(pair, way, numbers)  # noqa: T201


def measured(known: str, other: str) -> dict[str, Any]:
    """AUROC by score, and the mean Monte-Carlo error in nats, for each proposal."""
    train, normal, strange = (
        load_dataset(name, part).images[:count]
        for name, part, count in ((known, "train", TRAINING), (known, "test", ASKED), (other, "test", ASKED))
    )
    gate = BayesianVAE(variant=2, statistic="ess", random_state=SEED, device="cpu").fit(train)
    found = {}
    for proposal in ("own", "pooled"):
        gate.set_params(proposal=proposal)
        one, two = gate.log_likelihoods(normal), gate.log_likelihoods(strange)
        numbers = {
            name: round(auroc(score(name)(Measured(one.values)), score(name)(Measured(two.values))), 3)
            for name in SHOWN
        }
        found[proposal] = {"auroc": numbers, "error": round(float(np.mean(one.errors)), 3)}
    return found


if __name__ == "__main__":
    main()
