"""The command as a process: how it starts, how it refuses to, and how it ends."""

import http.client
import json
import os
import re
import signal
import socket
import subprocess
import sys
import threading
from contextlib import contextmanager

import httpx
import pytest
from picture_bombs import jpeg_with_scans

from tests import warm_python

LONG = 600.0  # seconds that only a hang takes
# A client may be slow to use its connection again, and no request is given up for want of time.
PATIENTLY = """
import dissensus.serve.server as server
server.LINGER = 600.0
from dissensus.cli import main
main()
"""
# A batch that never ends: what hostile gates may come to.
STUCK = """
import threading
import dissensus.serve.gates as gates
gates._deciding = lambda gate: lambda inputs: threading.Event().wait()
from dissensus.cli import main
main()
"""
COUNTS_AT_ITS_END = """
import atexit, gc, sys
from dissensus.cli import main
gc.unfreeze()
atexit.register(lambda: print("left alone:", gc.get_freeze_count(), file=sys.stderr))
main()
"""
ROW = json.dumps({"rows": [[0.1, 0.2, 0.3]] * 4}).encode()


@contextmanager
def command(*arguments, program=("-m", "dissensus"), start=warm_python.Popen):
    """``dissensus serve …`` as a process, with the address it printed."""
    patient = ("--timeout", LONG, "--decode-timeout", LONG)
    process = start(
        [sys.executable, *program, "serve", *map(str, (*arguments, *patient)), "--port", "0"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=os.environ,
    )
    lines = []
    try:
        address = process.stdout.readline().strip()
        reader = threading.Thread(target=lambda: lines.extend(process.stderr))
        reader.start()
        yield process, address, lines
        process.terminate()
        process.wait(LONG)
        reader.join(LONG)
    finally:
        process.kill()
        process.wait()
        process.stdout.close()
        process.stderr.close()


def test_sigterm_under_load_loses_nothing(folder, until):
    """Each client asks on one connection until it is told that the connection closes."""
    outcomes, told = [], []
    with command(folder / "rows", program=("-c", PATIENTLY)) as (process, address, lines):
        host, port = re.fullmatch(r"http://(.*):(\d+)", address).groups()

        def ask():
            connection = http.client.HTTPConnection(host, int(port), timeout=LONG)
            try:
                connection.connect()
                while True:
                    connection.request("POST", "/score", ROW, {"Content-Type": "application/json"})
                    answer = connection.getresponse()
                    outcomes.append((answer.status, len(json.loads(answer.read()).get("results", []))))
                    if answer.getheader("connection") == "close":
                        told.append(True)
                        return
            except OSError as error:  # what was sent and never answered is lost
                outcomes.append(("lost", repr(error)))
            finally:
                connection.close()

        clients = [threading.Thread(target=ask) for _ in range(16)]
        for client in clients:
            client.start()
        until(lambda: len(outcomes) >= 100 or process.poll() is not None)
        process.send_signal(signal.SIGTERM)
        for client in clients:
            client.join(LONG)
        assert process.wait(LONG) == 0
    assert set(outcomes) == {(200, 4)}
    assert len(told) == 16
    with pytest.raises(OSError, match="refused"):
        socket.create_connection((host, int(port)), timeout=LONG)
    events = [json.loads(line)["event"] for line in lines if line.startswith("{")]
    assert events[-1] == "stopped"


def test_sigterm_does_not_wait_for_slow_pictures(folder, until):
    """Together these take a minute, and were accepted: but a process that is told to end must end soon."""
    slow = [("files", ("slow.jpg", jpeg_with_scans(5000, 30)))] * 60
    answers = []
    with command(folder / "pictures") as (process, address, _), httpx.Client(timeout=LONG) as client:

        def ask():
            answers.append(client.post(f"{address}/score?convert=true", files=slow))

        asking = threading.Thread(target=ask)
        asking.start()
        none = 'dissensus_pictures_total{outcome="read"} 0.0'
        counted = lambda: none not in httpx.get(f"{address}/metrics", timeout=LONG).text  # noqa: E731
        until(lambda: answers or counted())
        process.send_signal(signal.SIGTERM)
        asking.join(LONG)
        assert process.wait(LONG) == 0
    (answer,) = answers
    assert answer.status_code == 503
    assert "the service is stopping" in answer.json()["error"]


def test_sigterm_does_not_wait_for_a_batch_that_nobody_waits_for(folder, until):
    with command(folder / "rows", program=("-c", STUCK)) as (process, address, lines):
        host, port = re.fullmatch(r"http://(.*):(\d+)", address).groups()
        with socket.create_connection((host, int(port)), timeout=LONG) as client:
            head = "POST /score HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
            client.sendall(f"{head}Content-Length: {len(ROW)}\r\n\r\n".encode() + ROW)
            until(lambda: '"queue":{"count":1' in httpx.get(f"{address}/v2/models/rows/stats").text)
        process.send_signal(signal.SIGTERM)
        assert process.wait(LONG) == 0
    assert json.loads(lines[-1])["event"] == "stopped"


def test_what_was_there_at_the_start_is_searched_for_circles_no_more(folder):
    """Such a search takes half a second with all modules and gates, and no client is answered meanwhile."""
    with command(folder / "rows", program=("-c", COUNTS_AT_ITS_END)) as (_, _, lines):
        pass
    (said,) = (line for line in lines if line.startswith("left alone:"))
    assert int(said.split()[-1]) > 100_000


def test_it_says_not_ready_before_it_ends(folder, until):
    with (
        command(folder / "rows", "--drain", LONG, start=subprocess.Popen) as (process, address, _),
        httpx.Client(timeout=LONG) as client,
    ):
        assert client.get(f"{address}/v2/health/ready").status_code == 200
        process.send_signal(signal.SIGINT)
        until(lambda: client.get(f"{address}/v2/health/ready").status_code == 503)
        assert client.get(f"{address}/v2/health/ready").json()["problems"] == ["the service is stopping"]
        assert client.post(
            f"{address}/score", content=ROW, headers={"content-type": "application/json"}
        ).is_success
        assert process.poll() is None
        process.send_signal(signal.SIGINT)  # who is in a hurry says it twice
        assert process.wait(LONG) == 0


def test_the_time_between_not_ready_and_the_end_is_over_some_day(serving, folder):
    with serving(folder / "rows", drain=0.2) as found:
        pass
    assert found.service.draining  # and it has ended


def test_tls(serving, folder, tmp_path):
    certificate, key = tmp_path / "cert.pem", tmp_path / "key.pem"
    made = subprocess.run(
        "openssl req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=localhost "
        f"-addext subjectAltName=IP:127.0.0.1 -keyout {key} -out {certificate}".split(),
        capture_output=True,
    )
    if made.returncode:
        pytest.skip("there is no openssl to make a certificate with")
    with serving(folder / "rows", tls_cert=certificate, tls_key=key) as found:
        assert found.url.startswith("https://")
        import ssl

        with httpx.Client(timeout=LONG, verify=ssl.create_default_context(cafile=str(certificate))) as client:
            answer = client.get(f"{found.url}/gate")
    assert answer.status_code == 200
    assert "strict-transport-security" in answer.headers


@pytest.fixture
def refused(tmp_path):
    from typer.testing import CliRunner

    from dissensus.cli import app

    def call(*arguments):
        result = CliRunner().invoke(app, ["serve", *map(str, arguments)])
        return result.exit_code, result.stderr.strip()

    return call


@pytest.mark.parametrize(
    ("arguments", "word"),
    [
        ([], "folder"),
        (["nowhere"], "nowhere"),
        (["{gate}", "--host", "0.0.0.0"], "--keys"),
        (["{gate}", "--keys", "nowhere"], "nowhere"),
        (["{gate}", "--tls-cert", "x.pem"], "belong together"),
        (["{gate}", "--webhook", "mailto:x"], "webhook"),
        (["{gate}", "--timeout", "0"], "timeout"),
        (["{gate}", "--decode-timeout", "0"], "decode_timeout"),
        (["{gate}", "--log-format", "xml"], "log_format"),
        (["{gate}", "--port", "99999"], "port"),
        (["{gate}", "--new-key", "me"], "--keys"),
        (["{gate}", "--host", "192.0.2.1", "--no-keys-ok"], "listen"),
    ],
)
def test_wrong_calls_are_two_and_one_sentence(refused, folder, arguments, word):
    code, said = refused(*(argument.format(gate=folder / "rows") for argument in arguments))
    assert code == 2
    assert word in said
    assert "Traceback" not in said


def test_a_port_that_is_taken(refused, folder):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        code, said = refused(folder / "rows", "--port", taken.getsockname()[1])
    assert (code, "in use" in said) == (2, True)


def test_a_new_key_is_printed_once_and_works(folder, tmp_path):
    from typer.testing import CliRunner

    from dissensus.cli import app
    from dissensus.serve.keys import KeyFile

    file = tmp_path / "keys"
    made = CliRunner().invoke(app, ["serve", "--keys", str(file), "--new-key", "me"])
    assert made.exit_code == 0
    key = made.stdout.strip()
    assert key not in file.read_text()
    assert key not in made.stderr
    assert KeyFile(file).name_of(key) == "me"


def test_small_packets_are_not_delayed():
    """An event loop turns the delay off only where the socket says that it speaks TCP."""
    from dissensus.serve.server import listen

    with listen("127.0.0.1", 0) as listening:
        assert listening.proto == socket.IPPROTO_TCP
