"""The demonstration, on the data that comes with the package: on a CPU, in minutes."""

from dissensus.demo.files import write_files
from dissensus.demo.record import COLUMNS, demo_record
from dissensus.demo.run import Demo, demo_detector, run_demo, scoring_work

__all__ = ["COLUMNS", "Demo", "demo_detector", "demo_record", "run_demo", "scoring_work", "write_files"]
