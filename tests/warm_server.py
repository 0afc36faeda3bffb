"""A Python that has imported what takes seconds to import, and becomes the program it is asked to run.

It is started by ``tests/warm_python.py``, once by each process that runs tests, and ends with that process.
For every program it forks twice and ends the process in between: the program is then adopted by the process
that runs the tests, which can wait for it and send it signals as if it had started it.
"""

import atexit
import builtins
import contextlib
import functools
import gc
import importlib
import importlib.machinery
import io
import json
import os
import pkgutil
import runpy
import signal
import socket
import sys
import time
import types
import warnings
from pathlib import Path

import typer.main

# Not onnxruntime and polars, which start threads: a fork has only the thread that forked.
SLOW = ("sklearn.base", "pandas", "pyarrow.parquet", "matplotlib.figure", "fastapi", "uvicorn")


def import_all(package):
    """Imports the slow packages and all of ours, whose own imports are in functions at times."""
    for name in SLOW:
        with contextlib.suppress(ImportError):  # not all are installed everywhere
            importlib.import_module(name)
    for module in pkgutil.walk_packages(package.__path__, f"{package.__name__}."):
        if ".integrations" not in module.name and not module.name.endswith(("__main__", "decoder_child")):
            with contextlib.suppress(ImportError):
                importlib.import_module(module.name)


def received(connection):
    """The next request with its three files, or nothing when there is nobody left to ask."""
    first, files, _, _ = socket.recv_fds(connection, 8, 3)
    if not first:
        return None, files
    text = connection.recv(int.from_bytes(first, "big"), socket.MSG_WAITALL)
    return json.loads(text) if text else None, files


def served(connection):
    """Answers requests until there are no more; in a program's own process, returns what it is to run."""
    while True:
        request, files = received(connection)
        if request is None:
            os._exit(0)
        reading, writing = os.pipe()
        between = os.fork()
        if between == 0:
            between = os.getpid()
            program = os.fork()
            if program == 0:
                while os.getppid() == between:  # it ends at once
                    time.sleep(0.001)
                for number, file in enumerate(files):
                    os.dup2(file, number)
                for file in (*files, reading, writing):
                    os.close(file)
                connection.close()
                return request
            os.write(writing, program.to_bytes(8, "big"))
            os._exit(0)
        os.close(writing)
        os.waitpid(between, 0)  # from here on the program has its new parent
        connection.sendall(os.read(reading, 8))
        for file in (*files, reading):
            os.close(file)


def stream(number, mode, ours):
    """A standard stream as Python opens it, with the settings of the environment as ``ours`` has them."""
    unbuffered = ours.write_through
    binary = open(number, mode, 0 if unbuffered and mode == "wb" else -1, closefd=False)  # noqa: SIM115
    by_line = not unbuffered and (number == 2 or os.isatty(number))
    return io.TextIOWrapper(
        binary, ours.encoding, ours.errors, line_buffering=by_line, write_through=unbuffered
    )


def become(request, path):
    """Makes this process what it would be if it had just been started; ``path`` is that of every Python."""
    signal.signal(signal.SIGINT, signal.default_int_handler)
    os.chdir(request["folder"])
    os.environ.clear()
    os.environ.update(request["environment"])
    sys.stdin = sys.__stdin__ = stream(0, "rb", sys.stdin)
    sys.stdout = sys.__stdout__ = stream(1, "wb", sys.stdout)
    sys.stderr = sys.__stderr__ = stream(2, "wb", sys.stderr)
    own = [] if request["isolated"] else ["" if request["how"] == "-c" else str(Path.cwd())]
    given = [place for place in request["environment"].get("PYTHONPATH", "").split(os.pathsep) if place]
    sys.path[:] = own + given + path
    found = importlib.machinery.PathFinder.find_spec("dissensus", sys.path)
    if found is None or found.origin != sys.modules["dissensus"].__file__:  # it is about another copy
        for name in [name for name in sys.modules if name.partition(".")[0] == "dissensus"]:
            del sys.modules[name]
    importlib.invalidate_caches()


def run(how, what, arguments):
    """Runs a program as Python's own command line does."""
    sys.argv = [what if how == "" else how, *arguments]
    if how == "-m":
        runpy.run_module(what, run_name="__main__", alter_sys=True)
    elif how == "-c":
        sys.modules["__main__"] = main = types.ModuleType("__main__")
        main.__builtins__ = builtins
        exec(compile(what, "<string>", "exec"), main.__dict__)
    else:
        sys.path.insert(0, str(Path(what).resolve().parent))
        runpy.run_path(what, run_name="__main__")


class QuickEnd:
    """Ends the process once all else is done that Python does at the end, but before it takes itself apart.

    That would take longer than most programs here, as memory that was shared would have to be copied first.
    """

    def __init__(self):
        self.code = None
        atexit.register(self._leave)  # before all others: those who come first leave last

    def __enter__(self):
        return self

    def __exit__(self, kind, error, _):
        if kind is None or (kind is SystemExit and error.code is None):
            self.code = 0
        elif kind is SystemExit and isinstance(error.code, int):
            self.code = error.code & 0xFF

    def _leave(self):
        if self.code is not None:  # otherwise there is something to be told
            with contextlib.suppress(Exception):  # and here as well
                for stream in (sys.stdout, sys.stderr):
                    stream.flush()
                os._exit(self.code)


if __name__ == "__main__":
    end = QuickEnd()
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the tests
    warnings.filterwarnings("ignore", "This process .* is multi-threaded", DeprecationWarning)
    given = os.environ.get("PYTHONPATH", "").split(os.pathsep)
    everywhere = [place for place in sys.path if place not in given]
    import dissensus

    import_all(dissensus)
    # As in tests/conftest.py, here for commands in processes of their own.
    own_bits = dissensus.likelihood.own_bits
    own_bits.DRAWS, own_bits.TILES, own_bits.INPUTS, own_bits.SHIFTS = 2, 1, 4, (1,)
    typer.main.get_command = functools.cache(typer.main.get_command)
    typer.main.get_command(dissensus.cli.app)
    # Lines about the progress of long work would come where a machine is slow, and nowhere else.
    dissensus.progress.EVERY = float("inf")
    gc.collect()
    gc.freeze()  # what is not looked at is not copied either
    request = served(socket.socket(fileno=int(sys.argv[1])))
    become(request, everywhere)
    # The interpreter ends as it ends after any program: streams are flushed, what failed is told.
    with end:
        run(request["how"], request["what"], request["arguments"])
