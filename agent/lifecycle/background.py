"""A daemon thread that takes turns and is started again when it dies."""

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

from seamark.user_warnings import Notices

logger = logging.getLogger(__name__)

# All threads begin with the run, and would take their first turns while the script
# waits for init() to return.
_FIRST_SECONDS = 0.05
_RESTART_SECONDS = 1.0
# Of a thread that dies again and again; one that lives as long starts anew.
_LONGEST_RESTART_SECONDS = 60.0

# A child that is forked while another thread imports a module would wait for
# ever when it imports the same one: the lock is copied, its owner is not.
# Re-entrant, because a signal handler that forks or imports may interrupt an import.
_importing = threading.RLock()


@contextmanager
def importing() -> Iterator[None]:
    """Keep forks out while this thread imports something."""
    with _importing:
        yield


# Of the process, which has one limit for all.
_notices = Notices()
# Idents of the threads that are the agent's.
own_threads: set[int] = set()


def _begin_child() -> None:
    _importing.release()
    own_threads.clear()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(
        before=_importing.acquire,
        after_in_parent=_importing.release,
        after_in_child=_begin_child,
    )


class Background:
    """Calls `turn` again and again; it returns the seconds until its next turn."""

    def __init__(self, name: str, turn: Callable[[], float]) -> None:
        self._name = name
        self._turn = turn
        # Unlike an event's, its lock is no trap for a signal handler that interrupts us;
        # and whoever waits takes one step instead of a dozen of Python's.
        self._calls: SimpleQueue[None] = SimpleQueue()
        # Re-entrant, because a signal handler may stop what its thread is starting.
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
        """Start the thread, or start it again if it has died."""
        # The other threads look after this one, perhaps at the same moment.
        if self.is_alive or not self._starting.acquire(blocking=False):
            return
        try:
            if not (self._is_starting or self._stopping or self.is_alive):
                self._start()
        finally:
            self._starting.release()

    def wake(self) -> None:
        """Have the next turn now."""
        self._calls.put(None)

    def stop(self, seconds: float) -> bool:
        """Take a last turn and end; return whether that happened in time."""
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
            self._tell_of_death(now)
        self._started_at = now
        self._earlier_cpu_seconds = self.cpu_seconds
        thread = threading.Thread(target=self._run, name=self._name, daemon=True)
        try:
            thread.start()
        except (RuntimeError, MemoryError) as error:
            # None is there to look after, until whoever asks next can start one.
            self._thread = None
            if not _is_ending(error):
                _tell_of_limit(error)
            return
        self._thread = thread

    def _tell_of_death(self, now: float) -> float:
        """Say so, the first time; return how long it is to be left alone."""
        if now > self._started_at + _LONGEST_RESTART_SECONDS:
            self._restart_seconds = _RESTART_SECONDS
        seconds = self._restart_seconds
        self._restart_seconds = min(2 * seconds, _LONGEST_RESTART_SECONDS)
        level = logging.WARNING if seconds == _RESTART_SECONDS else logging.DEBUG
        # What ended it may end this, too: too little memory, for one.
        with contextlib.suppress(Exception):
            logger.log(level, "the thread %s died and is started again", self._name)
        return seconds

    def _run(self) -> None:
        own_threads.add(threading.get_ident())
        try:
            self._live()
        finally:
            own_threads.discard(threading.get_ident())

    def _live(self) -> None:
        """Take turns until the last; go on after SystemExit and its like.

        Of a thread that dies, others learn some seconds later.
        """
        while True:
            try:
                self._take_turns()
            except BaseException:  # noqa: BLE001 - it is told, and nobody else hears of it
                seconds = self._tell_of_death(time.monotonic())
            else:
                return
            if self._stopping:
                return
            self._rest(seconds)

    def _rest(self, seconds: float) -> None:
        """Wait, whoever calls: a thread that dies at once must not be a busy loop."""
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
        """Wait to be woken; one turn answers all calls that have come by then."""
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
            # The rim of the thread: whatever went wrong, the training goes on
            # and the next turn may succeed.
            level = logging.DEBUG if repr(error) == self._last_error else logging.ERROR
            self._last_error = repr(error)
            logger.log(level, "the thread %s failed", self._name, exc_info=True)
            return _RESTART_SECONDS


def _is_ending(error: BaseException) -> bool:
    """Whether it is the end of the interpreter that keeps a thread from starting."""
    # Python 3.12 starts none either while functions of atexit are called.
    return sys.is_finalizing() or "shutdown" in str(error)


def _tell_of_limit(error: BaseException) -> None:
    _notices.warn(
        "threads",
        f"seamark cannot start a thread ({str(error) or type(error).__name__}), as where"
        " processes or memory are limited; what is logged is kept, and will be sent when"
        " one can be started, or at the end",
    )
