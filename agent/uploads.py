"""Delivers the contents of a spool's files, part by part."""

from __future__ import annotations

import time
from collections import deque
from dataclasses import dataclass
from http import HTTPStatus

from agent.answers import Reply, content_of, retry_after
from agent.blobs import Blob, Blobs
from agent.delivery import HOLD_SECONDS, Outcome, longer_wait
from agent.errors import NoAnswer
from agent.notices import Notices
from agent.transport import Transport

# A part should take so long: points wait for no more than one.
_PART_SECONDS = 0.5
_SMALLEST_PART_BYTES = 64 * 1024
_FIRST_PART_BYTES = 1024 * 1024
LARGEST_PART_BYTES = 8 * 1024 * 1024
_CHECKING_SECONDS = 1.0
_NO_ROOM_SECONDS = 600.0
_ATTEMPTS = 3


@dataclass
class _Current:
    """The content that is being sent; `offset` is None until the tracker was asked."""

    blob: Blob
    offset: int | None = None
    restarts: int = 0


class Uploads:
    """The state of delivering one spool's files."""

    def __init__(self, blobs: Blobs, notices: Notices) -> None:
        self._blobs = blobs
        self._notices = notices
        # Of other folders, what is taken says nothing.
        self._held = f"files held {blobs.folder}"
        self._current: _Current | None = None
        self._listed: deque[Blob] = deque()
        # Done with, and still there: their disk takes nothing, not even this.
        self._stuck: set[str] = set()
        self._part_bytes = _FIRST_PART_BYTES
        self._failures = 0

    @property
    def is_done(self) -> bool:
        """Whether nothing waits; asked anew each time, as more may come."""
        return all(digest in self._stuck for digest in self._blobs.digests())

    def send_some(self, transport: Transport) -> Outcome:
        """Send one part, if there is anything to send."""
        current = self._current or self._next()
        if current is None:
            return Outcome(is_done=True)
        try:
            part = self._part(current)
        except OSError as error:
            # Deleted under us, or the disk fails: others may still be read.
            self._notices.warn(
                f"blob {error.errno}", f"a file cannot be read from the spool ({error})"
            )
            self._forget(current)
            return Outcome()
        began = time.monotonic()
        try:
            reply = transport.send_part(
                current.blob.digest, current.blob.size, current.offset or 0, part
            )
        except NoAnswer as error:
            self._part_bytes = max(self._part_bytes // 2, _SMALLEST_PART_BYTES)
            # How much of it came only the tracker knows.
            current.offset = None
            return self._wait(f"the server does not answer ({error})")
        self._pace(len(part), time.monotonic() - began)
        return self._obey(reply, current)

    def _next(self) -> _Current | None:
        if not self._listed:
            pending = self._blobs.pending()
            self._listed.extend(b for b in pending if b.digest not in self._stuck)
        self._current = _Current(self._listed.popleft()) if self._listed else None
        return self._current

    def _part(self, current: _Current) -> bytes:
        if current.offset is None:
            return b""
        part = self._blobs.read(current.blob, current.offset, self._part_bytes)
        if not part and current.offset < current.blob.size:
            raise OSError("it became shorter")
        return part

    def _pace(self, sent_bytes: int, seconds: float) -> None:
        """Have the next part take as long as parts should."""
        if sent_bytes < _SMALLEST_PART_BYTES:
            return
        fitting = int(sent_bytes * _PART_SECONDS / max(seconds, 0.001))
        # Not all at once: one answer may have been quick or slow by chance.
        fitting = min(max(fitting, sent_bytes // 2), sent_bytes * 2)
        self._part_bytes = min(max(fitting, _SMALLEST_PART_BYTES), LARGEST_PART_BYTES)

    def _obey(  # noqa: PLR0911 - one for each answer
        self, reply: Reply, current: _Current
    ) -> Outcome:
        content = content_of(reply.body)
        if reply.status == HTTPStatus.OK:
            return self._progressed(content, current)
        if reply.status == HTTPStatus.CONFLICT:
            return self._rewound(content, current)
        if reply.status == HTTPStatus.UNPROCESSABLE_ENTITY:
            return self._send_again(current)
        if reply.status == HTTPStatus.REQUEST_ENTITY_TOO_LARGE:
            return self._too_large(reply, content, current)
        if reply.status in (
            HTTPStatus.TOO_MANY_REQUESTS,
            HTTPStatus.SERVICE_UNAVAILABLE,
        ):
            told = retry_after(reply.retry_after, time.time())
            # A content of which somebody else sends the same may grow meanwhile.
            current.offset = None
            why = f"the server cannot take files now ({_text_of(reply, content)})"
            # Who says 0, or a time that is over, says so each time: not to be hurried.
            return Outcome(wait_seconds=told, why=why) if told else self._wait(why)
        if reply.status == HTTPStatus.REQUEST_TIMEOUT:
            self._part_bytes = max(self._part_bytes // 2, _SMALLEST_PART_BYTES)
            current.offset = None
            return self._wait(f"files come to the server too slowly ({reply.status})")
        if reply.status == HTTPStatus.INSUFFICIENT_STORAGE:
            return self._hold(reply, content, _NO_ROOM_SECONDS)
        if reply.status >= HTTPStatus.INTERNAL_SERVER_ERROR:
            return self._wait(f"the server cannot take files now ({reply.status})")
        return self._hold(reply, content, HOLD_SECONDS)

    # A parsed answer of a server that is not trusted.
    def _progressed(self, content: dict[str, object], current: _Current) -> Outcome:
        received = _whole(content.get("received"))
        if content.get("is_stored") is True:
            self._forget(current)
            return self._moved()
        if received is None or received > current.blob.size:
            return self._wait("a server answers that is no tracker")
        if received == current.blob.size:
            current.offset = None
            self._moved()
            return Outcome(wait_seconds=_CHECKING_SECONDS)
        sent, current.offset = current.offset, received
        if sent is not None and received <= sent:
            return self._wait("the server stores nothing of what it takes")
        return self._moved()

    def _rewound(self, content: dict[str, object], current: _Current) -> Outcome:
        expected = _whole(_error(content).get("expected"))
        if expected is None or expected > current.blob.size:
            current.offset = None
            return self._wait("a server answers that is no tracker")
        sent, current.offset = current.offset, expected
        if sent == expected:
            return self._wait("the server asks again for what it was just sent")
        return self._moved()

    def _moved(self) -> Outcome:
        self._failures = 0
        self._notices.forget(self._held)
        return Outcome()

    def _send_again(self, current: _Current) -> Outcome:
        """What came has another digest: begin anew, unless it is damaged here."""
        current.restarts += 1
        current.offset = 0
        is_hopeless = current.restarts >= _ATTEMPTS
        if not is_hopeless and self._blobs.is_intact(current.blob):
            return Outcome()
        self._notices.warn(
            "damaged file",
            f"a file of the spool is damaged and lost ({current.blob.digest})",
        )
        self._forget(current)
        return Outcome()

    def _too_large(
        self, reply: Reply, content: dict[str, object], current: _Current
    ) -> Outcome:
        if current.offset is not None or _error(content).get("code") != "too_large":
            # The file itself was not refused: something in between takes no such parts.
            if self._part_bytes == _SMALLEST_PART_BYTES:
                return self._hold(reply, content, HOLD_SECONDS)
            self._part_bytes = max(self._part_bytes // 2, _SMALLEST_PART_BYTES)
            return Outcome()
        self._notices.warn(
            "large file",
            f"a file of {current.blob.size:,} bytes is not stored, as others may be:"
            f" {_error(content).get('message') or 'the server refuses it'}",
        )
        self._forget(current)
        return Outcome()

    def _forget(self, current: _Current) -> None:
        if not self._blobs.remove(current.blob):
            self._stuck.add(current.blob.digest)
        self._current = None

    def _hold(
        self, reply: Reply, content: dict[str, object], seconds: float
    ) -> Outcome:
        self._notices.warn(
            self._held,
            f"the server does not accept files ({_text_of(reply, content)}); they are "
            f"kept in {self._blobs.folder} and tried again later",
        )
        if self._current is not None:
            self._current.offset = None
        return Outcome(wait_seconds=seconds, is_held=True)

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
