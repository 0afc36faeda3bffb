import numpy as np
import pytest
from PIL import Image

from dissensus.errors import DataError
from dissensus.inputs import ArrayStream, ImageFolder, PictureStream, is_pattern, open_inputs

PIXELS = np.random.default_rng(0).integers(0, 256, (5, 8, 9), np.uint8)


@pytest.mark.parametrize("on_disk", [False, True])
@pytest.mark.parametrize(("size", "start"), [(1, 0), (2, 0), (2, 3), (9, 1), (3, 5), (3, 9)])
def test_arrays_in_parts(tmp_path, on_disk, size, start):
    np.save(tmp_path / "x.npy", PIXELS)
    stream = ArrayStream(tmp_path / "x.npy" if on_disk else PIXELS)
    chunks = list(stream.chunks(size, start))
    assert [name for chunk in chunks for name in chunk.names] == list(range(5))[start:]
    if chunks:
        np.testing.assert_array_equal(np.concatenate([chunk.inputs for chunk in chunks]), PIXELS[start:])
        assert chunks[-1].share == 1
    assert (len(stream), stream.shape) == (5, (8, 9))


def test_rows_that_cannot_be_used():
    rows = np.zeros((4, 3))
    rows[1, 2], rows[3, 0] = np.nan, -np.inf
    (chunk,) = ArrayStream(rows).chunks(9)
    assert sorted(chunk.problems) == [1, 3]
    images = np.zeros((4, 8, 8), np.float32)
    images[0, 0, 0], images[2, 1, 1] = 1.5, np.nan
    (chunk,) = ArrayStream(images).chunks(9)
    assert chunk.problems == {0: "it holds values outside [0, 1]", 2: "it holds NaN or infinite values"}
    integers = np.full((2, 8, 8), 256)
    integers[1] = 255
    (chunk,) = ArrayStream(integers).chunks(9)
    assert chunk.problems == {0: "it holds values outside 0..255"}


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "deep").mkdir()
    for number, pixels in enumerate(PIXELS):
        Image.fromarray(pixels).save(tmp_path / ("deep" if number % 2 else ".") / f"{number}.png")
    return tmp_path


def pictures(folder, **options):
    found = ImageFolder(folder)
    return PictureStream(found.paths, found.root, **options)


def test_pictures_in_parts(folder):
    stream = pictures(folder, shape=(8, 9, 1))
    chunks = list(stream.chunks(2, 1))
    assert [name for chunk in chunks for name in chunk.names] == [
        "2.png",
        "4.png",
        "deep/1.png",
        "deep/3.png",
    ]
    np.testing.assert_array_equal(np.concatenate([c.inputs for c in chunks])[..., 0], PIXELS[[2, 4, 1, 3]])


def test_grey_pictures_for_an_rgb_model(folder):
    (chunk,) = pictures(folder, shape=(8, 9, 3)).chunks(9)
    assert chunk.problems == {}
    np.testing.assert_array_equal(chunk.inputs[0], np.stack([PIXELS[0]] * 3, axis=-1))


def test_pictures_that_cannot_be_used(folder):
    (folder / "0.png").write_bytes(b"no picture")
    Image.new("L", (20, 30)).save(folder / "4.png")
    (chunk,) = pictures(folder, shape=(8, 9, 1)).chunks(9)
    assert sorted(chunk.problems) == [0, 2]
    assert "cannot be read as an image" in chunk.problems[0]
    assert "30×20 and 8×9 was expected" in chunk.problems[2]
    (resized,) = pictures(folder, shape=(8, 9, 1), size=(8, 9)).chunks(9)
    assert sorted(resized.problems) == [0]


def test_colour_pictures_for_a_grey_model(folder):
    for path in folder.rglob("*.png"):
        Image.new("RGB", (9, 8), (9, 99, 9)).save(path)
    (chunk,) = pictures(folder, shape=(8, 9, 1)).chunks(9)
    assert len(chunk.problems) == 5
    assert "is in colour" in chunk.problems[0]


@pytest.mark.parametrize(
    ("pattern", "names"),
    [
        ("*.png", ["0.png", "2.png", "4.png"]),
        ("**/*.png", ["0.png", "2.png", "4.png", "deep/1.png", "deep/3.png"]),
        ("d??p/[13].png", ["deep/1.png", "deep/3.png"]),
        ("*", ["0.png", "2.png", "4.png"]),
    ],
)
def test_patterns(folder, pattern, names):
    (folder / "notes.txt").write_text("no picture")
    found = open_inputs(str(folder / pattern))
    assert isinstance(found, ImageFolder)
    assert [path.relative_to(folder).as_posix() for path in found.paths] == names
    assert found.root == folder


def test_patterns_without_a_match(folder):
    with pytest.raises(DataError, match=r"\*\.jpg matches no images"):
        open_inputs(str(folder / "*.jpg"))


def test_a_file_named_like_a_pattern_is_a_file(folder):
    (folder / "0.png").rename(folder / "[0].png")
    assert not is_pattern(folder / "[0].png")
    np.testing.assert_array_equal(open_inputs(folder / "[0].png"), PIXELS[:1])


def test_a_file_of_a_single_number_is_no_stream(tmp_path):
    np.save(tmp_path / "x.npy", np.float64(3))
    with pytest.raises(DataError, match=r"x\.npy holds a single number"):
        ArrayStream(tmp_path / "x.npy")
