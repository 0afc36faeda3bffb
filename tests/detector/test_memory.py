"""Fits that leave their inputs on disk: the same gate where they fit, the same promises where they do not."""

import errno

import numpy as np
import pytest
from PIL import Image

from dissensus import BayesianFlow
from dissensus.detector import bounded, windows
from dissensus.errors import DataError, OutputError, SettingsError
from dissensus.inputs import ImageFolder, caching, stored

AMPLE = "64 GB"


@pytest.fixture
def tiny_files(monkeypatch):
    """Chunks and runs of a few inputs each."""
    monkeypatch.setattr(caching, "CHUNK", 2000)
    monkeypatch.setattr(stored, "RUN", 700)


@pytest.fixture
def no_process(monkeypatch):
    """As if Python and torch took no memory: what is given is for inputs."""
    monkeypatch.setattr(bounded, "_step_peak", lambda *_: 0)
    monkeypatch.setattr(bounded, "BATCH", 100)  # held-out inputs at once


def same_draws(one, other):
    for part, own in one.draws_.parts.items():
        for name, stack in own.stacks.items():
            np.testing.assert_array_equal(stack, other.draws_.parts[part].stacks[name])


@pytest.fixture
def on_disk(inputs, tmp_path):
    """The same inputs as a file or folder of one kind."""

    def write(kind, form):
        data = inputs[kind]
        place = tmp_path / f"data.{form}"
        if form == "npy":
            np.save(place, data)
        elif form == "folder":
            place.mkdir()
            for number, picture in enumerate(data):
                Image.fromarray(picture).save(place / f"{number:03d}.png")
        elif form == "float.npy":
            np.save(place, data.astype(np.float32) / np.float32(255))
        else:
            import pandas as pd

            frame = pd.DataFrame(data, columns=list("abcd"))
            frame["kind"] = np.where(data[:, 0] > 0, "high", "low")
            frame.to_parquet(place, row_group_size=9)
        return place

    return write


@pytest.mark.parametrize(
    ("kind", "form"),
    [
        ("pictures", "npy"),
        ("pictures", "folder"),
        ("pictures", "float.npy"),
        ("rows", "npy"),
        ("rows", "parquet"),
    ],
)
def test_inputs_that_fit_give_the_same_gate(quick, on_disk, tiny_files, kind, form):
    place = on_disk(kind, form)
    gate, whole = quick().fit(place, memory=AMPLE), quick().fit(place)
    same_draws(gate, whole)
    assert gate.preprocessor_.config() == whole.preprocessor_.config()
    for name, values in whole.calibration_statistics_.items():
        np.testing.assert_array_equal(gate.calibration_statistics_[name], values)
    np.testing.assert_array_equal(gate.examples_.inputs, whole.examples_.inputs)


def small(pictures):
    """Memory for two windows of two batches of 16 pictures a chain."""
    return int(2 * 2 * 32 * pictures[0].size / windows.WINDOWS) + 100


@pytest.fixture(scope="module")
def ordered(pictures, tmp_path_factory):
    place = tmp_path_factory.mktemp("ordered") / "pictures.npy"
    np.save(place, np.concatenate([pictures] * 3))
    return place


class Reader:
    """Counts how many training inputs are held at most."""

    def __init__(self, monkeypatch):
        self.most = 0
        read = bounded.BlockData._read

        def counted(data, runs):
            found = read(data, runs)
            self.most = max(self.most, len(found))
            return found

        monkeypatch.setattr(bounded.BlockData, "_read", counted)


def test_inputs_that_do_not_fit_are_read_by_windows(quick, ordered, pictures, no_process, monkeypatch):
    reader = Reader(monkeypatch)
    gate = quick().fit(ordered, memory=small(pictures))
    assert reader.most == 32
    assert gate.fitted_rows_ == {"train": 174, "validation": 30, "calibration": 36}
    again = quick().fit(ordered, memory=small(pictures))
    same_draws(gate, again)
    assert np.isfinite(gate.score_samples(pictures)).all()


@pytest.mark.parametrize("form", ["csv", "parquet"])
def test_rows_of_a_table_are_read_so_many_at_once(tmp_path, no_process, monkeypatch, form):
    import pandas as pd

    from dissensus.inputs.standardiser import Standardiser
    from dissensus.inputs.stored_tables import CELL
    from dissensus.inputs.storing import COPIES
    from dissensus.inputs.table_encoder import TableEncoder

    frame = pd.DataFrame(np.random.default_rng(0).normal(size=(1500, 4)), columns=list("abcd"))
    frame["kind"] = ["high" if value > 0 else "low" for value in frame["a"]]
    place, memory = tmp_path / f"table.{form}", 1_000_000
    getattr(frame, f"to_{form}")(place, index=False)
    seen = {"learnt": [], "encoded": [], "scaled": []}
    learn, encode, scale = TableEncoder.fit.__func__, TableEncoder.transform, Standardiser.fit.__func__

    def learnt(cls, table):
        seen["learnt"].append(len(table))
        return learn(cls, table)

    def encoded(encoder, table):
        seen["encoded"].append(len(table))
        return encode(encoder, table)

    def scaled(cls, rows):
        seen["scaled"].append(rows.nbytes)
        return scale(cls, rows)

    monkeypatch.setattr(TableEncoder, "fit", classmethod(learnt))
    monkeypatch.setattr(TableEncoder, "transform", encoded)
    monkeypatch.setattr(Standardiser, "fit", classmethod(scaled))
    BayesianFlow(epochs=1, false_alarm_rate=0.2, device="cpu").fit(place, memory=memory)
    most = memory * bounded.LEARNING
    assert 0 < max(seen["learnt"]) * 5 * CELL <= most
    assert 0 < max(seen["encoded"]) * 5 * CELL <= most
    assert sum(seen["encoded"]) == 1500
    assert 0 < max(seen["scaled"]) * COPIES <= most


def test_too_little_memory_for_the_scales_of_wide_rows_is_refused(tmp_path, no_process):
    np.save(tmp_path / "wide.npy", np.random.default_rng(0).normal(size=(400, 50)))
    with pytest.raises(SettingsError, match=r"rows of 50 numbers: at least 200 .*give 2 times as much"):
        BayesianFlow(epochs=1, device="cpu").fit(tmp_path / "wide.npy", memory=1_300_000)


def test_an_interrupted_fit_goes_on_to_the_same_bits(quick, ordered, pictures, no_process, tmp_path):
    def stop(stage, done, total):
        if (stage, done) == ("sampling", 2):
            raise KeyboardInterrupt

    settings = {"memory": small(pictures), "checkpoint": tmp_path}
    with pytest.raises(KeyboardInterrupt):
        quick().fit(ordered, on_progress=stop, **settings)
    seen = []
    gate = quick().fit(ordered, on_progress=lambda *done: seen.append(done[:2]), **settings)
    assert [done for stage, done in seen if stage == "sampling"] == [3, 4]
    same_draws(gate, quick().fit(ordered, memory=small(pictures)))


def test_a_process_that_takes_more_memory_goes_on_with_the_same_windows(
    quick, ordered, pictures, monkeypatch, no_process, tmp_path
):
    def stop(stage, done, total):
        if (stage, done) == ("sampling", 2):
            raise KeyboardInterrupt

    each, memory = pictures[0].size, small(pictures)
    settings = {"memory": memory + 40 * each, "checkpoint": tmp_path}
    with pytest.raises(KeyboardInterrupt):
        quick().fit(ordered, on_progress=stop, **settings)
    monkeypatch.setattr(bounded, "_step_peak", lambda *_: memory // 3)  # what is measured is never the same
    seen, reader = [], Reader(monkeypatch)
    quick().fit(ordered, on_progress=lambda *done: seen.append(done[:2]), **settings)
    assert [done for stage, done in seen if stage == "sampling"] == [3, 4]
    assert reader.most == 32


def test_what_was_decoded_is_not_decoded_again(quick, on_disk, tiny_files, monkeypatch, tmp_path):
    place, kept = on_disk("pictures", "folder"), tmp_path / "kept"
    run, asked = ImageFolder.run, []

    def third_time_killed(folder, start, stop):
        asked.append(start)
        if len(asked) == 3:
            raise KeyboardInterrupt
        return run(folder, start, stop)

    monkeypatch.setattr(ImageFolder, "run", third_time_killed)
    with pytest.raises(KeyboardInterrupt):
        quick().fit(place, memory=AMPLE, checkpoint=kept)
    gate = quick().fit(place, memory=AMPLE, checkpoint=kept)
    assert asked == [0, 16, 32, 32, 48, 64]
    same_draws(gate, quick().fit(place))


def test_a_full_disk_is_one_sentence(quick, tiny_files, monkeypatch, tmp_path):

    def full(*_):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(caching.np, "save", full)
    folder = tmp_path / "pictures"
    folder.mkdir()
    for number in range(8):
        Image.fromarray(np.full((10, 12), number * 9, np.uint8)).save(folder / f"{number}.png")
    with pytest.raises(OutputError, match="free some space"):
        quick().fit(folder, memory=AMPLE)


@pytest.mark.parametrize("where", ["a file", "read-only"])
def test_a_cache_that_cannot_be_made_is_one_sentence(rows, tmp_path, monkeypatch, where):
    """What root may do is never forbidden by a mode, so a system that forbids it is made up."""
    if where == "a file":
        (tmp_path / "inputs").write_text("precious")
    else:

        def forbidden(self, *_, **__):
            raise PermissionError(errno.EACCES, "Permission denied", str(self))

        monkeypatch.setattr(caching.Path, "mkdir", forbidden)
    with pytest.raises(OutputError, match=r"the folder for decoded inputs .*inputs.* cannot be written \("):
        caching.store_array(rows, tmp_path / "inputs")


def test_no_place_for_decoded_inputs_is_one_sentence(quick, rows, monkeypatch):
    def none(*_, **__):
        raise FileNotFoundError(errno.ENOENT, "No usable temporary directory found in ['/tmp']")

    monkeypatch.setattr(bounded.tempfile, "TemporaryDirectory", none)
    with pytest.raises(OutputError, match=r"decoded inputs.*No usable temporary directory"):
        quick().fit(rows, memory=AMPLE)


def test_calls_that_cannot_work(quick, rows, pictures, no_process, tmp_path):
    np.save(tmp_path / "x.npy", pictures)
    with pytest.raises(SettingsError, match=r"too little.*give at least .* MB, or a smaller batch_size"):
        quick().fit(tmp_path / "x.npy", memory="1 kB")
    with pytest.raises(SettingsError, match="contamination takes all inputs at once"):
        quick().fit(rows, memory=AMPLE, contamination=0.1)
    with pytest.raises(SettingsError, match="an amount such as '2 GB'"):
        quick().fit(rows, memory="plenty")
    np.save(tmp_path / "bad.npy", np.where(np.arange(400).reshape(100, 4) == 77, np.nan, 1.0))
    with pytest.raises(DataError, match="NaN"):
        quick().fit(tmp_path / "bad.npy", memory=AMPLE)
