"""Moves what was logged from memory into the spool, four times a second."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable

from agent import messages
from agent.background import Background
from agent.buffer import Buffer
from agent.grouping import payloads
from agent.notices import Notices
from agent.spool import Spool

_INTERVAL_SECONDS = 0.25
# While a burst lasts, the buffer must not fill up.
_BURST_ITEMS = 20_000
_BURST_SECONDS = 0.02
_MOST_ITEMS = 100_000


class Writer:
    """The thread that writes, and what could not be written yet."""

    def __init__(
        self,
        buffer: Buffer,
        spool: Spool,
        notices: Notices,
        *,
        after_turn: Callable[[], None] = lambda: None,
    ) -> None:
        self._buffer = buffer
        self._spool = spool
        self._notices = notices
        self._after_turn = after_turn
        self._last_steps: dict[str, float] = {}
        # Encoded and refused by the disk; nothing more is taken until they are in.
        self._unwritten: list[bytes] = []
        self._writing = threading.Lock()
        self.background = Background("seamark-writer", self.turn)

    def turn(self) -> float:
        """Write what is there, and return when to look again."""
        with self._writing:
            taken = self._write_some()
        self._after_turn()
        return _BURST_SECONDS if taken > _BURST_ITEMS else _INTERVAL_SECONDS

    def finish(self, *, failure: str | None, seconds: float) -> bool:
        """Write everything and the end of the spool; return whether it was possible."""
        deadline = time.monotonic() + seconds
        # A thread that hangs in the file system keeps its lock.
        if not self.background.stop(seconds):
            return False
        while len(self._buffer) or self._unwritten:
            self._write_some()
            if self._unwritten or time.monotonic() > deadline:
                return False
        self._unwritten = [*self._last_payloads(failure)]
        self._write_unwritten()
        return not self._unwritten

    def _last_payloads(self, failure: str | None) -> list[bytes]:
        now = time.time_ns() // 1000
        dropped = self._buffer.take_dropped()
        last = [messages.drop(dropped)] if dropped else []
        return [messages.payload([*last, messages.close(failure=failure, time=now)])]

    def _write_some(self) -> int:
        if not self._write_unwritten():
            return 0
        items = self._buffer.take(_MOST_ITEMS)
        dropped = self._buffer.take_dropped()
        if items or dropped:
            self._unwritten = payloads(
                items,
                last_steps=self._last_steps,
                dropped=dropped,
                notices=self._notices,
            )
            self._write_unwritten()
        return len(items)

    def _write_unwritten(self) -> bool:
        while self._unwritten:
            try:
                self._spool.write(self._unwritten[0])
            except OSError as error:
                self._notices.warn(
                    f"spool {error.errno}",
                    f"the spool {self._spool.folder} cannot be written ({error}); "
                    "points are kept in memory, and dropped when that is full",
                )
                return False
            del self._unwritten[0]
        return True
