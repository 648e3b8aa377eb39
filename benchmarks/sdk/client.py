"""Interface of a measured client (standard library only)."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, ClassVar

PROJECT = "benchmark"

Metrics = dict[str, float]


class Client(ABC):
    """One tracker's client; it writes only below `folder`.

    `log` is called with the result of `prepare` for a step, and the step. If the
    tracker's own function has this signature, it is used directly.
    """

    # The package, and how it is called, in words.
    package: ClassVar[str]
    writing: ClassVar[str]
    # Set before imports, so that no data is sent over a network.
    environment: ClassVar[Mapping[str, str]] = {}

    log: Callable[[Any, int], object]

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    @abstractmethod
    def load(self) -> None:
        """Import the tracker."""

    @abstractmethod
    def open(self, run: str) -> None:
        """Begin to log to a new run."""

    def prepare(self, metrics: Metrics, step: int) -> Any:  # noqa: ARG002 - some need it
        """Prepare the arguments of a step before the clock starts."""
        return metrics

    @abstractmethod
    def close(self) -> None:
        """End the run; return after the data is handed over."""

    def dropped(self) -> int:
        """Return the number of dropped points, if the client reports it."""
        return 0

    def has_ring(self) -> bool | None:
        """Return whether rows are in memory that outlives the process, if known."""
        return None

    def beside_ring(self) -> int:
        """Return the number of points that were not in the buffer when their call returned."""
        return 0
