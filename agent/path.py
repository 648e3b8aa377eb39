"""Attribute paths: cleaning and validation."""

from __future__ import annotations

from seamark.errors import InvalidPath

LONGEST_PATH = 1024  # characters
LARGEST_PATH = 2048  # bytes of UTF-8


def clean_path(path: object) -> str:
    """Return the path as the server stores it; raises InvalidPath."""
    if not isinstance(path, str):
        raise InvalidPath(path, "is not a string")
    cleaned = str.strip(path, "/")
    if not cleaned:
        raise InvalidPath(path, "is empty")
    if len(cleaned) > LONGEST_PATH:
        raise InvalidPath(path, f"is longer than {LONGEST_PATH} characters")
    if "\0" in cleaned:
        raise InvalidPath(path, "contains a NUL character")
    try:
        size = len(cleaned.encode())
    except UnicodeEncodeError as error:
        raise InvalidPath(path, "contains half of a surrogate pair") from error
    if size > LARGEST_PATH:
        raise InvalidPath(path, f"is larger than {LARGEST_PATH} bytes")
    # A subclass of str may override methods; store the plain text.
    return str(cleaned)


def is_encodable(text: str) -> bool:
    """Return whether the text can be encoded as UTF-8."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True
