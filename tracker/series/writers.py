"""Detects series to which several processes log concurrently (pure).

A series' row names its writing process. Another process that began before the first was
done writes concurrently: their points share steps, and a chart jumps between them. One
that began after all of them takes over, as after a preemption.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple, TypeAlias
from uuid import UUID

from tracker.series.points import Integers

# More would not be useful, and the row stays small.
MAX_WRITERS = 64

# In the driver's format: see tracker/server/statements.py.
SpoolKey: TypeAlias = UUID | str


class Writer(NamedTuple):
    """A process of a run, as it identified itself."""

    rank: int
    stage: str
    host: str
    process: int


@dataclass(frozen=True, slots=True)
class Process:
    """The process of a spool, and its start."""

    writer: Writer
    began: int  # microseconds since 1970, by its own clock


@dataclass(frozen=True, slots=True, eq=False)
class Logged:
    """Series to which a process has logged, and the time of their last points."""

    spool: SpoolKey
    series_ids: Integers
    last_time: int


@dataclass(frozen=True, slots=True)
class Known:
    """The writers in a series' row: the current one, and all concurrent ones."""

    spool: SpoolKey | None = None
    last_time: int | None = None
    writers: tuple[Writer, ...] = ()


def strangers(
    spools: Mapping[int, SpoolKey | None], logged: Iterable[Logged]
) -> set[int]:
    """Return the series with a writer other than the one in their rows."""
    return {
        series_id
        for some in logged
        for series_id in some.series_ids.tolist()
        if series_id in spools and spools[series_id] != some.spool
    }


def changed(
    known: Mapping[int, Known],
    logged: Iterable[Logged],
    processes: Mapping[SpoolKey, Process],
) -> dict[int, Known]:
    """Return the changed writers of series after these points.

    `logged` is in the order of arrival; series missing in `known` are ignored.
    """
    after = dict(known)
    for some in logged:
        for series_id in some.series_ids.tolist():
            if series_id in after:
                after[series_id] = _after(after[series_id], some, processes)
    return {
        series_id: found
        for series_id, found in after.items()
        if (found.spool, found.writers)
        != (known[series_id].spool, known[series_id].writers)
    }


def _after(before: Known, some: Logged, processes: Mapping[SpoolKey, Process]) -> Known:
    last = some.last_time
    if before.last_time is not None:
        last = max(last, before.last_time)
    first, other = _process(before.spool, processes), _process(some.spool, processes)
    if before.spool == some.spool or other is None:
        return replace(before, last_time=last)
    if first is None or before.last_time is None or first.writer == other.writer:
        # The first one, or a process that continued in another spool.
        return replace(before, spool=some.spool, last_time=last)
    if other.began >= before.last_time:
        return replace(before, spool=some.spool, last_time=last)
    if first.began >= some.last_time:
        # An earlier one, whose points arrive late.
        return replace(before, last_time=last)
    writers = _joined(before.writers, (first.writer, other.writer))
    return replace(before, last_time=last, writers=writers)


def _process(
    spool: SpoolKey | None, processes: Mapping[SpoolKey, Process]
) -> Process | None:
    return None if spool is None else processes.get(spool)


def _joined(known: tuple[Writer, ...], others: Sequence[Writer]) -> tuple[Writer, ...]:
    new = set(others) - set(known)
    if not new or len(known) >= MAX_WRITERS:
        return known
    return tuple(sorted({*known, *new})[:MAX_WRITERS])
