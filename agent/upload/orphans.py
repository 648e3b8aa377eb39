"""Delivers orphaned queues: spools whose processes have exited."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path

from seamark.queue import locks
from seamark.queue.blobs import Blobs
from seamark.queue.recovery import recover
from seamark.queue.spool import stored_bytes
from seamark.queue.spool_reader import SpoolReader, spool_folders
from seamark.servers import Server, origin
from seamark.upload.delivery import HOLD_SECONDS, Delivery, Outcome, warn_of_obstacle
from seamark.upload.files import Uploads
from seamark.upload.request_limits import RequestLimits
from seamark.upload.transport import Transport
from seamark.user_warnings import Notices

_SEARCH_SECONDS = 30.0
# Longer than the heartbeat interval of a process.
_SILENT_SECONDS = 3600.0
_LOOPBACK = ("127.0.0.1", "::1", "localhost")


class Leftovers:
    """Delivers one orphaned spool at a time, holding its lock."""

    def __init__(
        self,
        root: Path,
        notices: Notices,
        *,
        limits: RequestLimits | None = None,
        any_server: bool = False,
        any_host: bool = False,
    ) -> None:
        self._root = root
        self._notices = notices
        self._limits = limits or RequestLimits()
        self._any_server = any_server
        self._any_host = any_host
        self._current: Delivery | None = None
        self._uploads: Uploads | None = None
        self._lock: locks.Lock | None = None
        self._next_search = float("-inf")
        # Results of the last search that are still to be checked; one search for each
        # delivered spool would take a CPU core from the training.
        self._found: Iterator[Path] = iter(())
        # Spools that the server does not accept, with the time of the next attempt.
        self._deferred_until: dict[str, float] = {}

    def send_some(self, server: Server, transport: Transport) -> Outcome:
        """Send one batch of one orphaned spool, if there is any."""
        if self._current is None and not self._claim(server, transport):
            return Outcome(is_done=True)
        current = self._current
        if current is None:
            return Outcome(is_done=True)
        try:
            return self._sent_some(current, transport)
        except OSError as error:
            # An error of this spool's folder must not delay the others.
            warn_of_obstacle(self._notices, current.spool, str(error))
            self._hold(current.spool.id, HOLD_SECONDS)
            return Outcome()

    def _sent_some(self, current: Delivery, transport: Transport) -> Outcome:
        outcome = current.send_some()
        if outcome.is_done and not current.spool.obstacle:
            # Otherwise the process would look alive, because its data has just arrived.
            outcome = current.report_gone()
        if outcome.is_done and self._uploads is not None:
            outcome = self._uploads.send_some(transport)
        if outcome.is_done and current.is_undelivered:
            self._hold(current.spool.id, HOLD_SECONDS)
            return Outcome()
        if outcome.is_done:
            self._finish(current.spool)
            return Outcome()
        if outcome.is_deferred:
            self._hold(current.spool.id, outcome.wait_seconds)
            return Outcome()
        return outcome

    def search_again(self) -> None:
        """Search for orphaned spools now instead of after the interval."""
        self._next_search = float("-inf")

    def let_go(self) -> None:
        """Release the current spool and its lock."""
        self._current = self._uploads = None
        if self._lock is not None:
            locks.release(self._lock)
            self._lock = None

    def _claim(self, server: Server, transport: Transport) -> bool:
        return any(
            self._is_claimed(folder, server, transport) for folder in self._to_look_at()
        )

    def _to_look_at(self) -> Iterator[Path]:
        """Yield the remaining search results, then search again when it is due."""
        while True:
            yield from self._found
            now = time.monotonic()
            if now < self._next_search:
                return
            # Set before the search, so that `search_again` has an effect during it.
            self._next_search = now + _SEARCH_SECONDS
            self._found = iter(spool_folders(self._root))

    def _is_claimed(self, folder: Path, server: Server, transport: Transport) -> bool:
        """Claim a spool if it is orphaned and may go to the server now."""
        if self._deferred_until.get(folder.name, float("-inf")) > time.monotonic():
            return False
        if not self._may_take(SpoolReader(folder), server):
            return False
        self._lock = locks.acquire(folder)
        if self._lock is None:
            return False
        if self._is_recovered(folder):
            # Read again: its last owner may have written until now.
            spool = SpoolReader(folder)
            if self._is_known(spool) and self._may_take(spool, server):
                self._current = Delivery(
                    spool, transport, self._notices, limits=self._limits
                )
                self._uploads = Uploads(Blobs(folder), self._notices, self._limits)
                return True
        self.let_go()
        return False

    def _is_recovered(self, folder: Path) -> bool:
        """Move rows from the ring buffer into a spool; False, with a pause, on failure."""
        # Set first, so that no exception leads to an immediate retry.
        self._deferred_until[folder.name] = time.monotonic() + HOLD_SECONDS
        try:
            recover(folder, self._notices)
        except BlockingIOError:
            self._notices.warn(
                f"ring {folder.name}",
                f"{folder} is delivered after the process with its points in memory"
                " has ended",
            )
            return False
        except OSError as error:
            self._notices.warn(
                f"ring {folder.name}",
                "the points of a killed process cannot be moved to its offline queue"
                f" ({error})",
            )
            return False
        except BaseException:
            self.let_go()
            raise
        del self._deferred_until[folder.name]
        return True

    def _may_take(self, spool: SpoolReader, server: Server) -> bool:
        if not self._any_host and may_live_elsewhere(spool):
            return False
        return self._any_server or is_meant_for(spool, server)

    def _is_known(self, spool: SpoolReader) -> bool:
        """Return whether a spool's server and identity are readable; pause it if not."""
        if not spool.is_known:
            warn_of_obstacle(self._notices, spool, "its description is unreadable")
            self._hold(spool.id, HOLD_SECONDS)
        return spool.is_known

    def _finish(self, spool: SpoolReader) -> None:
        if spool.obstacle:
            self._hold(spool.id, HOLD_SECONDS)
        elif spool.acknowledged == 0 and stored_bytes(spool.folder) > 0:
            # All frames are damaged; keep the files for inspection.
            self._hold(spool.id, float("inf"))
        else:
            spool.remove()
            self.let_go()

    def _hold(self, spool_id: str, seconds: float) -> None:
        """Release a spool and retry it after `seconds`."""
        self._deferred_until[spool_id] = time.monotonic() + seconds
        self.let_go()


def may_live_elsewhere(spool: SpoolReader) -> bool:
    """Return whether the process of a spool may run on another machine.

    On many shared file systems locks work within one machine only. There a successful
    lock proves nothing, and delivery would delete the spool of a live process.
    """
    if spool.is_of_this_machine or spool.is_complete:
        return False
    written = spool.written_at
    return written is None or time.time() - written < _SILENT_SECONDS


def is_meant_for(spool: SpoolReader, server: Server) -> bool:
    """Return whether a spool may go to a server.

    Only to the server that its process used, except that a server on this machine may
    have restarted on another port; it is the same one if the token matches.
    """
    if spool.url is None:
        return True
    meant, offered = origin(spool.url), origin(server.url)
    if meant is None or offered is None:
        return False
    is_near = meant[1] in _LOOPBACK and offered[1] in _LOOPBACK
    return meant == offered or (is_near and spool.token_digest == server.token_digest)
