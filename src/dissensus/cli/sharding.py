"""``dissensus score --shard``: which inputs a process scores, and what it says of them to ``merge``."""

from __future__ import annotations

import math
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dissensus.destination import STDOUT
from dissensus.errors import DataError, SettingsError

if TYPE_CHECKING:
    from dissensus.detector import Detector
    from dissensus.inputs import InputStream, Shard
    from dissensus.outputs import PartLabel, Tally, Wish

__all__ = ["chosen_shard", "finished", "of_shard"]


def chosen_shard(
    text: str, output: str | None, format: str | None, *, fdr: float | None, drift: bool
) -> Shard:
    """The shard that a person named; refused with what needs all inputs, and for files that keep no label."""
    from dissensus.inputs import Shard
    from dissensus.outputs import format_of

    shard = Shard.parse(text)
    if fdr is not None or drift:
        name = "--drift" if drift else "--fdr"
        raise SettingsError(f"{name} is for all inputs together: give it to dissensus merge, not to a shard")
    if output is None or output == STDOUT:
        raise SettingsError("a shard is written to a file: name one with -o, such as part-003.parquet")
    if (format or format_of(Path(output))) != "parquet":
        raise SettingsError(
            f"{output} cannot hold a shard, for only Parquet has room for what merge checks: name it "
            f"{Path(output).with_suffix('.parquet')}; merge writes CSV and JSON lines too"
        )
    return shard


def of_shard(
    stream: InputStream, shard: Shard, wish: Wish, gate: Detector, data: str, work: Mapping[str, Any]
) -> tuple[InputStream, PartLabel]:
    """The shard's own inputs, and the label of the file that their rows are written to."""
    from dissensus.inputs import ShardStream, listing_digest
    from dissensus.outputs import DriftStart, PartLabel

    own = ShardStream(stream, shard)
    size = work["size"]
    label = PartLabel(
        shard=shard.number,
        shards=shard.count,
        inputs=own.inputs,
        gate=work["gate"],
        listing=listing_digest(data),
        options={
            "resize": None if size is None else list(size),
            **{name: work[name] for name in ("id", "absent", "effort")},
        },
        columns=wish.columns,
        statistic=gate.statistic_,
        false_alarm_rate=gate.false_alarm_rate,
        threshold=gate.threshold_ if math.isfinite(gate.threshold_) else None,
        calibration_inputs=len(gate.calibration_scores_),
        drift=None if shard.number else DriftStart.of(gate.calibration_scores_, gate.drift_seed),
    )
    return own, label


def finished(file: Path | None, label: PartLabel) -> Tally | None:
    """What the rows of this very shard add up to, if they are all in the file already."""
    from dissensus.outputs import Tally, open_part

    if file is None or not file.exists():
        return None
    tally = Tally()
    try:
        part = open_part(file)
        if part.label != label:
            return None
        for table in part.tables():
            tally.count(table)
    except DataError:
        return None  # it is replaced
    return tally
