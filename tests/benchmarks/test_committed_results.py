"""What is kept in the repository: small, readable, and of the present format."""

from pathlib import Path

import pytest

from benchmarks.panel.ablation import ablation_grids
from benchmarks.panel.table import panel_grids, selection_grids
from benchmarks.panel.tasks import all_rows
from benchmarks.paper.figures import PRESET
from benchmarks.paper.table import table_grids, table_rows
from benchmarks.records import Records
from benchmarks.tables.sets import KINDS
from benchmarks.tables.table import HEAD
from benchmarks.tables.table import table_grids as grids_of_tables

RESULTS = Path(__file__).parents[2] / "results"
MOST_BYTES, MOST_FILES = 10_000_000, 200

if not RESULTS.is_dir():
    pytest.skip("the results are not here: this is not a checkout", allow_module_level=True)


def test_it_is_little():
    files = [path for path in RESULTS.rglob("*") if path.is_file() and "quick" not in path.as_posix()]
    assert sum(path.stat().st_size for path in files) <= MOST_BYTES
    assert len(files) <= MOST_FILES


@pytest.mark.parametrize("benchmark", ["paper", "panel", "tables"])
def test_it_says_what_it_was_measured_with(benchmark):
    for group, record in Records(RESULTS / benchmark).all():
        assert record.environment["commit"], (group, record.name)
        assert record.environment["versions"]["numpy"]
        assert record.settings


def test_the_paper_s_tables_and_figures_can_be_made():
    records = Records(RESULTS / "paper")
    grids = table_grids(records)
    assert len(grids) == 7  # two presets on three benchmarks, and one for held-out classes alone
    assert not any("–" in line for grid in grids for line in grid.lines)
    assert {preset for _, preset, _ in table_rows(records)} >= {PRESET}
    shown = [record.about["pictured"] for _, record in records.all() if "pictured" in record.about]
    assert all((records.folder / each["sheet"]).is_file() for each in shown)


def test_the_panel_s_tables_can_be_made():
    records = Records(RESULTS / "panel")
    rows = list(all_rows(records))
    assert any(row.recommended for row in rows)
    assert len(panel_grids(rows, quick=False)) >= 4
    assert ablation_grids(records)
    (candidates,) = selection_grids(records)
    assert candidates.title.endswith("chosen: sghmc, fused")


def test_the_tables_of_the_tables_are_those_of_the_records():
    grids = grids_of_tables(Records(RESULTS / "tables"))
    assert [grid.title.split(",")[0].split()[1] for grid in grids[: len(KINDS)]] == list(KINDS)
    assert all(int(line[HEAD.index("errors")]) == 0 for grid in grids[: len(KINDS)] for line in grid.lines)
    shown = (RESULTS / "tables" / "tables.md").read_text("utf-8")
    assert all("| " + " | ".join(line) + " |" in shown for grid in grids for line in grid.lines)
