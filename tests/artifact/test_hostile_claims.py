"""Gates with right digests that claim what their weights do not bear out: refused before memory is taken."""

import hashlib
import json

import numpy as np
import pytest
from safetensors.numpy import load_file, save_file

from dissensus import BayesianVAE
from dissensus.errors import ArtifactError, DataError


def signed(folder, *, model=None, settings=None, arrays=None, **others):
    """Changes a gate and makes its digests right again."""
    config = json.loads((folder / "config.json").read_text("utf-8"))
    config["detector"]["model"].update(model or {})
    config["detector"]["settings"].update(settings or {})
    config["detector"].update(others)
    for file, change in (arrays or {}).items():
        content = load_file(folder / file)
        save_file({**content, **change(content)}, folder / file)
    for file in config["files"]:
        config["files"][file] = hashlib.sha256((folder / file).read_bytes()).hexdigest()
    config.pop("digest")
    config["digest"] = hashlib.sha256(json.dumps(config, sort_keys=True).encode()).hexdigest()
    (folder / "config.json").write_text(json.dumps(config), "utf-8")


def draws(name, change):
    return {"arrays": {"draws.safetensors": lambda content: {name: change(content[name])}}}


def claimed(name, make):
    """An array of the draws that the gate does not have, made from the number of draws."""
    return {"arrays": {"draws.safetensors": lambda content: {name: make(len(content["chain"]))}}}


def calibration(name, change):
    return {"arrays": {"calibration.safetensors": lambda content: {name: change(content[name])}}}


def with_nan(array):
    return np.full_like(array, np.nan)


WEIGHT = "decoder/layers.0.weight"
CLAIMS = {
    "terabytes of weights": ({"model": {"widths": [10**9]}}, "draws are not of this encoder"),
    "more weights than numbers can count": ({"model": {"widths": [10**19]}}, "gate"),
    "a million layers": ({"model": {"widths": [1] * 10**6}}, "more layers"),
    "sizes that are lists": ({"model": {"widths": [[2]]}}, "no whole numbers"),
    "sizes that are true": ({"model": {"latent_size": True}}, "no whole numbers"),
    "a negative size": ({"model": {"widths": [-2]}}, "no whole numbers"),
    "an input of gigabytes": ({"model": {"input_shape": [2**40]}}, "inputs of more than"),
    "endless sampling": ({"settings": {"samples": 10**12}}, "more than 65536 samples"),
    "a scale beyond all floats": (
        {"model": {"observation": {"name": "gaussian", "scale": None, "floor": 10**30}}},
        "floor=10{30}: give a positive number",
    ),
    "levels beyond all pictures": (
        {"model": {"observation": {"name": "discretised-logistic", "levels": 10**30}}},
        "give 2 to 65536",
    ),
    "true samples": ({"settings": {"samples": True}}, "samples must be a whole number"),
    "a seed that is text": ({"seed": "0"}, "seed or noise_floor"),
    "weights that are no numbers": (draws(WEIGHT, with_nan), "holds what is no number"),
    "whole-number weights": (draws(WEIGHT, lambda a: a.astype(np.int32)), "holds what is no number"),
    "encoders that are not there": (draws("encoder_of", lambda a: a + 7), "name weights of the encoder"),
    "negative encoders": (draws("encoder_of", lambda a: a - 1), "name weights of the encoder"),
    "an encoder twice over": (draws("encoder_of", lambda a: np.arange(len(a))), "not of this encoder"),
    "encoders of fewer draws": (draws("encoder_of", lambda a: a[:-1]), "do not match"),
    "decoders that are not there": (claimed("decoder_of", lambda count: np.arange(count) + 1), "not there"),
    "one decoder for all draws": (claimed("decoder_of", lambda count: np.arange(count) * 0), "decoder"),
    "a third network": (claimed("critic/weight", np.zeros), "not of this model"),
    "more draws than weights": (draws("chain", lambda a: np.repeat(a, 2)), "do not match"),
    "epochs as fractions": (draws("epoch", lambda a: a / 2), "do not match"),
    "calibration scores that are none": (calibration("scores", with_nan), "no list of numbers"),
    "no calibration scores": (calibration("scores", lambda a: a[:0]), "no list of numbers"),
    "a scale of nothing": (calibration("scale", lambda a: a * 0), "not those of its columns"),
    "an infinite mean": (calibration("mean", lambda a: a + np.inf), "not those of its columns"),
    "means of other columns": (calibration("mean", lambda a: a[:1]), "not those of its columns"),
}


@pytest.mark.parametrize(("change", "message"), CLAIMS.values(), ids=CLAIMS)
def test_a_false_claim_is_refused(saved, change, message):
    signed(saved, **change)
    with pytest.raises(ArtifactError, match=message) as error:
        BayesianVAE.load(saved, device="cpu")
    assert "\n" not in str(error.value)
    assert len(str(error.value)) < 1000


def test_a_change_that_means_nothing_is_not_refused(gate, rows, saved):
    extra = {"examples/note": np.zeros(3), "of-a-later-version/x": np.ones(2)}
    signed(saved, arrays={"calibration.safetensors": lambda _: extra}, of_a_later_version={"x": 1})
    np.testing.assert_array_equal(
        BayesianVAE.load(saved, device="cpu").score_samples(rows), gate.score_samples(rows)
    )


@pytest.mark.parametrize("name", ["config.json", "diagnostics.json"])
def test_endless_json_is_not_read(saved, name):
    with (saved / name).open("r+b") as stream:
        stream.truncate(1 << 40)  # it takes no room on the disk
    with pytest.raises(ArtifactError, match="larger than 64 MiB"):
        BayesianVAE.load(saved, device="cpu")


@pytest.fixture(scope="module")
def table_gate(tmp_path_factory):
    path = tmp_path_factory.mktemp("table") / "table.csv"
    lines = (f"{row % 7},{'red' if row % 3 else 'blue'}" for row in range(40))
    path.write_text("\n".join(["size,colour", *lines]), "utf-8")
    settings = {"epochs": 2, "draws": 2, "samples": 2, "latent_size": 1, "false_alarm_rate": 0.2}
    return BayesianVAE(**settings, device="cpu").fit(path)


COLUMNS = {
    "a name that is none": {"columns": [{"name": {}, "median": 1.0, "may_miss": False}]},
    "one name twice": {"columns": [{"name": "a", "median": 1.0, "may_miss": False}] * 4},
    "a median of nothing": {"columns": [{"name": n, "median": "nan", "may_miss": True} for n in "ab"]},
    "categories that are numbers": {"columns": [{"name": "a", "categories": [1, 2, 3]}]},
    "a name without end": {"id_column": "x" * 10**5},
    "too few columns": {"columns": []},
    "columns as text": {"columns": "abcd"},
    "an id that is a list": {"id_column": []},
    "dates of three parts": {"columns": [{"name": "a", "medians": [2026, 5, 1], "may_miss": False}]},
    "rare categories that are numbers": {
        "columns": [
            {"name": "size", "median": 1.0, "may_miss": False},
            {"name": "colour", "categories": ["red"], "rare": [1]},
        ]
    },
}


@pytest.mark.parametrize("change", COLUMNS.values(), ids=COLUMNS)
def test_false_columns_are_refused(table_gate, tmp_path, change):
    table_gate.save(tmp_path / "gate")
    own = table_gate.preprocessor_.table
    assert BayesianVAE.load(tmp_path / "gate", device="cpu").preprocessor_.table == own
    signed(tmp_path / "gate", table={**own.to_config(), **change})
    with pytest.raises(ArtifactError) as error:
        BayesianVAE.load(tmp_path / "gate", device="cpu")
    assert "\n" not in str(error.value)


def test_a_table_without_rows_is_refused(table_gate, tmp_path):
    (tmp_path / "empty.csv").write_text("size,colour\n", "utf-8")
    with pytest.raises(DataError, match=r"empty\.csv holds no rows"):
        table_gate.decide(tmp_path / "empty.csv")
