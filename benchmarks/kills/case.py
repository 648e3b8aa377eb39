"""Input and result of a case."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

from benchmarks.kills.services import DurablePostgreSQL
from tracker.server.processes import ROOT

SQLITE = "SQLite"
POSTGRESQL = "PostgreSQL"
SEED = 20_260_101


@dataclass(frozen=True, slots=True)
class Size:
    """The size of a case; the same case is a short test and a long benchmark."""

    folder: Path
    rounds: int
    clients: int = 4
    seed: int = SEED


@dataclass(frozen=True, slots=True)
class Result:
    """Figures of a case, and the allowed value of each guarantee."""

    figure: Mapping[str, int | str]
    threshold: Mapping[str, int | str]

    @property
    def passed(self) -> bool:
        return all(self.figure[name] == self.threshold[name] for name in self.threshold)


@dataclass(frozen=True, slots=True)
class Case:
    """One row of the table: action, databases, number of rounds.

    `number` is that of the tested guarantee; `in_full` the amount it specifies, if the
    default is smaller.
    """

    title: str
    run: Callable[[Size, str], Result]
    databases: tuple[str, ...]
    rounds: int
    unit: str = "rounds"
    number: str = ""
    in_full: str = ""
    clients: int = 4


class Database:
    """A new database of either kind; a context manager."""

    def __init__(self, kind: str) -> None:
        self.server: DurablePostgreSQL | None = None
        self._kind = kind
        self._stack = ExitStack()

    def __enter__(self) -> Database:
        if self._kind == POSTGRESQL:
            self.server = self._stack.enter_context(DurablePostgreSQL())
        return self

    def __exit__(self, *error: object) -> None:
        self._stack.close()

    @property
    def url(self) -> str:
        return self.server.url if self.server else ""


def commit() -> str:
    """Return the commit of the code, with a plus if files differ from it.

    For a copy without history, $BENCHMARKS_COMMIT has the commit.
    """
    if told := os.environ.get("BENCHMARKS_COMMIT"):
        return told
    described = subprocess.run(
        # Without the option it may write to the index, which others use too.
        [
            *("git", "--no-optional-locks", "describe"),
            *("--always", "--abbrev=12", "--dirty=+", "--exclude=*"),
        ],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    return described.stdout.strip() or "unknown"
