import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest


class Publisher:
    """A web server on this machine: ``files`` are served whole, ``broken`` ones end half-way."""

    def __init__(self):
        self.files = {}
        self.broken = set()
        self.requests = []
        publisher = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self):
                name = self.path.rsplit("/", 1)[-1]
                publisher.requests.append(name)
                if name not in publisher.files:
                    self.send_error(404)
                    return
                content = publisher.files[name]
                self.send_response(200)
                self.send_header("Content-Length", str(len(content)))
                self.end_headers()
                self.wfile.write(content[: len(content) // 2] if name in publisher.broken else content)

            def log_message(self, *args):
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = False  # so that closing waits for every answer to end
        self.url = f"http://127.0.0.1:{self.server.server_port}/"
        # A short poll, because shutting down waits for one.
        self.thread = threading.Thread(target=self.server.serve_forever, args=(0.02,), daemon=True)
        self.thread.start()

    def close(self):
        self.server.shutdown()
        self.server.server_close()
        self.thread.join()


@pytest.fixture
def publisher(monkeypatch):
    monkeypatch.setenv("no_proxy", "*")
    server = Publisher()
    yield server
    server.close()
