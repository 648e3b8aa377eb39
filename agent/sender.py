"""Sends the spool of this process, then what others left behind."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable
from pathlib import Path

from agent.background import Background
from agent.blobs import Blobs
from agent.delivery import Delivery, Outcome
from agent.leftovers import Leftovers
from agent.notices import Notices
from agent.settings import Server, find_server
from agent.spool import Spool
from agent.spool_reader import SpoolReader
from agent.transport import HttpTransport, Transport
from agent.uploads import Uploads

_IDLE_SECONDS = 0.5
_HEARTBEAT_SECONDS = 10.0
# A server on this machine may be started after the training.
_UNKNOWN_SERVER_SECONDS = 5.0
_DRAINING_SECONDS = 0.25
_STOP_SECONDS = 0.1


class Sender:
    """The thread that sends."""

    def __init__(
        self,
        spool: Spool,
        root: Path,
        notices: Notices,
        *,
        after_turn: Callable[[], None] = lambda: None,
    ) -> None:
        self._spool = spool
        self._reader = SpoolReader(spool.folder)
        self._uploads = Uploads(Blobs(spool.folder), notices)
        self._files_not_before = float("-inf")
        self._are_files_held = False
        self._leftovers = Leftovers(root, notices)
        self._notices = notices
        self._after_turn = after_turn
        self._server: Server | None = None
        self._delivery: Delivery | None = None
        self._transport: HttpTransport | None = None
        self._not_before = float("-inf")
        self._leftovers_not_before = float("-inf")
        self._last_sent = time.monotonic()
        self._draining = threading.Event()
        self._settled = threading.Event()
        self._is_ended = False
        self.background = Background("seamark-sender", self.turn)

    @property
    def is_everything_sent(self) -> bool:
        """Whether the tracker has all that is in the spool, files too."""
        is_said = self._reader.delivered >= self._spool.written
        return is_said and self._uploads.is_done

    def turn(self) -> float:
        """Send one batch, and return when to send the next."""
        if self._is_ended:
            self._close()
            return _IDLE_SECONDS
        self._after_turn()
        is_draining = self._draining.is_set()
        now = time.monotonic()
        if now < self._not_before and not is_draining:
            return self._not_before - now

        outcome = self._send_some()
        if is_draining and (self.is_everything_sent or outcome.is_held):
            self._settled.set()
        wait = _IDLE_SECONDS if outcome.is_done else outcome.wait_seconds
        self._not_before = time.monotonic() + wait
        return min(wait, _DRAINING_SECONDS) if self._draining.is_set() else wait

    def search_leftovers(self) -> None:
        """Look for spools of processes that are gone, though it was done lately."""
        self._leftovers.search_again()

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

    def _send_some(self) -> Outcome:
        delivery = self._found_delivery()
        if delivery is None or self._server is None:
            return Outcome(wait_seconds=_UNKNOWN_SERVER_SECONDS, is_held=True)
        outcome = delivery.send_some()
        if outcome.is_done and time.monotonic() > self._last_sent + _HEARTBEAT_SECONDS:
            outcome = delivery.say_alive()
        if not outcome.is_done:
            self._last_sent = time.monotonic()
        else:
            # Points first: files have the time when there are none.
            outcome = self._send_files(delivery.transport)
        if outcome.is_done and not self._draining.is_set():
            outcome = self._send_leftovers(self._server, delivery)
        if outcome.is_held:
            # The next try looks the address and the token up again.
            self._server = None
        return outcome

    def _send_files(self, transport: Transport) -> Outcome:
        if time.monotonic() >= self._files_not_before:
            outcome = self._uploads.send_some(transport)
            if not outcome.wait_seconds:
                return outcome
            # Only they wait: points, and the sign of life, go on.
            self._files_not_before = time.monotonic() + outcome.wait_seconds
            self._are_files_held = outcome.is_held
        if self._are_files_held and self._draining.is_set():
            self._settled.set()
        return Outcome(is_done=True)

    def _send_leftovers(self, server: Server, delivery: Delivery) -> Outcome:
        if time.monotonic() < self._leftovers_not_before:
            return Outcome(is_done=True)
        outcome = self._leftovers.send_some(server, delivery.transport)
        if not outcome.wait_seconds:
            return outcome
        # Only they wait: the run that lives must not seem to have crashed.
        self._leftovers_not_before = time.monotonic() + outcome.wait_seconds
        return Outcome(is_done=True)

    def _found_delivery(self) -> Delivery | None:
        """The delivery to the server of the settings, as they are now."""
        if self._server is not None and self._delivery is not None:
            return self._delivery
        self._server = find_server(os.environ)
        if self._server is None:
            return None
        self._close()
        self._transport = HttpTransport(self._server)
        if self._delivery is None:
            self._delivery = Delivery(
                self._reader,
                self._transport,
                self._notices,
                last_written=lambda: self._spool.written,
            )
        self._delivery.transport = self._transport
        return self._delivery

    def _close(self) -> None:
        self._leftovers.let_go()
        if self._transport is not None:
            self._transport.close()
