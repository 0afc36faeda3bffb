"""
Pictures: clothes, and digits among them
========================================

Fit on clothes, ask about clothes and digits, look at the reasons, write a report.

The data come with the package. Takes about three minutes on a CPU; DISSENSUS_QUICK=1 makes it a rehearsal of
seconds, whose answers are poor.
"""

import os

import matplotlib.pyplot as plt
import numpy as np

from dissensus import BayesianVAE, load_sample
from dissensus.inputs import digits
from dissensus.inspection import assess
from dissensus.report import write_gate_report

QUICK = bool(os.environ.get("DISSENSUS_QUICK"))
TRAINING = 300 if QUICK else 6000
ASKED = 20 if QUICK else 200  # clothes, and as many digits
SETTINGS = {"epochs": 4, "draws": 4, "samples": 4, "widths": (8, 8), "latent_size": 4} if QUICK else {}
GATE, REPORT = "clothes-gate", "report.html"

# 1. Fit: no labels, no outliers. A twentieth of the pictures is held out, three twentieths set the threshold.
train, test = load_sample()
gate = BayesianVAE(false_alarm_rate=0.05, **SETTINGS).fit(train.images[:TRAINING])

# 2. Keep it: JSON and safetensors, nothing that could be executed.
gate.save(GATE)
gate = BayesianVAE.load(GATE)

# 3. Ask.
clothes, numbers = test.images[:ASKED], digits()[:ASKED]
for name, images in (("clothes", clothes), ("digits", numbers)):
    print(f"{name}: {gate.decide(images).flagged.mean():.0%} flagged")

# 4. Why? The place where the draws disagree most, and how each statistic stands among normal pictures.
why = gate.explain(numbers[0])
row, column = divmod(int(why.ranking[0]), why.disagreement.shape[1])
print(
    f"the first digit: p-value {why.decision.p_value:.3f}; draws disagree most at row {row}, column {column}"
)
for name, (value, percentile) in why.statistics.items():
    print(f"  {name:<10} {value:10.3f}   above {percentile:.0f}% of normal pictures")

# 5. A page to send around: some digits among the clothes.
mixed = np.concatenate([clothes, numbers[: ASKED // 10]])
assessment = assess(gate, mixed, source="clothes with some digits among them")
write_gate_report(REPORT, assessment)
print(f"{'passed' if assessment.passed() else 'not passed'}; see {REPORT}")

# 6. Above what was asked, below where the draws disagree about it.
shown = gate.explain(np.concatenate([clothes[:4], numbers[:4]]))
figure, axes = plt.subplots(2, len(shown), figsize=(11, 3.4), layout="constrained")
most = max(each.disagreement.max() for each in shown)
for (above, below), each in zip(axes.T, shown, strict=True):
    above.imshow(each.input, cmap="gray")
    above.set_title(f"p = {each.decision.p_value:.3f}", color="red" if each.decision.flagged else "black")
    below.imshow(each.disagreement, cmap="magma", vmin=0, vmax=most)
for each in axes.flat:
    each.axis("off")
figure.savefig("images.png", dpi=120)
