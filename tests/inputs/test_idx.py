import gzip
import struct

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as npst

from dissensus.errors import DataError
from dissensus.inputs import read_idx

CODES = {"u1": 0x08, "i1": 0x09, "i2": 0x0B, "i4": 0x0C, "f4": 0x0D, "f8": 0x0E}


def idx_bytes(array):
    code = CODES[array.dtype.str[1:]]
    sizes = b"".join(struct.pack(">I", side) for side in array.shape)
    return bytes([0, 0, code, array.ndim]) + sizes + array.astype(array.dtype.newbyteorder(">")).tobytes()


@pytest.mark.parametrize("code", CODES)
@pytest.mark.parametrize("packed", [False, True])
def test_reads_every_type_plain_and_packed(tmp_path, code, packed):
    array = np.arange(24).reshape(2, 3, 4).astype(code)
    path = tmp_path / "values"  # the name does not matter
    path.write_bytes(gzip.compress(idx_bytes(array)) if packed else idx_bytes(array))
    read = read_idx(path)
    assert read.dtype == array.dtype
    assert read.dtype.isnative
    np.testing.assert_array_equal(read, array)


def test_the_array_can_be_written_to(tmp_path):
    path = tmp_path / "values"
    path.write_bytes(idx_bytes(np.zeros((2, 2), np.uint8)))
    read_idx(path)[0, 0] = 1


@pytest.mark.parametrize(
    ("content", "complaint"),
    [
        (b"", "not an IDX file"),
        (b"\x00\x00\x07\x01\x00\x00\x00\x01a", "not an IDX file"),
        (b"\x00\x00\x08\x00", "not an IDX file"),
        (b"GIF89a", "not an IDX file"),
        (b"\x00\x00\x08\x03\x00\x00", "ends inside its header"),
        (b"\x00\x00\x08\x01\x00\x00\x00\x05abcd", "promises 5 bytes of values and it holds 4"),
        (b"\x00\x00\x08\x01\x00\x00\x00\x03abcd", "holds more"),
        # 2³² × 2³² × 2³² bytes: must be refused without asking for the memory
        (b"\x00\x00\x0e\x03" + b"\xff" * 12, "it holds 0"),
    ],
)
@pytest.mark.parametrize("packed", [False, True])
def test_refuses_what_is_damaged_and_names_the_file(tmp_path, content, complaint, packed):
    path = tmp_path / "broken-idx"
    path.write_bytes(gzip.compress(content) if packed else content)
    with pytest.raises(DataError, match=complaint) as caught:
        read_idx(path)
    assert str(path) in str(caught.value)


def test_refuses_truncated_and_garbled_gzip(tmp_path):
    packed = gzip.compress(idx_bytes(np.random.default_rng(0).integers(0, 256, (50, 8, 8)).astype("u1")))
    path = tmp_path / "images.gz"
    for content in (packed[:-1], packed[: len(packed) // 2], packed[:200] + b"\0" * 50 + packed[250:]):
        path.write_bytes(content)
        with pytest.raises(DataError, match=r"images\.gz"):
            read_idx(path)


def test_a_missing_file_is_a_data_error(tmp_path):
    with pytest.raises(DataError, match="nowhere"):
        read_idx(tmp_path / "nowhere")


@settings(derandomize=True, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(array=npst.arrays(np.uint8, npst.array_shapes(max_dims=4, max_side=5)), cut=st.data())
def test_any_array_survives_and_no_prefix_does(tmp_path, array, cut):
    path = tmp_path / "values"
    content = idx_bytes(array)
    path.write_bytes(content)
    np.testing.assert_array_equal(read_idx(path), array)
    path.write_bytes(content[: cut.draw(st.integers(0, len(content) - 1))])
    with pytest.raises(DataError):
        read_idx(path)


@pytest.mark.parametrize("shape", [(1,) * 65, (0, 2**32 - 1, 2**32 - 1)], ids=["65 axes", "huge and empty"])
def test_shapes_that_no_array_has_are_refused(tmp_path, shape):
    path = tmp_path / "x.idx"
    values = b"\1" if 0 not in shape else b""
    path.write_bytes(bytes([0, 0, 8, len(shape)]) + struct.pack(f">{len(shape)}I", *shape) + values)
    with pytest.raises(DataError, match=r"x\.idx cannot be read"):
        read_idx(path)
