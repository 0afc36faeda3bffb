"""One process at a time has a place; the second is told who has it, and what the dead left is taken over."""

import errno
import json
import os
import platform
import subprocess
import sys
import threading
import time
from pathlib import Path
from types import SimpleNamespace

import pytest

from dissensus import holder, lock
from dissensus.errors import InUseError, OutputError
from dissensus.holder import Holder
from dissensus.lock import Claim

HOLDER = """
import sys
from dissensus.lock import Claim
with Claim(sys.argv[1]):
    print("held", flush=True)
    sys.stdin.read()
"""
needs_fork = pytest.mark.skipif(not hasattr(os, "fork"), reason="this system cannot fork")


@pytest.fixture
def start():
    """Starts a process that says when it holds what it should, and goes on when its stdin is closed."""
    started = []

    def begin(code, *arguments):
        command = [sys.executable, "-c", code, *map(str, arguments)]
        process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        started.append(process)
        assert process.stdout.readline().strip() == "held"
        return process

    yield begin
    for process in started:
        process.stdin.close()
        process.kill()
        process.wait()
        process.stdout.close()


@pytest.fixture
def place(tmp_path):
    return tmp_path / "gate"


def names(folder):
    return sorted(path.name for path in folder.iterdir())


def test_whoever_comes_second_is_told_who_was_first(start, place):
    holder = start(HOLDER, place)
    with pytest.raises(InUseError) as error:
        Claim(place)
    told = str(error.value)
    assert told.startswith(
        f"{place} is being written to by process {holder.pid} on {platform.node()} since 20"
    )
    assert told.endswith(" UTC: wait until it has ended, or choose another place")
    holder.communicate()
    with Claim(place):
        assert names(place.parent) == [".gate.lock"]
    assert names(place.parent) == []


def test_patience_is_rewarded(start, place, monkeypatch):
    holder, pauses, sleep = start(HOLDER, place), [], time.sleep

    def pause(seconds):
        pauses.append(seconds)
        if len(pauses) == 3:
            holder.stdin.close()
        sleep(seconds)

    monkeypatch.setattr(lock, "time", SimpleNamespace(sleep=pause, monotonic=time.monotonic))
    with Claim(place, patience=600):
        assert len(pauses) >= 3


def test_a_killed_holder_is_followed_without_a_word(start, place):
    holder = start(HOLDER, place)
    holder.kill()
    holder.wait()
    left = json.loads((place.parent / ".gate.lock").read_text())
    assert left["pid"] == holder.pid
    with Claim(place):
        assert json.loads((place.parent / ".gate.lock").read_text())["pid"] == os.getpid()
    assert names(place.parent) == []


def test_links_are_the_same_place(start, tmp_path):
    (tmp_path / "deep").mkdir()
    (tmp_path / "link").symlink_to("deep/gate")
    (tmp_path / "other").symlink_to("deep")
    start(HOLDER, tmp_path / "link")
    for name in ("deep/gate", "other/gate", "link"):
        with pytest.raises(InUseError):
            Claim(tmp_path / name)
    with Claim(tmp_path / "gate"):
        pass


def test_inside_the_folder(tmp_path):
    with Claim(tmp_path, inside=True):
        assert names(tmp_path) == [".lock"]
    assert names(tmp_path) == []


FORKED = """
import os, sys
from dissensus.lock import Claim
claim = Claim(sys.argv[1])
if os.fork() == 0:
    claim.release()  # it is not the child's to release
    print("held", flush=True)  # by the child: the parent may be killed before a child has begun to run
    sys.stdin.read()
    os._exit(0)
os.waitpid(-1, 0)
"""


@needs_fork
def test_a_forked_child_neither_releases_nor_keeps_the_lock(start, place):
    parent = start(FORKED, place)
    with pytest.raises(InUseError, match=f"process {parent.pid} "):
        Claim(place)
    parent.kill()
    parent.wait()  # the child lives on: our end of its stdin is open
    with Claim(place):
        pass


def refused_in_another_thread(place):
    """What another thread of this process is told."""
    told = []

    def claim():
        with pytest.raises(InUseError) as error:
            Claim(place)
        told.append(str(error.value))

    thread = threading.Thread(target=claim)
    thread.start()
    thread.join()
    return told[0]


def test_a_thread_may_claim_again_and_others_may_not(place):
    with Claim(place):
        with Claim(place):
            pass
        assert names(place.parent) == [".gate.lock"]
        assert f"process {os.getpid()} (this one)" in refused_in_another_thread(place)
    assert names(place.parent) == []


def test_a_forgotten_claim_is_given_up(place):
    claim = Claim(place)
    del claim
    assert names(place.parent) == []


COUNTING = """
import sys
from pathlib import Path
from dissensus.lock import Claim
print("held", flush=True)
sys.stdin.read()
number = Path(sys.argv[1])
for _ in range(50):
    with Claim(number, patience=600):
        number.write_text(str(int(number.read_text()) + 1))
"""


def test_no_two_have_it_at_once(start, tmp_path, monkeypatch):
    number = tmp_path / "number"
    number.write_text("0")
    processes = [start(COUNTING, number) for _ in range(4)]
    for process in processes:
        process.stdin.close()
    assert [process.wait() for process in processes] == [0] * 4
    assert number.read_text() == "200"
    assert names(tmp_path) == ["number"]


def left_by(place, **changed):
    """A lock file as another process left it."""
    holder = {**vars(Holder()), **changed}
    place.with_name(f".{place.name}.lock").write_text(json.dumps(holder))


ELSEWHERE = {"host": "elsewhere", "boot": "another"}


@pytest.mark.parametrize("text", ["", "{", "[]", '{"pid": "x"}', '{"pid": 1}'])
def test_a_file_that_names_nobody_is_taken_over(place, text):
    place.with_name(".gate.lock").write_text(text)
    with Claim(place):
        pass
    assert names(place.parent) == []


@pytest.mark.parametrize(
    ("system", "refused"),
    [
        ("ext4 rw,errors=remount-ro", False),
        ("nfs4 rw,vers=4.2,local_lock=none,addr=10.0.0.1", False),
        ("nfs rw,vers=3,nolock,local_lock=all,addr=10.0.0.1", True),
        ("nfs rw,vers=3,local_lock=flock", True),
        ("fuse.sshfs rw,user_id=0", True),
        ("", False),
    ],
)
def test_another_machines_file_where_locks_do_not_reach(place, monkeypatch, system, refused):
    monkeypatch.setattr(holder, "_file_system", lambda _: system)
    left_by(place, **ELSEWHERE)
    if refused:
        with pytest.raises(
            InUseError, match=r"on elsewhere .* if it no longer runs, remove .*/\.gate\.lock$"
        ):
            Claim(place)
        left_by(place, host="a container of this machine")
    with Claim(place):
        pass
    assert names(place.parent) == []


@pytest.fixture
def no_locks(monkeypatch):
    """A file system that knows no locks."""

    def refuse(_):
        raise OSError(errno.ENOLCK, os.strerror(errno.ENOLCK))

    monkeypatch.setattr(lock, "_locked", refuse)


def dead_process():
    """The number of a process that has ended."""
    process = subprocess.Popen([sys.executable, "-c", ""])
    process.wait()
    return process.pid


@pytest.mark.usefixtures("no_locks")
def test_without_locks_the_file_is_the_lock(place):
    with Claim(place):
        assert names(place.parent) == [".gate.lock"]
        assert "(this one)" in refused_in_another_thread(place)
    assert names(place.parent) == []


@pytest.mark.usefixtures("no_locks")
@pytest.mark.skipif(not Holder().boot, reason="this system does not name its starts")
def test_without_locks_only_the_certainly_dead_are_followed(place):
    for changed in ({"pid": dead_process()}, {"boot": "an earlier start of this machine"}):
        left_by(place, **changed)
        with Claim(place):
            pass
        assert names(place.parent) == []
    for changed in ({}, ELSEWHERE, {"pid": dead_process(), "processes": "pid:[another container's]"}):
        left_by(place, **changed)
        with pytest.raises(InUseError, match=r"if it no longer runs, remove .*/\.gate\.lock$"):
            Claim(place)


def test_where_no_file_can_be_made(tmp_path):
    with pytest.raises(OutputError, match=r"\.gate\.lock cannot be written"):
        Claim(tmp_path / "none" / "gate")


@pytest.mark.skipif(not Path("/proc/self/mountinfo").exists(), reason="this system does not list its mounts")
def test_the_file_systems_kind_is_found(tmp_path):
    assert " " in holder._file_system(tmp_path)
