"""Figures, pages and sentences, made from records and arrays; no model is called here."""

from dissensus.report.document import require_jinja
from dissensus.report.explanation_files import explanation_files
from dissensus.report.figure import DemoFigure, draw_demo, require_matplotlib
from dissensus.report.findings import called, false_alarm_sentence, findings
from dissensus.report.gate_page import gate_page, gate_record, write_gate_report
from dissensus.report.gate_summary import gate_summary
from dissensus.report.health import describe_health
from dissensus.report.model_words import model_in_words
from dissensus.report.page import demo_page
from dissensus.report.pictures import strip

__all__ = [
    "DemoFigure",
    "called",
    "demo_page",
    "describe_health",
    "draw_demo",
    "explanation_files",
    "false_alarm_sentence",
    "findings",
    "gate_page",
    "gate_record",
    "gate_summary",
    "model_in_words",
    "require_jinja",
    "require_matplotlib",
    "strip",
    "write_gate_report",
]
