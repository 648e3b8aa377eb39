"""What is not accepted, and why; the codes are part of docs/protocol.md."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Refusal:
    """Why one message, or one path of it, was not accepted."""

    frame: int
    index: int
    code: str
    message: str
    # "" where the message names no path, or several are meant.
    path: str = ""


class Unacceptable(Exception):
    """One message, or one path of it, is refused."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code
