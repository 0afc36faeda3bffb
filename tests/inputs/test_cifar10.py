import numpy as np
import pytest

from dissensus.errors import DataError
from dissensus.inputs import read_cifar10


def record(label, image):
    """One record, written pixel by pixel from the format's description."""
    planes = [
        image[row, column, channel] for channel in range(3) for row in range(32) for column in range(32)
    ]
    return bytes([label, *planes])


def test_reads_several_files_in_the_order_given(tmp_path):
    images = np.random.default_rng(0).integers(0, 256, (5, 32, 32, 3), np.uint8)
    first, second = tmp_path / "data_batch_1.bin", tmp_path / "data_batch_2.bin"
    first.write_bytes(b"".join(record(n, images[n]) for n in (0, 1, 2)))
    second.write_bytes(b"".join(record(n, images[n]) for n in (3, 4)))
    read, labels = read_cifar10([second, first])
    np.testing.assert_array_equal(read, images[[3, 4, 0, 1, 2]])
    assert labels.tolist() == [3, 4, 0, 1, 2]
    np.testing.assert_array_equal(read_cifar10(str(first))[0], images[:3])


@pytest.mark.parametrize(
    ("content", "complaint"),
    [(b"", "positive multiple"), (b"\0" * 3072, "positive multiple"), (b"\x0a" * 3073, "label above 9")],
)
def test_refuses_damaged_files(tmp_path, content, complaint):
    path = tmp_path / "test_batch.bin"
    path.write_bytes(content)
    with pytest.raises(DataError, match=complaint) as caught:
        read_cifar10(path)
    assert str(path) in str(caught.value)


def test_refuses_nothing_and_missing_files(tmp_path):
    with pytest.raises(DataError, match="at least one"):
        read_cifar10([])
    with pytest.raises(DataError, match="absent"):
        read_cifar10(tmp_path / "absent.bin")
