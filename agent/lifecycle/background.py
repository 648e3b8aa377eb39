"""A daemon thread that runs a function periodically and restarts if it dies."""

from __future__ import annotations

import contextlib
import logging
import os
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from queue import Empty, SimpleQueue

from seamark.lifecycle import driver_calls
from seamark.user_warnings import Notices

logger = logging.getLogger(__name__)

# All threads start with the run; without a delay their first turns would compete with
# init().
_FIRST_SECONDS = 0.05
_RESTART_SECONDS = 1.0
# For a thread that keeps dying; after this long alive, the delay is reset.
_LONGEST_RESTART_SECONDS = 60.0

# A child forked while another thread imports a module would deadlock when it imports
# the same one: fork copies the lock but not its owner. Re-entrant, because a signal
# handler that forks or imports may interrupt an import.
_importing = threading.RLock()


@contextmanager
def importing() -> Iterator[None]:
    """Hold off forks while this thread imports a module."""
    with _importing:
        yield


# Shared by the process, because the thread limit is.
_notices = Notices()
# Identifiers of the agent's own threads.
own_threads: set[int] = set()


def _begin_fork() -> None:
    _importing.acquire()
    driver_calls.hold_off()


def _end_fork() -> None:
    try:
        driver_calls.go_on()
    finally:
        _importing.release()


def _begin_child() -> None:
    try:
        driver_calls.begin_child()
    finally:
        _importing.release()
    own_threads.clear()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(
        before=_begin_fork, after_in_parent=_end_fork, after_in_child=_begin_child
    )


class Background:
    """Calls `turn` repeatedly; it returns the seconds until its next call."""

    def __init__(self, name: str, turn: Callable[[], float]) -> None:
        self._name = name
        self._turn = turn
        # Unlike an Event, it cannot deadlock with a signal handler that interrupts this
        # code, and a wait takes one step of the interpreter instead of a dozen.
        self._calls: SimpleQueue[None] = SimpleQueue()
        # Re-entrant, because a signal handler may stop a thread that is being started.
        self._starting = threading.RLock()
        self._is_starting = False
        self._stopping = False
        self._last_error = ""
        self._thread: threading.Thread | None = None
        self._started_at = float("-inf")
        self._restart_seconds = _RESTART_SECONDS
        self._earlier_cpu_seconds = 0.0
        self.cpu_seconds = 0.0

    @property
    def is_alive(self) -> bool:
        return self._thread is not None and self._thread.is_alive()

    def ensure(self) -> None:
        """Start the thread, or restart it if it has died."""
        # Several threads may call this at the same time.
        if self.is_alive or not self._starting.acquire(blocking=False):
            return
        try:
            if not (self._is_starting or self._stopping or self.is_alive):
                self._start()
        finally:
            self._starting.release()

    def wake(self) -> None:
        """Run the next turn now."""
        self._calls.put(None)

    def stop(self, seconds: float) -> bool:
        """Run a last turn and end; return whether that happened within `seconds`."""
        with self._starting:
            self._stopping = True
        self.wake()
        if self._thread is not None and self._thread is not threading.current_thread():
            self._thread.join(seconds)
        return not self.is_alive

    def _start(self) -> None:
        self._is_starting = True
        try:
            self._start_thread()
        finally:
            self._is_starting = False

    def _start_thread(self) -> None:
        now = time.monotonic()
        # A thread that dies at once must not become a busy loop.
        if now < self._started_at + self._restart_seconds:
            return
        if self._thread is not None:
            self._log_death(now)
        self._started_at = now
        self._earlier_cpu_seconds = self.cpu_seconds
        thread = threading.Thread(target=self._run, name=self._name, daemon=True)
        try:
            thread.start()
        except (RuntimeError, MemoryError) as error:
            # The next call of `ensure` tries again.
            self._thread = None
            if not _is_ending(error):
                _warn_of_limit(error)
            return
        self._thread = thread

    def _log_death(self, now: float) -> float:
        """Log the first death; return the delay before the restart, in seconds."""
        if now > self._started_at + _LONGEST_RESTART_SECONDS:
            self._restart_seconds = _RESTART_SECONDS
        seconds = self._restart_seconds
        self._restart_seconds = min(2 * seconds, _LONGEST_RESTART_SECONDS)
        level = logging.WARNING if seconds == _RESTART_SECONDS else logging.DEBUG
        # The cause of death, such as a lack of memory, may also prevent logging.
        with contextlib.suppress(Exception):
            logger.log(level, "the thread %s died and is restarted", self._name)
        return seconds

    def _run(self) -> None:
        own_threads.add(threading.get_ident())
        try:
            self._live()
        finally:
            own_threads.discard(threading.get_ident())

    def _live(self) -> None:
        """Run turns until the last one; continue after SystemExit and similar
        exceptions.

        Restarting in place is faster: other threads notice a dead thread seconds later.
        """
        while True:
            try:
                self._take_turns()
            except BaseException:  # noqa: BLE001 - it is logged, and the thread has no caller to raise to
                seconds = self._log_death(time.monotonic())
            else:
                return
            if self._stopping:
                return
            self._rest(seconds)

    def _rest(self, seconds: float) -> None:
        """Wait, even if woken, so that a failing thread does not become a busy loop."""
        end = time.monotonic() + seconds
        while not self._stopping and (left := end - time.monotonic()) > 0:
            self._wait(left)
        self._started_at = time.monotonic()

    def _take_turns(self) -> None:
        if not self._stopping:
            self._wait(_FIRST_SECONDS)
        while True:
            is_last = self._stopping
            seconds = self._safe_turn()
            self.cpu_seconds = self._earlier_cpu_seconds + time.thread_time()
            if is_last:
                return
            self._wait(seconds)

    def _wait(self, seconds: float) -> None:
        """Wait to be woken; one turn serves all wake-ups received by then."""
        try:
            self._calls.get(timeout=max(0.0, seconds))
            while True:
                self._calls.get_nowait()
        except Empty:
            return

    def _safe_turn(self) -> float:
        try:
            return self._turn()
        except Exception as error:
            # The outermost frame of the thread: training continues after any error, and
            # the next turn may succeed.
            level = logging.DEBUG if repr(error) == self._last_error else logging.ERROR
            self._last_error = repr(error)
            logger.log(level, "the thread %s failed", self._name, exc_info=True)
            return _RESTART_SECONDS


def _is_ending(error: BaseException) -> bool:
    """Return whether the thread cannot start because the interpreter is shutting down."""
    # Python 3.12 also refuses threads while atexit functions run.
    return sys.is_finalizing() or "shutdown" in str(error)


def _warn_of_limit(error: BaseException) -> None:
    _notices.warn(
        "threads",
        f"seamark cannot start a thread ({str(error) or type(error).__name__}): processes"
        " or memory may be limited; logged data is kept and sent when"
        " a thread can be started, or at the end",
    )
