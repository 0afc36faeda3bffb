"""From scores to decisions: p-values, thresholds and alarms that mean an error rate."""

from dissensus.decisions.batch import Alternative, BatchTest, batch_test
from dissensus.decisions.conformal import (
    allowed_alarms,
    conformal_p_values,
    conformal_threshold,
    least_calibration_size,
    rounded,
)
from dissensus.decisions.discoveries import (
    Discoveries,
    benjamini_hochberg,
    benjamini_yekutieli,
    check_discoveries_possible,
    least_calibration_size_for_fdr,
)
from dissensus.decisions.drift import DriftMonitor
from dissensus.decisions.threshold import (
    FalseAlarmInterval,
    Threshold,
    calibrated_threshold,
    false_alarm_interval,
)

__all__ = [
    "Alternative",
    "BatchTest",
    "Discoveries",
    "DriftMonitor",
    "FalseAlarmInterval",
    "Threshold",
    "allowed_alarms",
    "batch_test",
    "benjamini_hochberg",
    "benjamini_yekutieli",
    "calibrated_threshold",
    "check_discoveries_possible",
    "conformal_p_values",
    "conformal_threshold",
    "false_alarm_interval",
    "least_calibration_size",
    "least_calibration_size_for_fdr",
    "rounded",
]
