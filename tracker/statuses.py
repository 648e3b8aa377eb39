"""What each refusal is over HTTP, for the API and the pages alike."""

from __future__ import annotations

from http import HTTPStatus

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
    TooLarge,
    TooSlow,
    TrackerError,
    Unavailable,
    UnsupportedMedia,
)

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
    TooLarge: HTTPStatus.REQUEST_ENTITY_TOO_LARGE,
    TooSlow: HTTPStatus.REQUEST_TIMEOUT,
    Unavailable: HTTPStatus.SERVICE_UNAVAILABLE,
    UnsupportedMedia: HTTPStatus.UNSUPPORTED_MEDIA_TYPE,
}


def status_of(error: TrackerError) -> HTTPStatus:
    """Return the status of a refusal: that of its kind, or of what it is a kind of."""
    kinds = (kind for kind in type(error).__mro__ if kind in STATUS)
    return STATUS[next(kinds)]
