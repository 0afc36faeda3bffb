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
    sha256: str
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
                f"{prefix}-{name}": Origin(f"{base}{prefix}-{name}", sha256)
                for name, sha256 in zip(names, sums, strict=True)
            }
            for split, prefix, sums in (("train", "train", train), ("test", "t10k", test))
        },
    )


_CIFAR10_ARCHIVE = (
    "https://www.cs.toronto.edu/~kriz/cifar-10-binary.tar.gz",
    "c4a38c50a1bc5f3a1c5537f2155ab9d68f9f25eb1ed8d9ddda3db29a59bca1dd",
)


def _cifar10_file(name: str) -> Origin:
    return Origin(*_CIFAR10_ARCHIVE, member=f"cifar-10-batches-bin/{name}")


# SHA-256 as TensorFlow Datasets lists them, of the same files whose MD5 torchvision and the publishers list.
CATALOGUE: Mapping[str, Entry] = MappingProxyType(
    {
        "fashion-mnist": _mnist_like(
            "FashionMNIST",
            "http://fashion-mnist.s3-website.eu-central-1.amazonaws.com/",
            (
                "3aede38d61863908ad78613f6a32ed271626dd12800ba2636569512369268a84",
                "a04f17134ac03560a47e3764e11b92fc97de4d1bfaf8ba1a3aa29af54cc90845",
            ),
            (
                "346e55b948d973a97e58d2351dde16a484bd415d4595297633bb08f03db6a073",
                "67da17c76eaffca5446c3361aaab5c3cd6d1c2608764d35dfb1850b086bf8dd5",
            ),
        ),
        "mnist": _mnist_like(
            "MNIST",
            "https://ossci-datasets.s3.amazonaws.com/mnist/",
            (
                "440fcabf73cc546fa21475e81ea370265605f56be210a4024d2ca8f203523609",
                "3552534a0a558bbed6aed32b30c495cca23d567ec52cac8be1a0730e8010255c",
            ),
            (
                "8d422c7b0a1c1c79245a5bcf07fe86e33eeafee792b84584aec276f5a2dbc4e6",
                "f7ae60f92e00ec6debd23a6088c31dbd2371eca3ffa0defaefb259924204aec6",
            ),
        ),
        "kmnist": _mnist_like(
            "KMNIST",
            "http://codh.rois.ac.jp/kmnist/dataset/kmnist/",
            (
                "51467d22d8cc72929e2a028a0428f2086b092bb31cfb79c69cc0a90ce135fde4",
                "e38f9ebcd0f3ebcdec7fc8eabdcdaef93bb0df8ea12bee65224341c8183d8e17",
            ),
            (
                "edd7a857845ad6bb1d0ba43fe7e794d164fe2dce499a1694695a792adfac43c5",
                "20bb9a0ef54c7db3efc55a92eef5582c109615df22683c380526788f98e42a1c",
            ),
        ),
        "svhn": Entry(
            folder="SVHN",
            format="svhn",
            files={
                split: {
                    f"{split}_32x32.mat": Origin(
                        f"http://ufldl.stanford.edu/housenumbers/{split}_32x32.mat", sha256
                    )
                }
                for split, sha256 in (
                    ("train", "435e94d69a87fde4fd4d7f3dd208dfc32cb6ae8af2240d066de1df7508d083b8"),
                    ("test", "cdce80dfb2a2c4c6160906d0bd7c68ec5a99d7ca4831afa54f09182025b6a75b"),
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
