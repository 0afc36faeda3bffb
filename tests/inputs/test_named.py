import gzip
import hashlib
import io
import struct
import tarfile
from dataclasses import replace

import numpy as np
import pytest
from scipy.io import savemat

from dissensus.errors import DataError
from dissensus.inputs import DATASET_NAMES, dataset_places, load_dataset, named
from dissensus.inputs.datasets import DATASETS, Origin, fashion_mnist

FOLDERS = {"fashion-mnist": "FashionMNIST/raw", "mnist": "MNIST/raw", "kmnist": "KMNIST/raw"}
PREFIX = {"train": "train", "test": "t10k"}
IMAGES = np.random.default_rng(0).integers(0, 256, (4, 28, 28), np.uint8)
LABELS = np.array([3, 1, 4, 1], np.uint8)


def idx(array):
    return struct.pack(f">BBBB{array.ndim}I", 0, 0, 8, array.ndim, *array.shape) + array.tobytes()


def write_mnist_like(folder, split="train", images=IMAGES, labels=LABELS, packed=True):
    folder.mkdir(parents=True, exist_ok=True)
    for kind, array in (("images-idx3", images), ("labels-idx1", labels)):
        path = folder / f"{PREFIX[split]}-{kind}-ubyte{'.gz' if packed else ''}"
        path.write_bytes(gzip.compress(idx(array)) if packed else idx(array))


def cifar_bytes(labels, seed=0):
    records = np.random.default_rng(seed).integers(0, 256, (len(labels), 3073), np.uint8)
    records[:, 0] = labels
    return records.tobytes()


@pytest.fixture(autouse=True)
def alone(tmp_path, monkeypatch):
    """A machine with no data on it and no way out: the working folder and the cache are below tmp_path."""
    (tmp_path / "work").mkdir()
    monkeypatch.chdir(tmp_path / "work")
    monkeypatch.delenv("DISSENSUS_DATA", raising=False)
    for variable in ("XDG_CACHE_HOME", "LOCALAPPDATA"):
        monkeypatch.setenv(variable, str(tmp_path / "cache"))
    moved = replace(fashion_mnist.ENTRY, also_in=tmp_path / "debian")
    monkeypatch.setattr(fashion_mnist, "ENTRY", moved)
    for variable in ("http_proxy", "https_proxy"):
        monkeypatch.setenv(variable, "http://127.0.0.1:9")


@pytest.mark.parametrize("name", FOLDERS)
@pytest.mark.parametrize("split", ["train", "test"])
@pytest.mark.parametrize("packed", [True, False])
def test_finds_the_mnist_family_in_the_working_folder(name, split, packed, tmp_path):
    write_mnist_like(tmp_path / "work" / "data" / FOLDERS[name], split, packed=packed)
    found = load_dataset(name, split)
    np.testing.assert_array_equal(found.images, IMAGES)
    np.testing.assert_array_equal(found.labels, LABELS)
    assert (found.name, found.split, len(found)) == (name, split, 4)


def test_finds_svhn_and_cifar10(tmp_path, monkeypatch):
    root = tmp_path / "elsewhere"
    monkeypatch.setenv("DISSENSUS_DATA", str(root))
    (root / "SVHN").mkdir(parents=True)
    pixels = np.zeros((32, 32, 3, 2), np.uint8)
    savemat(root / "SVHN" / "test_32x32.mat", {"X": pixels, "y": np.array([[10], [3]])})
    assert load_dataset("svhn", "test").labels.tolist() == [0, 3]

    (root / "cifar-10-batches-bin").mkdir()
    for part in (1, 2, 3, 4, 5):
        (root / "cifar-10-batches-bin" / f"data_batch_{part}.bin").write_bytes(cifar_bytes([part]))
    assert load_dataset("cifar10").labels.tolist() == [1, 2, 3, 4, 5]


def test_places_are_tried_in_order(tmp_path, monkeypatch):
    monkeypatch.setenv("DISSENSUS_DATA", str(tmp_path / "own"))
    places = dataset_places("fashion-mnist")
    assert [place.absolute() for place in places] == [
        tmp_path / "own" / "FashionMNIST" / "raw",
        tmp_path / "work" / "data" / "FashionMNIST" / "raw",
        tmp_path / "cache" / "dissensus" / "FashionMNIST" / "raw",
        tmp_path / "debian",
    ]
    for level, place in reversed(list(enumerate(places))):
        write_mnist_like(place, labels=np.full(4, level, np.uint8))
        assert load_dataset("fashion-mnist").labels[0] == level


def test_a_place_with_half_the_files_is_passed_over(tmp_path):
    write_mnist_like(tmp_path / "work" / "data" / "MNIST" / "raw", labels=LABELS)
    (tmp_path / "work" / "data" / "MNIST" / "raw" / "train-labels-idx1-ubyte.gz").unlink()
    write_mnist_like(tmp_path / "cache" / "dissensus" / "MNIST" / "raw", labels=LABELS + 1)
    np.testing.assert_array_equal(load_dataset("mnist").labels, LABELS + 1)


@pytest.mark.parametrize("name", DATASET_NAMES)
@pytest.mark.parametrize("download", [True, False])
def test_offline_lists_every_place_and_the_remedy(name, download, tmp_path, monkeypatch):
    monkeypatch.setenv("DISSENSUS_DATA", str(tmp_path / "own"))
    with pytest.raises(DataError) as caught:
        load_dataset(name, "test", download=download)
    lines = str(caught.value).splitlines()
    for place in dataset_places(name):
        assert f"  {place.absolute()}" in lines
    assert "DISSENSUS_DATA" in lines[-1]
    assert ("apt-get install dataset-fashion-mnist" in lines[-1]) == (name == "fashion-mnist")
    for file in DATASETS[name].files["test"]:
        assert file in lines[-2]
    assert ("cannot be downloaded" in lines[0]) == download


def published(publisher, monkeypatch, name, files):
    """Let ``name`` be published on this machine, with the right checksums of ``files``."""
    original = DATASETS[name]

    def here(origin):
        file = origin.url.rsplit("/", 1)[-1]
        checksum = hashlib.sha256(files[file]).hexdigest() if file in files else origin.sha256
        return Origin(publisher.url + file, checksum, origin.member)

    local = {split: {f: here(o) for f, o in entries.items()} for split, entries in original.files.items()}
    publisher.files.update(files)
    monkeypatch.setattr(named, "DATASETS", {name: replace(original, files=local)})
    monkeypatch.setenv("no_proxy", "*")


def test_downloads_once_into_the_cache(publisher, tmp_path, monkeypatch):
    files = {
        "t10k-images-idx3-ubyte.gz": gzip.compress(idx(IMAGES)),
        "t10k-labels-idx1-ubyte.gz": gzip.compress(idx(LABELS)),
    }
    published(publisher, monkeypatch, "kmnist", files)
    seen = set()
    for _ in range(2):  # the second time from the cache
        found = load_dataset("kmnist", "test", progress=lambda name, *_: seen.add(name))
        np.testing.assert_array_equal(found.images, IMAGES)
    assert publisher.requests == list(files)
    assert seen == set(files)
    stored = tmp_path / "cache" / "dissensus" / "KMNIST" / "raw"
    assert sorted(path.name for path in stored.iterdir()) == sorted(files)


def test_a_broken_off_download_goes_on_where_it_stopped(publisher, monkeypatch):
    files = {
        "train-images-idx3-ubyte.gz": gzip.compress(idx(IMAGES)),
        "train-labels-idx1-ubyte.gz": gzip.compress(idx(LABELS)),
    }
    published(publisher, monkeypatch, "mnist", files)
    publisher.broken.add("train-labels-idx1-ubyte.gz")
    with pytest.raises(DataError, match="broke off"):
        load_dataset("mnist")
    publisher.broken.clear()
    np.testing.assert_array_equal(load_dataset("mnist").labels, LABELS)
    assert publisher.requests == [*files, "train-labels-idx1-ubyte.gz"]


def test_cifar10_is_unpacked_whole_from_one_archive(publisher, tmp_path, monkeypatch):
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w:gz") as archive:
        for label, file in enumerate([*(f"data_batch_{part}" for part in range(1, 6)), "test_batch"]):
            info = tarfile.TarInfo(f"cifar-10-batches-bin/{file}.bin")
            content = cifar_bytes([label])
            info.size = len(content)
            archive.addfile(info, io.BytesIO(content))
    published(publisher, monkeypatch, "cifar10", {"cifar-10-binary.tar.gz": packed.getvalue()})
    assert load_dataset("cifar10", "test").labels.tolist() == [5]
    assert load_dataset("cifar10", "train").labels.tolist() == [0, 1, 2, 3, 4]
    assert len(publisher.requests) == 1


def test_a_wrong_checksum_is_reported_with_the_places(publisher, tmp_path, monkeypatch):
    published(publisher, monkeypatch, "mnist", {})
    publisher.files["train-images-idx3-ubyte.gz"] = gzip.compress(idx(IMAGES))
    with pytest.raises(DataError, match="does not have the published SHA-256 440fcabf73cc546f") as caught:
        load_dataset("mnist")
    assert "Looked in:" in str(caught.value)
    assert not [path for path in (tmp_path / "cache").rglob("*") if path.is_file()]


def test_files_that_do_not_belong_together_are_refused(tmp_path):
    folder = tmp_path / "work" / "data" / "MNIST" / "raw"
    write_mnist_like(folder, labels=LABELS[:3])
    with pytest.raises(DataError, match=r"4 images but .* 3 labels"):
        load_dataset("mnist")
    write_mnist_like(folder, images=LABELS)
    with pytest.raises(DataError, match=r"must hold uint8 images \(N, H, W\)"):
        load_dataset("mnist")


def test_unknown_names_and_splits_are_refused():
    with pytest.raises(DataError, match="choose one of fashion-mnist, mnist, kmnist, svhn, cifar10"):
        load_dataset("imagenet")
    with pytest.raises(DataError, match="train and test, not 'extra'"):
        load_dataset("svhn", "extra")


def test_every_file_of_the_catalogue_has_a_checksum_of_its_own():
    origins = {
        (o.url, o.sha256)
        for entry in DATASETS.values()
        for files in entry.files.values()
        for o in files.values()
    }
    assert len({sha256 for _, sha256 in origins}) == len(origins) == 15
    assert all(len(sha256) == 64 and int(sha256, 16) for _, sha256 in origins)
