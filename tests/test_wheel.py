"""What is released: all that the package needs and nothing else, and it runs from there."""

import os
import shutil
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]

pytest.importorskip("hatchling", reason="hatchling builds the wheel")
if not (ROOT / "Makefile").is_file():
    pytest.skip("this is not a checkout", allow_module_level=True)


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    """The wheel and the source archive, made of a copy: a build may leave nothing in the checkout."""
    folder = tmp_path_factory.mktemp("release")
    copy = folder / "checkout"
    copy.mkdir()
    for name in ("pyproject.toml", "README.md", "CONTRIBUTING.md", "LICENSE", "Makefile"):
        shutil.copy(ROOT / name, copy)
    shutil.copytree(ROOT / "src", copy / "src", ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copytree(ROOT / "docs", copy / "docs")
    done = subprocess.run(
        [sys.executable, "-m", "hatchling", "build", "-d", str(folder / "dist")],
        cwd=copy,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return folder / "dist"


@pytest.fixture(scope="module")
def wheel(built):
    (path,) = built.glob("*.whl")
    return zipfile.ZipFile(path)


def test_the_wheel_holds_the_package_and_nothing_else(wheel):
    source = ROOT / "src"
    package = {
        path.relative_to(source).as_posix()
        for path in source.rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }
    assert "dissensus/py.typed" in package
    held = {name for name in wheel.namelist() if ".dist-info/" not in name}
    assert held == package


def test_the_wheel_says_how_it_may_be_used_and_what_it_is_called(wheel):
    about = {Path(name).name: name for name in wheel.namelist() if ".dist-info/" in name}
    assert {"LICENSE", "LICENSE-fashion-mnist.txt"} <= set(about)
    assert "dissensus = dissensus.cli:main" in wheel.read(about["entry_points.txt"]).decode()
    said = wheel.read(about["METADATA"]).decode()
    assert "License-Expression: Apache-2.0" in said
    assert "Description-Content-Type: text/markdown" in said


def test_the_source_archive_can_be_built_and_tested(built):
    (path,) = built.glob("*.tar.gz")
    with tarfile.open(path) as archive:
        held = {name.partition("/")[2] for name in archive.getnames()}
    assert {"pyproject.toml", "src/dissensus/py.typed", "LICENSE", "Makefile", "CONTRIBUTING.md"} <= held
    assert any(name.startswith("docs/") for name in held)


def test_what_comes_with_the_package_is_read_from_the_wheel(wheel, tmp_path):
    wheel.extractall(tmp_path / "installed")
    code = (
        "import dissensus, dissensus.report, dissensus.serve.pages\n"
        "clothes, unseen = dissensus.load_sample()\n"
        "print(dissensus.__file__, len(clothes.images), len(unseen.images))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(tmp_path / "installed")},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    where, *counts = done.stdout.split()
    assert Path(where).is_relative_to(tmp_path)
    assert counts == ["6000", "1000"]
