"""The clients that cost next to nothing keep what they are answered, and notice what they are not."""

import json
import socketserver
import threading

import pytest

from benchmarks.service.cheap import ask_all, cheap_clients
from benchmarks.service.load import Question

RIGHT = json.dumps({"results": [{"score": 0.5}]}).encode()


class Server(socketserver.ThreadingTCPServer):
    daemon_threads = True
    allow_reuse_address = True


class Handler(socketserver.StreamRequestHandler):
    """Answers each request, which is one line, in two pieces; closes the connection on ``bye``."""

    def handle(self):
        for line in self.rfile:
            if line.startswith(b"bye"):
                return
            body = RIGHT if line.startswith(b"good") else RIGHT.replace(b"0.5", b"0.6")
            answer = b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%s" % (len(body), body)
            self.wfile.write(answer[:30])
            self.wfile.flush()
            self.wfile.write(answer[30:])


@pytest.fixture
def address():
    with Server(("127.0.0.1", 0), Handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield server.server_address
        server.shutdown()


def test_each_client_asks_at_least_once_and_closed_connections_are_counted(address):
    found = ask_all(*address, [b"good\n", b"bad\n", b"bye\n"], clients=3, seconds=0.0)
    assert sorted(question for question, _ in found.answers) == [0, 1]
    assert found.lost == 1
    assert all(answer.endswith(b"}]}") for _, answer in found.answers)
    assert len(found.seconds) == 2


def test_in_a_process_of_its_own_scores_are_compared(address):
    questions = [Question(b"good\n", (0.5,)), Question(b"bad\n", (0.5,))]
    load, processor = cheap_clients(*address, questions, clients=2, seconds=0.0)
    assert (load.inputs, load.wrong, load.lost, dict(load.statuses)) == (2, 1, 0, {200: 2})
    assert processor > 0
