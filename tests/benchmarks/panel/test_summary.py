"""The panel's numbers, tables and figures, made of small made-up rows and records."""

import pytest

from benchmarks.grids import to_markdown
from benchmarks.panel import configuration
from benchmarks.panel.ablation import ablation_grids
from benchmarks.panel.figures import draw_all
from benchmarks.panel.power import Power
from benchmarks.panel.rows import MEASURED, NO_MODEL, TEST_FILE, Row, to_record
from benchmarks.panel.summary import measured_by_all, pairs, summarise
from benchmarks.panel.table import LEAST_WORST, as_candidate, panel_grids, selection_grids
from benchmarks.panel.tasks import all_rows
from benchmarks.records import Record, Records
from benchmarks.selection import choose


def row(inliers, outliers, kind, score, auroc, seed=0, posterior="sghmc"):
    powers = {"training_file": Power(auroc / 5, 0.2, 0.09), "test_file": Power(auroc / 2, 0.0, 0.05)}
    rest = {"fpr80_in": 0.1, "fpr95_in": 1 - auroc, **powers}
    recommended = (posterior, score) == ("sghmc", "fused")
    return Row(inliers, outliers, kind, posterior, score, recommended, seed, auroc, **rest, n_in=9, n_out=9)


ROWS = [
    row("mnist", "kmnist", "far", "fused", 0.9, seed=0),
    row("mnist", "kmnist", "far", "fused", 0.8, seed=1),
    row("mnist", "kmnist", "far", "std", 0.7),
    row("svhn", "cifar10", "far", "fused", 0.6),
    row("svhn", "cifar10", "far", "std", 1.0),
    row("svhn", "flipped", "made-up", "fused", 0.5),
    row("svhn", "flipped", "made-up", "std", 0.5),
    row("fashion-mnist-heldout-01", "classes-01", "near", "fused", 0.7),
    row("fashion-mnist-heldout-23", "classes-23", "near", "fused", 0.9),
]


def test_means_worst_case_and_ranks():
    fused, std = sorted(summarise(ROWS), key=lambda each: each.score)
    assert fused.mean == pytest.approx((0.85 + 0.6 + 0.5 + 0.7 + 0.9) / 5)
    assert (fused.far, fused.near, fused.made_up) == pytest.approx((0.725, 0.8, 0.5))
    assert (fused.worst_far, fused.worst_far_pair) == (0.6, "svhn → cifar10")
    assert fused.rank == pytest.approx((1 + 2 + 1.5 + 1 + 1) / 5)
    assert std.rank == pytest.approx((2 + 1 + 1.5) / 3)
    assert std.near is None
    assert fused.test_file == pytest.approx((fused.mean / 2, 0.0, 0.05))
    # Too much of what is found with images of the training file is false.
    assert fused.training_file == pytest.approx((0.0, 0.2, 0.09))


def test_a_group_is_one_pair_and_seeds_have_a_spread():
    found = {
        pair.title: pair for pair in pairs([each for each in ROWS if each.score == "fused"], grouped=True)
    }
    assert found["fashion-mnist-heldout → held-out classes"].auroc == pytest.approx(0.8)
    assert found["fashion-mnist-heldout → held-out classes"].spread is None
    assert found["mnist → kmnist"].spread == pytest.approx(0.0707, abs=1e-4)
    assert (found["mnist → kmnist"].auroc, found["mnist → kmnist"].seeds) == (pytest.approx(0.85), 2)


def test_tables_say_it_all():
    more = [*ROWS, row("mnist", "kmnist", "far", "fused", 0.95, posterior="swag")]
    titles = [grid.title for grid in panel_grids(more, quick=True)]
    assert [title.split(" (QUICK")[0] for title in titles] == [
        "Recommended: sghmc, fused",
        "Scores of sghmc",
        "Posteriors under fused, 1 set, seed 0",
        "Posteriors and scores, 1 set, seed 0",
    ]
    text = "\n".join(map(to_markdown, panel_grids(more, quick=False)))
    cells = ".425 (.000) | .050 | [.170] (.200) | .090"
    assert f"| mnist → kmnist | far | .850±.071 | .100 | .150 | {cells} |" in text
    assert "| fashion-mnist-heldout → held-out classes | near | .800 |" in text
    assert "| swag fused | .950 | .950 | .950 | – | – |" in text
    assert len(panel_grids(ROWS, quick=False)) == 2  # of one posterior there is no more to say


def test_posteriors_are_compared_where_all_were_measured():
    more = [*ROWS, row("mnist", "kmnist", "far", "fused", 0.95, posterior="swag")]
    assert {(each.inliers, each.seed) for each in measured_by_all(more)} == {("mnist", 0)}
    assert measured_by_all(ROWS) == ROWS
    alone = row("svhn", "cifar10", "far", "fused", 0.9, seed=7, posterior="swag")
    assert measured_by_all([*ROWS, alone]) == []
    assert len(panel_grids([*ROWS, alone], quick=False)) == 2


def test_the_rule_prefers_the_mean_once_nothing_far_is_missed():
    def candidate(score, far, near_by, count=1):
        return [
            *(row("mnist", f"noise-{n}", "far", score, far) for n in range(count)),
            row("mnist", "flipped", "made-up", score, near_by),
        ]

    def chosen(*rows):
        return choose([as_candidate(each) for each in summarise(rows)], least=LEAST_WORST).name

    blind, good, better = candidate("a", 0.94, 1.0), candidate("b", 0.96, 0.6), candidate("c", 0.95, 0.7)
    assert chosen(*blind, *good, *better) == "sghmc, c"
    assert chosen(*blind, *candidate("d", 0.9, 1.0)) == "sghmc, a"
    # Measured on less than the others: not a candidate.
    assert chosen(*candidate("e", 0.96, 0.6, count=2), *better) == "sghmc, e"


def put(records, group, name, aurocs, seed=0, **settings):
    """A record with the scores' AUROC, by outliers and score."""
    rest = dict.fromkeys(MEASURED, 0.25)
    rows = [{"outliers": o, "score": s, **rest, "auroc": auroc} for (o, s), auroc in aurocs.items()]
    records.add(group, Record(name, seed, settings, rows, {}, {}, {}))


@pytest.fixture
def records(tmp_path):
    return Records(tmp_path)


def test_rows_know_their_kind_and_whether_they_are_recommended(records):
    own = configuration.RECOMMENDED.settings
    put(records, "svhn", "sghmc", {("cifar10", "fused"): 0.9, ("flipped", "kl"): 0.6}, configuration=own)
    put(records, "svhn", "sghmc", {("cifar10", "fused"): 0.8}, 1, configuration={**own, "samples": 99})
    put(records, "svhn", "sghmc/likelihood-regret", {("cifar10", "likelihood-regret"): 0.7})
    put(records, "selection-svhn", "sghmc", {("flipped", "fused"): 0.1})
    found = [
        (row.outliers, row.kind, row.posterior, row.score, row.recommended, row.seed)
        for row in all_rows(records)
    ]
    assert found == [
        ("cifar10", "far", "sghmc", "fused", True, 0),
        ("flipped", "made-up", "sghmc", "kl", False, 0),
        ("cifar10", "far", "sghmc", "fused", False, 1),
        ("cifar10", "far", "sghmc", "likelihood-regret", False, 0),
    ]


def test_simple_baselines_stand_beside_the_detector_on_the_same_seeds(records):
    own = {"configuration": configuration.RECOMMENDED.settings}
    scores = {("cifar10", "fused"): 0.98, ("cifar10", "kl"): 0.8, ("cifar10", "fused-images"): 0.6}
    put(records, "svhn", "sghmc", scores, **own)
    put(records, "svhn", "sghmc", {("cifar10", "fused"): 0.5}, 1, **own)  # no baseline has this seed
    put(records, "svhn", "baseline/nearest-neighbour", {("cifar10", "nearest-neighbour"): 0.9})
    put(records, "svhn", "baseline/isolation-forest", {("cifar10", "isolation-forest"): 0.7})
    rows = list(all_rows(records))
    assert {row.posterior for row in rows} == {"sghmc", NO_MODEL}
    grids = {grid.title: grid for grid in panel_grids(rows, quick=False)}
    beside = grids["Beside simple baselines"]
    assert beside.head == ("", "kind", "fused", "isolation-forest", "nearest-neighbour")
    cells = [f"{area} · [.250] (.250)" for area in (".980", ".700", ".900")]
    assert beside.lines == (("svhn → cifar10", "far", *cells),)
    together = grids["Beside simple baselines, all pairs together"]
    assert [line[:2] for line in together.lines] == [
        ("sghmc fused", ".980"),
        ("nearest-neighbour (no model)", ".900"),
        ("isolation-forest (no model)", ".700"),
    ]
    named = {"nearest-neighbour (no model)", "isolation-forest (no model)"}
    assert {line[0] for line in grids["Scores of sghmc"].lines} == {"kl", "fused", "fused-images"} | named


def test_candidates_on_made_up_outliers(records):
    put(records, "selection-svhn", "sghmc", {("constant", "fused"): 0.96, ("constant", "kl"): 0.9})
    put(records, "selection-svhn", "sghmc+samples=4", {("constant", "fused"): 0.97})
    (grid,) = selection_grids(records)
    assert grid.title == "Candidates on made-up outliers; chosen: sghmc+samples=4, fused"
    assert [line[0] for line in grid.lines] == ["sghmc samples=4 fused", "sghmc fused", "sghmc kl"]


def test_one_change_at_a_time(records):
    for name, auroc in (("unchanged", 0.9), ("chains=10", 0.8), ("chains=2", 0.7)):
        put(records, "ablation-svhn", name, {("cifar10", "fused"): auroc, ("cifar10", "iqr"): 0.5})
    grids = {grid.title: grid for grid in ablation_grids(records)}
    assert [line[:2] for line in grids["svhn: chains"].lines] == [("2 fused", ".700"), ("10 fused", ".800")]
    carriers = grids["svhn: which score finds which outliers"]
    assert carriers.lines == (("fused", ".900"), ("iqr", ".500"))


def test_maps_are_drawn_of_the_recommended_posterior_and_of_all(records):
    assert list(draw_all(records)) == []
    for posterior in ("sghmc", "swag"):
        put(records, "svhn", posterior, {("cifar10", "fused"): 0.9, ("flipped", "fused"): 0.6})
    put(records, "svhn", "baseline/nearest-neighbour", {("cifar10", "nearest-neighbour"): 0.9})
    assert [path.name for path in draw_all(records)] == ["scores-svhn.png", "posteriors.png"]


def test_baselines_stand_in_every_table_at_the_same_places_alone():
    rows = [
        row("svhn", "cifar10", "far", "fused", 0.9),
        row("svhn", "cifar10", "far", "nearest-neighbour", 0.8, posterior=NO_MODEL),
        row("mnist", "kmnist", "far", "nearest-neighbour", 0.1, posterior=NO_MODEL),
    ]
    grids = {grid.title: grid for grid in panel_grids(rows, quick=False)}
    lines = grids["Scores of sghmc"].lines
    assert [line[:2] for line in lines] == [("fused", ".900"), ("nearest-neighbour (no model)", ".800")]
    assert all("(.000)" in line[8] for line in lines)  # beside every power the realised error


def test_records_without_the_second_calibration_set_are_read_and_show_a_dash(records):
    own = {"configuration": configuration.RECOMMENDED.settings}
    old = {"auroc": 0.98, "fpr80_in": 0.0, "fpr95_in": 0.1, "bh_power": 0.79, "bh_false": 0.17}
    rows = [{"outliers": "cifar10", "score": "fused", **old, "n_in": 9, "n_out": 9}]
    records.add("svhn", Record("sghmc", 0, own, rows, {}, {}, {}))
    (row,) = all_rows(records)
    assert (row.training_file, row.test_file) == (Power(0.79, 0.17, None), None)
    grid = panel_grids([row], quick=False)[0]
    assert grid.lines[0][5:] == ("–", "–", "[.790] (.170)", "–")
    # With one seed measured anew the pair is not known yet: seeds are not mixed.
    new = dict(zip(TEST_FILE, (0.7, 0.08, 0.05), strict=True), alarms=0.09)
    records.add("svhn", Record("sghmc", 1, own, [{**rows[0], **new}], {}, {}, {}))
    found = list(all_rows(records))
    assert pairs(found)[0].test_file is None
    assert pairs(found[1:])[0].test_file == (0.7, 0.08, 0.05)
    assert to_record(found[1:]) == [{**rows[0], **new}]
    assert not set(TEST_FILE) & set(to_record(found[:1])[0])
