"""A chat service: its name and its message format."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from tracker.alerts.message import Message


@dataclass(frozen=True, slots=True)
class Service:
    """`label` is a product name, the same in all languages."""

    name: str
    label: str
    body: Callable[[Message], bytes]
    # Where users get the webhook's address.
    manual: str = ""


# Chat services draw a line of this color next to the message.
COLORS = {"critical": 0xC62828, "warning": 0xB26A00, "notice": 0x3B6FB6}


def color_of(message: Message) -> int:
    return COLORS.get(message.severity, COLORS["notice"])


def place_of(message: Message) -> str:
    """Return the project, run and stage, if set."""
    return " · ".join(each for each in _places(message) if each)


def _places(message: Message) -> tuple[str, str, str]:
    return message.project, message.run, message.stage
