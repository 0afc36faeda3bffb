"""`subprocess`'s ``run`` and ``Popen`` for Python programs that need not be started from nothing.

Importing torch and scikit-learn takes three seconds, and a hundred tests run a command in a process of its
own because they are about signals, pipes, locks or disks. Here such a process is forked from one that has
imported everything (``tests/warm_server.py``). All else is real: it has its own number, files, folder,
environment and end. Tests about starting Python itself use `subprocess`.
"""

import atexit
import ctypes
import functools
import json
import os
import socket
import subprocess
import sys
import threading
from pathlib import Path

PYTHON, ENVIRONMENT = sys.executable, dict(os.environ)  # before a test changes them
SERVER = Path(__file__).with_name("warm_server.py")
PR_SET_CHILD_SUBREAPER = 36
ORDINARY = (True, None, None, None, -1, False, -1)  # signals, groups, users, mask and session as they are
_asking = threading.Lock()


def _adopting(yes):
    """Whether what a child of ours leaves behind becomes our child; true if the system can do so."""
    try:
        return ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, int(yes), 0, 0, 0) == 0
    except (AttributeError, TypeError):
        return False


@functools.cache
def _server():
    """The connection to this process's own server, or nothing where there can be none."""
    if not _adopting(False):
        return None
    ours, theirs = socket.socketpair()
    with theirs:
        command = [PYTHON, "-P", SERVER, str(theirs.fileno())]
        server = subprocess.Popen(
            command, stdin=subprocess.DEVNULL, env=ENVIRONMENT, pass_fds=[theirs.fileno()]
        )
    # If this process is killed, its end of the connection is closed, and the server leaves as well.
    atexit.register(lambda: (server.kill(), server.wait(), ours.close()))
    return ours


def _understood(words):
    """A command line as what the server is to do, or nothing if it is for Python itself."""
    program, *rest = map(os.fsdecode, words)
    isolated = rest[:1] == ["-P"]
    rest = rest[isolated:]
    if program != PYTHON or not rest:
        return None
    how = rest.pop(0) if rest[0] in ("-c", "-m") else ""
    if not rest or rest[0].startswith("-"):
        return None
    return {"isolated": isolated or not how, "how": how, "what": rest[0], "arguments": rest[1:]}


def _of_the_start(environment):
    """The settings that Python and the libraries read once, when they start."""
    ours = ("PYTHON", "OMP_", "MKL_", "OPENBLAS_", "LC_", "LANG")
    found = {name: value for name, value in environment.items() if name.startswith(ours)}
    return {name: value for name, value in found.items() if name != "PYTHONPATH"}


class Popen(subprocess.Popen):
    """A process that is forked if it can be, and started otherwise."""

    def _execute_child(self, args, executable, preexec_fn, close_fds, pass_fds, cwd, env, *more):
        asked = None if isinstance(args, str) else _understood(args)
        environment = dict(os.environ if env is None else env)
        if (
            asked is None
            or executable not in (None, args[0])
            or preexec_fn
            or pass_fds
            or more[9:] != ORDINARY
            or _of_the_start(environment) != _of_the_start(ENVIRONMENT)
            or (server := _server()) is None
        ):
            super()._execute_child(args, executable, preexec_fn, close_fds, pass_fds, cwd, env, *more)
            return
        pipes = more[3:9]
        own = (pipes[0], pipes[3], pipes[5])
        files = [number if file == -1 else file for number, file in enumerate(own)]
        asked |= {"folder": str(Path(cwd or ".").resolve()), "environment": environment}
        text = json.dumps(asked).encode()
        with _asking:
            _adopting(True)
            try:
                socket.send_fds(server, [len(text).to_bytes(8, "big")], files)
                server.sendall(text)
                answer = server.recv(8, socket.MSG_WAITALL)
            finally:
                _adopting(False)
        if len(answer) < 8:  # and 0 would stand for all processes of our group
            raise RuntimeError("the process that programs are forked from is gone")
        self.pid, self._child_created = int.from_bytes(answer, "big"), True
        self._close_pipe_fds(*pipes)


def run(command, *, input=None, capture_output=False, timeout=None, check=False, **more):
    """`subprocess.run`."""
    if capture_output:
        more |= {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    if input is not None:
        more |= {"stdin": subprocess.PIPE}
    with Popen(command, **more) as process:
        try:
            out, err = process.communicate(input, timeout=timeout)
        except BaseException:
            process.kill()
            raise
    done = subprocess.CompletedProcess(process.args, process.returncode, out, err)
    if check:
        done.check_returncode()
    return done
