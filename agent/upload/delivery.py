"""Delivers one spool, batch by batch, and follows the server's responses."""

from __future__ import annotations

import random
import time
from collections.abc import Callable
from dataclasses import dataclass

from seamark import messages
from seamark.errors import NoAnswer, Rejected
from seamark.lifecycle.registration import FIRST_NUMBER
from seamark.queue.frames import Frame
from seamark.queue.spool_reader import SpoolReader
from seamark.upload.request_limits import RequestLimits, refused_by_proxy
from seamark.upload.responses import Meaning, Response, is_not_found, judge
from seamark.upload.transport import Transport
from seamark.user_warnings import Notices

# Small enough for any proxy or slow connection.
_SMALLEST_BATCH_BYTES = 64 * 1024
_FIRST_RETRY_SECONDS = 0.5
_LONGEST_RETRY_SECONDS = 60.0
HOLD_SECONDS = 60.0
# Immediate retries of reporting a process exit.
_PATIENT_FAILURES = 3
# The server compares a repeated frame with its copy only for the most recent frames.
_COMPARED_FRAMES = 64
_REFUSAL = ("path", "code", "message")

# A separate generator: the state of the training's must not change.
_random: random.Random = random.Random()


@dataclass(frozen=True)
class Outcome:
    """The result of an upload attempt."""

    wait_seconds: float = 0.0
    is_deferred: bool = False  # nothing will be accepted before the settings change
    is_done: bool = False  # there was nothing to send
    is_answered: bool = True  # False: no response from a Seamark server
    why: str = ""  # why nothing was stored now, if it may be stored later


class Delivery:
    """The state of delivering one spool."""

    def __init__(
        self,
        spool: SpoolReader,
        transport: Transport,
        notices: Notices,
        *,
        limits: RequestLimits | None = None,
        last_written: Callable[[], int] | None = None,
        tell_closed: Callable[[], None] = lambda: None,
        reject: Callable[[Rejected], None] | None = None,
    ) -> None:
        """Create it; `last_written` returns the last frame number that a live process
        wrote.

        `limits` belong to the server and are shared with its other deliveries.
        `tell_closed` is called when the server has closed the spool's run, and `reject`
        for each item that the server refused to store; the default logs a warning.
        """
        self.spool = spool
        self.transport = transport
        self._notices = notices
        # One warning key per spool, so that a success of one does not reset another's.
        self._deferral_key = f"held {spool.id}"
        self._last_written = last_written
        self._limits = limits or RequestLimits()
        self._batch_bytes = self._limits.batch_bytes
        self._tell_closed = tell_closed
        self._reject = reject or self._warn_rejected
        # Frames up to this number are sent one by one, to find the one that fails.
        self._alone_until = 0
        # Replacements for frames that the server cannot read, by number.
        self._replacements: dict[int, Frame] = {}
        self._failures = 0
        # The frame number after which the process exit was reported.
        self._gone_after = 0
        # The run's id, once the server has returned it.
        self.run_id = ""
        # Whether reporting the exit failed and is to be retried.
        self.is_undelivered = False

    def send_some(self) -> Outcome:
        """Send one batch, if there is anything to send."""
        frames = self._next_frames()
        if not frames:
            return Outcome(is_done=True)
        body = b"".join(frame.to_bytes() for frame in frames)
        return self._exchange(body, frames)

    def report_alive(self) -> Outcome:
        """Send an empty batch as a heartbeat."""
        return self._exchange(b"", [])

    def report_gone(self) -> Outcome:
        """Report that the process of a delivered spool has exited, if it did not
        itself.

        Not sent as a frame: in a copy of the folder the process is not visible, and if
        it is still alive, it uses the next frame number.
        """
        last = self.spool.acknowledged
        is_reported = self._gone_after == last
        written_at = None if is_reported else self.spool.unreported_end_at()
        if written_at is None:
            return Outcome(is_done=True)
        try:
            reply = self.transport.report_gone(self.spool.sent_as, last, written_at)
        except NoAnswer as error:
            return self._unanswered(error)
        response = judge(reply, now=time.time())
        is_passing = response.meaning in (Meaning.UNCLEAR, Meaning.TOO_SLOW)
        if response.meaning in (Meaning.OUT_OF_ORDER, Meaning.BUSY) or (
            is_passing and self._failures < _PATIENT_FAILURES
        ):
            return self._obey(response, [])
        self._gone_after, self._failures = last, 0
        # All frames were stored. If the run is deleted or in the trash, the report is
        # not needed; otherwise it is retried later without blocking anything.
        self.is_undelivered = (
            response.meaning is not Meaning.STORED and not is_not_found(reply)
        )
        if response.meaning is not Meaning.STORED:
            later = (
                "is retried every minute" if self.is_undelivered else "is not needed"
            )
            self._notices.warn(
                f"untold {self.spool.id}",
                f"the points in {self.spool.folder} are delivered; reporting the end of"
                f" their process failed ({response.text}) and {later}",
            )
        return Outcome()

    def forget_refusals(self) -> None:
        """Send all frames unmodified again: another server may accept them."""
        self._replacements.clear()
        self._alone_until = 0

    def _next_frames(self) -> list[Frame]:
        first = self.spool.acknowledged + 1
        most_bytes = min(self._batch_bytes, self._limits.batch_bytes)
        if first <= self._alone_until:
            most_bytes = 0
        frames = self.spool.frames_from(first, most_bytes=most_bytes)
        if self.spool.replaced:
            self._notices.warn(
                "damaged",
                f"a part of the offline queue {self.spool.folder} is damaged and lost",
            )
        if self.spool.obstacle:
            warn_of_obstacle(self._notices, self.spool, self.spool.obstacle)
        return [self._replacements.get(frame.number, frame) for frame in frames]

    def _exchange(self, body: bytes, frames: list[Frame]) -> Outcome:
        try:
            reply = self.transport.send(self.spool.sent_as, body)
        except NoAnswer as error:
            self._send_less(body)
            return self._unanswered(error)
        response = judge(reply, now=time.time())
        if response.meaning is Meaning.TOO_SLOW:
            self._send_less(body)
        outcome = self._obey(response, frames)
        if not outcome.is_deferred:
            self._notices.forget(self._deferral_key)
        return outcome

    def _unanswered(self, error: NoAnswer) -> Outcome:
        wait = self._longer_wait()
        why = f"the server does not respond ({error})"
        if wait > 1:
            self._notices.warn("no answer", why)
        return Outcome(wait_seconds=wait, is_answered=False, why=why)

    def _send_less(self, body: bytes) -> None:
        # A batch that exceeds the connection's capacity would never arrive.
        self._batch_bytes = max(len(body) // 2, _SMALLEST_BATCH_BYTES)

    def _obey(self, response: Response, frames: list[Frame]) -> Outcome:
        if response.meaning is Meaning.STORED:
            return self._stored(response, frames)
        if response.meaning is Meaning.OUT_OF_ORDER:
            return self._rewind(response, frames)
        if response.meaning is Meaning.DIFFERS:
            return self._renew(response, response.number)
        if response.meaning is Meaning.HOLD:
            return self._hold(response)
        if response.meaning in (Meaning.BUSY, Meaning.UNCLEAR, Meaning.TOO_SLOW):
            return self._wait(response)
        return self._make_smaller(response, frames)

    def _make_smaller(self, response: Response, frames: list[Frame]) -> Outcome:
        """Send unreadable or oversized data in smaller pieces."""
        if len(frames) <= 1:
            if response.meaning is Meaning.NOT_LET_THROUGH:
                # Another proxy, or free space on this one, may let it through later.
                size_bytes = _size_of(frames)
                why = refused_by_proxy(size_bytes, "bytes before compression")
                return self._hold(response, why)
            return self._set_aside(response, frames)
        if response.meaning is Meaning.MALFORMED:
            self._alone_until = frames[-1].number
        else:
            self._limits.refuse_batch(_size_of(frames))
        return Outcome()

    def _wait(self, response: Response) -> Outcome:
        why = f"the server cannot accept data now ({response.text})"
        if response.wait_seconds is not None:
            return Outcome(wait_seconds=response.wait_seconds, why=why)
        self._notices.warn("unclear", why)
        is_answered = response.meaning is not Meaning.UNCLEAR
        return Outcome(
            wait_seconds=self._longer_wait(), is_answered=is_answered, why=why
        )

    def _stored(self, response: Response, frames: list[Frame]) -> Outcome:
        for refusal in response.refused:
            fields = (str(refusal.get(name) or "") for name in _REFUSAL)
            self._reject(Rejected(*fields))
        self.run_id = response.run_id or self.run_id
        if response.numbered_name:
            self._notices.warn(
                f"numbered {self.spool.id}",
                f"a run of this name has ended before, so this one is"
                f" {response.numbered_name!a}; agent.init(..., resume=True) continues"
                " the earlier one",
            )
        if self._is_set_back(response):
            return self._renew(response, self._first_unconfirmed(response, frames))
        if not frames:
            self._failures = 0
            return Outcome()
        if response.number < frames[0].number:
            # The server accepted the batch but stored nothing: back off.
            why = "the server accepts data but stores none of it"
            return Outcome(wait_seconds=self._longer_wait(), why=why)
        self._failures = 0
        self._batch_bytes = min(self._batch_bytes * 2 + 1, self._limits.batch_bytes)
        stored = min(response.number, frames[-1].number)
        self.spool.acknowledge(stored)
        self._replacements = {n: f for n, f in self._replacements.items() if n > stored}
        return Outcome()

    def _rewind(self, response: Response, frames: list[Frame]) -> Outcome:
        if frames and response.number == frames[0].number:
            why = "the server requests the same data again"
            return Outcome(wait_seconds=self._longer_wait(), why=why)
        self.spool.acknowledge(response.number - 1)
        return Outcome(wait_seconds=0.0 if frames else self._longer_wait())

    def _set_aside(self, response: Response, frames: list[Frame]) -> Outcome:
        # Without its first frame a spool belongs to no run.
        if (
            not frames
            or frames[0].number == 1
            or frames[0].number in self._replacements
        ):
            return self._hold(response)
        frame = frames[0]
        kept = self.spool.set_aside(frame)
        self._notices.warn(
            "set aside",
            f"the server cannot read a batch ({response.text}); it is kept in {kept}",
        )
        lost = messages.count_points(frame.payload)
        payload = messages.payload([messages.drop(lost)] if lost else [])
        self._replacements[frame.number] = Frame(frame.number, payload)
        return Outcome()

    def _warn_rejected(self, error: Rejected) -> None:
        # The run of another process: warn once per code.
        self._notices.warn(f"refused {error.code}", str(error))

    def _is_set_back(self, response: Response) -> bool:
        """Return whether the server has more frames than this process has ever written."""
        if self._last_written is None or self.spool.is_renewed_in_vain:
            return False
        return response.number > self.spool.as_sent(self._last_written())

    def _first_unconfirmed(self, response: Response, frames: list[Frame]) -> int:
        """Return the first skipped frame that is not identical to the server's copy."""
        if not frames or frames[-1].number > response.number - _COMPARED_FRAMES:
            return self.spool.acknowledged + len(frames) + 1
        return frames[0].number

    def _renew(self, response: Response, first: int) -> Outcome:
        """Continue in a new spool of the same run, with the frames the server does not
        have.
        """
        known, first = self.spool.sent_as, max(first, self.spool.acknowledged + 1)
        # The first frames of a new spool conflict with nothing, so do not retry without
        # end. Later frames may conflict with those of another copy.
        is_in_vain = self.spool.is_renewed_in_vain and first <= FIRST_NUMBER
        if is_in_vain or not self.spool.renew(first, response.stored):
            return self._hold(response)
        self.forget_refusals()
        self._notices.warn(
            f"renewed {self.spool.id}",
            f"the server has different data for the offline queue {known}: this machine was "
            "probably restored from a backup or copied; missing and new data "
            f"continues in the queue {self.spool.sent_as} of the same run",
        )
        return Outcome(wait_seconds=self._longer_wait())

    def _hold(self, response: Response, why: str = "") -> Outcome:
        if response.is_run_closed:
            self._tell_closed()
        why = why or f"the server does not accept data ({response.text})"
        self._notices.warn(
            self._deferral_key,
            f"{why}; all data is kept in {self.spool.folder} and sent again every"
            " minute",
        )
        return Outcome(wait_seconds=HOLD_SECONDS, is_deferred=True, why=why)

    def _longer_wait(self) -> float:
        wait = longer_wait(self._failures)
        self._failures += 1
        return wait


def longer_wait(failures: int) -> float:
    """Return the backoff in seconds after a number of failures, with jitter."""
    # Bounded, because the number of failures is not.
    wait = min(_FIRST_RETRY_SECONDS * 2 ** min(failures, 16), _LONGEST_RETRY_SECONDS)
    jittered: float = wait * _random.uniform(0.5, 1.0)
    return jittered


def _size_of(frames: list[Frame]) -> int:
    return sum(len(frame.payload) for frame in frames)


def warn_of_obstacle(notices: Notices, spool: SpoolReader, why: str) -> None:
    """Warn once that a spool, or a part of it, cannot be read now."""
    notices.warn(
        f"obstacle {spool.id}",
        f"the offline queue {spool.folder} cannot be read now ({why}); its unsent data"
        " is retried",
    )
