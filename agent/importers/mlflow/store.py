"""The runs of an MLflow store, as every kind of store provides them."""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple, Protocol

# Reports a cause, with the number of the line or row.
Report = Callable[[str, int], None]


class Unreadable(Exception):
    """A store, or a part of it, cannot be read; the message is the reason."""


class Experiment(NamedTuple):
    """A group of runs."""

    id: str
    name: str


class Metric(NamedTuple):
    """A point of a metric."""

    value: float
    step: int
    time: int  # milliseconds since 1970


@dataclass(frozen=True)
class StoredRun:
    """A run with its single values."""

    id: str
    name: str
    experiment: str
    status: str
    start: int | None  # milliseconds since 1970
    end: int | None
    artifact_uri: str = ""
    params: Mapping[str, str] = field(default_factory=dict)
    tags: Mapping[str, str] = field(default_factory=dict)
    # Known without a request by servers only.
    metrics: tuple[str, ...] = ()

    @property
    def parent(self) -> str:
        """The id of the run that this one is nested in; "" for none."""
        return self.tags.get("mlflow.parentRunId", "")


class Store(Protocol):
    """A store of MLflow; its methods raise Unreadable."""

    def experiments(self) -> list[Experiment]:
        """Return the experiments that are not deleted."""

    def runs(self, experiment: Experiment, report: Report) -> list[StoredRun]:
        """Return an experiment's runs that are not deleted, the oldest first."""

    def metrics(
        self, run: StoredRun, report: Report
    ) -> Iterator[tuple[str, list[Metric]]]:
        """Yield the names of metrics with their points."""

    def artifacts(self, run: StoredRun) -> list[str]:
        """Return the paths of a run's artifacts."""

    def fetch(self, run: StoredRun, path: str, folder: Path) -> Path:
        """Return an artifact's file, perhaps a copy in `folder`."""


def restored(value: float) -> float:
    """Return a value of a database, which has the largest numbers for infinities."""
    is_infinite = abs(value) >= sys.float_info.max
    return math.copysign(math.inf, value) if is_infinite else value


def oldest_first(runs: Iterable[StoredRun]) -> list[StoredRun]:
    """Return runs in the order of their starts."""
    return sorted(runs, key=lambda run: (run.start or 0, run.id))


def files_below(folder: Path) -> list[str]:
    """Return the paths of all files below a folder; links are left out."""
    return sorted(
        path.relative_to(folder).as_posix()
        for path in folder.rglob("*")
        if path.is_file() and not path.is_symlink()
    )
