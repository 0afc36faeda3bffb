import warnings
from io import BytesIO

import numpy as np
import pytest
from PIL import Image

from dissensus.errors import DataError
from dissensus.inputs import image_suffixes, read_image

RNG = np.random.default_rng(0)
GREY = RNG.integers(0, 256, (9, 12), np.uint8)
RGB = RNG.integers(0, 256, (9, 12, 3), np.uint8)


def saved(tmp_path, image, name="picture.png", **options):
    path = tmp_path / name
    image.save(path, **options)
    return path


@pytest.mark.parametrize("name", ["p.png", "p.bmp", "p.tiff", "p.ppm", "p.PNG"])
@pytest.mark.parametrize("pixels", [GREY, RGB])
def test_lossless_formats_give_the_same_pixels(tmp_path, name, pixels):
    np.testing.assert_array_equal(read_image(saved(tmp_path, Image.fromarray(pixels), name)), pixels)


@pytest.mark.parametrize("name", ["p.jpg", "p.webp", "p.gif"])
def test_other_formats_are_read(tmp_path, name):
    smooth = np.linspace(0, 255, 144).astype(np.uint8).reshape(12, 12)
    read = read_image(saved(tmp_path, Image.fromarray(smooth), name), channels=1)
    assert np.abs(read.astype(int) - smooth).max() < 24


def test_grey_and_rgb_on_request(tmp_path):
    grey = saved(tmp_path, Image.fromarray(GREY), "grey.png")
    colour = saved(tmp_path, Image.fromarray(RGB), "colour.png")
    np.testing.assert_array_equal(read_image(grey, channels=3), np.repeat(GREY[..., None], 3, axis=2))
    luma = RGB @ np.array([0.299, 0.587, 0.114])  # ITU-R 601-2, as Pillow documents
    assert np.abs(read_image(colour, channels=1) - luma).max() <= 1


def test_sixteen_bits_are_rounded_to_eight(tmp_path):
    deep = RNG.integers(0, 65536, (9, 12)).astype(np.uint16)
    deep[0, :2] = 0, 65535
    for name in ("deep.png", "deep.tiff"):
        read = read_image(saved(tmp_path, Image.fromarray(deep), name))
        np.testing.assert_array_equal(read, np.round(deep / 257))


def test_black_and_white_becomes_0_and_255(tmp_path):
    bits = GREY > 127
    np.testing.assert_array_equal(read_image(saved(tmp_path, Image.fromarray(bits))), np.where(bits, 255, 0))


def test_a_palette_becomes_its_colours(tmp_path):
    image = Image.fromarray(RGB).quantize(16)
    np.testing.assert_array_equal(read_image(saved(tmp_path, image)), np.asarray(image.convert("RGB")))


@pytest.mark.parametrize(("mode", "pixels"), [("RGBA", RGB), ("LA", GREY)])
def test_transparent_parts_are_white(tmp_path, mode, pixels):
    image = Image.fromarray(pixels).convert(mode)
    alpha = np.full((9, 12), 255, np.uint8)
    alpha[:, :6] = 0
    image.putalpha(Image.fromarray(alpha))
    read = read_image(saved(tmp_path, image))
    assert read.shape == pixels.shape
    assert (read[:, :6] == 255).all()
    np.testing.assert_array_equal(read[:, 6:], pixels[:, 6:])


def test_a_transparent_palette_entry_is_white(tmp_path):
    image = Image.fromarray(np.array([[0, 1]] * 8, np.uint8)).convert("P")
    image.putpalette([200, 0, 0, 0, 0, 200])
    read = read_image(saved(tmp_path, image, transparency=0))
    assert read[0].tolist() == [[255, 255, 255], [0, 0, 200]]


def test_cmyk_becomes_rgb(tmp_path):
    image = Image.fromarray(np.full((9, 12, 3), [250, 10, 10], np.uint8)).convert("CMYK")
    read = read_image(saved(tmp_path, image, "ink.tiff"))
    assert np.abs(read.astype(int) - [250, 10, 10]).max() <= 2


def test_the_orientation_is_applied(tmp_path):
    exif = Image.Exif()
    exif[0x0112] = 6  # shown after a quarter turn to the right
    read = read_image(saved(tmp_path, Image.fromarray(GREY), exif=exif))
    np.testing.assert_array_equal(read, np.rot90(GREY, -1))


def test_resizes_to_height_and_width(tmp_path):
    ramp = np.tile(np.linspace(0, 240, 16).astype(np.uint8), (8, 1))
    read = read_image(saved(tmp_path, Image.fromarray(ramp)), size=(10, 32))
    assert read.shape == (10, 32)
    np.testing.assert_allclose(
        read[3, 4:-4], np.interp(np.arange(4, 28), np.arange(16) * 2 + 0.5, ramp[0]), atol=1.5
    )


def test_floating_point_and_huge_integers_are_refused(tmp_path):
    floats = saved(tmp_path, Image.fromarray(GREY.astype(np.float32)), "f.tiff")
    with pytest.raises(DataError, match="floating-point"):
        read_image(floats)
    wide = saved(tmp_path, Image.fromarray(GREY.astype(np.int32) + 70000), "i.tiff")
    with pytest.raises(DataError, match=r"0\.\.65535"):
        read_image(wide)


@pytest.mark.parametrize("limit", [60, 30])  # Pillow warns above its limit and refuses above twice its limit
def test_decompression_bombs_are_refused(tmp_path, monkeypatch, limit):
    path = saved(tmp_path, Image.fromarray(GREY))
    monkeypatch.setattr(Image, "MAX_IMAGE_PIXELS", limit)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # as outside of the tests, where a warning alone stops nothing
        with pytest.raises(DataError, match=r"picture\.png is refused"):
            read_image(path)


def test_damaged_files_are_named(tmp_path):
    path = saved(tmp_path, Image.fromarray(RGB))
    whole = path.read_bytes()
    for content in (b"", b"hello", whole[:20], whole[: len(whole) // 2]):
        path.write_bytes(content)
        with pytest.raises(DataError, match=r"picture\.png cannot be read"):
            read_image(path)
    with pytest.raises(DataError, match="absent"):
        read_image(tmp_path / "absent.png")


def test_a_picture_that_needs_an_external_program_is_not_opened(tmp_path):
    disguised = tmp_path / "picture.png"
    Image.fromarray(RGB).save(disguised, format="EPS")
    with pytest.raises(DataError, match="cannot be read"):
        read_image(disguised)
    assert not {".eps", ".ps", ".h5", ".mpg", ".pdf", ".txt"} & set(image_suffixes())


def test_bad_requests_are_refused(tmp_path):
    path = saved(tmp_path, Image.fromarray(RGB))
    with pytest.raises(DataError, match="channels"):
        read_image(path, channels=4)
    with pytest.raises(DataError, match="size"):
        read_image(path, size=(0, 8))


@pytest.mark.parametrize("mode", ["RGBA", "LA"])
def test_transparent_parts_are_white_whatever_the_height(mode, monkeypatch):
    """They are laid over white a strip at a time, and it does not show."""
    random = np.random.default_rng(0)
    pixels = random.integers(0, 256, (50, 7, 4), dtype=np.uint8)
    picture, file = Image.fromarray(pixels).convert(mode), BytesIO()
    picture.save(file, "PNG")
    whole = read_image(BytesIO(file.getvalue()), channels=3)
    monkeypatch.setattr("dissensus.inputs.image_file.STRIP", 8)
    np.testing.assert_array_equal(read_image(BytesIO(file.getvalue()), channels=3), whole)
    layered = picture.convert("RGBA")
    white = Image.new("RGBA", layered.size, (255, 255, 255, 255))
    expected = Image.alpha_composite(white, layered).convert("RGB")
    wanted = expected.convert("L").convert("RGB") if mode == "LA" else expected
    np.testing.assert_array_equal(whole, np.asarray(wanted))
