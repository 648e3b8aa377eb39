"""The jobs of each part and their labels, from evaluation/<part>/*.toml.

A label is written before the first score of its job and is not changed after it;
docs/evaluation.md lists exceptions.
"""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

import tomllib

from evaluation.recordings import ENDING, HERE, PARTS
from evaluation.synthetic.faults import Case

MODES = ("neighbors", "alone")


class Expects(StrEnum):
    FAULT = "fault"
    HEALTHY = "healthy"
    NOT_ENOUGH_DATA = "not enough data"


@dataclass(frozen=True, slots=True)
class Label:
    """`causes` are rules that name the fault; `beside` are true, but not the cause."""

    expects: Expects
    causes: frozenset[str] = frozenset()
    beside: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Job:
    """A script with its arguments; `neighbor` is the program next to it."""

    name: str
    part: str
    kind: str
    script: str
    arguments: tuple[str, ...]
    label: Label
    neighbor: str
    # A job that is meant to fail or to be killed ends with another code than 0.
    fails: bool = False
    hangs: bool = False

    @property
    def path(self) -> Path:
        return HERE / self.part / "jobs" / self.script

    @property
    def modes(self) -> tuple[str, ...]:
        """Return how the job is recorded: a long one and one on a GPU once."""
        if self.part in ("tune", "test"):
            return MODES
        return ("neighbors",) if self.neighbor else ("alone",)

    def recording(self, mode: str) -> Path:
        return HERE / self.part / "recordings" / f"{self.name}-{mode}{ENDING}"


def jobs_of(part: str) -> list[Job]:
    tables = sorted((HERE / part).glob("*.toml"))
    rows = [row for table in tables for row in tomllib.loads(table.read_text())["job"]]
    return [_job(part, row) for row in rows]


def all_jobs() -> list[Job]:
    return [job for part in PARTS for job in jobs_of(part)]


# Any value that TOML has.
def _job(part: str, row: Mapping[str, object]) -> Job:
    script, *arguments = shlex.split(str(row["run"]))
    return Job(
        name=str(row["name"]),
        part=part,
        kind=str(row["kind"]),
        script=script,
        arguments=tuple(arguments),
        label=_label(row["label"], row.get("beside", [])),
        neighbor=str(row["neighbor"]),
        fails=bool(row.get("fails", False)),
        hangs=bool(row.get("hangs", False)),
    )


def _label(label: object, beside: object) -> Label:
    also = frozenset(map(str, beside)) if isinstance(beside, list) else frozenset()
    if isinstance(label, list):
        return Label(Expects.FAULT, frozenset(map(str, label)), also)
    return Label(Expects(str(label)), beside=also)


def label_of(case: Case, numbers: Mapping[str, str]) -> Label:
    """Return the label of a synthetic job; `numbers` are rules' catalog numbers."""
    if case.is_healthy:
        return Label(Expects.HEALTHY)
    expected = {case.expects, *case.also}
    causes = frozenset(rule for rule, number in numbers.items() if number in expected)
    return Label(Expects.FAULT, causes)
