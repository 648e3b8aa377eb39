"""Speaks HTTP over kept connections, at so little cost that a thousand fit a process."""

from __future__ import annotations

import asyncio
import re
from http import HTTPStatus

from seamark.upload.responses import Reply

# An agent waits as long.
ANSWER_SECONDS = 30.0
HOST = "127.0.0.1"
END_OF_LINE = b"\r\n"
END_OF_HEAD = END_OF_LINE * 2

_length = re.compile(rb"\r\ncontent-length: *(\d+)", re.IGNORECASE)
_chunked = re.compile(rb"\r\ntransfer-encoding: *chunked", re.IGNORECASE)
_retry_after = re.compile(rb"\r\nretry-after: *([^\r]+)", re.IGNORECASE)
_close = re.compile(rb"\r\nconnection: *close", re.IGNORECASE)


class NoAnswer(Exception):
    """The effect of the request is unknown."""


class Connection(asyncio.Protocol):
    """One connection for one request at a time, opened again whenever it is closed."""

    def __init__(self, port: int) -> None:
        self._port = port
        self._transport: asyncio.Transport | None = None
        self._received = bytearray()
        self._answer: asyncio.Future[Reply] | None = None

    async def ask(self, request: bytes) -> Reply:
        """Return the answer, or raise NoAnswer."""
        is_kept = self._transport is not None
        try:
            async with asyncio.timeout(ANSWER_SECONDS):
                try:
                    return await self._exchange(request)
                except ConnectionError:
                    # A kept one may have been closed by the other side since.
                    if not is_kept:
                        raise
                return await self._exchange(request)
        except OSError as error:
            raise NoAnswer(f"{type(error).__name__}: {error}") from error
        finally:
            self._answer = None
            self._received.clear()

    def close(self) -> None:
        if self._transport is not None:
            self._transport.abort()
            self._transport = None

    async def _exchange(self, request: bytes) -> Reply:
        loop = asyncio.get_running_loop()
        if self._transport is None:
            self._transport, _ = await loop.create_connection(
                lambda: self, HOST, self._port
            )
        self._answer = loop.create_future()
        self._transport.write(request)
        try:
            return await self._answer
        except BaseException:
            # An answer that comes later must not be taken for the next one's.
            self.close()
            raise

    # Called by asyncio.

    def data_received(self, data: bytes) -> None:
        self._received += data
        reply = read_reply(self._received)
        if reply is None or self._answer is None or self._answer.done():
            return
        if _close.search(self._received):
            self.close()
        self._received.clear()
        self._answer.set_result(reply)

    def connection_lost(self, error: Exception | None) -> None:
        # Unless another has been opened in its place.
        if self._transport is None or not self._transport.is_closing():
            return
        self._transport = None
        if self._answer is not None and not self._answer.done():
            self._answer.set_exception(error or ConnectionResetError("it was closed"))


def read_reply(received: bytes | bytearray) -> Reply | None:
    """Return the response once it is there as a whole (pure)."""
    end = received.find(END_OF_HEAD)
    if end < 0:
        return None
    head = bytes(received[:end])
    body = _read_body(head, received, end + len(END_OF_HEAD))
    if body is None:
        return None
    wait = _retry_after.search(head)
    status = int(head.split(b" ", 2)[1])
    return Reply(status, wait[1].decode() if wait else None, body)


def _read_body(head: bytes, received: bytes | bytearray, start: int) -> bytes | None:
    if _chunked.search(head):
        return _read_chunks(received, start)
    length = _length.search(head)
    if length is None:
        raise ValueError(f"a response without a length: {head!r}")
    end = start + int(length[1])
    return bytes(received[start:end]) if len(received) >= end else None


def _read_chunks(received: bytes | bytearray, start: int) -> bytes | None:
    chunks: list[bytes] = []
    while (end := received.find(END_OF_LINE, start)) >= 0:
        size = int(received[start:end], 16)
        start = end + len(END_OF_LINE)
        end = start + size + len(END_OF_LINE)
        if len(received) < end:
            return None
        if size == 0:
            return b"".join(chunks)
        chunks.append(bytes(received[start : start + size]))
        start = end
    return None


def post(path: str, body: bytes, headers: dict[str, str]) -> bytes:
    return _head("POST", path, {**headers, "Content-Length": str(len(body))}) + body


def get(path: str, headers: dict[str, str]) -> bytes:
    return _head("GET", path, headers)


def is_error(status: int) -> bool:
    """Return whether the server failed; status 0 means no answer."""
    return status == 0 or status >= HTTPStatus.INTERNAL_SERVER_ERROR


def _head(method: str, path: str, headers: dict[str, str]) -> bytes:
    lines = [f"{method} {path} HTTP/1.1", f"Host: {HOST}"]
    lines += [f"{name}: {value}" for name, value in headers.items()]
    return "\r\n".join([*lines, "", ""]).encode()
