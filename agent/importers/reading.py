"""What importers give: numbers read at a moment, and facts (pure)."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import NamedTuple

_NUMBER = re.compile(r"[+-]?(?:\d+(?:[.,]\d*)?|[.,]\d+)(?:[eE][+-]?\d{1,3})?")
# Beyond this a number is a broken counter.
LARGEST = 1e18


class Reading(NamedTuple):
    """Numbers by path, read together; below the stage's namespace, or as users log."""

    moment: int  # microseconds since 1970
    values: dict[str, float]
    step: float | None = None
    is_users: bool = False


@dataclass
class Stated:
    """Facts by path below `facts/`; the first that is said of something counts."""

    facts: dict[str, object] = field(default_factory=dict)

    def add(self, path: str, value: object) -> None:
        """Remember a fact, unless it is known."""
        self.facts.setdefault(path, value)


def to_number(text: str) -> float | None:
    """Return a number as a log writes it, with a point or a comma; else None."""
    if len(text) > _LONGEST or _NUMBER.fullmatch(text) is None:
        return None
    number = float(text.replace(",", "."))
    return number if abs(number) <= LARGEST else None


_LONGEST = 40  # characters
