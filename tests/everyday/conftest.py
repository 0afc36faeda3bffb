"""Data as people have it, and two gates that all of these tests share."""

import csv
import io

import numpy as np
import pytest

from dissensus import Detector
from tests.cli.conftest import dissensus, stripes

__all__ = ["dissensus"]  # a fixture

TINY = {"epochs": 3, "draws": 2, "samples": 2, "device": "cpu"}


def penguins(count, seed=0):
    """Rows of named columns as lists: numbers, names, dates, and values that are missing."""
    rng = np.random.default_rng(seed)
    species = rng.choice(["Adelie", "Chinstrap", "Gentoo"], count, p=[0.44, 0.2, 0.36])
    heavy = species == "Gentoo"
    days = np.datetime64("2007-11-11") + rng.integers(0, 700, count)
    table = {
        "species": species.tolist(),
        "island": np.where(heavy, "Biscoe", rng.choice(["Dream", "Torgersen"], count)).tolist(),
        "bill_length_mm": np.round(39 + 8 * heavy + rng.normal(0, 2.5, count), 1).tolist(),
        "flipper_length_mm": np.round(190 + 27 * heavy + rng.normal(0, 6, count)).astype(int).tolist(),
        "body_mass_g": (25 * np.round((3700 + 1400 * heavy + rng.normal(0, 300, count)) / 25)).tolist(),
        "sex": rng.choice(["male", "female"], count).tolist(),
        "date": days.astype(str).tolist(),
    }
    for row in range(0, count, 9):
        table["sex"][row] = None
    for row in range(0, count, 25):
        table["body_mass_g"][row] = None
    return table


def text_of(table, delimiter=","):
    """The table as a CSV file says it; what is missing is written as R does."""
    stream = io.StringIO()
    writer = csv.writer(stream, delimiter=delimiter, lineterminator="\n")
    writer.writerow(table)
    writer.writerows([["NA" if v is None else v for v in row] for row in zip(*table.values(), strict=True)])
    return stream.getvalue()


def records_of(table):
    return [dict(zip(table, row, strict=True)) for row in zip(*table.values(), strict=True)]


def rows_of(text):
    return list(csv.DictReader(io.StringIO(text)))


@pytest.fixture(scope="session")
def penguin_gate(tmp_path_factory):
    """A gate for penguins, fitted from a CSV file."""
    folder = tmp_path_factory.mktemp("everyday")
    (folder / "penguins.csv").write_text(text_of(penguins(240)))
    Detector(**TINY).fit(folder / "penguins.csv").save(folder / "gate")
    return folder / "gate"


@pytest.fixture(scope="session")
def picture_gate(tmp_path_factory):
    """A gate for grey pictures of 8×8."""
    folder = tmp_path_factory.mktemp("everyday") / "gate"
    Detector(**TINY).fit(stripes(140)).save(folder)
    return folder
