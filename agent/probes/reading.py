"""Descriptions of metrics: the unit, scope and quality of every path.

docs/monitoring.md is generated from them, and a run stores those of its logged metrics
in `facts/readings`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import Enum

# Quality: how reliably a value measures the quantity in its path.
COUNTED = 1.0  # a counter's exact difference, a hardware counter, a timer
SAMPLED = 0.8  # a direct sample, at one time or over an external window
COARSE = 0.6  # of the whole host, or a flag sampled at one time
INFERRED = 0.4  # derived from another quantity

_NUMBERED = re.compile(r"(?<![^/])(gpu|mig|worker)/\d{1,4}(?=/)")


class Scope(str, Enum):
    """The entity that a value describes."""

    HOST = "host"
    CORES = "cores of the job"
    NETWORK = "network namespace"
    CONTAINER = "container"
    JOB = "process tree"
    PROCESS = "process"
    FILE_SYSTEM = "file system"
    GPU = "GPU"
    GPU_JOB = "process tree on the GPU"
    MIG = "slice of a GPU"
    AGENT = "agent's threads"


@dataclass(frozen=True)
class Reading:
    """A series that a probe may log; `seconds` is the minimum interval.

    A path with several possible sources has a description for each.
    """

    path: str
    unit: str
    scope: Scope
    source: str
    quality: float
    meaning: str = ""
    seconds: float = 1.0


@dataclass(frozen=True)
class Fact:
    """A value that a probe may store under `facts/`."""

    path: str
    type: str
    meaning: str = ""


def pattern_of(path: str) -> str:
    """Return a path's pattern, without the indices of GPUs and workers."""
    return _NUMBERED.sub(lambda found: f"{found[1]}/{_LETTER[found[1]]}", path)


_LETTER = {"gpu": "<i>", "mig": "<j>", "worker": "<n>"}


class Described:
    """The descriptions of a process's metrics, as text that grows line by line."""

    def __init__(self) -> None:
        self._patterns: dict[str, str] = {}  # by path
        self._lines: dict[str, str] = {}
        self._chosen: dict[str, str] = {}

    def add(
        self,
        paths: Iterable[str],
        readings: Iterable[Reading],
        chosen: Mapping[str, str],
    ) -> str | None:
        """Return all descriptions if there are new ones, else None.

        `chosen` is the source of patterns with several possible sources; a changed
        source adds its description.
        """
        there = {self._patterns.get(path) or self._name(path) for path in paths}
        patterns = {
            pattern
            for pattern in there
            if pattern not in self._chosen
            or chosen.get(pattern, self._chosen[pattern]) != self._chosen[pattern]
        }
        if not patterns:
            return None
        before = dict(self._lines)
        self._chosen |= {pattern: chosen.get(pattern, "") for pattern in patterns}
        described = set()
        for reading in readings:
            if reading.path not in patterns or reading.path in described:
                continue
            if chosen.get(reading.path, reading.source) == reading.source:
                described.add(reading.path)
                self._lines[reading.path] = line_of(reading)
        return self.text if self._lines != before else None

    def _name(self, path: str) -> str:
        return self._patterns.setdefault(path, pattern_of(path))

    @property
    def text(self) -> str:
        return "\n".join(self._lines[path] for path in sorted(self._lines))


def line_of(reading: Reading) -> str:
    """Return a description as tab-separated fields."""
    scope, quality = reading.scope.value, f"{reading.quality:g}"
    return "\t".join((reading.path, reading.unit, scope, quality, reading.source))
