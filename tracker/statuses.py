"""What each refusal is over HTTP, for the API and the pages alike."""

from __future__ import annotations

from http import HTTPStatus

from tracker.errors import (
    InvalidInput,
    LengthRequired,
    MalformedBatch,
    NotAllowed,
    NotAuthenticated,
    NotFound,
    OutOfOrder,
    TooLarge,
    TrackerError,
    Unavailable,
    UnsupportedMedia,
)

STATUS: dict[type[TrackerError], HTTPStatus] = {
    InvalidInput: HTTPStatus.BAD_REQUEST,
    LengthRequired: HTTPStatus.LENGTH_REQUIRED,
    MalformedBatch: HTTPStatus.BAD_REQUEST,
    NotAllowed: HTTPStatus.FORBIDDEN,
    NotAuthenticated: HTTPStatus.UNAUTHORIZED,
    NotFound: HTTPStatus.NOT_FOUND,
    OutOfOrder: HTTPStatus.CONFLICT,
    TooLarge: HTTPStatus.REQUEST_ENTITY_TOO_LARGE,
    Unavailable: HTTPStatus.SERVICE_UNAVAILABLE,
    UnsupportedMedia: HTTPStatus.UNSUPPORTED_MEDIA_TYPE,
}
