import numpy as np
import pytest

from benchmarks.archive import Archive
from benchmarks.panel.inputs import OF_TEST_FILE, OF_TRAINING_FILE
from benchmarks.panel.power import discovery_power
from benchmarks.panel.rows import rows_of_scores
from benchmarks.panel.scores import FUSIONS, PANEL_SCORES, panel_scores, sections_of
from benchmarks.panel.sets import INLIER_SETS
from dissensus.errors import SettingsError
from dissensus.evaluation import auroc, fpr_at_tpr
from dissensus.models import OBSERVED
from dissensus.scores import SCORES, Fused, Fusion, Whitened, ess_disagreement, input_complexity, score
from dissensus.seeding import numpy_stream

SECTIONS = {
    "fitting": 60,
    "fusing": 60,
    OF_TRAINING_FILE: 60,
    "inliers": 60,
    "mnist": 20,
    "constant": 20,
    OF_TEST_FILE: 60,
}
IMAGES = ("code-length", "detail-1", "direction-fine")
WITHOUT_MODEL = (*IMAGES, "isolation")
FITTED = {"whitened", "relative-std", "typicality", "latent-norm", "latent-scale", "code-length"}


def made_up_result(draws=5, regret=False):
    random = np.random.default_rng(0)
    ends = np.cumsum(list(SECTIONS.values()))
    sections = {name: [int(e - n), int(e)] for (name, n), e in zip(SECTIONS.items(), ends, strict=True)}
    N = int(ends[-1])
    far = np.where((np.arange(N) < 240) | (np.arange(N) >= 280), 1.0, 3.0)
    names = [name for name in OBSERVED if name != "latent-spread"]
    arrays = {
        "matrix": random.normal(-100, 1, (draws, N)) * far,
        **{f"statistic/{name}": random.gamma(4.0, 1.0, N) * far for name in (*names, *WITHOUT_MODEL)},
        "regret": np.where(np.arange(N) % 2 == 0, far, np.nan) if regret else np.empty(0),
    }
    return Archive(arrays, {"sections": sections})


def test_scores_are_what_they_say():
    result = made_up_result()
    found = panel_scores(result)
    assert set(found) == set(PANEL_SCORES) - {"latent-spread", "likelihood-regret"}
    np.testing.assert_array_equal(found["ess"], ess_disagreement(result["matrix"]))
    fitted = Whitened().fit(result["matrix"][:, :60])
    np.testing.assert_array_equal(found["whitened"], fitted(result["matrix"]))
    np.testing.assert_array_equal(found["reconstruction"], result.below("statistic")["reconstruction"])
    bits = result.below("statistic")["code-length"]
    np.testing.assert_array_equal(found["input-complexity"], input_complexity(result["matrix"], bits))
    chosen = FUSIONS["fused-gaussian"]
    values = {**found, **result.below("statistic")}
    parts = (*Fused.PARTS, *WITHOUT_MODEL)
    fusion = Fusion(chosen.depth, chosen.leading).fit({n: values[n][60:120] for n in parts})
    np.testing.assert_array_equal(found["fused-gaussian"], fusion(values))
    assert (FUSIONS["fused"].depth, FUSIONS["fused"].leading) == (Fused.DEPTH, Fused.LEADING)
    alone = Fusion(Fused.DEPTH).fit({n: result.below("statistic")[n][60:120] for n in IMAGES})
    np.testing.assert_array_equal(found["fused-images"], alone(result.below("statistic")))
    # Both ends of a two-sided statistic are unusual.
    low, high = np.argmin(bits), np.argmax(bits)
    assert min(found["code-length"][[low, high]]) > np.quantile(found["code-length"], 0.8)


@pytest.mark.parametrize(
    ("section", "learns"),
    [
        ("fitting", FITTED | set(FUSIONS) - {"fused-images"}),
        ("fusing", set(FUSIONS)),
        (OF_TRAINING_FILE, set()),
        (OF_TEST_FILE, set()),
        ("inliers", set()),
        ("mnist", set()),
    ],
)
def test_nothing_is_learnt_from_other_sections(section, learns):
    result = made_up_result()
    before = panel_scores(result)
    part = sections_of(result)[section]
    result["matrix"][:, part] = 5 * result["matrix"][::-1, part] - 1
    for values in result.below("statistic").values():
        values[part] = 1 + 7 * values[part]
    after = panel_scores(result)
    others = np.ones(result["matrix"].shape[1], dtype=bool)
    others[part] = False
    changed = {name for name in before if (before[name][others] != after[name][others]).any()}
    assert changed == learns


def test_only_what_is_asked_for_is_found():
    result = made_up_result()
    assert list(panel_scores(result, ["kl", "fused"])) == ["kl", "fused"]
    everything = panel_scores(result)
    np.testing.assert_array_equal(panel_scores(result, ["fused"])["fused"], everything["fused"])
    with pytest.raises(SettingsError, match="no score 'nonsense'"):
        panel_scores(result, ["nonsense"])


def test_a_single_draw_has_no_disagreement():
    found = panel_scores(made_up_result(draws=1))
    assert {"mean-ll", "typicality", "latent-norm"} <= set(found)
    assert not {"ess", "whitened", "fused"} & set(found)
    assert all(score(name).least_draws == 1 for name in SCORES if name in found)


def test_rows_hold_the_metrics_of_their_sections():
    result = made_up_result(regret=True)
    rows = rows_of_scores(
        INLIER_SETS["fashion-mnist"],
        sections_of(result),
        panel_scores(result),
        posterior="sghmc",
        recommended_score="kl",
        seed=7,
    )
    assert len(rows) == 2 * (len(PANEL_SCORES) - 1)
    assert {(row.outliers, row.score) for row in rows if row.recommended} == {
        ("mnist", "kl"),
        ("constant", "kl"),
    }
    (row,) = (row for row in rows if (row.outliers, row.score) == ("constant", "std"))
    scores = panel_scores(result, ["std"])["std"]
    inside, outside = scores[180:240], scores[260:280]
    assert row.auroc == auroc(inside, outside)
    assert row.fpr95_in == fpr_at_tpr(inside, outside, positive="in", tpr=0.95)
    assert (row.kind, row.seed, row.n_in, row.n_out) == ("far", 7, 60, 20)
    for found, calibration in ((row.training_file, scores[120:180]), (row.test_file, scores[280:])):
        mixes = numpy_stream(7, "panel", "fashion-mnist", "constant", "mixes")
        assert found == discovery_power(calibration, inside, outside, mixes)
    (row,) = (row for row in rows if (row.outliers, row.score) == ("mnist", "likelihood-regret"))
    assert (row.n_in, row.n_out, row.auroc) == (30, 10, 1.0)
