"""What a record of an attack says: every honest request, every probe, and the goals of this attack."""

import asyncio
import os
import subprocess
import sys

import pytest

from benchmarks.service.attack_command import Attacked, _piece
from benchmarks.service.attacks import ATTACKS
from benchmarks.service.defence import GOALS, Plan, missed
from benchmarks.service.honest import ask_honestly
from benchmarks.service.load import Question
from benchmarks.service.process import ServerProcess, _memory
from dissensus.errors import SettingsError

KEPT = dict.fromkeys(GOALS, 0.0)
ASK = Question(b"POST /score HTTP/1.1\r\nHost: localhost\r\nContent-Length: 0\r\n\r\n", ())


async def _asked(statuses):
    """What is seen of a service that answers so by path; None: it closes the connection."""

    async def answer(reader, writer):
        path = (await reader.readuntil(b"\r\n\r\n")).split()[1].decode()
        if (status := statuses[path]) is not None:
            writer.write(b"HTTP/1.1 %d X\r\nContent-Length: 0\r\n\r\n" % status)
        writer.close()

    server = await asyncio.start_server(answer, "127.0.0.1", 0)
    async with server:
        port = server.sockets[0].getsockname()[1]
        seen = await ask_honestly(port, [ASK], seconds=0.05, clients=2, pause=0.01)
    assert sum(seen.probe_statuses.values()) >= 2
    return seen


@pytest.mark.parametrize(
    ("statuses", "failures", "refused", "failed_probes"),
    [
        ((200, 200, 200), False, False, False),
        ((503, 200, 200), True, False, False),
        ((None, 200, 200), True, False, False),
        ((429, 200, 200), False, True, False),
        ((200, 503, 200), False, False, True),
        ((200, 200, 503), False, False, True),
        ((200, None, 200), False, False, True),
    ],
)
def test_whatever_is_no_200_is_counted(statuses, failures, refused, failed_probes):
    paths = ("/score", "/v2/health/live", "/v2/health/ready")
    seen = asyncio.run(_asked(dict(zip(paths, statuses, strict=True))))
    assert (seen.failures > 0, seen.refused > 0, seen.failed_probes > 0) == (failures, refused, failed_probes)
    if refused:  # soon, and no answer
        assert seen.seconds == []
    assert seen.requests >= 2


def test_each_goal_is_judged():
    assert missed([], KEPT) == []
    for name, goal in GOALS.items():
        assert missed([], KEPT | {name: goal + 1}) == [name]
        assert missed([], KEPT | {name: None}) == [name]


def test_fairness_is_a_goal_beside_large_batches_alone():
    unfair = KEPT | {"times_alone": 3.5}
    assert missed(["large-batches"], unfair) == ["times_alone"]
    assert missed(["silent"], unfair) == []


def test_the_table_of_the_issue_is_attacked():
    assert {"silent", "never-reading", "stalled-uploads", "near-boundaries", "tiny-chunks"} <= set(ATTACKS)
    assert {"large-pictures", "many-scans", "large-batches"} <= set(ATTACKS)


def test_a_record_of_an_earlier_version_names_it(tmp_path):
    attacked = Attacked(None, tmp_path / "gate")
    piece = _piece("silent", attacked, Plan(), None)
    assert piece.settings["service"] == "this one"
    with pytest.raises(SettingsError, match="git"):
        _piece("silent", attacked, Plan(), tmp_path)


def test_memory_is_that_of_a_process_with_those_it_has_started():
    class Popen:
        pid = os.getpid()

    server = ServerProcess(Popen(), "http://127.0.0.1:1")
    alone = server.memory_of_all()
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as child:
        together, own = server.memory_of_all(), _memory(child.pid, "VmRSS")
        child.communicate(b"\n")
    assert own > 0
    assert together >= 0.9 * alone + own
