"""Whatever has happened to its files, a detector loads as it was saved or says what is wrong."""

import json
from contextlib import suppress

import numpy as np
import pytest
from safetensors.numpy import load_file, save_file

from benchmarks.checks.fuzzing.gate_copy import sign
from dissensus import BayesianVAE
from dissensus.errors import ArtifactError

OTHERS = ["draws.safetensors", "calibration.safetensors", "diagnostics.json"]
ALL = ["config.json", *OTHERS]
EACH = pytest.mark.parametrize("name", ALL)

# Forged calibration scores may be too few for the rate: rightly said, and not what is tested here.
pytestmark = pytest.mark.filterwarnings("ignore::dissensus.errors.CalibrationWarning")


def refused(folder, match=None):
    """The one sentence a folder is refused with; it names the folder."""
    with pytest.raises(ArtifactError, match=match) as error:
        BayesianVAE.load(folder, device="cpu")
    text = str(error.value)
    assert str(folder) in text
    assert "\n" not in text
    return text


def forge(folder, change):
    """Changes the configuration and signs it."""
    path = folder / "config.json"
    config = json.loads(path.read_text("utf-8"))
    change(config)
    path.write_text(json.dumps(config), "utf-8")
    sign(folder)


def mutated(content, rng):
    """One of the things that happen to bytes."""
    kind, place = rng.integers(5), int(rng.integers(len(content)))
    if kind == 0:
        return content[:place]
    if kind == 1:
        return content[:place] + bytes([content[place] ^ (1 << int(rng.integers(8)))]) + content[place + 1 :]
    if kind == 2:
        return content[:place] + rng.bytes(int(rng.integers(1, 9))) + content[place:]
    if kind == 3:
        return content[:place] + content[place + int(rng.integers(1, 9)) :]
    return content[:place] + bytes(len(content) - place)


@EACH
@pytest.mark.parametrize("share", [0, 0.01, 0.3, 0.7, 0.99])
def test_truncated(saved, name, share):
    content = (saved / name).read_bytes()
    (saved / name).write_bytes(content[: int(share * len(content))])
    refused(saved, "truncated or was altered|cannot be read")


@EACH
def test_one_byte_short(saved, name):
    (saved / name).write_bytes((saved / name).read_bytes()[:-1])
    refused(saved)


@EACH
def test_deleted(saved, name):
    (saved / name).unlink()
    refused(saved, f"no {name} in it|{name} is missing")


@EACH
@pytest.mark.parametrize(
    "garbage", [b"", b"\0" * 999, b"{}", b"[]", b"null", b'"x"', b"[" * 200_000, b"\xff\xfe{"]
)
def test_garbage(saved, name, garbage):
    (saved / name).write_bytes(garbage)
    refused(saved)


@EACH
def test_a_folder_in_place_of_a_file(saved, name):
    (saved / name).unlink()
    (saved / name).mkdir()
    refused(saved)


@EACH
def test_swapped_for_that_of_another_detector(saved, rows, name, tmp_path):
    other = BayesianVAE(epochs=2, draws=2, samples=2, false_alarm_rate=0.2, random_state=1).fit(rows)
    other.save(tmp_path / "other")
    (saved / name).write_bytes((tmp_path / "other" / name).read_bytes())
    refused(saved, "digest differs")


@EACH
def test_any_mutation_is_noticed_or_means_nothing(gate, rows, saved, name):
    rng = np.random.default_rng(ALL.index(name))
    whole, expected = (saved / name).read_bytes(), gate.score_samples(rows[:2])
    noticed = 0
    for _ in range(300):
        content = mutated(whole, rng)
        (saved / name).write_bytes(content)
        try:
            loaded = BayesianVAE.load(saved, device="cpu")
        except ArtifactError:
            noticed += 1
        else:
            same_meaning = name == "config.json" and json.loads(content) == json.loads(whole)
            assert content == whole or same_meaning
            np.testing.assert_array_equal(loaded.score_samples(rows[:2]), expected)
    assert noticed > 250


@EACH
def test_mutations_with_right_digests_are_artefact_errors_or_load(saved, name):
    rng = np.random.default_rng(100 + ALL.index(name))
    before = {path.name: path.read_bytes() for path in saved.iterdir()}
    for _ in range(300):
        for other, content in before.items():
            (saved / other).write_bytes(content)
        (saved / name).write_bytes(mutated(before[name], rng))
        with suppress(ValueError, KeyError, TypeError, AttributeError):  # no configuration any more
            sign(saved)
        with suppress(ArtifactError):
            BayesianVAE.load(saved, device="cpu")


CONFIGS = {
    "another format": (lambda c: c.update(format="gguf"), "is not the configuration of a detector"),
    "a newer version": (lambda c: c.update(format_version=3), "saved by a newer dissensus .*: upgrade it"),
    "an older version": (
        lambda c: c.update(format_version=1),
        r"made by an earlier version of dissensus \(format 1, this one reads 2\): fit it again",
    ),
    "a version before the first": (lambda c: c.update(format_version=0), "format_version is no whole number"),
    "no detector": (lambda c: c.pop("detector"), "lacks a part"),
    "no versions": (lambda c: c.pop("versions"), "lacks a part.*'versions'"),
    "a part of a later version": (lambda c: c.update(extra={}), "one that no detector has .'extra'"),
    "fewer files": (lambda c: c["files"].pop("draws.safetensors"), "lacks a part"),
    "another file": (lambda c: c["files"].update(extra=""), "names a file that no detector has"),
    "a file elsewhere": (
        lambda c: c["files"].update({"../../etc/passwd": ""}),
        "names a file that no detector",
    ),
    "files as a list": (lambda c: c.update(files=[]), "lacks a part"),
    "detector as a list": (lambda c: c.update(detector=[]), "lacks a part"),
    "a version that is no number": (lambda c: c.update(format_version="2"), "format_version is no whole"),
    "a version of truth": (lambda c: c.update(format_version=True), "format_version is no whole number"),
    "another input": (lambda c: c["detector"]["input"].update(shape=[4]), "its input in config.json"),
    "another kind of input": (
        lambda c: c["detector"]["input"].update(kind="images"),
        "its input in config.json",
    ),
    "an unknown word of the input": (lambda c: c["detector"]["input"].update(unit="m"), "its input in"),
    "another step": (lambda c: c["detector"]["preprocessing"].append({"step": "blur"}), "its preprocessing"),
    "an unknown setting": (lambda c: c["detector"]["settings"].update(magic=1), "settings has 'magic'"),
    "a setting that is not there": (
        lambda c: c["detector"]["settings"].pop("widths"),
        "settings lacks 'widths'",
    ),
    "an unknown part": (lambda c: c["detector"].update(magic={}), "description has 'magic'"),
    "an unknown word of the score": (lambda c: c["detector"]["score"].update(magic=1), "score has 'magic'"),
    "an unknown argument of the score": (
        lambda c: c["detector"]["score"]["config"].update(magic=1),
        "unexpected keyword argument 'magic'|takes no arguments",
    ),
    "an unknown part of the fit": (
        lambda c: c["detector"]["fitted_rows"].update(test=1),
        "fitted_rows has 'test'",
    ),
    "half a row": (lambda c: c["detector"]["fitted_rows"].update(train=1.5), "fitted_rows are no whole"),
    "another class": (lambda c: c["detector"].update(kind="os.system"), "of the class 'os.system'"),
    "another model": (lambda c: c["detector"]["model"].update(model="x"), "no model 'x' here"),
    "an unknown word of the model": (lambda c: c["detector"]["model"].update(magic=1), "model has 'magic'"),
    "an unknown argument of the model": (
        lambda c: c["detector"]["model"]["config"].update(magic=1),
        "model has 'magic'",
    ),
    "an unknown statistic": (
        lambda c: c["detector"]["settings"].update(statistic="x"),
        "statistic is not the name of its score",
    ),
    "an unknown score": (
        lambda c: (
            c["detector"]["settings"].update(statistic="x"),
            c["detector"]["score"].update(score="x"),
        ),
        "no score 'x'",
    ),
    "an impossible rate": (
        lambda c: c["detector"]["settings"].update(false_alarm_rate=7),
        "false_alarm_rate",
    ),
    "an unknown network": (lambda c: c["detector"]["model"]["config"].update(kind="pickle"), "kind='pickle'"),
    "other widths": (
        lambda c: c["detector"]["model"]["config"].update(widths=[3]),
        "draws are not of this decoder",
    ),
    "another latent size": (
        lambda c: c["detector"]["model"]["config"].update(latent_size=2),
        "draws are not of this",
    ),
    "an unknown observation": (
        lambda c: c["detector"]["model"]["config"].update(observation={"name": "x"}),
        "'x'",
    ),
}


@pytest.mark.parametrize(("change", "message"), CONFIGS.values(), ids=CONFIGS)
def test_configurations_that_are_none(saved, change, message):
    forge(saved, lambda config: change(config) and None)
    refused(saved, message)


@pytest.mark.parametrize(
    "part",
    [
        "kind",
        "input",
        "preprocessing",
        "table",
        "fitted_rows",
        "settings",
        "score",
        "model",
        "seed",
        "samples",
        "proposal",
        "noise_floor",
    ],
)
def test_a_configuration_without_a_part(saved, part):
    forge(saved, lambda config: config["detector"].pop(part))
    assert part in refused(saved, "is no whole detector|cannot be loaded")


@pytest.mark.parametrize("kind", [None, 3, "text", [], {}])
@pytest.mark.parametrize("part", ["input", "settings", "score", "model", "fitted_rows", "proposal"])
def test_a_part_of_another_kind(saved, part, kind):
    forge(saved, lambda config: config["detector"].update({part: kind}))
    refused(saved)


@pytest.mark.parametrize(
    "lost", ["encoder_of", "chain", "epoch", "decoder/layers.0.weight", "encoder/layers.2.bias"]
)
def test_draws_without_a_part(saved, lost):
    draws = load_file(saved / "draws.safetensors")
    del draws[lost]
    save_file(draws, saved / "draws.safetensors")
    sign(saved)
    refused(saved, "does not hold a whole detector|draws are not of this")


@pytest.mark.parametrize(
    "lost", ["statistics/typicality", "mean", "scale", "examples/codes", "score/typical_log_likelihood"]
)
def test_calibration_without_a_part(saved, lost):
    arrays = load_file(saved / "calibration.safetensors")
    del arrays[lost]
    save_file(arrays, saved / "calibration.safetensors")
    sign(saved)
    refused(saved)


def test_an_altered_setting_is_noticed(saved):
    text = (saved / "config.json").read_text("utf-8")
    assert '"samples": 2' in text
    (saved / "config.json").write_text(text.replace('"samples": 2', '"samples": 3'), "utf-8")
    refused(saved, "altered")


def test_places_without_a_detector(tmp_path):
    refused(tmp_path, "holds no saved detector")
    refused(tmp_path / "nowhere", "holds no saved detector")
    (tmp_path / "file").write_text("")
    refused(tmp_path / "file", "holds no saved detector")
