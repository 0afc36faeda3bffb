"""Connections on which bytes are sent as they are."""

import socket
from contextlib import suppress

import pytest

LONG = 600.0  # seconds that only a hang takes


@pytest.fixture(scope="session")
def connect():
    """A connection to a server of the fixture ``serving``."""

    def connected(found):
        host, _, port = found.url.removeprefix("http://").partition(":")
        return socket.create_connection((host, int(port)), timeout=LONG)

    return connected


@pytest.fixture(scope="session")
def until_closed():
    """All that comes on a connection until the other side closes it."""

    def received(connection):
        content = b""
        with suppress(ConnectionResetError):
            while chunk := connection.recv(65536):
                content += chunk
        return content

    return received
