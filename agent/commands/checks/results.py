"""The results of `seamark doctor`."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum


class State(Enum):
    """Whether the result prevents data from arriving."""

    FINE = "ok"
    NOTE = "note"
    PROBLEM = "problem"


@dataclass(frozen=True)
class Finding:
    """The result of one check; `name` is stable, and `advice` is a fix or ""."""

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
