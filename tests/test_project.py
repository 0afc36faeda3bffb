"""What stands beside the code says what the code is: its version, its floors, where its parts are."""

import re
import tomllib
from pathlib import Path

import pytest

from dissensus import __version__

ROOT = Path(__file__).parents[1]

if not (ROOT / "CONTRIBUTING.md").is_file():
    pytest.skip("this is not a checkout", allow_module_level=True)


def text(name):
    return (ROOT / name).read_text("utf-8")


@pytest.mark.parametrize(
    ("name", "line"),
    [
        ("CITATION.cff", r"^version: (\S+)$"),
        ("deploy/kubernetes/dissensus.yaml", r"^ +image: \S+:(\S+)$"),
        ("CHANGELOG.md", r"\A(?:(?!^## ).*\n)+## (\S+)"),  # the newest part
    ],
)
def test_a_release_has_one_version(name, line):
    assert re.findall(line, text(name), re.MULTILINE) == [__version__]


def test_the_house_has_the_floors_that_imports_are_held_to():
    figure = text("CONTRIBUTING.md").partition("## The house")[2].split("```")[1]
    drawn = re.findall(r"^ ([a-z]+(?: · [a-z]+)*) {2,}", figure, re.MULTILINE)
    settings = tomllib.loads(text("pyproject.toml"))["tool"]["importlinter"]
    (layers,) = (each["layers"] for each in settings["contracts"] if each["type"] == "layers")
    held = [[name.removeprefix("dissensus.") for name in layer.split(" | ")] for layer in layers]
    rooms = {path.parent.name for path in (ROOT / "src/dissensus").glob("*/__init__.py")}
    rooms |= {"benchmarks", "merging", "unusual"}
    assert [floor.split(" · ") for floor in drawn] == [floor for floor in held if set(floor) & rooms]


def test_what_the_table_of_places_names_is_there():
    table = text("CONTRIBUTING.md").partition("## Where a line goes")[2].partition("\n- ")[0]
    named = re.findall(r"`((?:src|tests)/[^`]+)`", table)
    assert len(named) > 15
    assert [name for name in named if not (ROOT / name).exists()] == []
