"""Rejected messages and reasons; the codes are part of docs/protocol.md."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Refusal:
    """The reason why one message, or one path of it, was rejected."""

    frame: int
    index: int
    code: str
    message: str
    # Empty if the message has no path or several are affected.
    path: str = ""


class Unacceptable(Exception):
    """One message, or one path of it, is rejected."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code
