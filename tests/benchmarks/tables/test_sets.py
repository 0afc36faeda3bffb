"""Which rows are fitted on and which are asked about."""

import numpy as np
import pytest

from benchmarks.tables.sets import (
    contaminated,
    contaminated_shares,
    default_folder,
    find_tables,
    halves,
    kind_of,
)
from dissensus.errors import DataError, SettingsError


def as_set(rows):
    return set(map(tuple, rows))


def test_no_row_is_in_both_halves_and_none_is_twice(folder):
    train, normal, strange = halves(folder / "set-0.npz", 0)
    assert (len(train), len(normal), len(strange)) == (30, 30, 10)
    assert len(as_set(train) | as_set(normal)) == 60
    assert not np.array_equal(train, halves(folder / "set-0.npz", 1).train)
    assert np.array_equal(train, halves(folder / "set-0.npz", 0).train)


def test_anomalies_that_are_fitted_on_are_not_asked_about(folder):
    clean, dirty = halves(folder / "set-0.npz", 0), contaminated(folder / "set-0.npz", 0, 0.1)
    mixed = as_set(dirty.train) - as_set(clean.train)
    assert len(mixed) == round(0.1 * len(dirty.train)) == 3
    assert mixed <= as_set(clean.strange)
    assert as_set(dirty.strange) == as_set(clean.strange) - mixed
    assert np.array_equal(dirty.normal, clean.normal)
    assert np.abs(dirty.train[:-3]).max() > 5  # they are not the last rows


def a_table(path, normal, strange, columns=2):
    random = np.random.default_rng(0)
    np.savez(path, X=random.normal(size=(normal + strange, columns)), y=np.repeat([0, 1], [normal, strange]))


def test_eight_tables_are_contaminated_by_a_rule(tmp_path):
    for number in range(10):
        a_table(tmp_path / f"t{number}.npz", 90, 60)
    a_table(tmp_path / "few.npz", 90, 49)
    a_table(tmp_path / "large.npz", 2_000, 60)
    a_table(tmp_path / "embedded.npz", 90, 60, columns=500)
    shares = contaminated_shares(find_tables(tmp_path))
    assert list(shares) == [f"t{number}" for number in range(8)]
    assert list(shares.values()) == sorted(shares.values())
    assert (shares["t0"], shares["t7"]) == (0.05, 0.1)
    assert kind_of(499) == "tables"


def test_folders(folder, tmp_path, monkeypatch):
    a_table(folder / "largest.npz", 500, 10)
    assert find_tables(folder)[0].stem == "largest"
    with pytest.raises(SettingsError, match="no tables in"):
        find_tables(tmp_path)
    monkeypatch.setenv("DISSENSUS_TABLES", str(folder))
    assert default_folder() == folder
    (folder / "broken.npz").write_bytes(b"nothing")
    with pytest.raises(DataError, match="is not a table"):
        halves(folder / "broken.npz", 0)
