"""A file is replaced as a whole or not at all."""

import os
import subprocess
import sys

import pytest

from dissensus.atomic import atomic_path


@pytest.fixture
def target(tmp_path):
    (tmp_path / "target").write_text("old")
    return tmp_path / "target"


def names(target):
    return {path.name for path in target.parent.iterdir()}


@pytest.mark.parametrize("give", [str, lambda path: path])
def test_a_block_that_ends_well_replaces_the_target(target, give):
    with atomic_path(give(target)) as temporary:
        temporary.write_text("new")
        assert temporary.parent == target.parent  # a move within one file system
        assert target.read_text() == "old"
    assert target.read_text() == "new"
    assert names(target) == {"target"}


def test_a_target_that_was_not_there_is_made(tmp_path):
    with atomic_path(tmp_path / "target") as temporary:
        temporary.write_bytes(b"\0\1")
    assert (tmp_path / "target").read_bytes() == b"\0\1"


@pytest.mark.parametrize("failure", [ValueError, OSError, KeyboardInterrupt, SystemExit])
def test_a_block_that_fails_leaves_the_target(target, failure):
    def write_half():
        with atomic_path(target) as temporary:
            temporary.write_text("half")
            raise failure

    with pytest.raises(failure):
        write_half()
    assert target.read_text() == "old"
    assert names(target) == {"target"}


def test_a_failing_move_leaves_the_target(target, monkeypatch):
    def fail(*_):
        raise OSError("no")

    monkeypatch.setattr("dissensus.atomic.os.replace", fail)
    with pytest.raises(OSError, match="no"), atomic_path(target) as temporary:
        temporary.write_text("new")
    assert target.read_text() == "old"
    assert names(target) == {"target"}


def test_a_block_may_replace_the_temporary_file_itself(target):
    with atomic_path(target) as temporary:
        other = target.parent / "other"
        other.write_text("new")
        other.replace(temporary)
    assert target.read_text() == "new"


def test_a_killed_process_leaves_the_target(target):
    code = (
        "import os, signal, sys\nfrom dissensus.atomic import atomic_path\n"
        "with atomic_path(sys.argv[1]) as path:\n"
        "    path.write_text('half')\n    os.kill(os.getpid(), signal.SIGKILL)"
    )
    assert subprocess.run([sys.executable, "-c", code, target], check=False).returncode != 0
    assert target.read_text() == "old"


@pytest.mark.parametrize("mask", [0o022, 0o077, 0o002])
def test_the_mode_is_that_of_any_new_file(tmp_path, mask):
    before = os.umask(mask)
    try:
        with atomic_path(tmp_path / "target") as temporary:
            temporary.write_text("new")
        assert os.umask(mask) == mask  # asked for by setting it: it has to be set back
    finally:
        os.umask(before)
    assert (tmp_path / "target").stat().st_mode & 0o777 == 0o666 & ~mask


def test_two_writers_do_not_meet(target):
    with atomic_path(target) as first, atomic_path(target) as second:
        assert first != second
        first.write_text("first")
        second.write_text("second")
    assert target.read_text() == "first"  # the block that ended last
    assert names(target) == {"target"}


def test_a_folder_that_is_not_there(tmp_path):
    with pytest.raises(FileNotFoundError), atomic_path(tmp_path / "nowhere" / "target"):
        pass


def test_a_link_stays(target):
    link = target.with_name("link")
    link.symlink_to("target")
    with atomic_path(link) as temporary:
        temporary.write_text("new")
    assert link.is_symlink()
    assert target.read_text() == "new"


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="this system has no pipes by name")
def test_a_pipe_is_never_replaced(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(OSError, match="no regular file"), atomic_path(tmp_path / "pipe"):
        pass
    assert (tmp_path / "pipe").is_fifo()
