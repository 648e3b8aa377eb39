"""What each refusal is over HTTP, for the API and the pages alike."""

from __future__ import annotations

from http import HTTPStatus

from django.db import InterfaceError, InternalError, OperationalError

from tracker.errors import (
    Busy,
    Changed,
    DigestDiffers,
    FrameDiffers,
    InvalidInput,
    LengthRequired,
    MalformedBatch,
    NoRoom,
    NotAllowed,
    NotAuthenticated,
    NotFound,
    OutOfOrder,
    Pinned,
    RunFinished,
    TooLarge,
    TooSlow,
    TrackerError,
    Unavailable,
    UnsupportedMedia,
)

# What a database that is away, busy or out of connections raises.
DATABASE_AWAY = (OperationalError, InterfaceError)
# What a PostgreSQL says that takes no writes, as one that has become a standby.
READ_ONLY = "25006"

STATUS: dict[type[TrackerError], HTTPStatus] = {
    Busy: HTTPStatus.TOO_MANY_REQUESTS,
    Changed: HTTPStatus.CONFLICT,
    DigestDiffers: HTTPStatus.UNPROCESSABLE_ENTITY,
    FrameDiffers: HTTPStatus.UNPROCESSABLE_ENTITY,
    InvalidInput: HTTPStatus.BAD_REQUEST,
    LengthRequired: HTTPStatus.LENGTH_REQUIRED,
    MalformedBatch: HTTPStatus.BAD_REQUEST,
    NoRoom: HTTPStatus.INSUFFICIENT_STORAGE,
    NotAllowed: HTTPStatus.FORBIDDEN,
    NotAuthenticated: HTTPStatus.UNAUTHORIZED,
    NotFound: HTTPStatus.NOT_FOUND,
    OutOfOrder: HTTPStatus.CONFLICT,
    Pinned: HTTPStatus.CONFLICT,
    RunFinished: HTTPStatus.FORBIDDEN,
    TooLarge: HTTPStatus.REQUEST_ENTITY_TOO_LARGE,
    TooSlow: HTTPStatus.REQUEST_TIMEOUT,
    Unavailable: HTTPStatus.SERVICE_UNAVAILABLE,
    UnsupportedMedia: HTTPStatus.UNSUPPORTED_MEDIA_TYPE,
}


def status_of(error: TrackerError) -> HTTPStatus:
    """Return the status of a refusal: that of its kind, or of what it is a kind of."""
    kinds = (kind for kind in type(error).__mro__ if kind in STATUS)
    return STATUS[next(kinds)]


def is_database_away(error: BaseException) -> bool:
    """Tell whether the database could not be asked, and the request is fine."""
    if isinstance(error, InternalError):
        # Damaged tables and faults of ours are internal, too.
        return getattr(error.__cause__, "sqlstate", None) == READ_ONLY
    return isinstance(error, DATABASE_AWAY)
