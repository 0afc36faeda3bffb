"""
A table: measurements of tumours
================================

Fit on measurements of benign tumours alone, then ask about benign and malignant ones.

The data come with scikit-learn. Takes about ten seconds.
"""

import os

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_breast_cancer
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import train_test_split

from dissensus import Detector

QUICK = bool(os.environ.get("DISSENSUS_QUICK"))
SETTINGS = {"epochs": 5} if QUICK else {}
BENIGN = 1  # scikit-learn's label
SHOWN = 5  # columns

# 1. 569 rows of 30 measurements; the detector sees 80% of the benign ones and no label.
data = load_breast_cancer()
benign, malignant = data.data[data.target == BENIGN], data.data[data.target != BENIGN]
train, unseen = train_test_split(benign, test_size=0.2, random_state=0)

# 2. Columns are standardised inside; a scaler in front would change nothing.
gate = Detector(false_alarm_rate=0.1, **SETTINGS).fit(train)

# 3. Ask.
normal, strange = gate.decide(unseen), gate.decide(malignant)
print(
    f"flagged: {normal.flagged.mean():.0%} of unseen benign rows, {strange.flagged.mean():.0%} of malignant"
)
labels = [0] * len(unseen) + [1] * len(malignant)
print(f"AUROC: {roc_auc_score(labels, [*normal.score, *strange.score]):.3f}")

# 4. Why? The columns that the score is due to, beside the training rows that are most alike.
why = gate.explain(malignant[0])
print(f"the first malignant row: p-value {why.decision.p_value:.3f}")
for column in why.ranking[:SHOWN]:
    low, high = why.neighbours[:, column].min(), why.neighbours[:, column].max()
    print(
        f"  {data.feature_names[column]:<24} is {why.input[column]:9.4g}, of the nearest benign rows "
        f"{low:.4g} to {high:.4g}"
    )

# 5. The scores of both, and where the gate draws its line.
figure, axes = plt.subplots(figsize=(8, 3.2), layout="constrained")
places = np.linspace(*np.percentile([*normal.score, *strange.score], [0, 98]), 40)
axes.hist(normal.score, places, density=True, alpha=0.7, label="benign, unseen")
axes.hist(strange.score, places, density=True, alpha=0.7, label="malignant")
axes.axvline(gate.threshold_, color="black", label="flagged from here on")
axes.set(xlabel="score, higher = further from the training data", ylabel="density")
axes.legend()
figure.savefig("table.png", dpi=120)
