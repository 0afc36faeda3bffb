"""Gates with right digests that claim what their weights do not bear out: refused before memory is taken."""

import hashlib
import json
import shutil
from dataclasses import replace

import numpy as np
import pytest
from safetensors.numpy import load_file, save_file

from dissensus import BayesianVAE
from dissensus.errors import ArtifactError, DataError
from dissensus.inputs.embedders.functions import FunctionEmbedder


def signed(folder, *, model=None, settings=None, arrays=None, **others):
    """Changes a gate and makes its digests right again."""
    config = json.loads((folder / "config.json").read_text("utf-8"))
    config["detector"]["model"]["config"].update(model or {})
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


WEIGHT, OWN = "decoder/layers.0.weight", "statistics/typicality"
CLAIMS = {
    "terabytes of weights": ({"model": {"widths": [2**39]}}, "draws are not of this decoder"),
    "more weights than numbers can count": (
        {"model": {"widths": [10**19]}},
        "sizes that no machine can hold",
    ),
    "more weights than can be addressed": (
        {"model": {"widths": [2**40, 2**40]}},
        "sizes that no machine can hold",
    ),
    "sizes of text": ({"model": {"latent_size": "2"}}, "no whole numbers"),
    "a hidden size that is a list": ({"model": {"hidden": [2]}}, "no whole numbers"),
    "an input of no sizes": ({"input": {"kind": "vectors", "shape": [], "accepts": {}}}, "no whole numbers"),
    "an input of true sizes": (
        {"input": {"kind": "vectors", "shape": [True], "accepts": {}}},
        "no whole numbers",
    ),
    "pictures brought to gigabytes": ({"settings": {"resize": [2**20, 2**20]}}, "inputs of more than"),
    "pictures brought to negative sizes": ({"settings": {"resize": [-8, 8]}}, "no whole numbers"),
    "pictures brought to a size that is text": ({"settings": {"resize": "88"}}, "no whole numbers"),
    "pictures brought to three sides": ({"settings": {"resize": [8, 8, 8]}}, "not a height and a width"),
    "a million layers": ({"model": {"widths": [1] * 10**6}}, "more layers"),
    "sizes that are lists": ({"model": {"widths": [[2]]}}, "no whole numbers"),
    "sizes that are true": ({"model": {"latent_size": True}}, "no whole numbers"),
    "a negative size": ({"model": {"widths": [-2]}}, "no whole numbers"),
    "an input of gigabytes": ({"model": {"input_shape": [2**40]}}, "inputs of more than"),
    "endless sampling": ({"samples": 10**12}, "claims 1000000000000 samples an input, not 1 to 65536"),
    "no samples": ({"samples": 0}, "claims 0 samples"),
    "half a sample": ({"samples": 0.5}, "claims 0.5 samples"),
    "samples among the settings": ({"settings": {"samples": 2}}, "settings has 'samples'"),
    "an unknown proposal": ({"proposal": "magic"}, "proposal is not known"),
    "a scale beyond all floats": (
        {"model": {"observation": {"name": "gaussian", "scale": None, "floor": 10**30}}},
        "floor=10{30}: give a positive number",
    ),
    "levels beyond all pictures": (
        {"model": {"observation": {"name": "discretised-logistic", "levels": 10**30}}},
        "give 2 to 65536",
    ),
    "true samples": ({"samples": True}, "claims True samples"),
    "a seed that is text": ({"seed": "0"}, "seed or noise_floor"),
    "a floor that is true": ({"noise_floor": True}, "seed or noise_floor"),
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
    "calibration scores that are none": (calibration(OWN, with_nan), "no list of numbers"),
    "no calibration scores": (calibration(OWN, lambda a: a[:0]), "no list of numbers"),
    "scores of half the precision": (calibration(OWN, np.float32), "no list of numbers"),
    "fewer values of a statistic": (calibration("statistics/kl", lambda a: a[1:]), "'kl' is no list of 9"),
    "a statistic in a square": (calibration("statistics/kl", lambda a: a[:, None]), "'kl' is no list"),
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


UNKNOWN = {
    "calibration.safetensors": {
        "scores": "an array 'scores', which no detector has",
        "examples/note": "an array 'examples/note'",
        "of-a-later-version/x": "an array 'of-a-later-version/x'",
        "statistics/magic": "a statistic 'magic', which is not known",
        "score/magic": "magic",
    },
    "draws.safetensors": {
        "magic": "a tensor 'magic' that no model has",
        "decoder/magic": "not of this decoder",
        "critic_of": "do not match|not of this model",
    },
}


@pytest.mark.parametrize(
    ("file", "name", "message"),
    [(file, name, message) for file, names in UNKNOWN.items() for name, message in names.items()],
)
def test_an_array_that_nothing_takes_is_refused(saved, file, name, message):
    signed(saved, arrays={file: lambda _: {name: np.zeros(9)}})
    with pytest.raises(ArtifactError, match=message) as error:
        BayesianVAE.load(saved, device="cpu")
    assert "\n" not in str(error.value)


@pytest.mark.parametrize(("name", "limit"), [("config.json", 16), ("diagnostics.json", 64)])
def test_endless_json_is_not_read(saved, name, limit):
    with (saved / name).open("r+b") as stream:
        stream.truncate(1 << 40)  # it takes no room on the disk
    with pytest.raises(ArtifactError, match=f"larger than {limit} MiB"):
        BayesianVAE.load(saved, device="cpu")


@pytest.fixture(scope="module")
def table_gate(tmp_path_factory):
    path = tmp_path_factory.mktemp("table") / "table.csv"
    lines = (f"{row % 7},{'red' if row % 3 else 'blue'}" for row in range(40))
    path.write_text("\n".join(["size,colour", *lines]), "utf-8")
    settings = {"epochs": 2, "draws": 2, "samples": 2, "latent_size": 1, "false_alarm_rate": 0.2}
    return BayesianVAE(**settings, device="cpu").fit(path)


def numbers(name, median=3.0, may_miss=False, **others):
    return {"name": name, "kind": "numbers", "median": median, "may_miss": may_miss, **others}


def categories(name, common, rare=(), **others):
    return {"name": name, "kind": "categories", "categories": common, "rare": list(rare), **others}


SIZE, COLOURS = numbers("size"), categories("colour", ["blue", "red"])
DATES = {"name": "a", "kind": "dates", "may_miss": False}
COLUMNS = {
    "a name that is none": ([numbers({})], "not what a fit could have learnt"),
    "one name twice": ([numbers("a")] * 4, "not what a fit could have learnt"),
    "a median of nothing": (
        [numbers(name, "nan", True) for name in "ab"],
        "not what a fit could have learnt",
    ),
    "categories that are numbers": ([categories("a", [1, 2, 3])], "not what a fit could have learnt"),
    "rare categories that are numbers": (
        [SIZE, categories("colour", ["red"], [1])],
        "not what a fit could have learnt",
    ),
    "a category twice": ([SIZE, categories("colour", ["red", "red"])], "not what a fit could have learnt"),
    "a name without end": (
        [SIZE, categories("c" * 10**5, ["blue", "red"])],
        "not what a fit could have learnt",
    ),
    "too few columns": ([], "columns are not those of its networks"),
    "columns as text": ("abcd", "no whole detector"),
    "dates of three parts": ([{**DATES, "medians": [2026, 5, 1]}], "not what a fit could have learnt"),
    "dates of text": ([{**DATES, "medians": list("abcd")}], "no whole detector"),
    "an unknown kind": ([SIZE, {**COLOURS, "kind": "pickle"}], "no columns of the kind 'pickle'"),
    "no kind": ([SIZE, {"name": "colour", "categories": ["blue", "red"], "rare": []}], "'kind'"),
    "an unknown word of a column": ([SIZE, {**COLOURS, "magic": 1}], "its table in config.json"),
    "a number as text": ([numbers("size", "3.0"), COLOURS], "its table in config.json"),
    "a truth that is text": ([numbers("size", 3.0, ""), COLOURS], "its table in config.json"),
}
TABLES = {
    "an id that is a list": ({"id_column": []}, "not what a fit could have learnt"),
    "an id without end": ({"id_column": "x" * 10**5}, "not what a fit could have learnt"),
    "an id that is a column": ({"id_column": "size"}, "not what a fit could have learnt"),
    "an unknown word": ({"magic": 1}, "its table in config.json"),
}
TABLES |= {name: ({"columns": columns}, message) for name, (columns, message) in COLUMNS.items()}


@pytest.mark.parametrize(("change", "message"), TABLES.values(), ids=TABLES)
def test_false_columns_are_refused(table_gate, tmp_path, change, message):
    table_gate.save(tmp_path / "gate")
    own = table_gate.preprocessor_.table
    assert own.to_config() == {"id_column": None, "columns": [SIZE, COLOURS]}
    assert BayesianVAE.load(tmp_path / "gate", device="cpu").preprocessor_.table == own
    signed(tmp_path / "gate", table={**own.to_config(), **change})
    with pytest.raises(ArtifactError, match=message) as error:
        BayesianVAE.load(tmp_path / "gate", device="cpu")
    assert "\n" not in str(error.value)


def test_a_table_without_rows_is_refused(table_gate, tmp_path):
    (tmp_path / "empty.csv").write_text("size,colour\n", "utf-8")
    with pytest.raises(DataError, match=r"empty\.csv holds no rows"):
        table_gate.decide(tmp_path / "empty.csv")


def means(batch):
    """An embedder of rows."""
    return np.stack([batch.mean(axis=1), batch.std(axis=1)], axis=1)


@pytest.fixture(scope="module")
def embedded_gate(tmp_path_factory):
    folder = tmp_path_factory.mktemp("embedded") / "gate"
    quick = {"epochs": 2, "draws": 2, "samples": 2, "widths": (4,), "latent_size": 1, "false_alarm_rate": 0.5}
    rows = np.random.default_rng(0).normal(size=(60, 4))
    BayesianVAE(embed=means, statistic="std", device="cpu", **quick).fit(rows).save(folder)
    return folder


NAMED = f"{means.__module__}:means"


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (
            {"embedder": {"embedder": NAMED, "config": {}, "sha256": "0" * 64}},
            "had weights of SHA-256 000000",
        ),
        ({"embedder": {"embedder": "os:system", "config": {}, "sha256": None}}, "its embedder is os:system"),
        ({"embedder": {"embedder": NAMED, "config": {}}}, "its embedder lacks 'sha256'"),
        (
            {"embedder": {"embedder": NAMED, "config": {"a": 1}, "sha256": None}},
            "its embedder in config.json",
        ),
        ({"embedder": None}, "its embedder is no mapping"),
        ({"input": {"kind": "vectors", "shape": [2**40], "accepts": {}}}, "more than 16777216 numbers"),
        ({"input": {"kind": "vectors", "shape": [], "accepts": {}}}, "a kind that no embedder takes"),
        ({"input": {"kind": "table", "shape": [], "accepts": {}}, "table": None}, "is no whole detector"),
        ({"input": {"kind": "images", "shape": [4], "accepts": {}}}, "a kind that no embedder takes"),
    ],
)
def test_a_false_claim_about_an_embedder_is_refused(embedded_gate, tmp_path, change, message):
    folder = shutil.copytree(embedded_gate, tmp_path / "gate")
    signed(folder, **change)
    with pytest.raises(ArtifactError, match=message):
        BayesianVAE.load(folder, device="cpu", embed=means)


def test_an_embedder_that_gives_another_number_of_columns_is_refused_when_asked(embedded_gate):
    gate = BayesianVAE.load(embedded_gate, device="cpu", embed=means)
    wider = replace(gate.learnt_.preprocessor, embedder=FunctionEmbedder(lambda batch: batch))
    with pytest.raises(DataError, match="gives 4 numbers, and gave 2 when the detector was fitted"):
        wider.transform(np.zeros((3, 4)))
