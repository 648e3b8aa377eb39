"""Errors that the tracker returns, with messages a caller can act on."""

from __future__ import annotations

from collections.abc import Sequence

# Maximum length of a name in a message.
SHOWN_CHARACTERS = 80


class TrackerError(Exception):
    """Base class of all errors; `code` is part of the API and never changes."""

    code: str


class NotFound(TrackerError):
    code = "not_found"

    def __init__(self, what: str) -> None:
        super().__init__(f"This {what} does not exist, or you cannot access it.")


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
    """The body of a request cannot be parsed; nothing was stored."""

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
    """The body of a request did not arrive in time."""

    code = "too_slow"

    def __init__(self) -> None:
        super().__init__("Timeout: the body arrived too slowly. Send less per request.")


class OutOfOrder(TrackerError):
    """The first frame of a batch leaves a gap after the stored ones."""

    code = "out_of_order"

    def __init__(self, expected: int) -> None:
        super().__init__(f"Send from frame {expected}; earlier frames are missing.")
        self.expected = expected


class FrameDiffers(TrackerError):
    """A frame with the same number and other content is already stored.

    `first` is the first frame of the batch that is not known to be stored, `stored` are
    the later ones that are.
    """

    code = "frame_differs"

    def __init__(self, number: int, *, first: int, stored: Sequence[int]) -> None:
        super().__init__(
            f"Frame {number} is already stored with other content: two processes"
            " write to one offline queue, or a queue was restored. Nothing was stored."
        )
        self.first = first
        self.stored = stored


class DigestDiffers(TrackerError):
    """The received content does not match its SHA-256 digest."""

    code = "digest_differs"

    def __init__(self) -> None:
        super().__init__(
            "Checksum mismatch; the upload was discarded. Send the file again from"
            " the beginning."
        )


class NoRoom(TrackerError):
    """The disk is full, or the workspace has reached its quota."""

    code = "no_room"

    def __init__(self, why: str) -> None:
        super().__init__(
            f"{why}. Delete runs permanently, or ask your administrator for space."
        )


class Pinned(TrackerError):
    """The run is pinned and cannot be trashed or deleted."""

    code = "pinned"

    def __init__(self) -> None:
        super().__init__("The run is pinned; unpin it first.")


class Changed(TrackerError):
    """Another user changed the object since the caller read it; nothing was stored."""

    code = "changed"

    def __init__(self, what: str, username: str, *, version: int) -> None:
        super().__init__(
            f"{username or 'Another user'} changed this {what} while you had it open."
            " Your changes were not saved. Review the new version, then apply them"
            " again."
        )
        self.version = version


class Unavailable(TrackerError):
    """The database is unreachable or the server is overloaded; retry later."""

    code = "unavailable"

    def __init__(
        self,
        why: str = "The server or its database is too busy; try again in a few seconds.",
    ) -> None:
        super().__init__(why)


class Busy(TrackerError):
    """Compaction is behind, and the caller is one of the heaviest senders."""

    code = "busy"

    def __init__(self, retry_after_seconds: int) -> None:
        super().__init__(
            f"The server is overloaded; retry in {retry_after_seconds} seconds."
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
