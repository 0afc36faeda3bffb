"""From records to tables, figure, numbers and choices."""

import math

import pytest
from typer.testing import CliRunner

from benchmarks.__main__ import app
from benchmarks.records import Record
from benchmarks.tables import command, jobs, numbers
from benchmarks.tables.candidates import candidate_detectors
from benchmarks.tables.detectors import DETECTORS
from benchmarks.tables.figure import draw_ranks
from benchmarks.tables.model import alone, contributions
from benchmarks.tables.selection import choose_by_halves, choose_sum, selection_grids, sum_grids
from benchmarks.tables.summary import bootstrap, differences, incomplete, lines, mixed, rank_means, read_sets
from benchmarks.tables.table import contribution_lines, table_grids, table_note
from dissensus.errors import SettingsError


def test_means_ranks_and_errors(recorded):
    recorded("knn", [0.8, 0.6, 0.7])
    recorded("lof", [0.8, 0.9, 0.9], alarms=0.08)
    records = recorded("detector", [0.9, 1.0, None])
    first, second, third = lines(read_sets(records, ["detector", "knn", "lof", "pca"]))
    assert [first.detector, second.detector, third.detector] == ["detector", "lof", "knn"]
    assert first.rank == pytest.approx((1 + 1 + 3) / 3)
    assert second.rank == pytest.approx((2.5 + 2 + 1) / 3)  # equal ones share the second and third
    assert first.auroc == pytest.approx((0.9 + 1.0 + 0.5) / 3)
    assert first.average_precision == pytest.approx((0.9 + 1.0 + 0.25) / 3)  # one of four is an anomaly
    assert (first.errors, first.fits, second.errors) == (1, 3, 0)
    assert (first.false_alarms, second.false_alarms) == (pytest.approx(0.04), pytest.approx(0.08))
    assert first.seconds == 2.0


def test_an_error_has_the_worst_rank_even_beside_worse_than_chance(recorded):
    recorded("knn", [0.1])
    by_set = read_sets(recorded("lof", [None]), ["lof", "knn"])
    assert [line.detector for line in lines(by_set)] == ["knn", "lof"]


def test_sets_that_one_detector_lacks_are_left_out(recorded):
    recorded("knn", [0.8, 0.6], seeds=(0, 1))
    recorded("lof", [0.8, 0.6], seeds=(0, 1))
    records = recorded("lof", [0.8, 0.6, 0.9], seeds=(0,))
    found = read_sets(records, ["knn", "lof"])
    assert {name: one.fits for name, one in found["lof"].items()} == {"set-0": 2, "set-1": 2}
    assert "and left out: set-2." in table_note(records)
    assert "not shown" not in table_note(records)
    records = recorded("detector", [0.9], seeds=(1, 2))
    found = read_sets(records, ["knn", "lof", "detector"])
    assert {name: one.fits for name, one in found["lof"].items()} == {"set-0": 1}
    assert mixed(records, ["knn", "lof"]) == []
    row = records.read("lof")[0].rows[0]
    records.add("lof", Record("set-0", 0, {"detector": 2}, [row], {}, environment={}))
    assert mixed(records, ["knn", "lof"]) == ["lof"]
    assert "several settings, to be measured again: LOF." in table_note(records)


def test_a_detector_that_lacks_sets_is_left_out_and_not_the_sets(recorded):
    for name in ("detector", "knn"):
        recorded(name, [0.8, 0.6], seeds=(0, 1))
        recorded(f"contaminated-{name}", [0.8, 0.6])
    recorded("ecod", [0.9], seeds=(0, 1))  # one of two sets
    recorded("lof", [0.9, 0.9], seeds=(0,))  # one of two seeds
    recorded("pca", [0.7, 0.7, 0.9], seeds=(0, 1))  # one set more
    records = recorded("contaminated-one-class-svm", [0.9])
    needed = ("detector", "knn")
    assert incomplete(records, DETECTORS, needed=needed) == ["lof", "ecod"]
    found = read_sets(records, DETECTORS, needed=needed)
    assert set(found) == {"detector", "knn", "pca"}
    assert all(list(sets) == ["set-0", "set-1"] for sets in found.values())
    assert {one.fits for sets in found.values() for one in sets.values()} == {2}
    tables, *_, dirty = table_grids(records)
    assert tables.title == "2 tables, 4 fits of each detector"
    assert {line[0] for line in tables.lines} == {"Detector()", "kNN (5th neighbour)", "PCA residual"}
    assert len(dirty.lines) == 2
    said = table_note(records)
    assert "Not measured on all of these sets and seeds yet, and not shown: LOF, ECOD (PyOD)." in said
    assert "Not measured on all contaminated tables yet, and not shown: one-class SVM." in said
    assert "Not measured with Detector() and kNN (5th neighbour) yet, and left out: set-2." in said
    # Where neither is here, sets are those of all: there is nothing else to go by.
    assert list(read_sets(records, ["lof", "ecod"], needed=needed)["ecod"]) == ["set-0"]


def test_what_a_statistic_adds_is_paired_over_sets(recorded):
    def about(fused, without, likelihood):
        alone = {"mean-ll": likelihood, "nearest": 0.9, "kl": 0.5, "std": 0.6, "ess": 0.4}
        return {"statistics": alone, "sums": {"all": fused, "nearest": 0.5, "mean-ll": without}}

    recorded("detector", [0.8], seeds=(0,), about=about(0.8, 0.7, 0.9))
    recorded("detector", [0.8], seeds=(1,), about=about(0.8, 0.9, 0.9))
    recorded("detector", [None, None], columns=512)  # a fit that ended in an error says nothing
    records = recorded("detector", [0.9], columns=512, about=about(0.9, 0.8, 0.8))
    assert len(contributions(records)) == 5
    tables, embeddings = (contributions(records, kind) for kind in ("tables", "embeddings"))
    label = "the sum with `mean-ll` minus without"
    assert tables[label].value == pytest.approx(0.0)
    assert embeddings[label] == pytest.approx((0.1, 0.1, 0.1))
    assert contributions(records)[label].value == pytest.approx(0.05)  # sets count alike
    assert tables["`kl` alone minus `mean-ll` alone"] == pytest.approx((-0.4, -0.4, -0.4))
    assert alone(records, "mean-ll", "tables") == pytest.approx(0.9)
    assert math.isnan(alone(records, "kl", "nothing"))
    lines = dict(line[:2] for line in contribution_lines(records) if "nearest" in line[0])
    assert lines == {"the sum with `nearest` minus without": "+.300 (+.300 to +.300)"}


def test_what_is_added_up_is_chosen_for_each_kind_by_itself(recorded):
    def about(lowest):
        """All four have .75 on six sets; without the likelihood they have this, and a little more on each."""
        return lambda place: {
            "statistics": {},
            "sums": {"all": 0.75, "nearest": 0.5, "mean-ll": lowest + 0.01 * place},
        }

    recorded("detector", [0.75] * 6, about=about(0.6))
    records = recorded("detector", [0.75] * 6, columns=512, about=about(0.8))
    assert choose_sum(records, "tables").winner == "detector"
    embeddings = choose_sum(records, "embeddings")
    assert embeddings.winner == "without mean-ll"
    assert embeddings.chosen == {"detector": 0, "without nearest": 0, "without mean-ll": 1}
    titles = [grid.title for grid in sum_grids(records)]
    assert titles == [
        "What the score adds up, on 6 sets of tables; by the rule: all four",
        "What the score adds up, on 6 sets of embeddings; by the rule: without mean-ll",
    ]


def test_alarms_that_few_rows_do_not_allow_do_not_count(recorded):
    records = recorded("knn", [0.8], calibration=18)
    assert lines(read_sets(records, ["knn"]))[0].false_alarms is None


def test_differences_are_paired(recorded):
    recorded("knn", [0.5, 0.9, 0.7])
    by_set = read_sets(recorded("detector", [0.6, 1.0, 0.8]), ["knn", "detector"])
    found = differences(by_set, "detector", "knn")
    assert found == pytest.approx((0.1, 0.1, 0.1))  # whatever sets are drawn
    assert differences(by_set, "bayesian-vae", "knn") is None
    wide = bootstrap([0.0, 1.0] * 10)
    assert wide.value == 0.5
    assert (wide.low, wide.high) == pytest.approx((0.28, 0.72), abs=0.04)
    assert bootstrap([0.0, 1.0] * 10) == wide
    assert rank_means(by_set)["detector"] == (1.0, 1.0, 1.0)


@pytest.fixture
def some(recorded):
    for columns in (3, 512):
        recorded("knn", [0.8, 0.7], columns=columns)
        recorded("lof", [0.7, 0.6], columns=columns)
        records = recorded("detector", [0.85, 0.65], columns=columns)
    recorded("contaminated-knn", [0.8])
    recorded("contaminated-detector", [0.7])
    return records


def test_tables_and_figure_are_made_of_records(some):
    tables, embeddings, compared, dirty = table_grids(some)
    assert tables.title == "2 tables, 2 fits of each detector"
    assert embeddings.title.startswith("2 embeddings")
    assert tables.lines[1] == ("kNN (5th neighbour)", ".750", ".750", "1.5", "4.0%", "2.0", "0")
    assert compared.lines == (("Detector()", *["+.000 (−.050 to +.050)"] * 2, "+.000 (−.050 to +.050)"),)
    assert dirty.title.startswith("1 tables fitted with 5 to 10% anomalies")
    path = draw_ranks(some)
    assert path.read_bytes().startswith(b"\x89PNG")


def test_nothing_is_drawn_of_nothing(tmp_path):
    from benchmarks.records import Records

    assert draw_ranks(Records(tmp_path)) is None
    assert table_grids(Records(tmp_path)) == []


def test_numbers_are_those_of_the_records_or_not_yet_measured(some, tmp_path):
    (tmp_path / "results").mkdir()
    some.folder.rename(tmp_path / "results" / "tables")
    results = tmp_path / "results"
    assert numbers.NUMBERS["tables.knn.auroc"](results) == pytest.approx(0.75)
    assert numbers.NUMBERS["embeddings.sets"](results) == 2
    assert math.isnan(numbers.NUMBERS["tables.bayesian-flow.rank"](results))
    assert "| kNN (5th neighbour) | .800 |" in numbers.TABLES["contaminated"](results)
    assert numbers.NUMBERS["contaminated.detector.auroc"](results) == pytest.approx(0.7)
    assert numbers.NUMBERS["contaminated.clean.auroc"](results) == pytest.approx(0.85)
    assert numbers.NUMBERS["fits.detector"](results) == 4
    line = "| 2 tables | .750 | .750 | +.000 (−.050 to +.050) |"
    assert line in numbers.TABLES["beside"](results).splitlines()
    nothing = tmp_path / "nothing"
    assert all(math.isnan(number(nothing)) for number in numbers.NUMBERS.values())
    assert all("not measured yet | – |" in table(nothing) for table in numbers.TABLES.values())


def test_what_carries_over_is_chosen(recorded):
    names = list(candidate_detectors({"good": {}, "lucky": {}}))
    assert names == ["detector", "candidate-good", "candidate-lucky"]
    recorded("detector", [0.8] * 10)
    recorded("candidate-good", [0.82] * 10)
    records = recorded("candidate-lucky", [0.98] + [0.79] * 9)
    choice = choose_by_halves(read_sets(records, names), divisions=100)
    assert choice.winner == "candidate-good"
    assert sum(choice.chosen.values()) == pytest.approx(1)
    # Whoever is chosen for the one set that was lucky loses on the half without it.
    assert choice.chosen["candidate-lucky"] == pytest.approx(0.5, abs=0.2)
    assert choice.gains["candidate-lucky"] < 0 < choice.gains["candidate-good"]
    assert choice.best < 1
    (grid,) = selection_grids(records, names)
    assert grid.title.endswith("by the rule: candidate-good")
    assert grid.lines[1][:2] == ("candidate-good", ".820")


def test_what_does_not_carry_over_is_not_chosen(recorded):
    recorded("detector", [0.8] * 10)
    records = recorded("candidate-lucky", [0.9] + [0.79] * 9)
    choice = choose_by_halves(read_sets(records, ["detector", "candidate-lucky"]), divisions=200)
    assert choice.gain < 0
    assert choice.winner == "detector"
    with pytest.raises(SettingsError, match="default"):
        choose_by_halves(read_sets(records, ["candidate-lucky"]))
    assert selection_grids(records, ["candidate-lucky"]) == []


def run(*arguments):
    return CliRunner().invoke(app, ["tables", *map(str, arguments)])


def test_the_command(folder, tmp_path, monkeypatch):
    def here(function, things, workers):
        yield from ((thing, function(thing)) for thing in things)

    monkeypatch.setattr(jobs, "in_processes", here)
    monkeypatch.setattr(command, "FEW", 1)
    out = tmp_path / "out"
    call = ["--tables", folder, "--output", out, "--quick", "--only", "knn", "--only", "pca"]
    answer = run(*call)
    assert answer.exit_code == 0
    assert "1 tables, 1 fits of each detector (QUICK: not a result)" in answer.stdout
    assert (out / "tables.md").is_file()
    assert (out / "ranks.png").is_file()
    assert "2 of 2 were measured with the same settings" in run(*call).stderr
    shown = run("--output", out, "--quick", "--table")
    assert shown.stdout == answer.stdout
    assert run("--output", out, "--select", "--contaminated").exit_code == 2
    assert run("--output", tmp_path / "new", "--tables", tmp_path).exit_code == 2
