"""A forked process is what a started one is, as far as tests can tell."""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests import warm_python

SEEN = """
import json, os, sys
streams = sys.stdin, sys.stdout, sys.stderr
files = {name: os.path.realpath(f"/proc/self/fd/{name}") for name in os.listdir("/proc/self/fd")}
print(json.dumps({
    "arguments": sys.argv, "path": sys.path, "name": __name__, "folder": os.getcwd(),
    "environment": dict(os.environ), "parent": os.getppid(), "session": os.getsid(0),
    "files": sum(".so" not in file for file in files.values()),  # libffi may keep its own file open
    "asked": sys.stdin.read(),
    "streams": [(each.encoding, each.errors, each.line_buffering, each.write_through) for each in streams],
}))
sys.exit(7)
"""
CLOSED = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
WAITING = [sys.executable, "-c", "print('here', flush=True)\nimport time\ntime.sleep(600)"]

needs_fork = pytest.mark.skipif(
    sys.platform != "linux", reason="processes are forked where the one that tests can adopt them"
)


@needs_fork
def test_it_sees_what_a_started_process_sees(tmp_path):
    call = [sys.executable, "-c", SEEN, "one", "two"]
    more = {"cwd": tmp_path, "env": {**os.environ, "MINE": "yes", "PYTHONPATH": str(tmp_path)}}
    forked, started = (
        run(call, input="words", capture_output=True, text=True, **more)
        for run in (warm_python.run, subprocess.run)
    )
    assert (forked.returncode, forked.stderr) == (started.returncode, started.stderr) == (7, "")
    assert json.loads(forked.stdout) == json.loads(started.stdout)


@needs_fork
@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL], ids=lambda how: how.name)
def test_signals_end_it(how):
    for start in (warm_python.Popen, subprocess.Popen):
        with start(WAITING, **CLOSED) as process:
            assert process.stdout.readline() == "here\n"
            process.send_signal(how)
            assert process.wait() == -how
            assert ("KeyboardInterrupt" in process.stderr.read()) == (how == signal.SIGINT)


def test_an_error_is_told_and_one():
    answer = warm_python.run([sys.executable, "-c", "1/0"], capture_output=True, text=True)
    assert answer.returncode == 1
    assert answer.stderr.endswith("ZeroDivisionError: division by zero\n")


def test_time_can_run_out():
    with pytest.raises(subprocess.TimeoutExpired):
        warm_python.run(WAITING, stdout=subprocess.DEVNULL, timeout=0.01)


def test_what_acts_when_python_starts_starts_python():
    environment = {**os.environ, "OMP_NUM_THREADS": "3", "PYTHONIOENCODING": "latin-1"}
    code = "import sys, os; print(sys.stdout.encoding, 'torch' in sys.modules)"
    answer = warm_python.run([sys.executable, "-c", code], capture_output=True, env=environment, check=True)
    assert answer.stdout == b"iso8859-1 False\n"


@needs_fork
def test_no_file_stays_open():
    files = lambda: {path.name for path in Path("/proc/self/fd").iterdir()}  # noqa: E731
    warm_python.run([sys.executable, "-c", "import sys; sys.modules['torch']"], check=True)  # it was forked
    before = files()
    for _ in range(3):
        warm_python.run([sys.executable, "-c", ""], capture_output=True, check=True)
    assert files() == before
