import numpy as np
import pytest
from scipy.io import savemat

from dissensus.errors import DataError
from dissensus.inputs import read_svhn


def stored(n=11):
    rng = np.random.default_rng(0)
    return {
        "X": rng.integers(0, 256, (32, 32, 3, n), np.uint8),
        "y": (np.arange(n) % 10 + 1)[:, None].astype(np.uint8),
    }


@pytest.mark.parametrize("compressed", [False, True])
def test_images_come_first_and_ten_is_zero(tmp_path, compressed):
    content = stored()
    path = tmp_path / "train_32x32.mat"
    savemat(path, content, do_compression=compressed)
    images, labels = read_svhn(path)
    assert images.shape == (11, 32, 32, 3)
    assert images.dtype == labels.dtype == np.uint8
    for n in range(11):
        np.testing.assert_array_equal(images[n], content["X"][..., n])
    assert labels.tolist() == [1, 2, 3, 4, 5, 6, 7, 8, 9, 0, 1]


@pytest.mark.parametrize(
    ("change", "complaint"),
    [
        ({"X": np.zeros((32, 32, 3, 11))}, "float64"),
        ({"X": np.zeros((28, 28, 3, 11), np.uint8)}, r"\(28, 28, 3, 11\)"),
        ({"X": np.zeros((32, 32, 3, 10), np.uint8)}, "one label"),
        ({"y": np.full((11, 1), 11)}, "from 1 to 10"),
    ],
)
def test_refuses_other_content(tmp_path, change, complaint):
    path = tmp_path / "other.mat"
    savemat(path, stored() | change)
    with pytest.raises(DataError, match=complaint) as caught:
        read_svhn(path)
    assert str(path) in str(caught.value)


def test_refuses_a_file_without_the_variables(tmp_path):
    path = tmp_path / "other.mat"
    savemat(path, {"X": stored()["X"]})
    with pytest.raises(DataError, match="variables X and y"):
        read_svhn(path)


def test_refuses_what_is_damaged(tmp_path):
    path = tmp_path / "cut.mat"
    savemat(path, stored())
    whole = path.read_bytes()
    for content in (b"", b"not a matlab file" * 20, whole[:1000], whole[: len(whole) // 2]):
        path.write_bytes(content)
        with pytest.raises(DataError, match=r"cut\.mat"):
            read_svhn(path)
    with pytest.raises(DataError, match=r"absent\.mat"):
        read_svhn(tmp_path / "absent.mat")
