"""The description of the machine: complete, and honest about what is missing."""

import os
import platform
import shutil
import subprocess
from importlib import metadata

import numpy as np
import pytest

from dissensus._version import __version__
from dissensus.evaluation import environment, provenance, read_records, write_record


def git(folder, *arguments):
    identity = ("-c", "user.name=t", "-c", "user.email=t@t", "-c", "commit.gpgsign=false")
    return subprocess.run(
        ["git", "-C", folder, *identity, *arguments], check=True, capture_output=True, text=True
    ).stdout.strip()


def test_versions_hardware_and_gpu_are_told():
    found = environment(gpu="NVIDIA H200")
    assert found["versions"]["dissensus"] == __version__
    assert found["versions"]["python"] == platform.python_version()
    assert found["versions"]["numpy"] == np.__version__
    assert set(found["versions"]) == {"dissensus", "python", "numpy", "scipy", "scikit-learn", "torch"}
    assert found["platform"].startswith(platform.system())
    assert found["gpu"] == "NVIDIA H200"
    assert found["cores"] >= 1
    assert found["processor"]
    assert environment()["gpu"] is None


def test_it_can_be_recorded(tmp_path):
    found = environment()
    write_record(tmp_path / "r.json", {"environment": found})
    assert read_records(tmp_path)["r.json"]["environment"] == found


def test_a_package_that_is_not_installed_has_no_version(monkeypatch):
    def missing(name):
        raise metadata.PackageNotFoundError(name)

    monkeypatch.setattr(metadata, "version", missing)
    assert environment()["versions"]["torch"] is None


@pytest.fixture
def checkout(tmp_path, monkeypatch):
    """A git checkout with one commit that tracks ``here.py``, taken for the package's own place."""
    if shutil.which("git") is None:
        pytest.skip("git is not installed")
    for name in [name for name in os.environ if name.startswith("GIT_")]:
        monkeypatch.delenv(name)
    here = tmp_path / "here.py"
    here.write_text("1")
    git(tmp_path, "init")
    git(tmp_path, "add", "here.py")
    git(tmp_path, "commit", "-m", "first")
    git(tmp_path, "tag", "-a", "v9", "-m", "tags must not hide the commit")
    monkeypatch.setattr(provenance, "__file__", str(here))
    return tmp_path


def test_commit_is_the_full_hash_and_says_when_files_differ(checkout):
    head = git(checkout, "rev-parse", "HEAD")
    assert environment()["commit"] == head
    (checkout / "here.py").write_text("2")
    assert environment()["commit"] == f"{head}-dirty"


def test_records_that_were_just_made_leave_a_checkout_clean(checkout):
    (checkout / "results").mkdir()
    record = checkout / "results" / "record.json"
    record.write_text("1")
    git(checkout, "add", "results")
    git(checkout, "commit", "-m", "a record")
    head = git(checkout, "rev-parse", "HEAD")
    record.write_text("2")
    assert environment()["commit"] == head
    (checkout / "here.py").write_text("2")
    assert environment()["commit"] == f"{head}-dirty"


def test_the_variables_of_a_git_hook_do_not_mislead(checkout, tmp_path_factory, monkeypatch):
    head = git(checkout, "rev-parse", "HEAD")
    monkeypatch.setenv("GIT_DIR", str(tmp_path_factory.mktemp("other")))
    assert environment()["commit"] == head


def test_a_checkout_that_does_not_track_the_package_is_not_its_own(checkout, monkeypatch):
    (checkout / "installed.py").write_text("")
    monkeypatch.setattr(provenance, "__file__", str(checkout / "installed.py"))
    assert environment()["commit"] is None


def test_no_checkout_and_no_git_leave_the_commit_unknown(tmp_path, monkeypatch):
    monkeypatch.setattr(provenance, "__file__", str(tmp_path / "here.py"))
    assert environment()["commit"] is None
    monkeypatch.setenv("PATH", "")
    assert environment()["commit"] is None
