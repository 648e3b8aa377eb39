from __future__ import annotations

import os
import socket
import threading

import pytest

from seamark.servers import Server
from seamark.upload.transport import HttpTransport

# More than the sockets' buffers, and incompressible.
LARGE = os.urandom(16 * 1024 * 1024)
REFUSAL = (
    b"HTTP/1.1 429 Too Many Requests\r\nRetry-After: 7\r\nContent-Length: 2\r\n\r\n{}"
)


@pytest.fixture
def hasty():
    """A server that answers once it has read the headers, and goes."""
    listening = socket.create_server(("127.0.0.1", 0))
    connections = []

    def serve():
        while True:
            try:
                connection, _ = listening.accept()
            except OSError:
                return
            connections.append(connection)
            head = b""
            while b"\r\n\r\n" not in head:
                head += connection.recv(1024)
            connection.sendall(REFUSAL)
            connection.close()

    thread = threading.Thread(target=serve)
    thread.start()
    yield Server(f"http://127.0.0.1:{listening.getsockname()[1]}", "token"), connections
    # Closing alone does not wake the thread.
    listening.shutdown(socket.SHUT_RDWR)
    listening.close()
    thread.join()


@pytest.mark.parametrize("body", [b"small", LARGE], ids=["small", "large"])
def test_a_refusal_is_read_though_it_comes_before_the_body_is_sent(hasty, body):
    server, connections = hasty
    transport = HttpTransport(server)

    replies = [transport.send("spool", body) for _ in range(3)]

    assert [reply.status for reply in replies] == [429] * 3
    assert {reply.retry_after for reply in replies} == {"7"}
    transport.close()
    assert len(connections) >= 3
