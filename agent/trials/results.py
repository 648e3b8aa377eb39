"""The results of micro-benchmarks, for the script and as values of the run."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from seamark.trials.fitting import Line


@dataclass(frozen=True)
class SyntheticResult:
    """The step on one repeated batch: the lower bound without data loading."""

    step_seconds: float
    steps: int

    def values(self) -> dict[str, object]:
        return {"step_seconds": self.step_seconds, "steps": self.steps}

    def __str__(self) -> str:
        return f"a step takes {_time(self.step_seconds)} without data loading"


@dataclass(frozen=True)
class LoaderResult:
    """The loader without the model: its maximum throughput."""

    batch_seconds: float
    batches: int
    first_batch_seconds: float

    def values(self) -> dict[str, object]:
        return {
            "batch_seconds": self.batch_seconds,
            "batches": self.batches,
            "first_batch_seconds": self.first_batch_seconds,
        }

    def __str__(self) -> str:
        return (
            f"the loader alone delivers a batch every {_time(self.batch_seconds)},"
            f" the first after {_time(self.first_batch_seconds)}"
        )


@dataclass(frozen=True)
class CachedResult:
    """Two passes over the same few batches; the second needs no fetching."""

    first_pass_seconds: float  # per batch
    batch_seconds: float  # per batch of the second pass
    batches: int

    @property
    def fetch_seconds(self) -> float:
        """The fetch time in the first pass, per batch."""
        return max(0.0, self.first_pass_seconds - self.batch_seconds)

    def values(self) -> dict[str, object]:
        return {
            "first_pass_seconds": self.first_pass_seconds,
            "batch_seconds": self.batch_seconds,
            "fetch_seconds": self.fetch_seconds,
            "batches": self.batches,
        }

    def __str__(self) -> str:
        return (
            f"a batch takes {_time(self.fetch_seconds)} to fetch and"
            f" {_time(self.batch_seconds)} to prepare"
        )


@dataclass(frozen=True)
class BatchResult:
    """Results for several batch sizes, with fitted lines for time and memory."""

    step_seconds: Mapping[int, float]  # by batch size
    memory_bytes: Mapping[int, int]  # by batch size, if an allocator reports it
    time: Line | None
    memory: Line | None
    out_of_memory_at: int | None  # the size that did not fit
    largest: int | None  # size that fits

    def values(self) -> dict[str, object]:
        values: dict[str, object] = {
            f"size/{size}/step_seconds": seconds
            for size, seconds in self.step_seconds.items()
        }
        for size, used in self.memory_bytes.items():
            values[f"size/{size}/memory_bytes"] = used
        if self.time is not None:
            values["base_seconds"] = self.time.base
            values["seconds_per_example"] = self.time.slope
        if self.memory is not None:
            values["base_bytes"] = self.memory.base
            values["bytes_per_example"] = self.memory.slope
        if self.out_of_memory_at is not None:
            values["out_of_memory_at"] = self.out_of_memory_at
        if self.largest is not None:
            values["largest"] = self.largest
        return values

    def __str__(self) -> str:
        rates = ", ".join(
            f"{size}: {size / seconds:.0f}"
            for size, seconds in self.step_seconds.items()
        )
        fits = (
            f"; the largest batch that fits is {self.largest}" if self.largest else ""
        )
        return f"examples per second by batch size: {rates}{fits}"


@dataclass(frozen=True)
class WorkersResult:
    """The loader alone with several numbers of workers."""

    batch_seconds: Mapping[int, float] = field(default_factory=dict)  # by workers

    @property
    def best(self) -> int:
        """The fewest workers that are almost as fast as the fastest number."""
        fastest = min(self.batch_seconds.values())
        return min(
            count
            for count, seconds in self.batch_seconds.items()
            if seconds <= fastest * (1.0 + HARDLY_SLOWER)
        )

    def values(self) -> dict[str, object]:
        values: dict[str, object] = {
            f"count/{count}/batch_seconds": seconds
            for count, seconds in self.batch_seconds.items()
        }
        return values | {
            "best": self.best,
            "batch_seconds": self.batch_seconds[self.best],
        }

    def __str__(self) -> str:
        rates = ", ".join(
            f"{count}: {_time(seconds)}"
            for count, seconds in self.batch_seconds.items()
        )
        return f"{self.best} workers are enough; time per batch by number of workers: {rates}"


# Smaller differences between numbers of workers are not significant.
HARDLY_SLOWER = 0.07


def _time(seconds: float) -> str:
    if seconds < 1.0:
        return f"{seconds * 1_000:.3g} ms"
    return f"{seconds:.3g} s"
