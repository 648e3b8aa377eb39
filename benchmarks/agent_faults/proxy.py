"""A TCP proxy in front of a server, which can disturb all data."""

from __future__ import annotations

import contextlib
import random
import socket
import struct
import threading
import time
from collections import deque
from dataclasses import dataclass

_LINGER_NOT = struct.pack("ii", 1, 0)
_LOOK_SECONDS = 0.1


@dataclass(frozen=True, slots=True)
class Way:
    """How a connection goes; by default as if there were no proxy."""

    # Waited for before each piece is passed on.
    delay_seconds: float = 0.0
    piece_bytes: int = 65_536
    # Accepts connections, and forwards nothing.
    hangs: bool = False
    # Ends as if the machine behind it had been started again, once something was sent.
    resets: bool = False


HEALTHY = Way()
HUNG = Way(hangs=True)


class Proxy:
    """Passes connections on to a port of this machine; a context manager."""

    def __init__(self, port: int) -> None:
        self.way = HEALTHY
        # After how many bytes the next answers are cut off.
        self.cuts: deque[int] = deque()
        self.connections = 0
        self._behind = port
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port = int(self._listener.getsockname()[1])
        self.url = f"http://127.0.0.1:{self.port}"
        self._is_ended = threading.Event()
        self._open: set[socket.socket] = set()
        self._thread = threading.Thread(target=self._accept, daemon=True)

    def __enter__(self) -> Proxy:
        self._thread.start()
        return self

    def __exit__(self, *error: object) -> None:
        self._is_ended.set()
        with contextlib.suppress(OSError):
            self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        self.break_all()
        self._thread.join()

    def break_all(self) -> None:
        """End every connection there is."""
        for one in list(self._open):
            _end(one)
        self._open.clear()

    def _accept(self) -> None:
        while not self._is_ended.is_set():
            try:
                near, _ = self._listener.accept()
            except OSError:
                return
            self.connections += 1
            self._open.add(near)
            threading.Thread(target=self._pass_on, args=(near,), daemon=True).start()

    def _pass_on(self, near: socket.socket) -> None:
        way = self.way
        if way.hangs:
            # Kept until all are broken.
            return
        try:
            far = socket.create_connection(("127.0.0.1", self._behind))
        except OSError:
            _end(near)
            return
        self._open.add(far)
        back = threading.Thread(
            target=self._copy, args=(far, near, way, True), daemon=True
        )
        back.start()
        self._copy(near, far, way, False)
        back.join()
        for one in (near, far):
            self._open.discard(one)
            one.close()

    def _copy(
        self, source: socket.socket, target: socket.socket, way: Way, is_answer: bool
    ) -> None:
        with contextlib.suppress(OSError):
            while piece := source.recv(way.piece_bytes):
                if way.resets:
                    target.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _LINGER_NOT)
                    source.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _LINGER_NOT)
                    break
                # Not for longer than all of this lasts.
                if way.delay_seconds and self._is_ended.wait(way.delay_seconds):
                    break
                if is_answer and self.cuts:
                    target.sendall(piece[: self.cuts.popleft()])
                    break
                target.sendall(piece)
        for one in (source, target):
            with contextlib.suppress(OSError):
                one.shutdown(socket.SHUT_RDWR)


def random_cuts(count: int, chance: random.Random) -> list[int]:
    """Return where answers are cut: before, in and behind the line with the status."""
    return [chance.randrange(60) for _ in range(count)]


def free_port() -> int:
    """Return a port of this machine without a listener."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        return int(listener.getsockname()[1])


def eventually(condition: object, seconds: float = 60.0) -> bool:
    """Wait until something holds; return whether it did in time."""
    assert callable(condition)
    deadline = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > deadline:
            return False
        time.sleep(_LOOK_SECONDS / 10)
    return True


def _end(one: socket.socket) -> None:
    with contextlib.suppress(OSError):
        one.shutdown(socket.SHUT_RDWR)
    one.close()
