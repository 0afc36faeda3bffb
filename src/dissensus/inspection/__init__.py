"""A gate and a set of inputs in, everything a report says out: plain arrays and numbers, no model."""

from dissensus.inspection.assessing import assess
from dissensus.inspection.assessment import Assessment, Case, Flagged
from dissensus.inspection.column_shifts import ColumnShift

__all__ = ["Assessment", "Case", "ColumnShift", "Flagged", "assess"]
