"""What a client must offer to be measured (standard library only)."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, ClassVar

PROJECT = "benchmark"

Metrics = dict[str, float]


class Client(ABC):
    """One tracker's client; it keeps all that it writes below `folder`.

    `log` is called with what `prepare` made of a step, and with the step. Where the
    tracker's own function takes just that, it stands there itself.
    """

    # The package, and how it is called, in words.
    package: ClassVar[str]
    writing: ClassVar[str]
    # Set before anything is imported, so that nothing goes over a network.
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
        """Make what a step is logged with, before the clock starts."""
        return metrics

    @abstractmethod
    def close(self) -> None:
        """End the run; return when what was logged was handed over."""

    def dropped(self) -> int:
        """Return how many points were not kept, as far as the client tells."""
        return 0

    def has_ring(self) -> bool | None:
        """Tell whether rows go to memory that outlives the process, if that is known."""
        return None

    def beside_ring(self) -> int:
        """Return how many points did not lie there when their call returned."""
        return 0
