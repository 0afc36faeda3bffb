"""Ask a gate about a set of inputs, and get what a report says of them, as plain arrays and numbers."""

from dissensus.inspection.assessing import assess
from dissensus.inspection.assessment import Assessment, Case, Flagged
from dissensus.inspection.column_shifts import ColumnShift

__all__ = ["Assessment", "Case", "ColumnShift", "Flagged", "assess"]
