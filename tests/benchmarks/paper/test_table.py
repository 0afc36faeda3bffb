"""Table 1, candidates and figures, made of small made-up records."""

from statistics import stdev

import numpy as np
import pytest
from PIL import Image

from benchmarks.curves import histogram, roc_points
from benchmarks.drawing import picture_sheet, save_picture
from benchmarks.grids import to_latex, to_markdown
from benchmarks.paper.benchmarks import GROUPS
from benchmarks.paper.figures import draw_all
from benchmarks.paper.methods import METHODS
from benchmarks.paper.published import COLUMNS, PUBLISHED
from benchmarks.paper.table import latent_grids, selection_grids, table_grids, table_rows
from benchmarks.records import Record, Records

NAMES = ("auroc", "auprc_in", "auprc_out", "fpr80_in", "fpr80_out")


@pytest.fixture
def records(tmp_path):
    return Records(tmp_path)


def put(records, benchmark, auroc, *, method="LL", preset="settled", seed=0, about=None):
    row = {"score": method, **dict.fromkeys(NAMES, 0.5), "auroc": auroc, "auprc_out": 0.2, "fpr80_out": 0.4}
    name = f"{preset}/{method}"
    records.add(benchmark, Record(name, seed, {}, [row], {}, about or {}, {}, quick=records.quick))


def test_the_papers_table_is_complete_and_its_best_are_the_bold_ones():
    assert set(PUBLISHED) == {(benchmark, method) for benchmark in COLUMNS for method in METHODS}
    best = {b: max(METHODS, key=lambda m, b=b: PUBLISHED[b, m].auroc) for b in COLUMNS}
    assert list(best.values()) == ["BVAE2", "BVAE2", "BVAE1"]
    assert PUBLISHED["svhn-vs-cifar10", "WAIC"].fpr80 == 0.912


def test_cells_are_mean_spread_paper_and_difference(records):
    for seed, auroc in enumerate((0.6, 0.7, 0.65)):
        put(records, "svhn-vs-cifar10", auroc, seed=seed)
    (grid,) = table_grids(records)
    assert grid.title == "Table 1, settled: SVHN vs CIFAR10"
    assert grid.head[:4] == ("", "AUROC ↑", "paper", "Δ")
    assert f"{stdev([0.6, 0.7, 0.65]):.3f}" == "0.050"
    # The paper's columns are compared with OoD as the positive class.
    numbers = (".650±.050", ".574", "+.076", ".200±.000", ".575", "-.375", ".400±.000", ".634", "-.234")
    assert grid.lines[2] == ("LL", *numbers)
    assert set(grid.lines[0][1:]) == {"–"}
    assert "| LL | .650±.050 | .574 | +.076 |" in to_markdown(grid)
    assert r"LL & .650$\pm$.050 & .574 & +.076 &" in to_latex(grid)
    assert r"BVAE$_1$ & -- & --" in to_latex(grid)


def test_a_single_seed_has_no_spread(records):
    put(records, "svhn-vs-cifar10", 0.6, seed=3)
    (grid,) = table_grids(records)
    assert grid.lines[2][1] == ".600"


def test_a_groups_mean_needs_all_its_members(records):
    members = GROUPS["fashion-mnist-heldout"]
    for number, member in enumerate(members[:-1]):
        put(records, member, 0.1 * number)
    assert table_grids(records) == []
    put(records, members[-1], 0.4)
    put(records, members[0], 0.9, seed=1)  # the others lack this seed
    means = table_rows(records)["fashion-mnist-heldout", "settled", "LL"]
    assert {seed: row["auroc"] for seed, row in means.items()} == {0: pytest.approx(0.2)}


def test_records_of_others_in_the_same_groups_are_left_alone(records):
    put(records, "svhn-vs-cifar10", 0.9, preset="baseline", method="nearest-neighbour")
    assert table_grids(records) == []


def test_quick_tables_say_so(tmp_path):
    records = Records(tmp_path, quick=True)
    put(records, "svhn-vs-cifar10", 0.9)
    assert "QUICK" in table_grids(records)[0].title


def test_the_candidate_of_the_highest_likelihood_is_chosen(records):
    names = ("validation_log_likelihood_of_mixture", "noise_floor", "importance_sampling_error")
    for name, value in (("settled", -240.0), ("settled+step_size=0.02", -236.5)):
        numbers = {"validation_log_likelihood": value, "rhat": None, "spread_over_draws": 1.0}
        row = {"run": "bvae1", **numbers, **dict.fromkeys(names, 1.0)}
        records.add("selection-svhn-vs-cifar10", Record(f"{name}/bvae1", 0, {}, [row], {}, {}, {}))
    wild = Record("settled+step_size=9/bvae1", 0, {}, [], {}, {"diverged": "chain 0"}, {})
    records.add("selection-svhn-vs-cifar10", wild)
    (grid,) = selection_grids(records)
    assert [line[:2] for line in grid.lines] == [
        ("settled step_size=0.02 (chosen)", "-236.50"),
        ("settled", "-240.00"),
        ("settled step_size=9", "diverged"),
    ]
    assert grid.lines[0][3] == "–"


def test_the_latent_space_has_a_table_of_its_own(records):
    for seed, auroc in enumerate((0.6, 0.7)):
        row = {"score": "Annulus", "auroc": auroc, "auprc_out": 0.5, "fpr80_out": 0.25}
        records.add("latent", Record("settled", seed, {}, [row], {}, {}, {}))
    (grid,) = latent_grids(records)
    assert grid.title == "Latent space, settled"
    assert grid.lines == (("Annulus", ".650±.071", ".500±.000", ".250±.000"),)


def test_figures_are_drawn_of_what_records_hold(records):
    random = np.random.default_rng(0)
    inside, outside = random.gamma(2, size=300), 2 + random.gamma(2, size=300)
    about = {"roc": roc_points(inside, outside), "histogram": histogram(inside, outside)}
    put(records, "fashion-mnist-vs-mnist", 0.5, about=about)
    put(records, "fashion-mnist-vs-mnist", 0.5, method="BVAE2", about=about)
    images = random.integers(0, 256, (3, 4, 1, 28, 28)).astype(np.uint8)
    save_picture(picture_sheet(images), records.folder / "sheet.png")
    shown = {"sheet": "sheet.png", "scores": [0.1, 0.2, 3.0, 4.0], "inliers": 2, "draws": 2}
    put(records, "fashion-mnist-vs-mnist", 0.5, method="BVAE1", about={**about, "pictured": shown})
    row = {"score": "Annulus", "auroc": 0.5}
    latent = Record("settled", 0, {}, [row], {}, {"roc": {"Annulus": about["roc"]}}, {})
    records.add("latent", latent)
    paths = list(draw_all(records))
    assert [path.name for path in paths] == [
        "curves-fashion-mnist-vs-mnist-settled.png",
        "histograms-fashion-mnist-vs-mnist-settled.png",
        "disagreement-fashion-mnist-vs-mnist-settled-bvae1.png",
        "latent-settled.png",
    ]
    for path in paths:
        with Image.open(path) as image:
            assert min(image.size) > 300
            assert len(image.convert("L").resize((64, 64)).getcolors()) > 10


def test_without_records_nothing_is_drawn(records):
    assert list(draw_all(records)) == []
