"""What a picture will cost is told from its headers, and what costs too much is refused everywhere."""

import base64
import io
import json
import struct
import zlib

import numpy as np
import pytest
from picture_bombs import jpeg_with_scans, png_with
from PIL import Image

from dissensus.errors import DataError
from dissensus.inputs import ImageFolder, JsonLines, PictureStream, read_image
from dissensus.inputs.picture_cost import (
    LIGHT,
    MOST_SCANS,
    MOST_WORK,
    ORDINARY,
    CostlyPictureError,
    examine,
    picture_format,
)

PIXELS = np.random.default_rng(0).integers(0, 256, (30, 20, 3), np.uint8)
GIF_PICTURE = b"," + struct.pack("<HHHH", 0, 0, 20, 30)
KINDS = ["PNG", "JPEG", "WEBP", "GIF", "BMP"]


def saved(kind, pixels=PIXELS, **options):
    buffer = io.BytesIO()
    Image.fromarray(pixels).save(buffer, kind, **options)
    return buffer.getvalue()


@pytest.mark.parametrize("kind", KINDS)
def test_small_ordinary_pictures_are_light(kind):
    content = saved(kind)
    found = examine(content)
    assert (found.kind, found.width, found.height) == (kind, 20, 30)
    assert LIGHT.hold(len(content), found)
    assert ORDINARY.hold(len(content), found)


@pytest.mark.parametrize(
    ("kind", "options"),
    [
        ("WEBP", {"lossless": True}),
        ("WEBP", {"exif": b"Exif\0\0MM"}),
        ("WEBP", {"save_all": True, "append_images": [Image.fromarray(PIXELS[::-1].copy())]}),
        ("GIF", {"save_all": True, "append_images": [Image.fromarray(PIXELS[::-1].copy())]}),
        ("GIF", {"comment": b"a word"}),
        ("PNG", {"save_all": True, "append_images": [Image.fromarray(PIXELS[::-1].copy())]}),
        ("JPEG", {"progressive": True}),
    ],
)
def test_sizes_of_all_ways_to_write_a_picture(kind, options):
    found = examine(saved(kind, **options))
    assert (found.width, found.height) == (20, 30)


@pytest.mark.parametrize("kind", KINDS)
def test_large_pictures_are_ordinary_and_not_light(kind):
    content = saved(kind, np.zeros((1000, 1000, 3), np.uint8))
    assert not LIGHT.hold(len(content), examine(content))
    assert ORDINARY.hold(len(content), examine(content))


@pytest.mark.parametrize("kind", ["TIFF", "PPM", "ICO", "JPEG2000", "TGA", "AVIF"])
def test_of_other_formats_nothing_is_known(kind):
    assert examine(saved(kind)) is None
    assert picture_format(saved(kind)) is None


@pytest.mark.parametrize("kind", KINDS)
def test_nothing_that_is_cut_off_fails(kind):
    content = saved(kind)
    for length in range(len(content)):
        examine(content[:length])


def test_a_gif_may_be_larger_than_its_screen():
    content = bytearray(saved("GIF"))
    content[6:10] = struct.pack("<HH", 1, 1)
    found = examine(bytes(content))
    assert (found.width, found.height) == (20, 30)


def test_scans_times_pixels_are_bounded_too():
    side = 4096
    within, beyond = MOST_WORK // side**2 - 6, MOST_WORK // side**2 - 4
    assert beyond < MOST_SCANS
    assert examine(jpeg_with_scans(side, within)).work <= MOST_WORK
    with pytest.raises(CostlyPictureError, match=f"the picture has {beyond + 6} scans of 4096×4096 pixels"):
        examine(jpeg_with_scans(side, beyond))


@pytest.mark.parametrize(
    ("side", "more", "word"), [(8, MOST_SCANS, "scans"), (8, 0, None), (5000, 0, "5000×5000 pixels")]
)
def test_what_is_refused(side, more, word):
    if word is None:
        assert examine(jpeg_with_scans(side, more), most_pixels=64).scans == 6
    else:
        with pytest.raises(CostlyPictureError, match=word):
            examine(jpeg_with_scans(side, more), most_pixels=64)


def test_thousands_of_segments_are_refused():
    content = saved("JPEG")
    with pytest.raises(CostlyPictureError, match="segments"):
        examine(content[:2] + b"\xff\xe1\x00\x09Exif\0\0x" * 5000 + content[2:])


@pytest.mark.parametrize(
    "content",
    [
        png_with(8, *[(b"iCCP", b"a\0\0" + zlib.compress(bytes(1_000_000)))] * 20),
        png_with(8, *[(b"tIME", b"")] * 200),
        png_with(8, (b"eXIf", bytes(20_000))),
        saved("BMP", PIXELS[..., 0]).replace(struct.pack("<HHI", 1, 8, 0), struct.pack("<HHI", 1, 8, 1)),
        saved("GIF").replace(GIF_PICTURE, b"!\xfe" + b"\x01a" * 300 + b"\0" + GIF_PICTURE),
        saved("GIF").replace(GIF_PICTURE, b"!\xfe\0" + GIF_PICTURE),
    ],
    ids=["profiles", "chunks", "camera", "runs", "comments", "comment"],
)
def test_what_may_take_long_for_its_size_is_not_light(content):
    assert not LIGHT.hold(len(content), examine(content))


@pytest.fixture
def pictures(tmp_path):
    """A folder of two pictures and a bomb."""
    for name in ("a.png", "c.png"):
        Image.fromarray(PIXELS).save(tmp_path / name)
    (tmp_path / "b.jpg").write_bytes(jpeg_with_scans(1000, 3000))
    return tmp_path


def test_a_folder_names_the_bomb_or_skips_it(pictures):
    with pytest.raises(DataError, match=r"b\.jpg has more than 100 scans"):
        ImageFolder(pictures, size=(8, 8)).load()
    skipping = ImageFolder(pictures, size=(8, 8), on_error="skip")
    assert len(skipping.load()) == 2
    assert [path.name for path, _ in skipping.skipped] == ["b.jpg"]


def test_a_stream_of_files_goes_on_behind_the_bomb(pictures):
    stream = PictureStream(sorted(pictures.iterdir()), pictures, shape=(8, 8, 3), size=(8, 8))
    (chunk,) = stream.chunks(10)
    assert list(chunk.problems) == [1]
    assert "scans" in chunk.problems[1]


def test_json_lines_go_on_behind_the_bomb(tmp_path):
    lines = [saved("PNG"), jpeg_with_scans(1000, 3000), saved("TIFF")]
    path = tmp_path / "inputs.jsonl"
    path.write_text("\n".join(json.dumps({"image": base64.b64encode(line).decode()}) for line in lines))
    (chunk,) = JsonLines(path, shape=(30, 20, 3)).chunks(10)
    assert list(chunk.problems) == [1]
    assert "the picture has more than 100 scans" in chunk.problems[1]
    np.testing.assert_array_equal(chunk.inputs[0], chunk.inputs[2])


def test_more_pixels_than_the_headers_said_are_not_unpacked(tmp_path, monkeypatch):
    """A file that Pillow understands otherwise than the headers were read must not get away with it."""
    from dissensus.inputs import image_file
    from dissensus.inputs.picture_structure import Structure

    path = tmp_path / "a.png"
    path.write_bytes(saved("PNG"))
    monkeypatch.setattr(image_file, "examine", lambda *_, **__: Structure("PNG", 2, 2))
    with pytest.raises(CostlyPictureError, match="20×30"):
        read_image(path)
