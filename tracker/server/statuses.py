"""The HTTP status of each error, for the API and the pages."""

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

# Raised by a database that is down, busy or out of connections.
DATABASE_AWAY = (OperationalError, InterfaceError)
# SQLSTATE of a read-only PostgreSQL server, such as a standby.
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
    """Return the status of the error's type or of its nearest base type."""
    kinds = (kind for kind in type(error).__mro__ if kind in STATUS)
    return STATUS[next(kinds)]


def is_database_away(error: BaseException) -> bool:
    """Return whether the database was unavailable and the request itself is valid."""
    if isinstance(error, InternalError):
        # Damaged tables and bugs of ours are InternalErrors, too.
        return getattr(error.__cause__, "sqlstate", None) == READ_ONLY
    return isinstance(error, DATABASE_AWAY)
