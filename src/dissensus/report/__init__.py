"""Figures, pages and sentences made from records and arrays; a model is never called here."""

from dissensus.report.figure import DemoFigure, draw_demo, require_matplotlib
from dissensus.report.findings import false_alarm_sentence, findings
from dissensus.report.health import chain_health, describe_health
from dissensus.report.page import demo_page
from dissensus.report.pictures import strip

__all__ = [
    "DemoFigure",
    "chain_health",
    "demo_page",
    "describe_health",
    "draw_demo",
    "false_alarm_sentence",
    "findings",
    "require_matplotlib",
    "strip",
]
