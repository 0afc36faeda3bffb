"""Makes the embedded sample: src/dissensus/inputs/sample/fashion-mnist-7000.xz.

Takes 600 images of each class of Fashion-MNIST's training set and 100 of each of its test set, chosen and
ordered by SEED: the same pixels everywhere, and the same bytes wherever liblzma packs alike.

    python tools/make_sample.py
"""

import lzma
from pathlib import Path

import numpy as np

from dissensus.inputs import Dataset, load_dataset
from dissensus.seeding import numpy_stream

SEED = 0
PER_CLASS = {"train": 600, "test": 100}
TARGET = Path(__file__).parents[1] / "src" / "dissensus" / "data" / "sample" / "fashion-mnist-7000.xz"


def chosen(dataset: Dataset) -> np.ndarray:
    """Row indices, the same number from each class, in random order."""
    rng = numpy_stream(SEED, "sample", dataset.split)
    count = PER_CLASS[dataset.split]
    rows = [rng.choice(np.flatnonzero(dataset.labels == label), count, replace=False) for label in range(10)]
    return rng.permutation(np.concatenate(rows))


def main() -> None:
    """Write the sample to TARGET."""
    parts = [load_dataset("fashion-mnist", "train"), load_dataset("fashion-mnist", "test")]
    rows = [chosen(part) for part in parts]
    labels = np.concatenate([part.labels[row] for part, row in zip(parts, rows, strict=True)])
    images = np.concatenate([part.images[row] for part, row in zip(parts, rows, strict=True)])
    # On these pixels plain xz beat deflate, bzip2, PNG, lossless WebP, and xz after predicting each pixel.
    packed = lzma.compress(labels.tobytes() + images.tobytes(), preset=9 | lzma.PRESET_EXTREME)
    TARGET.write_bytes(packed)


if __name__ == "__main__":
    main()
