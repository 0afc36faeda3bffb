import ast
import gzip
import struct
import sys
from pathlib import Path

import numpy as np
import pytest
import torch
from PIL import Image
from scipy.io import savemat

import dissensus.inputs
from dissensus.errors import DataError
from dissensus.inputs import Dataset, ImageFolder, open_inputs

IMAGES = np.random.default_rng(0).integers(0, 256, (3, 8, 8), np.uint8)


@pytest.mark.parametrize(
    "source",
    [
        IMAGES,
        IMAGES.tolist(),
        torch.from_numpy(IMAGES),
        torch.from_numpy(IMAGES).float().requires_grad_(),
        Dataset(IMAGES, np.zeros(3, np.uint8), "mine", "train"),
    ],
)
def test_what_is_in_memory(source):
    np.testing.assert_array_equal(open_inputs(source), IMAGES)


def test_an_array_is_not_copied():
    assert open_inputs(IMAGES) is IMAGES


def test_files_of_every_format(tmp_path):
    np.save(tmp_path / "a.npy", IMAGES)
    np.savez(tmp_path / "a.npz", x=IMAGES)
    idx = struct.pack(">4B3I", 0, 0, 8, 3, 3, 8, 8) + IMAGES.tobytes()
    (tmp_path / "a.idx").write_bytes(idx)
    (tmp_path / "images-idx3-ubyte").write_bytes(idx)
    (tmp_path / "images-idx3-ubyte.gz").write_bytes(gzip.compress(idx))
    for name in ("a.npy", "a.npz", "a.idx", "images-idx3-ubyte", "images-idx3-ubyte.gz"):
        np.testing.assert_array_equal(open_inputs(tmp_path / name), IMAGES)
        np.testing.assert_array_equal(open_inputs(str(tmp_path / name)), IMAGES)
    savemat(tmp_path / "a.mat", {"X": np.zeros((32, 32, 3, 2), np.uint8), "y": np.ones((2, 1))})
    (tmp_path / "a.bin").write_bytes(b"\1" * 3073 * 2)
    for name in ("a.mat", "a.bin"):
        assert open_inputs(tmp_path / name).shape == (2, 32, 32, 3)


def test_pictures_and_folders(tmp_path):
    Image.fromarray(IMAGES[0]).save(tmp_path / "a.png")
    np.testing.assert_array_equal(open_inputs(tmp_path / "a.png"), IMAGES[:1])
    assert open_inputs(tmp_path / "a.png", size=(9, 10), channels=3).shape == (1, 9, 10, 3)
    folder = open_inputs(str(tmp_path), size=(9, 10), channels=3, on_error="skip")
    assert isinstance(folder, ImageFolder)
    assert folder.load().shape == (1, 9, 10, 3)
    assert folder.on_error == "skip"
    assert open_inputs(folder) is folder


def test_dataset_names(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("DISSENSUS_DATA", str(tmp_path))
    raw = tmp_path / "MNIST" / "raw"
    raw.mkdir(parents=True)
    for prefix, rows in (("train", IMAGES), ("t10k", IMAGES[:2])):
        (raw / f"{prefix}-images-idx3-ubyte").write_bytes(
            struct.pack(">4B3I", 0, 0, 8, 3, *rows.shape) + rows.tobytes()
        )
        (raw / f"{prefix}-labels-idx1-ubyte").write_bytes(
            struct.pack(">4BI", 0, 0, 8, 1, len(rows)) + bytes(len(rows))
        )
    assert len(open_inputs("mnist")) == len(open_inputs("mnist:train")) == 3
    assert len(open_inputs("mnist:test")) == 2
    with pytest.raises(DataError, match="not 'extra'"):
        open_inputs("mnist:extra")
    # What exists as a path is taken as one.
    (tmp_path / "mnist").mkdir()
    Image.fromarray(IMAGES[0]).save(tmp_path / "mnist" / "a.png")
    assert isinstance(open_inputs("mnist"), ImageFolder)


def test_whatever_else_names_the_argument_or_file_and_what_is_accepted(tmp_path):
    (tmp_path / "table.xyz").write_text("1,2")
    for source in (
        tmp_path / "table.xyz",
        "mnits",
        "",
        "a" * 5000,
        "\0",
        Path("mnist"),
        3,
        None,
        [[1], [2, 3]],
    ):
        with pytest.raises(DataError, match=r"^(inputs|.*table.xyz).*give an array") as caught:
            open_inputs(source, name="inputs")
        assert "\n" not in str(caught.value)
    with pytest.raises(DataError, match=r"^inputs"):
        open_inputs(torch.zeros(2, 8, 8, dtype=torch.bfloat16), name="inputs")


def test_a_size_cannot_be_asked_of_arrays():
    with pytest.raises(DataError, match="image files and folders only"):
        open_inputs(IMAGES, size=(9, 9))


def test_only_numpy_is_imported_with_the_package():
    heavy = []
    for path in Path(dissensus.inputs.__file__).parent.glob("*.py"):
        for node in ast.parse(path.read_text(encoding="utf-8")).body:
            names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            names += [node.module] if isinstance(node, ast.ImportFrom) else []
            roots = {name.split(".")[0] for name in names} - {"numpy", "dissensus"}
            heavy += [
                (path.name, root) for root in roots if root not in sys.stdlib_module_names or root == "urllib"
            ]
    assert not heavy
