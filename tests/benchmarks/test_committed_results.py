"""Tables that are kept in the repository are what the records beside them give."""

import json
from pathlib import Path

import pytest
from rich.console import Console

from benchmarks.panel.ablation import ablation_tables
from benchmarks.panel.baselines import baseline_rows
from benchmarks.panel.records import has_scores, read_rows
from benchmarks.panel.selection import choose
from benchmarks.panel.summary import summarise
from benchmarks.panel.table import panel_tables, to_markdown
from benchmarks.paper.show import show_table
from benchmarks.records import Records
from benchmarks.speed.records import all_records, merge
from benchmarks.speed.table import markdown

RESULTS = Path(__file__).parents[2] / "results"

if not RESULTS.is_dir():
    pytest.skip("the results are not here: this is not a checkout", allow_module_level=True)


def linked(tmp_path, name):
    """A folder whose entries are those of the results, to write beside them."""
    where = tmp_path / name
    where.mkdir()
    for entry in (RESULTS / name).iterdir():
        if entry.is_dir():
            (where / entry.name).symlink_to(entry)
    return where


def test_the_paper_s_table(tmp_path):
    where = linked(tmp_path, "paper")
    show_table(where, Console(quiet=True), quick=False, documents=True)
    for name in ("table1.json", "table1.md", "table1.tex"):
        assert (where / name).read_text() == (RESULTS / "paper" / name).read_text(), name


def test_the_panel():
    rows = [row for row, _, _ in read_rows(RESULTS / "panel", "records", quick=False)]
    rows += baseline_rows(Records(RESULTS / "panel"))
    assert to_markdown(panel_tables(rows, quick=False)) == (RESULTS / "panel/panel.md").read_text()
    assert len(json.loads((RESULTS / "panel/panel.json").read_text())) == len(rows)
    grids = ablation_tables(RESULTS / "panel", quick=False)
    assert to_markdown(grids) == (RESULTS / "panel/ablation.md").read_text()


def test_the_panel_s_records_need_not_be_scored_again():
    folders = ("records", "ablation", "selection")
    found = [path for folder in folders for path in (RESULTS / "panel" / folder).rglob("*.json")]
    assert found
    assert [path for path in found if not has_scores(json.loads(path.read_text())["scoring"])] == []


def test_the_choice_is_the_rule_s():
    rows = [row for row, _, _ in read_rows(RESULTS / "panel", "selection", quick=False)]
    chosen, recorded = choose(summarise(rows)), json.loads((RESULTS / "panel/selection.json").read_text())
    assert (chosen.posterior, chosen.score) == (
        recorded["chosen"]["posterior"],
        recorded["chosen"]["score"],
    )
    assert chosen.pairs == recorded["chosen"]["pairs"]


def test_speed(tmp_path):
    where = linked(tmp_path, "speed")
    rows = merge(where)
    assert rows == json.loads((RESULTS / "speed/speed.json").read_text())
    assert markdown(rows, all_records(where)) == (RESULTS / "speed/speed.md").read_text()
