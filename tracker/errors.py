"""What the tracker refuses, in words a caller can act on."""

from __future__ import annotations

from collections.abc import Sequence

# Limit of a name in a message.
SHOWN_CHARACTERS = 80


class TrackerError(Exception):
    """Base of every refusal; `code` is part of the API and never changes."""

    code: str


class NotFound(TrackerError):
    code = "not_found"

    def __init__(self, what: str) -> None:
        super().__init__(f"There is no such {what}, or you may not see it.")


class NotAuthenticated(TrackerError):
    code = "not_authenticated"

    def __init__(self) -> None:
        super().__init__(
            "Send a valid API key in the Authorization header: Bearer <API key>."
        )


class NotAllowed(TrackerError):
    code = "not_allowed"

    def __init__(self, what: str) -> None:
        super().__init__(f"Your role or API key cannot {what}.")


class SecondFactorRequired(NotAllowed):
    def __init__(self) -> None:
        TrackerError.__init__(
            self, "Your workspace requires a second factor. Add one under Security."
        )


class Archived(NotAllowed):
    def __init__(self) -> None:
        TrackerError.__init__(
            self, "The project is archived. Restore it in its settings to change it."
        )


class InvalidInput(TrackerError):
    code = "invalid_input"

    def __init__(self, field: str, requirement: str) -> None:
        super().__init__(f"{field} {requirement}.")
        self.field = field


class MalformedBatch(TrackerError):
    """The body of a batch cannot be read; nothing of it was stored."""

    code = "malformed_batch"


class RunFinished(TrackerError):
    """An API key that may only log tried to join a finished run."""

    code = "run_finished"

    def __init__(self, run: str) -> None:
        super().__init__(
            f"The run {run[:SHOWN_CHARACTERS]!r} is finished. Log to a run with another"
            " name, or use an API key of scope manage to reopen it."
        )


class TooLarge(TrackerError):
    code = "too_large"

    def __init__(self, what: str, limit: str) -> None:
        super().__init__(f"{what} is larger than the limit of {limit}.")


class TooSlow(TrackerError):
    """The body of a request did not come in the time that it may take."""

    code = "too_slow"

    def __init__(self) -> None:
        super().__init__(
            "The body came too slowly, and was not waited for; send less at a time."
        )


class OutOfOrder(TrackerError):
    """A spool's batch leaves a gap after what is stored."""

    code = "out_of_order"

    def __init__(self, expected: int) -> None:
        super().__init__(f"Send from number {expected}; earlier frames are missing.")
        self.expected = expected


class FrameDiffers(TrackerError):
    """A frame's number is stored already, with other content.

    `first` is the first frame of the batch that is not known to be stored, `stored`
    are those after it that are.
    """

    code = "frame_differs"

    def __init__(self, number: int, *, first: int, stored: Sequence[int]) -> None:
        super().__init__(
            f"Frame {number} is stored already, with other content: two processes"
            " write to one spool, or a spool was set back. Nothing was stored."
        )
        self.first = first
        self.stored = stored


class DigestDiffers(TrackerError):
    """What was sent of a file is not what its digest says."""

    code = "digest_differs"

    def __init__(self) -> None:
        super().__init__(
            "What came has another digest; all of it is forgotten. Send it again from"
            " the beginning."
        )


class NoRoom(TrackerError):
    """There is no space for a file, or the workspace may not take more."""

    code = "no_room"

    def __init__(self, why: str) -> None:
        super().__init__(f"{why}; delete runs for good, or ask who runs the server.")


class Pinned(TrackerError):
    """The run is kept, whatever anybody wants to be rid of."""

    code = "pinned"

    def __init__(self) -> None:
        super().__init__("The run is pinned; unpin it first.")


class Changed(TrackerError):
    """Somebody else changed it since the caller read it; nothing was stored."""

    code = "changed"

    def __init__(self, what: str, who: str, *, version: int) -> None:
        super().__init__(
            f"{who or 'Somebody'} changed this {what} while you had it open, and"
            " nothing of yours was saved. Look at the change first, then do yours"
            " again."
        )
        self.version = version


class Unavailable(TrackerError):
    """The database cannot be reached, or something is too busy; try again."""

    code = "unavailable"

    def __init__(
        self,
        why: str = "The server or its database is too busy; try again in a few seconds.",
    ) -> None:
        super().__init__(why)


class Busy(TrackerError):
    """Compaction is behind, and the caller is among those who send the most."""

    code = "busy"

    def __init__(self, retry_after_seconds: int) -> None:
        super().__init__(
            "The server is behind with what it was sent; send again in"
            f" {retry_after_seconds} seconds."
        )
        self.retry_after_seconds = retry_after_seconds


class LengthRequired(TrackerError):
    code = "length_required"

    def __init__(self) -> None:
        super().__init__("Send the body with a Content-Length header.")


class UnsupportedMedia(TrackerError):
    code = "unsupported_media"

    def __init__(self, header: str, accepted: str) -> None:
        super().__init__(f"{header} must be {accepted}.")
