"""The thread that delivers the spool."""

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

# One batch a second: each interrupts the training a dozen times.
_IDLE_SECONDS = 1.0
# Delay between writing and sending, so that both rarely fall into one training step; in
# longer steps both are a small part.
_WRITTEN_SECONDS = 0.16
_DRAINING_SECONDS = 0.25
_STOP_SECONDS = 0.1


class Sender:
    """Delivers in a thread; its first turn imports the HTTP code, so the script does
    not.
    """

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
        """Create it; `before_batch` writes buffered data to the spool.

        `find_quiet` returns a time (time.monotonic) at which the agent's other threads
        are idle, as they are at any whole number of seconds from it.
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
        # Whether the next turn only writes, and a later turn sends.
        self._is_to_write = False
        self._draining = threading.Event()
        self._settled = threading.Event()
        self._is_ended = False
        self.background = Background("seamark-sender", self.turn)

    @property
    def is_everything_sent(self) -> bool:
        """Whether the server has everything in the spool, including files."""
        return self._sending is not None and self._sending.is_everything_sent

    @property
    def run_id(self) -> str:
        """The run's id; "" until the server has answered."""
        return "" if self._sending is None else self._sending.run_id

    def turn(self) -> float:
        """Send one batch, or write the next one; return the seconds until the next
        turn.
        """
        if self._is_ended:
            if self._sending is not None:
                self._sending.close()
            return _IDLE_SECONDS
        self._after_turn()
        is_draining = self._draining.is_set()
        now = time.monotonic()
        if now < self._not_before and not is_draining:
            return self._not_before - now

        # The spool is sent even if writing fails; the writer reports its errors.
        with contextlib.suppress(Exception):
            self._before_batch()
        if self._is_to_write and not is_draining:
            self._is_to_write = False
            self._not_before = now + _WRITTEN_SECONDS
            return _WRITTEN_SECONDS
        sending = self._sending or self._begin()
        outcome = sending.send_some(is_draining=is_draining)
        are_files_deferred = outcome.is_done and sending.are_files_deferred
        is_settled = (
            outcome.is_deferred or are_files_deferred or self.is_everything_sent
        )
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
        """Search for orphaned spools now instead of after the interval."""
        # Before its first turn it has not searched yet.
        if self._sending is not None:
            self._sending.search_leftovers()

    def drain(self, seconds: float) -> bool:
        """Send the rest for up to `seconds`; return whether everything is delivered."""
        self._draining.set()
        self.background.ensure()
        self.background.wake()
        if self.background.is_alive:
            self._settled.wait(seconds)
        return self.is_everything_sent

    def stop(self) -> None:
        """Stop sending; a request that hangs is left to its daemon thread."""
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
    """Return the seconds, 0.34 to 1.34, until writing the next batch.

    Batches are sent once a second, and the midpoint between writing and sending is a
    whole number of seconds from `quiet`: a training step in which two threads of the
    agent run is delayed twice as much. Without this the threads' turns drift and
    coincide for minutes.
    """
    if quiet is None:
        return _IDLE_SECONDS - _WRITTEN_SECONDS
    least = _IDLE_SECONDS / 2 - _WRITTEN_SECONDS
    writing = quiet - _WRITTEN_SECONDS / 2
    return least + (writing - now - least) % _IDLE_SECONDS
