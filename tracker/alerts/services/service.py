"""A chat service: its name and the JSON it expects of a message."""

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


# Chat services draw a line of this color beside the message.
COLORS = {"critical": 0xC62828, "warning": 0xB26A00, "notice": 0x3B6FB6}


def color_of(message: Message) -> int:
    return COLORS.get(message.severity, COLORS["notice"])


def place_of(message: Message) -> str:
    """Return the project, the run and the stage, as far as there are any."""
    return " · ".join(each for each in _places(message) if each)


def _places(message: Message) -> tuple[str, str, str]:
    return message.project, message.run, message.stage
