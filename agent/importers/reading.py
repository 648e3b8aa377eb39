"""The output of importers: samples and facts (pure)."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import NamedTuple

_NUMBER = re.compile(r"[+-]?(?:\d+(?:[.,]\d*)?|[.,]\d+)(?:[eE][+-]?\d{1,3})?")
# Beyond this a number is a broken counter.
LARGEST = 1e18


class Reading(NamedTuple):
    """Numbers by path from one time, under the stage's namespace or with users' names."""

    moment: int  # microseconds since 1970
    values: dict[str, float]
    step: float | None = None
    is_users: bool = False
    # Users' texts, histograms and media by path.
    others: Mapping[str, object] = MappingProxyType({})


@dataclass
class FileFacts:
    """Facts by path under `facts/`; the first value of each counts."""

    facts: dict[str, object] = field(default_factory=dict)

    def add(self, path: str, value: object) -> None:
        """Add a fact, unless it is already set."""
        self.facts.setdefault(path, value)


def to_number(text: str) -> float | None:
    """Return a number with a decimal point or comma; None if it is not one."""
    if len(text) > _LONGEST or _NUMBER.fullmatch(text) is None:
        return None
    number = float(text.replace(",", "."))
    return number if abs(number) <= LARGEST else None


_LONGEST = 40  # characters
