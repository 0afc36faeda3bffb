"""What the paper's mixture of proposals changes: AUROC and Monte-Carlo error beside each draw's own encoder.

Variant 2 on 1,500 pictures each of Fashion-MNIST and SVHN, asked about MNIST and CIFAR-10, both ways on the
same draws. Data are found as by ``dissensus fit``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial

import numpy as np

from benchmarks.checks.asked import Asked
from benchmarks.checks.demo import QUICK
from benchmarks.pieces import Found, Piece
from benchmarks.records import Record
from dissensus import BayesianVAE
from dissensus.evaluation import auroc
from dissensus.inputs import load_dataset
from dissensus.likelihood.matrix import Proposal
from dissensus.scores import Measured, score

__all__ = ["pieces", "sentences"]

PAIRS = (("fashion-mnist", "mnist"), ("svhn", "cifar10"))
SCORES = ("ess", "kl", "std", "mixture-ll")
PROPOSALS: tuple[Proposal, ...] = ("own", "pooled")
SEED = 0
SIZES = {"training": 1500, "asked": 300}
SMALL = {"training": 200, "asked": 20}


def pieces(asked: Asked) -> Iterator[Piece]:
    """One fit a pair of sets."""
    settings = {"variant": 2, **(SMALL | QUICK if asked.quick else SIZES)}
    for known, other in PAIRS:
        measure = partial(_measured, known, other, quick=asked.quick)
        yield Piece("proposals", f"{known} → {other}", settings, measure, SEED)


def sentences(records: list[Record]) -> list[str]:
    """One sentence a pair and way."""
    return [
        f"{record.name}, {row['proposal']} proposal: AUROC by ess {row['ess']:.3f} and by kl "
        f"{row['kl']:.3f}, error {row['error']:.2f} nats."
        for record in records
        for row in record.rows
    ]


def _measured(known: str, other: str, _: Callable[[str], None], *, quick: bool) -> Found:
    """AUROC by score, and the mean Monte-Carlo error in nats, for each proposal."""
    sizes = SMALL if quick else SIZES
    train = load_dataset(known, "train").images[: sizes["training"]]
    normal, strange = (load_dataset(name, "test").images[: sizes["asked"]] for name in (known, other))
    more = QUICK if quick else {}
    gate = BayesianVAE(variant=2, statistic="ess", random_state=SEED, device="cpu", **more).fit(train)
    rows = []
    for proposal in PROPOSALS:
        gate.learnt_ = replace(gate.learnt_, proposal=proposal)
        one, two = gate.log_likelihoods(normal), gate.log_likelihoods(strange)
        areas = {
            name: auroc(score(name)(Measured(one.values)), score(name)(Measured(two.values)))
            for name in SCORES
        }
        rows.append({"proposal": proposal, **areas, "error": float(np.mean(one.errors))})
    return Found(rows)
