"""Why a query is not understood, and where (pure)."""

from __future__ import annotations


class BadQuery(Exception):
    """`position` counts characters from 0; `length` of them are to blame."""

    def __init__(self, message: str, position: int, length: int = 1) -> None:
        super().__init__(message)
        self.position = position
        self.length = max(1, length)
