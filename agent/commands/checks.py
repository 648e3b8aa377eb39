"""What `seamark doctor` says of one thing that it looked at."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum


class State(Enum):
    """Whether it keeps points from arriving."""

    FINE = "ok"
    NOTE = "note"
    PROBLEM = "problem"


@dataclass(frozen=True)
class Finding:
    """One thing; `name` never changes, and `advice` says what to do, if anything."""

    name: str
    state: State
    text: str
    advice: str = ""


def fine(name: str, text: str) -> Finding:
    return Finding(name, State.FINE, text)


def note(name: str, text: str, advice: str) -> Finding:
    return Finding(name, State.NOTE, text, advice)


def problem(name: str, text: str, advice: str) -> Finding:
    return Finding(name, State.PROBLEM, text, advice)
