"""From scores to decisions: p-values and thresholds that mean a false-alarm rate."""

from dissensus.decisions.conformal import conformal_p_values, conformal_threshold, least_calibration_size

__all__ = ["conformal_p_values", "conformal_threshold", "least_calibration_size"]
