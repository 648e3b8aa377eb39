"""Uploads the contents of a spool's files, part by part."""

from __future__ import annotations

import time
from collections import deque
from dataclasses import dataclass
from http import HTTPStatus

from seamark.errors import NoAnswer
from seamark.queue.blobs import Blob, Blobs, Shortened
from seamark.queue.own_files import NO_MEANS
from seamark.upload.delivery import HOLD_SECONDS, Outcome, longer_wait
from seamark.upload.request_limits import (
    SMALLEST_PART_BYTES,
    RequestLimits,
    refused_by_proxy,
)
from seamark.upload.responses import Reply, content_of, retry_after
from seamark.upload.transport import Transport
from seamark.user_warnings import Notices

# The target duration of a part: points wait for at most one.
_PART_SECONDS = 0.5
# Fits into the largest request that nginx accepts by default.
_FIRST_PART_BYTES = 1024 * 1024
_CHECKING_SECONDS = 1.0
_LONG_HOLD_SECONDS = 600.0
_ATTEMPTS = 3
# At the end of a script, longer waits for files are skipped.
_WORTH_WAITING_SECONDS = 5.0


@dataclass
class _Current:
    """The content being sent; `offset` is None until the server has returned it."""

    blob: Blob
    offset: int | None = None
    restarts: int = 0


@dataclass
class _PutOff:
    """The backoff of a content that cannot be sent now."""

    until: float  # time.monotonic()
    failures: int


class Uploads:
    """The state of uploading one spool's files."""

    def __init__(
        self, blobs: Blobs, notices: Notices, limits: RequestLimits | None = None
    ) -> None:
        """Create it; `limits` belong to the server and are shared with its other
        uploads.
        """
        self._blobs = blobs
        self._notices = notices
        self._limits = limits or RequestLimits()
        # One warning key per folder, so that a success of one does not reset another's.
        self._deferral_key = f"files held {blobs.folder}"
        self._current: _Current | None = None
        self._listed: deque[Blob] = deque()
        # Uploaded but not deleted, because their disk accepts no writes.
        self._stuck: set[str] = set()
        # Whether the spool has left the folder because its disk fails.
        self.is_left = False
        # Backoffs by digest; the key "" is for the whole folder.
        self._put_off: dict[str, _PutOff] = {}
        self._part_bytes = _FIRST_PART_BYTES
        self._failures = 0

    @property
    def is_done(self) -> bool:
        """Whether no files wait; evaluated each time, as more may be added."""
        try:
            return all(digest in self._stuck for digest in self._blobs.digests())
        except OSError as error:
            return self.is_left and error.errno not in NO_MEANS

    def send_some(self, transport: Transport) -> Outcome:
        """Send one part, if there is anything to send."""
        try:
            current = self._current or self._next()
        except OSError as error:
            # Whether anything waits is unknown.
            self._delay("", error)
            current = None
        if current is None:
            return self._left_alone()
        try:
            part = self._part(current)
        except FileNotFoundError:
            return self._lost(current, "gone")
        except Shortened:
            return self._lost(current, "damaged and lost")
        except OSError as error:
            self._delay(current.blob.digest, error)
            return Outcome()
        began = time.monotonic()
        try:
            reply = transport.send_part(
                current.blob.digest, current.blob.size, current.offset or 0, part
            )
        except NoAnswer as error:
            self._part_bytes = max(self._part_bytes // 2, SMALLEST_PART_BYTES)
            # Only the server knows how much has arrived.
            current.offset = None
            return self._wait(f"the server does not respond ({error})")
        if reply.status == HTTPStatus.OK:
            # The duration of a rejected request does not measure the bandwidth.
            self._pace(len(part), time.monotonic() - began)
        return self._obey(reply, current, sent_bytes=len(part))

    def _next(self) -> _Current | None:
        if not self._listed:
            pending = self._blobs.pending()
            self._drop_delays(pending)
            self._listed.extend(b for b in pending if self._is_due(b))
        self._current = _Current(self._listed.popleft()) if self._listed else None
        return self._current

    def _part(self, current: _Current) -> bytes:
        if current.offset is None:
            return b""
        size_bytes = min(self._part_bytes, self._limits.part_bytes)
        part = self._blobs.read(current.blob, current.offset, size_bytes)
        if part:
            self._put_off.pop(current.blob.digest, None)
        return part

    def _is_due(self, blob: Blob) -> bool:
        put_off = self._put_off.get(blob.digest)
        is_in_time = put_off is None or put_off.until <= time.monotonic()
        return is_in_time and blob.digest not in self._stuck

    def _drop_delays(self, pending: list[Blob]) -> None:
        """Drop the backoffs of deleted contents and of the folder."""
        if self._put_off:
            digests = {blob.digest for blob in pending}
            self._put_off = {d: p for d, p in self._put_off.items() if d in digests}

    def _delay(self, digest: str, error: OSError) -> None:
        """Retry an unreadable content later; there is no other copy."""
        self._notices.warn(
            f"unread {self._blobs.folder}",
            f"queued files cannot be read now ({error}); they are kept"
            f" in {self._blobs.folder} and retried",
        )
        before = self._put_off.get(digest)
        failures = 0 if before is None else before.failures
        is_lasting = failures >= _ATTEMPTS
        wait = HOLD_SECONDS if is_lasting else longer_wait(failures)
        self._leave_alone(digest, wait, failures + 1)

    def _leave_alone(self, digest: str, seconds: float, failures: int) -> None:
        self._put_off[digest] = _PutOff(time.monotonic() + seconds, failures)
        self._current = None

    def _left_alone(self) -> Outcome:
        """Return the wait for the next backoff to end; done if there is none."""
        if not self._put_off:
            return Outcome(is_done=True)
        until = min(put_off.until for put_off in self._put_off.values())
        wait = max(0.0, until - time.monotonic())
        return Outcome(
            wait_seconds=wait,
            is_deferred=wait > _WORTH_WAITING_SECONDS,
            why="queued files cannot be sent now",
        )

    def _pace(self, sent_bytes: int, seconds: float) -> None:
        """Adjust the part size to the target duration."""
        if sent_bytes < SMALLEST_PART_BYTES:
            return
        fitting = int(sent_bytes * _PART_SECONDS / max(seconds, 0.001))
        # Gradually, because a single response may be unusually fast or slow.
        fitting = min(max(fitting, sent_bytes // 2), sent_bytes * 2)
        self._part_bytes = max(fitting, SMALLEST_PART_BYTES)

    def _obey(  # noqa: PLR0911 - one for each response
        self, reply: Reply, current: _Current, *, sent_bytes: int
    ) -> Outcome:
        content = content_of(reply.body)
        if reply.status == HTTPStatus.OK:
            return self._progressed(content, current)
        if reply.status == HTTPStatus.CONFLICT:
            return self._rewound(content, current)
        if reply.status == HTTPStatus.UNPROCESSABLE_ENTITY:
            return self._send_again(current)
        if reply.status == HTTPStatus.REQUEST_ENTITY_TOO_LARGE:
            return self._too_large(content, current, sent_bytes=sent_bytes)
        if reply.status in (
            HTTPStatus.TOO_MANY_REQUESTS,
            HTTPStatus.SERVICE_UNAVAILABLE,
        ):
            seconds = retry_after(reply.retry_after, time.time())
            # Another process may be uploading the same content.
            current.offset = None
            why = f"the server cannot accept files now ({_text_of(reply, content)})"
            # A server that sends 0 or a past date sends it each time; use the backoff.
            return (
                Outcome(wait_seconds=seconds, why=why) if seconds else self._wait(why)
            )
        if reply.status == HTTPStatus.REQUEST_TIMEOUT:
            self._part_bytes = max(self._part_bytes // 2, SMALLEST_PART_BYTES)
            current.offset = None
            return self._wait(f"files reach the server too slowly ({reply.status})")
        if reply.status == HTTPStatus.INSUFFICIENT_STORAGE:
            return self._refused(reply, content, _LONG_HOLD_SECONDS)
        if reply.status >= HTTPStatus.INTERNAL_SERVER_ERROR:
            return self._wait(f"the server cannot accept files now ({reply.status})")
        return self._refused(reply, content, HOLD_SECONDS)

    # The parsed response is not trusted.
    def _progressed(self, content: dict[str, object], current: _Current) -> Outcome:
        received = _whole(content.get("received"))
        if content.get("is_stored") is True:
            self._forget(current)
            return self._moved()
        if received is None or received > current.blob.size:
            return self._wait("the response is not from a Seamark server")
        if received == current.blob.size:
            current.offset = None
            self._moved()
            return Outcome(wait_seconds=_CHECKING_SECONDS)
        sent, current.offset = current.offset, received
        if sent is None:
            # This was only a query: the failure count of parts stays.
            return Outcome()
        if received <= sent:
            return self._wait("the server accepts data but stores none of it")
        return self._moved()

    def _rewound(self, content: dict[str, object], current: _Current) -> Outcome:
        expected = _whole(_error(content).get("expected"))
        if expected is None or expected > current.blob.size:
            current.offset = None
            return self._wait("the response is not from a Seamark server")
        sent, current.offset = current.offset, expected
        if sent == expected:
            return self._wait("the server requests the same data again")
        return Outcome()

    def _moved(self) -> Outcome:
        self._failures = 0
        self._notices.forget(self._deferral_key)
        return Outcome()

    def _send_again(self, current: _Current) -> Outcome:
        """Upload again after a checksum mismatch, unless the local content is damaged."""
        current.restarts += 1
        current.offset = 0
        try:
            is_intact = self._blobs.is_intact(current.blob)
        except OSError as error:
            self._delay(current.blob.digest, error)
            return Outcome()
        if not is_intact:
            return self._lost(current, "damaged and lost")
        if current.restarts >= _ATTEMPTS:
            self._notices.warn(
                f"changed on the way {current.blob.digest}",
                "the checksum of an uploaded file differs on the server; it is kept in"
                f" {self._blobs.folder} and retried later ({current.blob.digest})",
            )
            self._leave_alone(current.blob.digest, _LONG_HOLD_SECONDS, 1)
        return Outcome()

    def _lost(self, current: _Current, how: str) -> Outcome:
        self._notices.warn(
            f"lost {self._blobs.folder}",
            f"a queued file is {how} ({current.blob.digest})",
        )
        self._forget(current)
        return Outcome()

    def _too_large(
        self, content: dict[str, object], current: _Current, *, sent_bytes: int
    ) -> Outcome:
        error = _error(content)
        if current.offset is not None or error.get("code") != "too_large":
            return self._send_less(sent_bytes)
        self._notices.warn(
            "large file",
            f"a file of {current.blob.size:,} bytes is not stored:"
            f" {error.get('message') or 'the server rejected it'}",
        )
        self._forget(current)
        return Outcome()

    def _send_less(self, refused_bytes: int) -> Outcome:
        """Send smaller parts from now on, because a proxy rejects larger requests."""
        if refused_bytes <= SMALLEST_PART_BYTES:
            return self._hold(refused_by_proxy(refused_bytes), _LONG_HOLD_SECONDS)
        self._limits.refuse_part(refused_bytes)
        self._notices.inform(
            f"part size {self._limits.part_bytes}",
            f"a proxy in front of the server rejects a request of {refused_bytes:,}"
            f" bytes; files are sent in parts of {self._limits.part_bytes:,} bytes",
        )
        return Outcome()

    def _forget(self, current: _Current) -> None:
        self._put_off.pop(current.blob.digest, None)
        if not self._blobs.remove(current.blob):
            self._stuck.add(current.blob.digest)
        self._current = None

    def _refused(
        self, reply: Reply, content: dict[str, object], seconds: float
    ) -> Outcome:
        why = f"the server does not accept files ({_text_of(reply, content)})"
        return self._hold(why, seconds)

    def _hold(self, why: str, seconds: float) -> Outcome:
        self._notices.warn(
            self._deferral_key,
            f"{why}; files are kept in {self._blobs.folder} and sent again later",
        )
        if self._current is not None:
            self._current.offset = None
        return Outcome(wait_seconds=seconds, is_deferred=True, why=why)

    def _wait(self, why: str = "") -> Outcome:
        wait = longer_wait(self._failures)
        self._failures += 1
        if why and wait > 1:
            self._notices.warn("files wait", why)
        return Outcome(wait_seconds=wait, is_answered=False, why=why)


def _text_of(reply: Reply, content: dict[str, object]) -> str:
    error = _error(content)
    text = f"{reply.status} {error.get('code') or ''} {error.get('message') or ''}"
    return text.strip()[:300]


def _error(content: dict[str, object]) -> dict[str, object]:
    error = content.get("error")
    return error if isinstance(error, dict) else {}


def _whole(number: object) -> int | None:
    is_number = isinstance(number, int) and not isinstance(number, bool)
    return number if is_number and isinstance(number, int) and number >= 0 else None
