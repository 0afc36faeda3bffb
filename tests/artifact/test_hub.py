"""The names that model hubs use, with a hub that is made up: nothing goes over a network."""

import shutil
import sys
from pathlib import Path
from types import ModuleType, SimpleNamespace

import numpy as np
import pytest

from dissensus import BayesianVAE
from dissensus.errors import ArtifactError, SettingsError


@pytest.fixture
def hub(tmp_path, monkeypatch):
    """Keeps repositories in a folder, with the signatures of huggingface_hub."""
    made = ModuleType("huggingface_hub")
    made.root, made.calls = tmp_path / "hub", []

    def create_repo(repo_id, *, private=None, exist_ok=False):
        made.calls.append(("create", repo_id, private, exist_ok))
        (made.root / repo_id).mkdir(parents=True, exist_ok=True)

    def upload_folder(*, repo_id, folder_path, commit_message):
        made.calls.append(("upload", repo_id, commit_message))
        shutil.copytree(folder_path, made.root / repo_id, dirs_exist_ok=True)
        return SimpleNamespace(commit_url=f"https://hub.example/{repo_id}/commit/1")

    def snapshot_download(repo_id, *, revision=None, allow_patterns=None):
        made.calls.append(("download", repo_id, revision))
        if not (made.root / repo_id).is_dir():
            raise OSError("404 Client Error\nRepository Not Found")
        assert set(allow_patterns) >= {"config.json", "draws.safetensors"}
        return str(made.root / repo_id)

    made.create_repo, made.upload_folder, made.snapshot_download = (
        create_repo,
        upload_folder,
        snapshot_download,
    )
    monkeypatch.setitem(sys.modules, "huggingface_hub", made)
    return made


def test_a_folder_comes_back_without_a_hub(gate, rows, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "huggingface_hub", None)
    gate.save_pretrained(tmp_path / "gate")
    for source in (tmp_path / "gate", str(tmp_path / "gate")):
        again = BayesianVAE.from_pretrained(source, device="cpu")
        np.testing.assert_array_equal(again.score_samples(rows), gate.score_samples(rows))


def test_a_repository_comes_back(gate, rows, hub):
    address = gate.push_to_hub("someone/gate", private=True, message="first")
    assert address == "https://hub.example/someone/gate/commit/1"
    assert {path.name for path in (hub.root / "someone/gate").iterdir()} >= {"README.md", "config.json"}
    again = BayesianVAE.from_pretrained("someone/gate", revision="main", device="cpu")
    np.testing.assert_array_equal(again.score_samples(rows), gate.score_samples(rows))
    assert hub.calls == [
        ("create", "someone/gate", True, True),
        ("upload", "someone/gate", "first"),
        ("download", "someone/gate", "main"),
    ]


def test_what_the_hub_refuses_is_one_sentence(gate, hub, monkeypatch):
    with pytest.raises(ArtifactError, match=r"someone/nothing is no folder here .* check its name") as error:
        BayesianVAE.from_pretrained("someone/nothing")
    assert "\n" not in str(error.value)

    def refuse(*_, **__):
        raise PermissionError("403")

    monkeypatch.setattr(hub, "create_repo", refuse)
    with pytest.raises(ArtifactError, match=r"someone/gate cannot be uploaded \(403\): check its name"):
        gate.push_to_hub("someone/gate")


def test_without_the_package_the_extra_is_named(gate, monkeypatch):
    monkeypatch.setitem(sys.modules, "huggingface_hub", None)
    for call in (
        lambda: gate.push_to_hub("someone/gate"),
        lambda: BayesianVAE.from_pretrained("someone/gate"),
    ):
        with pytest.raises(SettingsError, match=r"pip install 'dissensus\[hub\]'"):
            call()


@pytest.mark.parametrize("source", ["./nowhere", "/nowhere/gate", "a/b/c", Path("someone/gate"), "a b"])
def test_a_path_is_never_looked_for_on_the_hub(hub, source):
    with pytest.raises(ArtifactError, match="holds no saved detector"):
        BayesianVAE.from_pretrained(source)
    assert hub.calls == []


def test_a_hostile_repository_is_refused_like_any_folder(gate, hub):
    gate.push_to_hub("someone/gate")
    (hub.root / "someone/gate/draws.safetensors").write_bytes(b"\x80\x04pickle")
    with pytest.raises(ArtifactError, match="altered"):
        BayesianVAE.from_pretrained("someone/gate")
