"""The work of the sender thread: deliver this process's spool, then orphaned spools."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from pathlib import Path

from seamark.errors import Rejected
from seamark.queue.blobs import Blobs
from seamark.queue.spool import Spool
from seamark.queue.spool_reader import SpoolReader
from seamark.servers import Server, find_servers
from seamark.upload.delivery import Delivery, Outcome
from seamark.upload.files import Uploads
from seamark.upload.orphans import Leftovers
from seamark.upload.request_limits import RequestLimits
from seamark.upload.transport import HttpTransport, Transport
from seamark.user_warnings import Notices

_HEARTBEAT_SECONDS = 10.0
# A server on this machine may be started after the training.
_UNKNOWN_SERVER_SECONDS = 5.0


class Sending:
    """Delivers to the server that is currently configured."""

    def __init__(
        self,
        spool: Spool,
        root: Path,
        notices: Notices,
        *,
        count_dropped: Callable[[int], None],
        tell_closed: Callable[[], None] = lambda: None,
        reject: Callable[[Rejected], None] | None = None,
    ) -> None:
        """Create it; `count_dropped` counts points that cannot be sent.

        `tell_closed` is called when the server has closed the run, and `reject` for
        each item that the server refused to store.
        """
        self._spool = spool
        self._count_dropped = count_dropped
        self._tell_closed = tell_closed
        self._reject = reject
        self._reader = SpoolReader(spool.folder, spool)
        self._limits = RequestLimits()
        self._uploads = [Uploads(Blobs(spool.folder), notices, self._limits)]
        self._files_not_before = float("-inf")
        self._are_files_deferred = False
        self._is_draining = False
        self._leftovers = Leftovers(root, notices, limits=self._limits)
        self._notices = notices
        self._server: Server | None = None
        # The last server, all servers configured then, and the time of the next request
        # after a rejection.
        self._last: Server | None = None
        self._known: list[Server] = []
        self._retry_at = float("-inf")
        self._delivery: Delivery | None = None
        self._transport: HttpTransport | None = None
        self._leftovers_not_before = float("-inf")
        self._last_sent = time.monotonic()

    @property
    def is_everything_sent(self) -> bool:
        """Whether the server has everything in the spool, including files."""
        is_delivered = self._reader.delivered >= self._spool.written
        return is_delivered and all(uploads.is_done for uploads in self._uploads)

    @property
    def run_id(self) -> str:
        """The run's id; "" until the server has answered."""
        return "" if self._delivery is None else self._delivery.run_id

    @property
    def are_files_deferred(self) -> bool:
        """Whether the server accepts no files now, so that waiting for them is useless."""
        return self._are_files_deferred

    def search_leftovers(self) -> None:
        """Search for orphaned spools now instead of after the interval."""
        self._leftovers.search_again()

    def send_some(self, *, is_draining: bool) -> Outcome:
        """Send one batch, a part of a file, or data of an orphaned spool."""
        if self._reader.follow():
            self._uploads[0].is_left = True
            blobs = Blobs(self._spool.folder)
            self._uploads.insert(0, Uploads(blobs, self._notices, self._limits))
        if is_draining and not self._is_draining:
            # Retried whatever the last response was: the server may be back.
            self._files_not_before = float("-inf")
        self._is_draining = is_draining
        delivery = self._found_delivery(is_draining=is_draining)
        if delivery is None or self._server is None:
            return Outcome(wait_seconds=_UNKNOWN_SERVER_SECONDS, is_deferred=True)
        outcome = delivery.send_some()
        self._spool.note_delivered(self._reader.delivered)
        lost, self._reader.lost = self._reader.lost, 0
        if lost:
            self._count_dropped(lost)
        if outcome.is_done and time.monotonic() > self._last_sent + _HEARTBEAT_SECONDS:
            outcome = delivery.report_alive()
        if not outcome.is_done:
            self._last_sent = time.monotonic()
        else:
            # Files are sent only when there are no points.
            outcome = self._send_files(delivery.transport)
        if outcome.is_done and not is_draining:
            outcome = self._send_leftovers(self._server, delivery)
        if outcome.is_deferred:
            # The next attempt reads the address and the token again.
            self._server = None
            self._retry_at = time.monotonic() + outcome.wait_seconds
            return Outcome(
                wait_seconds=min(outcome.wait_seconds, _UNKNOWN_SERVER_SECONDS),
                is_deferred=True,
            )
        if not outcome.is_answered and find_servers(os.environ) != self._known:
            # The user has changed the address or token.
            self._server = None
        return outcome

    def _send_files(self, transport: Transport) -> Outcome:
        if time.monotonic() >= self._files_not_before:
            outcome = self._uploads_to_send().send_some(transport)
            if not outcome.wait_seconds:
                return outcome
            # Delays only files: points and heartbeats continue.
            self._files_not_before = time.monotonic() + outcome.wait_seconds
            self._are_files_deferred = outcome.is_deferred
        return Outcome(is_done=True)

    def _uploads_to_send(self) -> Uploads:
        """Return the uploads of the spool's folder, or of one that it has left."""
        current, *left = self._uploads
        if not left or not current.is_done:
            return current
        return next((uploads for uploads in left if not uploads.is_done), current)

    def _send_leftovers(self, server: Server, delivery: Delivery) -> Outcome:
        if time.monotonic() < self._leftovers_not_before:
            return Outcome(is_done=True)
        outcome = self._leftovers.send_some(server, delivery.transport)
        if not outcome.wait_seconds:
            return outcome
        # Delays only orphaned spools: the live run must not look crashed.
        self._leftovers_not_before = time.monotonic() + outcome.wait_seconds
        return Outcome(is_done=True)

    def _found_delivery(self, *, is_draining: bool) -> Delivery | None:
        """Return the delivery to the currently configured server; None if there is
        none.
        """
        if self._server is not None and self._delivery is not None:
            return self._delivery
        known = find_servers(os.environ)
        self._server = self._chosen(known, is_draining=is_draining)
        if self._server is None:
            return None
        is_another = self._last is not None and self._last.url != self._server.url
        self._last, self._known = self._server, known
        self.close()
        self._transport = HttpTransport(self._server)
        if self._delivery is None:
            self._delivery = Delivery(
                self._reader,
                self._transport,
                self._notices,
                limits=self._limits,
                last_written=lambda: self._spool.written,
                tell_closed=self._tell_closed,
                reject=self._reject,
            )
        self._delivery.transport = self._transport
        if is_another:
            self._limits.reset()
            self._delivery.forget_refusals()
        return self._delivery

    def _chosen(self, known: list[Server], *, is_draining: bool) -> Server | None:
        """Return the server to use now; None if there is none or it rejected data
        recently.
        """
        # A new token is used at once.
        fresh = [server for server in known if server not in self._known]
        if fresh:
            return fresh[0]
        is_too_early = time.monotonic() < self._retry_at
        if is_too_early and not is_draining:
            return None
        if self._last in known:
            return self._last
        return known[0] if known else None

    def close(self) -> None:
        """Close the connection and release orphaned spools."""
        self._leftovers.let_go()
        if self._transport is not None:
            self._transport.close()
