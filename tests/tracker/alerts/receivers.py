"""Real servers that accept or reject alerts."""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from aiosmtpd.controller import Controller


class Receiver:
    """The received requests, and the response to send."""

    def __init__(self) -> None:
        self.status = 200
        self.headers: dict[str, str] = {}
        self.body = b""
        self.got: list[tuple[dict[str, str], bytes]] = []
        self.url = ""


@contextmanager
def web_server(host: str = "127.0.0.1") -> Iterator[Receiver]:
    receiver = Receiver()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            length = int(self.headers["Content-Length"])
            receiver.got.append((dict(self.headers), self.rfile.read(length)))
            self.send_response(receiver.status)
            for name, value in receiver.headers.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(receiver.body)

        def log_message(self, *_: Any) -> None:
            pass

    server = ThreadingHTTPServer((host, 0), Handler)
    server.daemon_threads = True
    threading.Thread(target=server.serve_forever, daemon=True).start()
    receiver.url = f"http://{host}:{server.server_port}/hook"
    try:
        yield receiver
    finally:
        server.shutdown()
        server.server_close()


class Mailbox:
    def __init__(self) -> None:
        self.got: list[Any] = []

    async def handle_DATA(  # noqa: N802 - the server calls this name
        self, _server: Any, _session: Any, envelope: Any
    ) -> str:
        self.got.append(envelope)
        return "250 OK"


@contextmanager
def mail_server() -> Iterator[tuple[str, Mailbox]]:
    mailbox = Mailbox()
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    controller = Controller(mailbox, hostname="127.0.0.1", port=port)
    controller.start()
    try:
        yield f"smtp://127.0.0.1:{port}", mailbox
    finally:
        controller.stop()
