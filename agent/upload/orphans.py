"""Delivers the spools of processes that are gone."""

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
from seamark.upload.delivery import HOLD_SECONDS, Delivery, Outcome, tell_of_obstacle
from seamark.upload.files import Uploads
from seamark.upload.request_limits import RequestLimits
from seamark.upload.transport import Transport
from seamark.user_warnings import Notices

_SEARCH_SECONDS = 30.0
# A process says more often that it lives.
_SILENT_SECONDS = 3600.0
_LOOPBACK = ("127.0.0.1", "::1", "localhost")


class Leftovers:
    """Takes one abandoned spool after the other, each under its lock."""

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
        # What a search has found and nobody has looked at yet: one for each spool that is
        # delivered would take a processor of the training.
        self._found: Iterator[Path] = iter(())
        # Spools the server does not accept, and until when they are left alone.
        self._held_until: dict[str, float] = {}

    def send_some(self, server: Server, transport: Transport) -> Outcome:
        """Send one batch of one abandoned spool, if there is any."""
        if self._current is None and not self._claim(server, transport):
            return Outcome(is_done=True)
        current = self._current
        if current is None:
            return Outcome(is_done=True)
        try:
            return self._sent_some(current, transport)
        except OSError as error:
            # Of its own folder. Others are not to wait for that.
            tell_of_obstacle(self._notices, current.spool, str(error))
            self._hold(current.spool.id, HOLD_SECONDS)
            return Outcome()

    def _sent_some(self, current: Delivery, transport: Transport) -> Outcome:
        outcome = current.send_some()
        if outcome.is_done and not current.spool.obstacle:
            # Or it would seem to live, because something of it arrived just now.
            outcome = current.say_gone()
        if outcome.is_done and self._uploads is not None:
            outcome = self._uploads.send_some(transport)
        if outcome.is_done and current.is_untold:
            self._hold(current.spool.id, HOLD_SECONDS)
            return Outcome()
        if outcome.is_done:
            self._finish(current.spool)
            return Outcome()
        if outcome.is_held:
            self._hold(current.spool.id, outcome.wait_seconds)
            return Outcome()
        return outcome

    def search_again(self) -> None:
        """Look for abandoned spools once more before the next interval."""
        self._next_search = float("-inf")

    def let_go(self) -> None:
        """Leave the current spool to others."""
        self._current = self._uploads = None
        if self._lock is not None:
            locks.release(self._lock)
            self._lock = None

    def _claim(self, server: Server, transport: Transport) -> bool:
        return any(
            self._is_claimed(folder, server, transport) for folder in self._to_look_at()
        )

    def _to_look_at(self) -> Iterator[Path]:
        """Go on with what was found; once that is over, look again when it is due."""
        while True:
            yield from self._found
            now = time.monotonic()
            if now < self._next_search:
                return
            # Before the search, so that another one can be asked for meanwhile.
            self._next_search = now + _SEARCH_SECONDS
            self._found = iter(spool_folders(self._root))

    def _is_claimed(self, folder: Path, server: Server, transport: Transport) -> bool:
        """Take a spool, if it is abandoned and may go to the server now."""
        if self._held_until.get(folder.name, float("-inf")) > time.monotonic():
            return False
        if not self._may_take(SpoolReader(folder), server):
            return False
        self._lock = locks.acquire(folder)
        if self._lock is None:
            return False
        if self._is_recovered(folder):
            # Read again: its last owner may have gone on until now.
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
        """Complete a spool with what is in memory; False, and held, if that fails."""
        # Whatever is raised: it is not to be tried again at once.
        self._held_until[folder.name] = time.monotonic() + HOLD_SECONDS
        try:
            recover(folder, self._notices)
        except BlockingIOError:
            self._notices.warn(
                f"ring {folder.name}",
                f"{folder} is delivered once the process has ended that has points of"
                " it in memory",
            )
            return False
        except OSError as error:
            self._notices.warn(
                f"ring {folder.name}",
                "what a killed process left in memory cannot be moved to its spool"
                f" ({error})",
            )
            return False
        except BaseException:
            self.let_go()
            raise
        del self._held_until[folder.name]
        return True

    def _may_take(self, spool: SpoolReader, server: Server) -> bool:
        if not self._any_host and may_live_elsewhere(spool):
            return False
        return self._any_server or is_meant_for(spool, server)

    def _is_known(self, spool: SpoolReader) -> bool:
        """Whether it is known where a spool may go, and as which; if not, it is held."""
        if not spool.is_known:
            tell_of_obstacle(self._notices, spool, "what describes it")
            self._hold(spool.id, HOLD_SECONDS)
        return spool.is_known

    def _finish(self, spool: SpoolReader) -> None:
        if spool.obstacle:
            self._hold(spool.id, HOLD_SECONDS)
        elif spool.acknowledged == 0 and stored_bytes(spool.folder) > 0:
            # All of it is damaged, and a person may want to look.
            self._hold(spool.id, float("inf"))
        else:
            spool.remove()
            self.let_go()

    def _hold(self, spool_id: str, seconds: float) -> None:
        """Leave a spool alone for so long."""
        self._held_until[spool_id] = time.monotonic() + seconds
        self.let_go()


def may_live_elsewhere(spool: SpoolReader) -> bool:
    """Whether the process of a spool may live on another machine.

    Locks of many shared file systems hold within one machine only: there a lock that can
    be had says nothing, and whoever takes the spool would delete it under its process.
    """
    if spool.is_of_this_machine or spool.is_complete:
        return False
    written = spool.written_at
    return written is None or time.time() - written < _SILENT_SECONDS


def is_meant_for(spool: SpoolReader, server: Server) -> bool:
    """Whether a spool may go to a server.

    Never to another one than its process knew, except that a server on this
    machine may have come back at another port; it is the same if it knows the token.
    """
    if spool.url is None:
        return True
    meant, offered = origin(spool.url), origin(server.url)
    if meant is None or offered is None:
        return False
    is_near = meant[1] in _LOOPBACK and offered[1] in _LOOPBACK
    return meant == offered or (is_near and spool.token_digest == server.token_digest)
