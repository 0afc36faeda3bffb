"""From scores to decisions: p-values, thresholds and alarms that mean an error rate."""

from dissensus.decisions.adaptive import AdaptiveRate
from dissensus.decisions.batch import Alternative, BatchTest, batch_test
from dissensus.decisions.conformal import (
    allowed_alarms,
    conformal_p_values,
    conformal_threshold,
    least_calibration_size,
    rounded,
)
from dissensus.decisions.contaminated import ContaminatedRate, contaminated_rate, rate_despite_outliers
from dissensus.decisions.discoveries import (
    Discoveries,
    benjamini_hochberg,
    benjamini_yekutieli,
    check_discoveries_possible,
    discovery_limit,
    least_calibration_size_for_fdr,
)
from dissensus.decisions.drift import DriftMonitor
from dissensus.decisions.exchangeability import Exchangeability, check_exchangeable
from dissensus.decisions.feedback import joining
from dissensus.decisions.threshold import (
    FalseAlarmInterval,
    Threshold,
    calibrated_threshold,
    chance_of_alarms,
    false_alarm_interval,
)
from dissensus.decisions.weighted import effective_size, weighted_p_values

__all__ = [
    "AdaptiveRate",
    "Alternative",
    "BatchTest",
    "ContaminatedRate",
    "Discoveries",
    "DriftMonitor",
    "Exchangeability",
    "FalseAlarmInterval",
    "Threshold",
    "allowed_alarms",
    "batch_test",
    "benjamini_hochberg",
    "benjamini_yekutieli",
    "calibrated_threshold",
    "chance_of_alarms",
    "check_discoveries_possible",
    "check_exchangeable",
    "conformal_p_values",
    "conformal_threshold",
    "contaminated_rate",
    "discovery_limit",
    "effective_size",
    "false_alarm_interval",
    "joining",
    "least_calibration_size",
    "least_calibration_size_for_fdr",
    "rate_despite_outliers",
    "rounded",
    "weighted_p_values",
]
