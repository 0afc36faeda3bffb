import json
import re
from statistics import stdev

import pytest

from benchmarks.paper.benchmarks import GROUPS
from benchmarks.paper.methods import METHODS
from benchmarks.paper.published import COLUMNS, PUBLISHED
from benchmarks.paper.records import RecordKey, record_path
from benchmarks.paper.table import Row, cells, collect, latex, markdown, terminal, write_rows
from dissensus.evaluation import write_record

NAMES = ("auroc", "auprc_in", "auprc_out", "fpr80_in", "fpr80_out")


def row(benchmark="svhn-vs-cifar10", method="LL", preset="converged", seed=0, auroc=0.6):
    return Row(benchmark, method, preset, seed, auroc, 0.1, 0.2, 0.3, 0.4, "records/x.json")


def put(output, benchmark, auroc, *, method="LL", preset="converged", seed=0):
    key = RecordKey(benchmark, method, preset, seed)
    payload = {
        "benchmark": benchmark,
        "method": method,
        "preset": preset,
        "seed": seed,
        "quick": False,
        "metrics": {**dict.fromkeys(NAMES, 0.5), "auroc": auroc},
    }
    write_record(record_path(output, key), payload)


def test_the_papers_table_is_complete_and_its_best_are_the_bold_ones():
    assert set(PUBLISHED) == {(benchmark, method) for benchmark in COLUMNS for method in METHODS}
    best = {b: max(METHODS, key=lambda m, b=b: PUBLISHED[b, m].auroc) for b in COLUMNS}
    assert list(best.values()) == ["BVAE2", "BVAE2", "BVAE1"]
    assert PUBLISHED["svhn-vs-cifar10", "WAIC"].fpr80 == 0.912


def test_cells_are_mean_spread_and_difference():
    found = cells([row(seed=0, auroc=0.6), row(seed=1, auroc=0.7), row(seed=2, auroc=0.65)])
    cell = found["converged", "LL", "svhn-vs-cifar10", "auroc"]
    assert cell.mean == pytest.approx(0.65)
    assert cell.spread == pytest.approx(stdev([0.6, 0.7, 0.65]))
    assert cell.seeds == 3
    assert cell.difference == pytest.approx(0.65 - 0.574)
    # The paper's columns are compared with OoD as the positive class.
    assert found["converged", "LL", "svhn-vs-cifar10", "auprc_out"].difference == pytest.approx(0.2 - 0.575)
    assert found["converged", "LL", "svhn-vs-cifar10", "fpr80_out"].difference == pytest.approx(0.4 - 0.634)
    assert cells([row()])["converged", "LL", "svhn-vs-cifar10", "auroc"].spread is None


def test_a_groups_mean_needs_all_its_members(tmp_path):
    members = GROUPS["fashion-mnist-heldout"]
    for number, member in enumerate(members[:-1]):
        put(tmp_path, member, 0.1 * number)
    assert all(row.benchmark in members for row in collect(tmp_path, quick=False))
    put(tmp_path, members[-1], 0.4)
    # Twice: the mean's own record must not be counted as a member, nor be in the way.
    for _ in range(2):
        means = [row for row in collect(tmp_path, quick=False) if row.benchmark == "fashion-mnist-heldout"]
        assert [row.auroc for row in means] == [pytest.approx(0.2)]
    record = json.loads((tmp_path / means[0].record).read_text())
    assert len(record["mean_of"]) == 5


def test_flat_list_names_existing_records(tmp_path):
    put(tmp_path, "svhn-vs-cifar10", 0.7, seed=3)
    rows = json.loads(write_rows(tmp_path, collect(tmp_path, quick=False)).read_text())
    assert len(rows) == 1
    assert rows[0]["seed"] == 3
    assert {"benchmark", "method", "preset", "record", *NAMES} == set(rows[0]) - {"seed"}
    assert (tmp_path / rows[0]["record"]).exists()


def test_all_forms_show_the_same_numbers():
    rows = [row(seed=0, auroc=0.6), row(seed=1, auroc=0.7)]
    assert "**.650±.071** (.574, +.076)" in markdown(rows, quick=False)
    text = latex(rows, quick=False)
    assert r"$.650\pm .071$" in text
    assert r".574\ (+.076)" in text
    assert text.count(r"\begin{table*}") == text.count(r"\end{table*}") == 1
    body = [line for line in text.splitlines() if line.endswith(r"\\")][1:]
    assert {len(re.findall("&", line)) for line in body} == {9}
    (shown,) = terminal(rows, quick=False)
    line = [list(column.cells)[2] for column in shown.columns]
    assert line[:4] == ["LL", ".650±.071", ".574", "+.076"]


def test_quick_tables_say_so():
    assert "QUICK" in markdown([row()], quick=True)
    assert "QUICK" in latex([row()], quick=True)
    assert "QUICK" not in markdown([row()], quick=False)
