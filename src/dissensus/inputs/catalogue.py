"""The named datasets: torchvision's folder and file names, and where the publishers keep them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

__all__ = ["CATALOGUE", "Entry", "Origin"]


@dataclass(frozen=True)
class Origin:
    """Where a file comes from; of a tar archive, ``member`` is its name inside."""

    url: str
    md5: str
    member: str | None = None


@dataclass(frozen=True)
class Entry:
    """A dataset's folder, its format, and for each split its files in reading order with their origins."""

    folder: str
    format: str
    files: Mapping[str, Mapping[str, Origin]]


def _mnist_like(folder: str, base: str, train: tuple[str, str], test: tuple[str, str]) -> Entry:
    names = ("images-idx3-ubyte.gz", "labels-idx1-ubyte.gz")
    return Entry(
        folder=f"{folder}/raw",
        format="idx",
        files={
            split: {
                f"{prefix}-{name}": Origin(f"{base}{prefix}-{name}", md5)
                for name, md5 in zip(names, sums, strict=True)
            }
            for split, prefix, sums in (("train", "train", train), ("test", "t10k", test))
        },
    )


_CIFAR10_ARCHIVE = (
    "https://www.cs.toronto.edu/~kriz/cifar-10-binary.tar.gz",
    "c32a1d4ab5d03f1284b67883e8d87530",
)


def _cifar10_file(name: str) -> Origin:
    return Origin(*_CIFAR10_ARCHIVE, member=f"cifar-10-batches-bin/{name}")


# The checksums are those torchvision lists; CIFAR-10's stands on its publisher's page.
CATALOGUE: Mapping[str, Entry] = MappingProxyType(
    {
        "fashion-mnist": _mnist_like(
            "FashionMNIST",
            "http://fashion-mnist.s3-website.eu-central-1.amazonaws.com/",
            ("8d4fb7e6c68d591d4c3dfef9ec88bf0d", "25c81989df183df01b3e8a0aad5dffbe"),
            ("bef4ecab320f06d8554ea6380940ec79", "bb300cfdad3c16e7a12a480ee83cd310"),
        ),
        "mnist": _mnist_like(
            "MNIST",
            "https://ossci-datasets.s3.amazonaws.com/mnist/",
            ("f68b3c2dcbeaaa9fbdd348bbdeb94873", "d53e105ee54ea40749a09fcbcd1e9432"),
            ("9fb629c4189551a2d022fa330f9573f3", "ec29112dd5afa0611ce80d1b7f02629c"),
        ),
        "kmnist": _mnist_like(
            "KMNIST",
            "http://codh.rois.ac.jp/kmnist/dataset/kmnist/",
            ("bdb82020997e1d708af4cf47b453dcf7", "e144d726b3acfaa3e44228e80efcd344"),
            ("5c965bf0a639b31b8f53240b1b52f4d7", "7320c461ea6c1c855c0b718fb2a4b134"),
        ),
        "svhn": Entry(
            folder="SVHN",
            format="svhn",
            files={
                split: {
                    f"{split}_32x32.mat": Origin(
                        f"http://ufldl.stanford.edu/housenumbers/{split}_32x32.mat", md5
                    )
                }
                for split, md5 in (
                    ("train", "e26dedcc434d2e4c54c9b2d4a06d8373"),
                    ("test", "eb5a983be6a315427106f1b164d9cef3"),
                )
            },
        ),
        "cifar10": Entry(
            folder="cifar-10-batches-bin",
            format="cifar10",
            files={
                "train": {
                    f"data_batch_{part}.bin": _cifar10_file(f"data_batch_{part}.bin") for part in range(1, 6)
                },
                "test": {"test_batch.bin": _cifar10_file("test_batch.bin")},
            },
        ),
    }
)
