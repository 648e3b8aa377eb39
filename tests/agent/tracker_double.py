"""A small tracker over real HTTP, with answers that tests may script."""

from __future__ import annotations

import hashlib
import json
import struct
import threading
import zlib
from collections import deque
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import msgspec
import zstandard

TOKEN = "smk_test"
HEADER = struct.Struct("<IIQ")
_NOT_AUTHENTICATED = b'{"error": {"code": "not_authenticated", "message": "no"}}'


class Server(ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, *arguments: object) -> None:
        """Ignore clients that are killed while they wait."""


@dataclass
class Scripted:
    """An answer given instead of the true one."""

    status: int
    body: bytes = b"{}"
    headers: dict[str, str] = field(default_factory=dict)
    # Whether the server stores the request before this answer.
    stores: bool = False
    cuts: bool = False


class TrackerDouble:
    """Stores records by the protocol, and all requests."""

    def __init__(self, port: int = 0) -> None:
        self.token = TOKEN
        # The id of the run that answers name; older trackers name none.
        self.run_id = ""
        self.script: deque[Scripted] = deque()
        self.frames: dict[str, dict[int, bytes]] = {}
        # Spools of processes reported as gone, without records since, and their last
        # write.
        self.gone: dict[str, int] = {}
        self.gone_script: deque[Scripted] = deque()
        # Contents of files, uploading and stored, by digest, with their responses.
        self.arriving: dict[str, bytearray] = {}
        self.stored: dict[str, bytes] = {}
        self.part_script: deque[Scripted] = deque()
        self.requests: list[tuple[str, dict[str, str], bytes]] = []
        self.changed = threading.Condition()
        double = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self) -> None:
                double.answer(self)

            def log_message(self, *arguments: object) -> None:
                """Log nothing."""

        self._server = Server(("127.0.0.1", port), Handler)
        self.port = self._server.server_address[1]
        self.url = f"http://127.0.0.1:{self.port}"
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.05,))
        self._thread.start()

    def stop(self) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    def answer(self, handler: BaseHTTPRequestHandler) -> None:
        body = handler.rfile.read(int(handler.headers.get("Content-Length", 0)))
        if handler.path.startswith("/api/v1/blobs/"):
            self._answer_part(handler, body)
            return
        if handler.headers.get("Content-Encoding") == "zstd":
            body = zstandard.ZstdDecompressor().decompress(body)
        if handler.path.partition("?")[0].endswith("/gone"):
            self._answer_gone(handler)
            return
        spool_id = handler.path.rsplit("/", 1)[1]
        with self.changed:
            self.requests.append((handler.path, dict(handler.headers), body))
            scripted = self.script.popleft() if self.script and body else None
            if scripted is None or scripted.stores:
                status, content = self._store(spool_id, handler, body)
            if scripted is not None:
                status, content = scripted.status, scripted.body
            self.changed.notify_all()
        _send(handler, scripted, status, content)

    def _answer_gone(self, handler: BaseHTTPRequestHandler) -> None:
        address, _, query = handler.path.partition("?")
        spool_id = address.split("/")[-2]
        parameters = dict(pair.split("=") for pair in query.split("&"))
        with self.changed:
            self.requests.append((handler.path, dict(handler.headers), b""))
            scripted = self.gone_script.popleft() if self.gone_script else None
            if scripted is None or scripted.stores:
                status, content = self._note_gone(
                    spool_id,
                    handler,
                    after=int(parameters["after"]),
                    time=int(parameters["time"]),
                )
            if scripted is not None:
                status, content = scripted.status, scripted.body
            self.changed.notify_all()
        _send(handler, scripted, status, content)

    def _note_gone(
        self, spool_id: str, handler: BaseHTTPRequestHandler, *, after: int, time: int
    ) -> tuple[int, bytes]:
        if handler.headers.get("Authorization") != f"Bearer {self.token}":
            return 401, _NOT_AUTHENTICATED
        frames = self.frames.get(spool_id)
        if frames is None:
            return 404, b'{"error": {"code": "not_found", "message": ""}}'
        last = max(frames)
        if last < after:
            return 409, _out_of_order(last + 1)
        messages = msgspec.msgpack.decode(frames[last])
        if last == after and not any(m["t"] == "close" for m in messages):
            self.gone[spool_id] = time
        answer = {"stored": last, "refused": [], "refused_count": 0}
        return 200, json.dumps(answer).encode()

    def _answer_part(self, handler: BaseHTTPRequestHandler, body: bytes) -> None:
        address, _, query = handler.path.partition("?")
        digest = address.rsplit("/", 1)[1]
        asked = dict(pair.split("=") for pair in query.split("&"))
        size, offset = int(asked["size"]), int(asked["offset"])
        with self.changed:
            self.requests.append((handler.path, dict(handler.headers), body))
            scripted = self.part_script.popleft() if self.part_script else None
            status, content = self._store_part(digest, size, offset, body)
            if scripted is not None:
                status, content = scripted.status, scripted.body
            self.changed.notify_all()
        _send(handler, scripted, status, content)

    def _store_part(
        self, digest: str, size: int, offset: int, body: bytes
    ) -> tuple[int, bytes]:
        arriving = self.arriving.setdefault(digest, bytearray())
        if digest not in self.stored and body and offset != len(arriving):
            return 409, _out_of_order(len(arriving))
        if digest not in self.stored:
            arriving += body
            if len(arriving) == size:
                if hashlib.sha256(arriving).hexdigest() != digest:
                    arriving.clear()
                    return 422, b'{"error": {"code": "digest_differs"}}'
                self.stored[digest] = bytes(arriving)
        is_stored = digest in self.stored
        answer = {
            "received": size if is_stored else len(arriving),
            "is_stored": is_stored,
        }
        return 200, json.dumps(answer).encode()

    def _store(
        self, spool_id: str, handler: BaseHTTPRequestHandler, body: bytes
    ) -> tuple[int, bytes]:
        if handler.headers.get("Authorization") != f"Bearer {self.token}":
            return 401, _NOT_AUTHENTICATED
        stored = self.frames.get(spool_id, {})
        last = max(stored, default=0)
        numbered = split(body)
        if numbered and numbered[0][0] > last + 1:
            return 409, _out_of_order(last + 1)
        if not numbered or numbered[-1][0] > last:
            self.gone.pop(spool_id, None)
        for number, payload in numbered:
            stored.setdefault(number, payload)
        if stored:
            self.frames[spool_id] = stored
        answer = {"stored": max(stored, default=0), "refused": [], "refused_count": 0}
        answer |= {"run": self.run_id} if self.run_id else {}
        return 200, json.dumps(answer).encode()

    def messages(self) -> list[dict[str, Any]]:
        with self.changed:
            return [
                message
                for frames in self.frames.values()
                for number in sorted(frames)
                for message in msgspec.msgpack.decode(frames[number])
            ]

    def of_kind(self, kind: str) -> list[dict[str, Any]]:
        return [m for m in self.messages() if m["t"] == kind]

    def states(self) -> list[str]:
        """Return the end states of processes: reported by themselves, then by others."""
        return [m["state"] for m in self.of_kind("close")] + ["crashed"] * len(
            self.gone
        )

    def values(self, path: str) -> list[float]:
        found: list[float] = []
        for message in self._points(path):
            row, count = message["paths"].index(path), len(message["steps"])
            found += doubles(message["values"][row * count : (row + 1) * count])
        return found

    def steps(self, path: str) -> list[float]:
        return [v for m in self._points(path) for v in doubles(m["steps"])]

    def times(self, path: str) -> list[int]:
        return [
            time
            for message in self._points(path)
            for (time,) in struct.iter_unpack("<q", message["times"])
        ]

    def texts(self, path: str) -> list[str]:
        found: list[str] = []
        for message in self.of_kind("records"):
            if message["path"] == path and message["kind"] == "text":
                values, sizes = message["values"], message["sizes"]
                for (size,) in struct.iter_unpack("<I", sizes):
                    found.append(values[:size].decode())
                    values = values[size:]
        return found

    def paths(self) -> set[str]:
        """The paths of all series of numbers."""
        return {path for m in self.of_kind("points") for path in m["paths"]}

    def attributes(self) -> dict[str, Any]:
        return {m["path"]: m["value"] for m in self.of_kind("set")}

    def _points(self, path: str) -> list[dict[str, Any]]:
        return [m for m in self.of_kind("points") if path in m["paths"]]


def _send(
    handler: BaseHTTPRequestHandler,
    scripted: Scripted | None,
    status: int,
    content: bytes,
) -> None:
    if scripted is not None and scripted.cuts:
        handler.close_connection = True
        return
    handler.send_response(status)
    for name, value in (scripted.headers if scripted else {}).items():
        handler.send_header(name, value)
    handler.send_header("Content-Length", str(len(content)))
    handler.end_headers()
    handler.wfile.write(content)


def _out_of_order(expected: int) -> bytes:
    error = {"code": "out_of_order", "message": "", "expected": expected}
    return json.dumps({"error": error}).encode()


def split(body: bytes) -> list[tuple[int, bytes]]:
    """The frames of a body, read apart from the agent's own code."""
    frames = []
    while body:
        crc, length, number = HEADER.unpack_from(body)
        end = HEADER.size + length
        assert zlib.crc32(body[4:end]) == crc
        frames.append((number, body[HEADER.size : end]))
        body = body[end:]
    return frames


def doubles(column: bytes) -> tuple[float, ...]:
    return struct.unpack(f"<{len(column) // 8}d", column)
