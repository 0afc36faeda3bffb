"""The judge of expressions, and a whole measurement in small."""

import gzip
import zipfile
from types import SimpleNamespace

import numpy as np
import pytest
from rich.console import Console

from benchmarks.latent import acquire
from benchmarks.latent.expressions import TARGET, distance, is_expression, read_expressions, values_of
from benchmarks.latent.molecules import MEMBER, read_molecules
from benchmarks.latent.pieces import acquire_pieces, language_pieces, plane_pieces
from benchmarks.latent.plane_figures import draw_plane
from benchmarks.latent.validity import SCORES
from benchmarks.pieces import measure_missing
from benchmarks.records import Records


@pytest.mark.parametrize("text", ["x", "1 / 3 + x", "sin( x * ( 2 + x ) ) / exp( 1 )", "( ( x ) )"])
def test_expressions_are_known(text):
    assert is_expression(text)


@pytest.mark.parametrize("text", ["", "x +", "+ x", "x x", "( x", "x )", "sin( )", "4", "sin( x ) )"])
def test_what_the_grammar_does_not_make_is_none(text):
    assert not is_expression(text)
    assert distance(text) == np.inf


def test_products_bind_closer_than_sums():
    x = np.linspace(-10, 10, 1000)
    np.testing.assert_allclose(values_of("1 + 2 * x / 3 + sin( x )"), 1 + 2 * x / 3 + np.sin(x))


def test_the_target_is_at_no_distance():
    assert distance(TARGET) == 0
    assert distance("x + sin( x * x )") == pytest.approx(np.log1p(1 / 9))
    assert distance("x / ( x + 1 + 1 + 1 )") < np.inf


def test_the_target_is_never_shown(tmp_path):
    (tmp_path / "some.txt").write_text(f"x\n{TARGET}\n")
    assert list(read_expressions(tmp_path / "some.txt")) == ["x"]


def some_expressions(count=400):
    random = np.random.default_rng(0)
    parts = ["x", "1", "2", "3", "sin( x )", "exp( 1 )", "( x + 2 )"]
    return [
        "".join(f"{random.choice(parts)} {random.choice(list('+*/'))} " for _ in range(2)) + "x"
        for _ in range(count)
    ]


def test_molecules_are_every_tenth_of_the_wheel_or_all_of_a_file(tmp_path):
    packed = gzip.compress(b"SMILES,SPLIT\n" + b"".join(b"C%d,train\n" % number for number in range(25)))
    with zipfile.ZipFile(tmp_path / "molsets.whl", "w") as wheel:
        wheel.writestr(MEMBER, packed)
    (tmp_path / "some.csv.gz").write_bytes(packed)
    assert read_molecules(tmp_path / "molsets.whl") == ["C0", "C10", "C20"]
    assert len(read_molecules(tmp_path / "some.csv.gz")) == 25


@pytest.mark.filterwarnings("ignore::dissensus.errors.SamplerWarning")
def test_validity_is_measured_in_small(tmp_path):
    (tmp_path / "some.txt").write_text("\n".join(some_expressions()))
    pieces = language_pieces("expressions", [0], data=tmp_path / "some.txt", device="cpu", quick=True)
    first = pieces[0]
    assert (first.group, first.name) == ("expressions", "shared-encoder")
    found = first.measure(lambda _: None)
    assert [row["points"] for row in found.rows] == ["prior", "2 × prior", "5 × prior", "between codes"]
    assert set(SCORES) < set(found.rows[0])
    assert found.about["space"] == "4 draws that share one encoder"


@pytest.mark.filterwarnings("ignore")
def test_what_is_acquired_is_told_by_log_likelihoods(monkeypatch):
    images = np.random.default_rng(0).integers(0, 256, (300, 28, 28), dtype=np.uint8)
    monkeypatch.setattr(acquire, "load_dataset", lambda *_: SimpleNamespace(images=images))
    (piece,) = acquire_pieces([0], device="cpu", quick=True)
    rows = piece.measure(lambda _: None).rows
    assert [(row["way"], row["images"]) for row in rows[::2]] == [
        ("acquire", 40),
        ("random", 40),
        ("novel", 40),
    ]
    # Noise is no likelier under a model of pixels than a fair guess of 256 values each.
    assert all(row["held-out log p"] < -100 for row in rows)


@pytest.mark.filterwarnings("ignore::dissensus.errors.SamplerWarning")
def test_a_plane_is_searched_and_drawn_in_small(tmp_path):
    records = Records(tmp_path, quick=True)
    measure_missing(records, plane_pieces(device="cpu", quick=True), Console(quiet=True))
    (record,) = records.read("plane")
    plain, gate = record.rows
    assert (plain["arm"], gate["arm"], gate["within the limit"]) == ("plain", "gate", 1)
    assert gate["ink"] <= plain["ink"] <= 1
    assert [path.name for path in draw_plane(records) if path.is_file()] == ["plane.png", "proposals.png"]
