import numpy as np
import pytest
from PIL import Image

from dissensus.errors import DataError
from dissensus.inputs import ImageFolder

PIXELS = np.random.default_rng(0).integers(0, 256, (7, 9, 12, 3), np.uint8)


def write(root, names, pixels=PIXELS):
    for name, picture in zip(names, pixels, strict=False):
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        Image.fromarray(picture).save(path)
    return root


@pytest.fixture
def folder(tmp_path):
    # Written in another order than they are to be read in.
    return write(tmp_path, ["c.png", "b/2.bmp", "b/10.png", "b/d/x.PNG", "a.tiff"])


EXPECTED = ["a.tiff", "b/10.png", "b/2.bmp", "b/d/x.PNG", "c.png"]
ROWS = [4, 2, 1, 3, 0]


def test_nested_sorted_and_whole(folder):
    images = ImageFolder(folder)
    assert len(images) == 5
    assert [path.relative_to(folder).as_posix() for path in images.paths] == EXPECTED
    assert images.shape == (9, 12, 3)
    np.testing.assert_array_equal(images.load(), PIXELS[ROWS])


@pytest.mark.parametrize("size", [1, 2, 3, 5, 6])
def test_batches_cover_everything_once(folder, size):
    images = ImageFolder(folder)
    batches = list(images.batches(size))
    assert all(len(paths) == len(pixels) == size for paths, pixels in batches[:-1])
    assert [path for paths, _ in batches for path in paths] == list(images.paths)
    np.testing.assert_array_equal(np.concatenate([pixels for _, pixels in batches]), PIXELS[ROWS])


def test_batches_are_read_as_they_are_asked_for(folder):
    batches = ImageFolder(folder).batches(2)
    next(batches)
    for name in EXPECTED[2:]:
        (folder / name).unlink()
    with pytest.raises(DataError, match=r"2\.bmp"):
        next(batches)


def test_other_files_are_ignored(folder):
    for name in ("README.txt", ".DS_Store", ".hidden.png", ".git/x.png", "b/labels.csv", "noext", "data.h5"):
        path = folder / name
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(b"not an image")
    assert len(ImageFolder(folder)) == 5


@pytest.mark.parametrize("files", [[], ["README.txt"]])
def test_an_empty_folder_is_refused(tmp_path, files):
    for name in files:
        (tmp_path / name).write_text("no image")
    with pytest.raises(DataError, match="holds no images"):
        ImageFolder(tmp_path)


def test_a_folder_that_is_none_is_refused(tmp_path):
    (tmp_path / "file.png").write_bytes(b"")
    for path in (tmp_path / "absent", tmp_path / "file.png"):
        with pytest.raises(DataError, match="is not a folder"):
            ImageFolder(path)


def test_one_image(tmp_path):
    images = ImageFolder(write(tmp_path, ["only.png"]))
    assert len(images) == 1
    np.testing.assert_array_equal(images.load(), PIXELS[:1])


@pytest.mark.parametrize("victim", [0, 2, 4])
def test_a_corrupt_image_is_named_or_skipped(folder, victim):
    broken = folder / EXPECTED[victim]
    broken.write_bytes(broken.read_bytes()[:60])
    with pytest.raises(DataError) as caught:
        ImageFolder(folder).load()
    assert str(broken) in str(caught.value)

    images = ImageFolder(folder, on_error="skip")
    left = [row for row in ROWS if row != ROWS[victim]]
    for _ in range(2):  # a second pass reports it once
        np.testing.assert_array_equal(images.load(), PIXELS[left])
        assert [path for path, _ in images.skipped] == [broken]
    assert str(broken) in images.skipped[0][1]
    assert len(images) == 5
    assert sum(len(pixels) for _, pixels in images.batches(3)) == 4


def test_nothing_readable_is_an_error_even_when_skipping(tmp_path):
    for name in ("a.png", "b.png"):
        (tmp_path / name).write_bytes(b"no")
    with pytest.raises(DataError, match="none of them can be read"):
        ImageFolder(tmp_path, on_error="skip").load()


@pytest.mark.parametrize("on_error", ["raise", "skip"])
def test_mixed_sizes_name_both_files_and_the_remedy(folder, on_error):
    Image.fromarray(PIXELS[0][:8]).save(folder / "b/2.bmp")
    with pytest.raises(DataError) as caught:
        ImageFolder(folder, on_error=on_error).load()
    message = str(caught.value)
    for part in (str(folder / "b/2.bmp"), "8×12", str(folder / "a.tiff"), "9×12", "--resize"):
        assert part in message
    assert ImageFolder(folder, size=(16, 10)).load().shape == (5, 16, 10, 3)


def test_one_picture_in_colour_makes_all_rgb(tmp_path):
    write(tmp_path, ["b.png", "c.png"])
    Image.fromarray(PIXELS[0, ..., 0]).save(tmp_path / "a.png")
    assert ImageFolder(tmp_path).load().shape == (3, 9, 12, 3)
    assert ImageFolder(tmp_path, channels=3).load().shape == (3, 9, 12, 3)
    (tmp_path / "a.png").rename(tmp_path / "z.png")
    assert ImageFolder(tmp_path).load().shape == (3, 9, 12, 3)
    assert ImageFolder(tmp_path, channels=1).load().shape == (3, 9, 12)


def test_bad_arguments(folder):
    with pytest.raises(DataError, match="on_error"):
        ImageFolder(folder, on_error="ignore")
    with pytest.raises(DataError, match="size"):
        next(ImageFolder(folder).batches(0))
