"""
A stream that drifts
====================

Flag single rows as they come, and notice when the whole stream drifts.

Rows are two sensors that move together. From row 600 on the second slowly loses its hold on the first: no
value on its own becomes unusual. Takes a few seconds.
"""

import os

import matplotlib.pyplot as plt
import numpy as np

from dissensus import Detector
from dissensus.decisions import DriftMonitor

QUICK = bool(os.environ.get("DISSENSUS_QUICK"))
SETTINGS = {"epochs": 10} if QUICK else {}
TRAINING, STREAM, DRIFT_BEGINS, BATCH = 1000, 1200, 600, 50


def sensors(loss, random):
    """Rows (N, 2); ``loss`` (N,) is 0 while the second sensor follows the first and 1 when it does not."""
    first, noise = random.normal(size=(2, len(loss)))
    grip = 0.97 * (1 - loss)
    return np.stack([first, grip * first + np.sqrt(1 - grip**2) * noise], axis=1)


random = np.random.default_rng(0)
gate = Detector(false_alarm_rate=0.02, statistic="mixture-ll", **SETTINGS)
gate.fit(sensors(np.zeros(TRAINING), random))

# The monitor bets against "nothing has changed". On a stream without drift, however long, its capital reaches
# 100 with a probability of 1% or less, so the alarm is at 100.
monitor = DriftMonitor(gate.calibration_scores_, false_alarm_probability=0.01)
loss = np.clip((np.arange(STREAM) - DRIFT_BEGINS) / 300, 0, 1)
stream = sensors(loss, random)
seen, found, told = [], [], []
for start in range(0, STREAM, BATCH):
    score, p_value, flagged = gate.decide(stream[start : start + BATCH])
    monitor.update(score)
    evidence = monitor.log_martingale / np.log(10)
    state = "DRIFT" if monitor.alarm else "fine"
    seen, found, told = [*seen, start + BATCH], [*found, flagged.mean()], [*told, evidence]
    print(
        f"rows {start:4d} to {start + BATCH - 1:4d}: {flagged.sum():2d} flagged, "
        f"evidence 10^{evidence:5.1f} {state}"
    )

print(f"drift began at row {DRIFT_BEGINS}; the alarm came at row {monitor.alarm_at}")

figure, (above, below) = plt.subplots(2, 1, figsize=(8, 4.2), sharex=True, layout="constrained")
above.bar(seen, found, width=-0.8 * BATCH, align="edge", label="share flagged")
above.axhline(gate.false_alarm_rate, color="black", lw=1, label="asked for")
below.plot(seen, told, label="evidence of drift, powers of ten")
below.axhline(2, color="red", lw=1, label="alarm")
below.set_xlabel("rows")
for axes in (above, below):
    axes.axvspan(DRIFT_BEGINS, STREAM, color="grey", alpha=0.15, lw=0)
    axes.legend(loc="upper left")
figure.savefig("streaming.png", dpi=120)
