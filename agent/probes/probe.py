"""What every probe offers to the sampler."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol

from agent.values import Value

Facts = Mapping[str, Value]
Sample = Mapping[str, float]


class ProbeUnavailable(Exception):
    """This machine does not offer what the probe reads; the message says what."""


class Probe(Protocol):
    """Reads one source; paths and units are those of docs/monitoring.md."""

    name: str

    def facts(self) -> Facts:
        """What does not change, by path; what is unknown is absent."""

    def sample(self, now: float) -> Sample:
        """The present readings by path; `now` is monotonic seconds."""
