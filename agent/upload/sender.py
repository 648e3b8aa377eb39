"""The thread that sends what the spool holds."""

from __future__ import annotations

import contextlib
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from seamark.errors import Rejected
from seamark.lifecycle.background import Background, importing
from seamark.queue.spool import Spool
from seamark.user_warnings import Notices

if TYPE_CHECKING:
    from seamark.upload.worker import Sending

# A batch a second: each takes the interpreter from the training a dozen times.
_IDLE_SECONDS = 1.0
# From writing what was logged to sending it, so that no usual step of the training meets
# both; where steps are longer, both are little of one.
_WRITTEN_SECONDS = 0.16
_DRAINING_SECONDS = 0.25
_STOP_SECONDS = 0.1


class Sender:
    """Its first turn imports what speaks with servers: the script need not wait for it."""

    def __init__(
        self,
        spool: Spool,
        root: Path,
        notices: Notices,
        *,
        count_dropped: Callable[[int], None],
        tell_closed: Callable[[], None] = lambda: None,
        reject: Callable[[Rejected], None] | None = None,
        before_batch: Callable[[], object] = lambda: None,
        after_turn: Callable[[], None] = lambda: None,
        find_quiet: Callable[[], float | None] = lambda: None,
    ) -> None:
        """`before_batch` puts into the spool what is not in it yet.

        `find_quiet` names a moment, by the clock of time.monotonic, at which the agent's
        other threads rest, as they do a whole number of seconds from it.
        """
        self._spool = spool
        self._count_dropped = count_dropped
        self._tell_closed = tell_closed
        self._reject = reject
        self._root = root
        self._notices = notices
        self._before_batch = before_batch
        self._after_turn = after_turn
        self._find_quiet = find_quiet
        self._sending: Sending | None = None
        self._not_before = float("-inf")
        # Whether the next turn writes what it would send, and leaves that to another.
        self._is_to_write = False
        self._draining = threading.Event()
        self._settled = threading.Event()
        self._is_ended = False
        self.background = Background("seamark-sender", self.turn)

    @property
    def is_everything_sent(self) -> bool:
        """Whether the tracker has all that is in the spool, files too."""
        return self._sending is not None and self._sending.is_everything_sent

    @property
    def run_id(self) -> str:
        """The run's id; "" until the tracker has answered."""
        return "" if self._sending is None else self._sending.run_id

    def turn(self) -> float:
        """Send one batch, or write what the next is to send; return when to go on."""
        if self._is_ended:
            if self._sending is not None:
                self._sending.close()
            return _IDLE_SECONDS
        self._after_turn()
        is_draining = self._draining.is_set()
        now = time.monotonic()
        if now < self._not_before and not is_draining:
            return self._not_before - now

        # What is in the spool is sent, whatever becomes of the rest: the writer tells.
        with contextlib.suppress(Exception):
            self._before_batch()
        if self._is_to_write and not is_draining:
            self._is_to_write = False
            self._not_before = now + _WRITTEN_SECONDS
            return _WRITTEN_SECONDS
        sending = self._sending or self._begin()
        outcome = sending.send_some(is_draining=is_draining)
        are_files_held = outcome.is_done and sending.are_files_held
        is_settled = outcome.is_held or are_files_held or self.is_everything_sent
        if is_draining and is_settled:
            self._settled.set()
        now = time.monotonic()
        wait = outcome.wait_seconds
        self._is_to_write = outcome.is_done
        if outcome.is_done:
            wait = seconds_until_writing(now, self._find_quiet())
        self._not_before = now + wait
        return min(wait, _DRAINING_SECONDS) if self._draining.is_set() else wait

    def search_leftovers(self) -> None:
        """Look for spools of processes that are gone, though it was done lately."""
        # Before its first turn it has looked for none.
        if self._sending is not None:
            self._sending.search_leftovers()

    def drain(self, seconds: float) -> bool:
        """Send what is left, for so long; return whether the tracker has everything."""
        self._draining.set()
        self.background.ensure()
        self.background.wake()
        if self.background.is_alive:
            self._settled.wait(seconds)
        return self.is_everything_sent

    def stop(self) -> None:
        """Send nothing more; a request that hangs is left to its daemon thread."""
        self._is_ended = True
        self.background.stop(_STOP_SECONDS)

    def _begin(self) -> Sending:
        with importing():
            from seamark.upload.worker import Sending  # noqa: PLC0415 - see the class
        self._sending = Sending(
            self._spool,
            self._root,
            self._notices,
            count_dropped=self._count_dropped,
            tell_closed=self._tell_closed,
            reject=self._reject,
        )
        return self._sending


def seconds_until_writing(now: float, quiet: float | None) -> float:
    """Return after how many seconds, 0.34 to 1.34, to write what the next batch sends.

    A batch is sent each second then, and the middle between writing and sending is a
    whole number of seconds from `quiet`: a step of the training in which two threads of
    the agent take their turns is twice as late. Each begins its turns a little later
    every time if nobody sees to it, so that they meet for minutes.
    """
    if quiet is None:
        return _IDLE_SECONDS - _WRITTEN_SECONDS
    least = _IDLE_SECONDS / 2 - _WRITTEN_SECONDS
    writing = quiet - _WRITTEN_SECONDS / 2
    return least + (writing - now - least) % _IDLE_SECONDS
