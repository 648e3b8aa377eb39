"""The error for an invalid query, with its position (pure)."""

from __future__ import annotations


class BadQuery(Exception):
    """`position` counts characters from 0; `length` is the length of the invalid part."""

    def __init__(self, message: str, position: int, length: int = 1) -> None:
        super().__init__(message)
        self.position = position
        self.length = max(1, length)
