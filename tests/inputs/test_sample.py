import hashlib
from importlib.resources import files

import numpy as np
from sklearn.datasets import load_digits

from dissensus.inputs import digits, load_sample


def test_the_sample_is_balanced_whole_and_without_repeats():
    train, test = load_sample()
    assert train.images.shape == (6000, 28, 28)
    assert test.images.shape == (1000, 28, 28)
    assert train.images.dtype == train.labels.dtype == np.uint8
    assert np.bincount(train.labels).tolist() == [600] * 10
    assert np.bincount(test.labels).tolist() == [100] * 10
    # Any first part is a fair selection too.
    assert np.bincount(train.labels[:1000], minlength=10).min() > 60
    # The pixels are those written down when they were compared with the official files.
    content = b"".join(part.tobytes() for part in (train.images, train.labels, test.images, test.labels))
    assert hashlib.sha256(content).hexdigest() == (
        "a1f758f4d15a0429860e745b9fde8a818a3af9654fbbe7f6364d59a734f68640"
    )


def test_the_sample_is_small_and_keeps_its_notice():
    folder = files("dissensus.inputs").joinpath("sample")
    assert len(folder.joinpath("fashion-mnist-7000.xz").read_bytes()) <= 4_000_000
    notice = folder.joinpath("LICENSE-fashion-mnist.txt").read_text(encoding="utf-8")
    assert "Copyright © 2017 Zalando SE, https://tech.zalando.com" in notice
    assert "MIT License" in notice


def test_digits_are_enlarged_and_still_the_same_digits():
    large, small = digits(), load_digits().images
    assert large.shape == (1797, 28, 28)
    assert large.dtype == np.uint8
    assert large.max() == 255
    assert large.min() == 0
    # 28 is 3.5 × 8: doubled to 56, averages over fields of 7 × 7 must give the small images again.
    fine = large.repeat(2, axis=1).repeat(2, axis=2).astype(float)
    back = fine.reshape(1797, 8, 7, 8, 7).mean(axis=(2, 4)) / 255 * 16
    correlations = [np.corrcoef(a.ravel(), b.ravel())[0, 1] for a, b in zip(back, small, strict=True)]
    assert min(correlations) > 0.97
