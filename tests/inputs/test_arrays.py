import zipfile

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from dissensus.errors import DataError
from dissensus.inputs import read_array

IMAGES = np.random.default_rng(0).integers(0, 256, (3, 8, 8), np.uint8)


@pytest.mark.parametrize(
    "array", [IMAGES, IMAGES / 255, np.asfortranarray(IMAGES), np.array([[True, False]])]
)
def test_reads_npy(tmp_path, array):
    path = tmp_path / "x.npy"
    np.save(path, array)
    read = read_array(str(path))
    assert type(read) is np.ndarray
    assert read.dtype == array.dtype
    np.testing.assert_array_equal(read, array)


@pytest.mark.parametrize("save", [np.savez, np.savez_compressed])
@pytest.mark.parametrize("key", ["images", "x", "X", "data"])
def test_reads_the_usual_key_of_npz(tmp_path, save, key):
    path = tmp_path / "x.npz"
    save(path, labels=np.arange(3), **{key: IMAGES})
    np.testing.assert_array_equal(read_array(path), IMAGES)


def test_reads_the_only_key_of_npz_whatever_it_is(tmp_path):
    path = tmp_path / "x.npz"
    np.savez(path, anything=IMAGES)
    np.testing.assert_array_equal(read_array(path), IMAGES)


def test_lists_the_keys_when_none_is_usual(tmp_path):
    path = tmp_path / "x.npz"
    np.savez(path, train=IMAGES, valid=IMAGES)
    with pytest.raises(DataError, match="holds train, valid"):
        read_array(path)
    zipfile.ZipFile(path, "w").close()
    with pytest.raises(DataError, match="holds no arrays"):
        read_array(path)


def test_never_unpickles(tmp_path):
    objects = np.array([{"a": 1}, None], dtype=object)
    np.save(tmp_path / "x.npy", objects, allow_pickle=True)
    np.savez(tmp_path / "x.npz", images=objects)
    for path in (tmp_path / "x.npy", tmp_path / "x.npz"):
        with pytest.raises(DataError, match="not from Python objects"):
            read_array(path)


def test_refuses_a_header_that_claims_more_than_the_file_holds(tmp_path):
    path = tmp_path / "x.npy"
    np.save(path, IMAGES)
    # The header is padded with spaces: a longer shape fits if as many are dropped.
    whole = path.read_bytes()
    content = whole.replace(b"(3, 8, 8), }" + b" " * 9, b"(3000000000, 8, 8), }")
    assert content != whole
    path.write_bytes(content)
    with pytest.raises(DataError, match=r"x\.npy"):
        read_array(path)


@pytest.mark.parametrize("suffix", ["npy", "npz"])
def test_refuses_every_truncation(tmp_path, suffix):
    path = tmp_path / f"x.{suffix}"
    np.save(path, IMAGES) if suffix == "npy" else np.savez(path, images=IMAGES)
    whole = path.read_bytes()
    for length in (0, 1, 5, 20, len(whole) // 2, len(whole) - 1):
        path.write_bytes(whole[:length])
        with pytest.raises(DataError, match=r"x\.np"):
            read_array(path)
    with pytest.raises(DataError, match="absent"):
        read_array(tmp_path / f"absent.{suffix}")


@settings(
    derandomize=True,
    deadline=None,
    max_examples=150,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(
    at=st.floats(0, 1, exclude_max=True), value=st.integers(0, 255), suffix=st.sampled_from(["npy", "npz"])
)
def test_one_changed_byte_gives_an_array_or_a_data_error(tmp_path, at, value, suffix):
    path = tmp_path / f"x.{suffix}"
    np.save(path, IMAGES) if suffix == "npy" else np.savez_compressed(path, images=IMAGES)
    content = bytearray(path.read_bytes())
    content[int(at * len(content))] = value
    path.write_bytes(content)
    try:
        assert isinstance(read_array(path), np.ndarray)
    except DataError as error:
        assert str(path) in str(error)  # noqa: PT017
