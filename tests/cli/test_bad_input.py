"""Whatever is wrong, the answer is one sentence that names it, exit code 2, and an untouched disk."""

import numpy as np
import pytest
from PIL import Image


def refused(answer, *words):
    assert answer.code == 2, (answer.out, answer.err)
    assert answer.out == ""
    assert "Traceback" not in answer.err
    assert len(answer.err.strip().splitlines()) == 1, answer.err
    for word in words:
        assert str(word) in answer.err, answer.err


def saved(path, array):
    np.save(path, array)
    return path


@pytest.fixture
def images():
    return np.random.default_rng(0).integers(0, 256, (40, 8, 8), np.uint8)


def test_nothing_there(fit, dissensus, gate, tmp_path):
    refused(fit(tmp_path / "none.npy", tmp_path / "gate"), "none.npy")
    refused(fit("imagenet", tmp_path / "gate"), "imagenet", "fashion-mnist")
    refused(dissensus("score", gate, tmp_path / "none"), "none")
    refused(dissensus("score", tmp_path / "none", gate), "none", "no saved detector")
    assert list(tmp_path.iterdir()) == []


def test_empty_folder(fit, tmp_path):
    (tmp_path / "empty").mkdir()
    refused(fit(tmp_path / "empty", tmp_path / "gate"), "empty", "holds no images")


def test_folder_of_one_image(fit, tmp_path):
    (tmp_path / "one").mkdir()
    Image.new("L", (8, 8)).save(tmp_path / "one" / "a.png")
    refused(fit(tmp_path / "one", tmp_path / "gate"), "one", "at least 5")


def test_corrupt_image_among_good_ones(fit, dissensus, gate, folder, tmp_path):
    whole = (folder / "2.png").read_bytes()
    (folder / "2.png").write_bytes(whole[: len(whole) // 2])
    refused(fit(folder, tmp_path / "gate"), folder / "2.png")
    refused(dissensus("score", gate, folder), folder / "2.png")


def test_mixed_sizes(fit, folder, tmp_path):
    Image.new("L", (9, 8)).save(folder / "other.png")
    refused(fit(folder, tmp_path / "gate"), "other.png", "--resize")


@pytest.mark.parametrize("value", [np.nan, np.inf])
@pytest.mark.parametrize("shape", [(40, 3), (40, 8, 8)])
def test_values_that_are_no_numbers(fit, tmp_path, value, shape):
    array = np.random.default_rng(0).uniform(size=shape)
    array[17].flat[2] = value
    path = saved(tmp_path / "data.npy", array)
    refused(fit(path, tmp_path / "gate"), f"{path} holds NaN or infinite values", "row 17")


def test_integers_out_of_range(fit, tmp_path, images):
    path = saved(tmp_path / "data.npy", images.astype(np.int64) + 1)
    images[:] = 255
    refused(fit(saved(path, images.astype(np.int64) + 1), tmp_path / "gate"), path, "0..255")


def test_wrong_channels_or_size_at_scoring(dissensus, gate, images, tmp_path):
    path = tmp_path / "data.npy"
    refused(
        dissensus("score", gate, saved(path, np.stack([images, images, 255 - images], axis=-1))),
        path,
        "is in colour",
    )
    refused(dissensus("score", gate, saved(path, np.pad(images, ((0, 0), (1, 1), (0, 0))))), path, "10×8")
    refused(dissensus("score", gate, saved(path, np.zeros((4, 3)))), path, "takes images")


def test_colour_pictures_for_a_grey_gate(dissensus, gate, tmp_path):
    Image.new("RGB", (8, 8), (9, 99, 9)).save(tmp_path / "colour.png")
    refused(dissensus("score", gate, tmp_path / "colour.png"), "colour.png", "is in colour")


def test_outputs_that_cannot_be_written(fit, dissensus, gate, images_file, tmp_path):
    (tmp_path / "file").write_text("precious")
    refused(fit(images_file, tmp_path / "file"), "file", "no saved detector")
    refused(fit(images_file, tmp_path / "file" / "gate"), "cannot be written")
    refused(dissensus("score", gate, images_file, "-o", tmp_path), "is a folder")
    refused(dissensus("score", gate, images_file, "-o", tmp_path / "none" / "rows.csv"), "cannot be written")
    refused(dissensus("demo", "-o", tmp_path / "file"), "cannot be written")
    assert (tmp_path / "file").read_text() == "precious"
    assert [path.name for path in tmp_path.iterdir()] == ["file"]


def test_outputs_that_belong_to_others(fit, images_file, gate, tmp_path):
    (tmp_path / "thesis").mkdir()
    (tmp_path / "thesis" / "chapter.tex").write_text("precious")
    refused(fit(images_file, tmp_path / "thesis"), "thesis", "choose another name")
    (tmp_path / "thesis" / "config.json").write_text("{}")
    refused(fit(images_file, tmp_path / "thesis"), "thesis", "choose another name")
    assert (tmp_path / "thesis" / "chapter.tex").read_text() == "precious"
    (tmp_path / "settings").mkdir()
    (tmp_path / "settings" / "config.json").write_text("{}")
    refused(fit("none.npy", tmp_path / "settings"), "settings", "choose another name")


@pytest.mark.parametrize("name", ["config.json", "draws.safetensors", "calibration.safetensors"])
def test_truncated_gate(fit, dissensus, images_file, tmp_path, name):
    assert fit(images_file, tmp_path / "gate").code == 0
    file = tmp_path / "gate" / name
    file.write_bytes(file.read_bytes()[:-20])
    refused(dissensus("score", tmp_path / "gate", images_file), name, "again")


def test_checkpoint_of_other_settings(fit, images_file, tmp_path):
    kept = ["--checkpoint", tmp_path / "kept"]
    assert fit(images_file, tmp_path / "gate", *kept).code == 0
    refused(fit(images_file, tmp_path / "other", *kept, "--seed", 1), "kept", "other settings or data")


@pytest.mark.parametrize(
    ("option", "value", "word"),
    [
        ("--variant", 3, "variant must be 1 or 2"),
        ("--statistic", "guess", "typicality"),
        ("--false-alarm-rate", 1.5, "between 0 and 1"),
        ("--draws", 3, "multiple of chains"),
        ("--draws", 40, "epochs"),
        ("--observation", "poisson", "bernoulli"),
        ("--device", "abacus", "abacus"),
        ("--resize", "8", "as in 64x64"),
        ("--resize", "8x8", "image files and folders only"),
    ],
)
def test_settings_that_cannot_work(fit, images_file, tmp_path, option, value, word):
    refused(fit(images_file, tmp_path / "gate", option, value), word)
    assert not (tmp_path / "gate").exists()
