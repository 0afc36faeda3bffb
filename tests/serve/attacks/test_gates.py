"""Gates that were forged, digests and all: refused by what they claim, and the one before serves on."""

import json

import numpy as np
import pytest
from safetensors.numpy import load_file, save_file

from dissensus.persistence.files import CALIBRATION, CONFIG, OTHERS, digest_of, meaning_of


def forge(folder, *, config=lambda _: None, arrays=lambda _: None):
    """Changes a saved gate, and its digests with it."""
    found, kept = json.loads((folder / CONFIG).read_text()), load_file(folder / CALIBRATION)
    config(found["detector"])
    arrays(kept)
    save_file({name: np.ascontiguousarray(array) for name, array in kept.items()}, folder / CALIBRATION)
    found["files"] = {name: digest_of(folder / name) for name in OTHERS}
    del found["digest"]
    found["digest"] = meaning_of(found)
    (folder / CONFIG).write_text(json.dumps(found))


def put(*path, value):
    def change(values):
        for step in path[:-1]:
            values = values[step]
        values[path[-1]] = value

    return change


def without_numbers(name):
    return lambda arrays: arrays.update({name: np.full(arrays[name].shape, np.nan, arrays[name].dtype)})


@pytest.mark.parametrize(
    ("forgery", "words"),
    [
        ({"config": put("samples", value=1 << 20)}, "samples an input"),
        ({"config": put("samples", value=1 << 16)}, "are the most that are served"),
        ({"config": put("settings", "resize", value=[1 << 15, 1 << 15])}, "more than"),
        ({"config": put("settings", "surprise", value=1)}, "'surprise'"),
        ({"config": put("surprise", value=1)}, "'surprise'"),
        ({"arrays": put("surprise", value=np.zeros(3))}, "'surprise'"),
        ({"arrays": without_numbers("examples/inputs")}, "no number"),
        ({"arrays": without_numbers("examples/codes")}, "no number"),
    ],
)
def test_forged_gates_are_refused_and_the_one_before_serves_on(serving, own_folder, numbers, forgery, words):
    with serving(own_folder / "rows") as found:
        forge(own_folder / "rows", **forgery)
        found.call(found.service.gates.refresh())
        assert words in found.service.gates.problems["rows"]
        assert found.client.post("/score", json={"rows": numbers[:1].tolist()}).status_code == 200
        assert found.client.post("/explain", json={"rows": numbers[:1].tolist()}).status_code == 200
