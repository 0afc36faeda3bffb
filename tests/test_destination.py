"""A file that a person names is replaced as a whole; a pipe, a device or stdout is written to as it is."""

import errno
import os
import stat
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from dissensus.destination import Destination, check_folder, write_output
from dissensus.errors import OutputError, SettingsError

unix = pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="this system has no pipes by name")


def names(folder):
    return sorted(path.name for path in folder.iterdir())


def device(path, major, minor):
    """A character device made for this test: never use one in /dev, which a mistake would replace."""
    try:
        os.mknod(path, 0o666 | stat.S_IFCHR, os.makedev(major, minor))
        os.close(os.open(path, os.O_WRONLY))
    except (OSError, AttributeError):
        pytest.skip("devices cannot be made or used here")
    return path


@pytest.fixture
def null(tmp_path):
    return device(tmp_path / "null", 1, 3)


@pytest.fixture
def full(tmp_path):
    """A device that is always full."""
    return device(tmp_path / "full", 1, 7)


def read_by_another_thread(pipe):
    """Gives a function that waits for all that was written to the pipe."""
    found = []
    reader = threading.Thread(target=lambda: found.append(pipe.read_bytes()), daemon=True)
    reader.start()

    def result():
        reader.join(timeout=600)
        return found[0]

    return result


def test_a_file_is_replaced_at_the_end(tmp_path):
    target = tmp_path / "rows"
    target.write_text("old")
    with Destination(target) as place, place.text() as text:
        text.write("né\n")
        text.flush()
        assert target.read_text() == "old"
    assert target.read_bytes() == "né\n".encode()
    assert names(tmp_path) == ["rows"]


@pytest.mark.parametrize("kind", ["there", "dangling", "chain"])
def test_a_link_stays_and_what_it_names_is_replaced(tmp_path, kind):
    (tmp_path / "data").mkdir()
    real, link = tmp_path / "data" / "rows", tmp_path / "link"
    if kind == "there":
        real.write_text("old")
    if kind == "chain":
        (tmp_path / "middle").symlink_to("data/rows")
        link.symlink_to(tmp_path / "middle")
    else:
        link.symlink_to("data/rows")
    write_output(link, b"new")
    assert link.is_symlink()
    assert not real.is_symlink()
    assert real.read_text() == "new"
    assert names(tmp_path / "data") == ["rows"]


def test_a_failure_behind_a_link_keeps_the_old_content(tmp_path):
    (tmp_path / "real").write_text("old")
    (tmp_path / "link").symlink_to("real")

    def write_half():
        with Destination(tmp_path / "link") as place, place.binary() as written:
            written.write(b"half")
            raise RuntimeError

    with pytest.raises(RuntimeError):
        write_half()
    assert (tmp_path / "real").read_text() == "old"
    assert names(tmp_path) == ["link", "real"]


def test_names_that_cannot_be_written_are_refused_before_any_work(tmp_path, monkeypatch):
    (tmp_path / "file").write_text("mine")
    (tmp_path / "folder").mkdir()
    (tmp_path / "to-folder").symlink_to("folder")
    (tmp_path / "loop").symlink_to("loop")
    (tmp_path / "nowhere").symlink_to("none/rows")
    for name, words in {
        "folder": "is a folder",
        "to-folder": "is a folder",
        "none/rows": "cannot be written: there is no folder .*none; make it",
        "file/rows": "cannot be written",
        "loop": "cannot be written",
        "nowhere": "cannot be written",
    }.items():
        with pytest.raises(SettingsError, match=words) as error:
            Destination(tmp_path / name)
        assert str(tmp_path / name) in str(error.value)
    before = names(tmp_path)

    def read_only(*_, **__):
        raise OSError(errno.EROFS, os.strerror(errno.EROFS))

    monkeypatch.setattr("tempfile.TemporaryFile", read_only)
    with pytest.raises(SettingsError, match=r"rows cannot be written \(Read-only file system\)"):
        Destination(tmp_path / "rows")
    assert names(tmp_path) == before
    assert (tmp_path / "file").read_text() == "mine"


@pytest.mark.skipif(not Path("/proc/self").is_dir(), reason="this system has no /proc")
def test_a_folder_that_not_even_root_may_write_to():
    with pytest.raises(SettingsError, match="/proc/rows cannot be written"):
        Destination("/proc/rows")
    with pytest.raises(SettingsError, match="/proc/results cannot be written"):
        check_folder("/proc/results")


def test_folders_are_checked_and_not_made(tmp_path, monkeypatch):
    check_folder(tmp_path / "a" / "b")
    (tmp_path / "file").write_text("mine")
    for folder in (tmp_path / "file", tmp_path / "file" / "below"):
        with pytest.raises(SettingsError, match="name a folder"):
            check_folder(folder)
    with pytest.raises(SettingsError, match="stdout"):
        check_folder("-")
    assert names(tmp_path) == ["file"]


@unix
def test_a_pipe_is_written_to(tmp_path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    found = read_by_another_thread(pipe)
    write_output(pipe, b"x" * 300_000)  # more than a pipe holds
    assert found() == b"x" * 300_000
    assert stat.S_ISFIFO(pipe.stat().st_mode)


@unix
def test_a_pipe_ends_for_its_reader_even_if_the_work_fails(tmp_path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    found = read_by_another_thread(pipe)

    def fail():
        with Destination(pipe):
            raise RuntimeError

    with pytest.raises(RuntimeError):
        fail()
    assert found() == b""


@unix
def test_a_reader_that_leaves(tmp_path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    with Destination(pipe) as place:
        os.close(reader)
        with pytest.raises(BrokenPipeError):
            place.write(b"rows")


def test_a_device_is_written_to(null, tmp_path):
    (tmp_path / "link").symlink_to("null")
    for name in (null, tmp_path / "link"):
        write_output(name, b"rows")
        assert stat.S_ISCHR(null.stat().st_mode)
        assert null.stat().st_rdev == os.makedev(1, 3)
    assert (tmp_path / "link").is_symlink()
    assert names(tmp_path) == ["link", "null"]


@pytest.mark.parametrize("kind", ["text", "binary"])
def test_a_full_device_is_told_once(full, kind):
    with Destination(full) as place:
        with (
            pytest.raises(
                OutputError, match=r"full cannot be written \(No space left on device\): free some"
            ),
            getattr(place, kind)() as written,
        ):
            written.write("rows" if kind == "text" else b"rows")
        with place.binary() as written:
            written.write(b"more")  # a layer above may try again: it was told


def test_a_disk_is_refused(tmp_path):
    try:
        os.mknod(tmp_path / "disk", 0o600 | stat.S_IFBLK, os.makedev(7, 250))
    except (OSError, AttributeError):
        pytest.skip("devices cannot be made here")
    with pytest.raises(SettingsError, match="is a disk"):
        Destination(tmp_path / "disk")


def test_a_full_disk_keeps_the_old_content(tmp_path, monkeypatch):
    (tmp_path / "rows").write_text("old")

    def no_space(*_):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    place = Destination(tmp_path / "rows")
    monkeypatch.setattr("dissensus.atomic.os.fsync", no_space)
    with pytest.raises(OutputError, match=r"rows cannot be written \(No space left on device\): free some"):
        place.write(b"new")
    assert (tmp_path / "rows").read_text() == "old"
    assert names(tmp_path) == ["rows"]


OWN_FILES = """
import sys
from dissensus.destination import Destination
print("before")
with Destination(sys.argv[1]) as place, place.text() as text:
    text.write("rows\\n")
print("after")
"""


@pytest.mark.skipif(not Path("/proc/self/fd").is_dir(), reason="this system has no /proc")
@pytest.mark.parametrize("name", ["-", "link"])
def test_stdout_sent_to_a_file_is_written_to_and_not_replaced(tmp_path, name):
    """The link is what /dev/stdout is on Linux, in a place where a mistake destroys nothing."""
    (tmp_path / "link").symlink_to("/proc/self/fd/1")
    log = tmp_path / "log"
    log.write_text("earlier\n")
    before = log.stat().st_ino
    with log.open("a") as out:
        command = [sys.executable, "-c", OWN_FILES, name]
        subprocess.run(command, stdout=out, cwd=tmp_path, check=True)
    assert log.read_text() == "earlier\nbefore\nrows\nafter\n"
    assert log.stat().st_ino == before
    assert names(tmp_path) == ["link", "log"]


@pytest.mark.skipif(not Path("/proc/self/fd").is_dir(), reason="this system has no /proc")
def test_files_by_number(tmp_path):
    reading, writing = os.pipe()
    try:
        write_output(f"/proc/self/fd/{writing}", b"rows")
        assert os.read(reading, 100) == b"rows"
        write_output(f"/dev/fd/{writing}", b"more")  # ours stays open
        assert os.read(reading, 100) == b"more"
        with pytest.raises(SettingsError, match="to read from"):
            Destination(f"/proc/self/fd/{reading}")
    finally:
        os.close(reading)
        os.close(writing)
    with pytest.raises(SettingsError, match="no such file"):
        Destination(f"/proc/self/fd/{writing}")
