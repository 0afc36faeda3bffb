"""How well scores tell outliers from inliers, and the records that keep the measurements."""

from dissensus.evaluation.curves import PrCurve, RocCurve, pr_curve, roc_curve
from dissensus.evaluation.intervals import Interval, auroc_interval
from dissensus.evaluation.metrics import Metrics, auprc, auroc, evaluate, fpr_at_tpr
from dissensus.evaluation.provenance import cores, environment
from dissensus.evaluation.records import read_records, write_record

__all__ = [
    "Interval",
    "Metrics",
    "PrCurve",
    "RocCurve",
    "auprc",
    "auroc",
    "auroc_interval",
    "cores",
    "environment",
    "evaluate",
    "fpr_at_tpr",
    "pr_curve",
    "read_records",
    "roc_curve",
    "write_record",
]
