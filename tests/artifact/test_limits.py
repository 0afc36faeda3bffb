"""Files that claim more than any gate holds are refused before they are parsed: quickly, in little memory."""

import json
import struct
import tracemalloc

import numpy as np
import pytest

from benchmarks.checks.fuzzing.gate_copy import sign
from dissensus import BayesianVAE, Detector
from dissensus.errors import ArtifactError
from dissensus.persistence import files, limits
from dissensus.persistence.limits import DEEPEST, LARGEST_HEADER, MOST_TENSORS, JSONLimits

SAFETENSORS = ["draws.safetensors", "calibration.safetensors"]


def refused(folder, match):
    with pytest.raises(ArtifactError, match=match) as error:
        Detector.load(folder, device="cpu")
    assert str(folder) in str(error.value)
    assert "\n" not in str(error.value)


def memory_of(call):
    """The most bytes that Python's own objects took meanwhile."""
    tracemalloc.start()
    try:
        call()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def tensors(count):
    """A safetensors file of so many empty tensors."""
    entry = '"%d":{"dtype":"F32","shape":[0],"data_offsets":[0,0]}'
    header = ("{" + ",".join(entry % number for number in range(count)) + "}").encode()
    return struct.pack("<Q", len(header)) + header


@pytest.mark.parametrize("name", SAFETENSORS)
def test_a_million_tensors_are_refused_before_they_are_parsed(saved, name, monkeypatch):
    (saved / name).write_bytes(tensors(10**6))
    sign(saved)
    hashed, digest_of = [], files.digest_of
    monkeypatch.setattr(
        "dissensus.persistence.reading.digest_of", lambda path: hashed.append(path.name) or digest_of(path)
    )
    assert memory_of(lambda: refused(saved, f"{name}.*its header claims .* more than 4 MiB")) < 1 << 20
    assert name not in hashed


@pytest.mark.parametrize("name", SAFETENSORS)
def test_more_tensors_than_any_model_has_are_refused_before_they_are_parsed(saved, name):
    content = tensors(MOST_TENSORS + 2)
    assert len(content) < LARGEST_HEADER
    (saved / name).write_bytes(content)
    sign(saved)
    refused(saved, f"{name}.*more than {MOST_TENSORS} tensors")


def test_as_many_tensors_as_a_model_may_have_are_read(tmp_path):
    (tmp_path / "file").write_bytes(tensors(MOST_TENSORS))
    limits.check_header(tmp_path / "file")


def write(folder, change):
    config = json.loads((folder / "config.json").read_text("utf-8"))
    change(config)
    (folder / "config.json").write_text(json.dumps(config), "utf-8")
    sign(folder)


def nested(depth):
    value = 0
    for number in range(depth):
        value = [value] if number % 2 else {"x": value}
    return value


@pytest.mark.parametrize("depth", [DEEPEST + 1, 300])
def test_json_without_end_within_itself_is_refused(saved, depth):
    write(saved, lambda config: config["detector"].update(x=nested(depth)))
    refused(saved, f"config.json cannot be read .it is nested more than {DEEPEST} deep")


def test_json_too_deep_for_the_parser_is_refused(saved):
    (saved / "config.json").write_text("[" * 10**5, "utf-8")
    refused(saved, r"config.json cannot be read")


def test_more_values_than_any_gate_has_are_refused_before_they_are_parsed(saved):
    (saved / "config.json").write_bytes(b"[" + b"[]," * (4 << 20) + b"[]]")
    found = memory_of(lambda: refused(saved, "config.json cannot be read .it holds more than 1048576 values"))
    assert found < 20 << 20  # its bytes, and not its values


def test_diagnostics_are_measured_too(saved):
    (saved / "diagnostics.json").write_bytes(b"[" + b"[]," * (4 << 20) + b"[]]")
    sign(saved)
    refused(saved, "it holds more than 4194304 values")


def test_a_gate_of_today_is_far_from_the_limits(saved):
    config = (saved / "config.json").read_bytes()
    assert 1000 * len(config) < files.CONFIG_LIMITS.size
    assert 1000 * config.count(b",") < files.CONFIG_LIMITS.values
    assert 1000 * (saved / "draws.safetensors").read_bytes().count(b"{") < 100 * MOST_TENSORS


@pytest.mark.parametrize("name", ["config.json", "diagnostics.json"])
def test_what_could_not_be_read_again_is_not_saved_over_what_can(gate, rows, saved, monkeypatch, name):
    before = {path.name: path.read_bytes() for path in saved.iterdir()}
    with monkeypatch.context() as patch:
        limit = name.partition(".")[0].upper() + "_LIMITS"
        patch.setattr(f"dissensus.persistence.artifact.{limit}", JSONLimits(size=100, values=10**6))
        with pytest.raises(ArtifactError, match=f"its {name} could not be read again|is no saved detector"):
            gate.save(saved.with_name("other"))
        patch.setattr("dissensus.persistence.artifact.is_replaceable", lambda _: True)
        with pytest.raises(ArtifactError, match=f"its {name} could not be read again"):
            gate.save(saved)
    assert {path.name: path.read_bytes() for path in saved.iterdir()} == before
    assert not saved.with_name("other").exists()


def test_a_model_of_more_tensors_than_can_be_read_is_not_saved(gate, saved, monkeypatch):
    monkeypatch.setattr(limits, "MOST_TENSORS", 3)
    with pytest.raises(ArtifactError, match=r"its draws\.safetensors could not be read again"):
        gate.save(saved)
    monkeypatch.undo()
    np.testing.assert_array_equal(
        BayesianVAE.load(saved, device="cpu").calibration_scores_, gate.calibration_scores_
    )
