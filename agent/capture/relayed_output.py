"""Reads a program's output from the copy that a relay makes."""

from __future__ import annotations

import codecs
import os

from seamark.capture.relay import PIECE, PIPE_SIZE, Relay, carry_on, is_over, read
from seamark.capture.tee import CAPACITY, Pending


class RelayedOutput:
    """Reads a relay's copy, and forwards the output itself if the relay is killed."""

    def __init__(self, relay: Relay, pending: Pending) -> None:
        self._relay = relay
        self._pending = pending
        self._decode = codecs.getincrementaldecoder("utf-8")("replace").decode
        self._lost = 0
        self._is_ended = False
        self.is_carrying = False

    def read(self) -> None:
        """Read new output; at most about the size of the queue."""
        if not self._is_ended and not self.is_carrying:
            self._take_copy()
        if self.is_carrying:
            self._carry()

    def close(self) -> None:
        os.close(self._relay.copy)
        self._relay.close()

    def _take_copy(self) -> None:
        missing = self._relay.lost - self._lost
        # The content of the full pipe was written before the lost part.
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
                # The relay has ended, with the program or before it.
                self._take_over()
                return

    def _take_over(self) -> None:
        self._is_ended = self._relay.is_unread
        self.is_carrying = not self._is_ended
        if self.is_carrying:
            os.set_blocking(self._relay.front.ours, False)

    def _carry(self) -> None:
        front = self._relay.front
        while not is_over(front):
            data = read(front.ours)
            if data is None:
                return
            self._pending.put(self._decode(data))
            if not data or not carry_on(front, data):
                break
        self._relay.close()
        self._is_ended = True
        self.is_carrying = False
