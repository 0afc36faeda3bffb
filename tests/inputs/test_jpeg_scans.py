"""How many scans a JPEG holds, counted without decoding it."""

import io

import numpy as np
import pytest
from picture_bombs import jpeg_with_scans
from PIL import Image

from dissensus.errors import DataError
from dissensus.inputs.image_file import read_image
from dissensus.inputs.jpeg_scans import MOST_SEGMENTS, jpeg_structure

NOISE = np.random.default_rng(0).integers(0, 256, (40, 56, 3), np.uint8)


def jpeg(pixels=NOISE, **options):
    buffer = io.BytesIO()
    Image.fromarray(pixels).save(buffer, "JPEG", **options)
    return buffer.getvalue()


def test_a_bomb_is_refused_in_one_sentence_that_names_the_file(tmp_path):
    path = tmp_path / "bomb.jpg"
    path.write_bytes(jpeg_with_scans(64, 2000))
    with pytest.raises(DataError, match=r"bomb\.jpg .*scans.*save it again"):
        read_image(path)


@pytest.mark.parametrize(
    ("options", "scans"),
    [({}, 1), ({"progressive": True}, 10), ({"restart_marker_blocks": 1}, 1), ({"quality": 100}, 1)],
)
def test_size_and_scans_of_what_pillow_writes(options, scans):
    found = jpeg_structure(jpeg(**options))
    assert (found.width, found.height, found.scans) == (56, 40, scans)
    assert jpeg_structure(jpeg(NOISE[..., 0], progressive=True)).scans == 6


@pytest.mark.parametrize("more", [0, 1, 77])
def test_repeated_scans_are_counted(more):
    assert jpeg_structure(jpeg_with_scans(16, more)).scans == 6 + more


def test_a_picture_in_what_the_camera_noted_is_not_counted():
    exif = Image.Exif()
    exif[0x9286] = jpeg(progressive=True)[:2000] + b"\xff\xda" * 50
    found = jpeg_structure(jpeg(exif=exif))
    assert found.scans == 1
    assert found.metadata > 100


def test_what_follows_the_end_is_not_counted():
    assert jpeg_structure(jpeg() + jpeg_with_scans(16, 100)).scans == 1


def test_neither_padding_nor_garbage_hides_a_scan():
    content = jpeg_with_scans(16, 5)
    assert (
        jpeg_structure(content.replace(b"\xff\xda", b"garbage\xff\x00\xff\xd3\xff\xff\xff\xda")).scans == 11
    )


def test_nothing_that_is_cut_off_fails():
    content = jpeg(progressive=True, restart_marker_blocks=1)
    counts = [jpeg_structure(content[:length]).scans for length in range(len(content))]
    assert counts == sorted(counts)
    assert counts[-1] == 10


@pytest.mark.parametrize(
    "filling", [b"\xff", b"\xff\xfe\x00\x00", b"\xff\xda\x00\x02", b"\xff\xd0", b"\xff\x00"]
)
def test_counting_ends_early_and_takes_time_in_proportion(filling):
    found = jpeg_structure(b"\xff\xd8" + filling * (8_000_000 // len(filling)))
    assert found.parts <= MOST_SEGMENTS + 1
