import pytest

from benchmarks.panel.rows import Row
from benchmarks.panel.selection import choose
from benchmarks.panel.summary import measured_by_all, pairs, summarise
from benchmarks.panel.table import panel_tables, to_markdown


def row(inliers, outliers, kind, score, auroc, seed=0, posterior="sghmc"):
    rest = {"fpr80_in": 0.1, "fpr95_in": 1 - auroc, "bh_power": auroc / 2, "bh_false": 0.0}
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
    assert fused.bh_power == pytest.approx(fused.mean / 2)


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
    titles = [grid.title for grid in panel_tables(more, quick=True)]
    assert [title.split(" (QUICK")[0] for title in titles] == [
        "Recommended: sghmc, fused",
        "Scores of sghmc",
        "Posteriors under fused, 1 set, seed 0",
        "Posteriors and scores, 1 set, seed 0",
    ]
    text = to_markdown(panel_tables(more, quick=False))
    assert "| mnist → kmnist | far | .850±.071 | .100 | .150 | .425 / .000 |" in text
    assert "| fashion-mnist-heldout → held-out classes | near | .800 |" in text
    assert "| swag fused | .950 | .950 | .950 | – | – |" in text
    assert len(panel_tables(ROWS, quick=False)) == 2  # of one posterior there is no more to say


def test_posteriors_are_compared_where_all_were_measured():
    more = [*ROWS, row("mnist", "kmnist", "far", "fused", 0.95, posterior="swag")]
    assert {(each.inliers, each.seed) for each in measured_by_all(more)} == {("mnist", 0)}
    assert measured_by_all(ROWS) == ROWS
    alone = row("svhn", "cifar10", "far", "fused", 0.9, seed=7, posterior="swag")
    assert measured_by_all([*ROWS, alone]) == []
    assert len(panel_tables([*ROWS, alone], quick=False)) == 2


def test_the_rule_prefers_the_mean_once_nothing_far_is_missed():
    def candidate(score, far, near_by, count=1):
        return [
            *(row("mnist", f"noise-{n}", "far", score, far) for n in range(count)),
            row("mnist", "flipped", "made-up", score, near_by),
        ]

    blind, good, better = candidate("a", 0.94, 1.0), candidate("b", 0.96, 0.6), candidate("c", 0.95, 0.7)
    assert choose(summarise([*blind, *good, *better])).score == "c"
    assert choose(summarise([*blind, *candidate("d", 0.9, 1.0)])).score == "a"
    # Measured on less than the others: not a candidate.
    assert choose(summarise([*candidate("e", 0.96, 0.6, count=2), *better])).score == "e"
