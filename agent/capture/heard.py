"""What a program shows on its terminal, read from the copy that a relay makes of it."""

from __future__ import annotations

import codecs
import os

from agent.capture.relay import PIECE, PIPE_SIZE, Relay, read, show
from agent.capture.tee import CAPACITY, Pending


class Heard:
    """Reads one relay's copy, and carries on in its place should it be killed."""

    def __init__(self, relay: Relay, pending: Pending) -> None:
        self._relay = relay
        self._pending = pending
        self._decode = codecs.getincrementaldecoder("utf-8")("replace").decode
        self._lost = 0
        self._is_ended = False
        self.is_carrying = False

    def read(self) -> None:
        """Take what is new; at most about as much as is kept of it."""
        if not self.is_carrying:
            self._take_copy()
        if self.is_carrying and not self._is_ended:
            self._carry()

    def close(self) -> None:
        for file in (self._relay.copy, self._relay.ours):
            os.close(file)

    def _take_copy(self) -> None:
        missing = self._relay.lost - self._lost
        # What the full pipe held was written before what did not find room.
        before = PIPE_SIZE
        for _ in range(2 * CAPACITY // PIECE):
            data = read(self._relay.copy)
            if data:
                self._pending.put(self._decode(data))
                before -= len(data)
            if missing and (not data or before <= 0):
                self._pending.skip(missing)
                self._lost += missing
                missing = 0
            if data is None:
                return
            if not data:
                # Its process has ended: with the program, or before it.
                os.set_blocking(self._relay.ours, False)
                self.is_carrying = True
                return

    def _carry(self) -> None:
        while data := read(self._relay.ours):
            self._pending.put(self._decode(data))
            show(self._relay.terminal, data)
        self._is_ended = data is not None
