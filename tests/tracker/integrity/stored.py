"""A run with points in chunks and in the journal, and functions that damage them."""

from __future__ import annotations

from datetime import timedelta

import numpy as np

from tests.builders import Process, points_message, write_series
from tests.tracker.series.examples import START, noise
from tracker.models import JournalEntry, Project, Run, SeriesChunk, SeriesTicks
from tracker.series.compaction import compact_run

SECOND = 1_000_000
# Per series with shared ticks: two full chunks.
POINTS = 18_000
OF_A_CHUNK = 9_000


def fill(project: Project, name: str = "baseline") -> Run:
    """Two series with shared ticks, one with its own, and some points in the journal."""
    process = Process(project, name)
    process.open()
    values = noise(POINTS)
    values[5], values[6] = np.nan, np.inf
    shared = points_message("loss", values)
    process.send(
        [
            {
                **shared,
                "paths": ["loss", "accuracy"],
                "values": values.tobytes() + noise(POINTS, seed=1).tobytes(),
            }
        ]
    )
    run = process.run
    write_series(
        run, "alone", noise(300, seed=2), times=START + np.arange(300) * SECOND
    )
    compact_run(run.id)
    process.send([points_message("loss", [1.0, 2.0], steps=[POINTS, POINTS + 1])])
    return run


def flipped(data: bytes | memoryview) -> bytes:
    """Flip a bit in the middle."""
    changed = bytearray(data)
    changed[len(changed) // 2] ^= 1
    return bytes(changed)


def damage(row: JournalEntry | SeriesChunk | SeriesTicks, column: str = "data") -> None:
    setattr(row, column, flipped(getattr(row, column)))
    row.save(update_fields=[column])


def chunks_of(run: Run, path: str) -> list[SeriesChunk]:
    found = SeriesChunk.objects.filter(run=run, series__path=path)
    return list(found.order_by("first_step"))


def ago(**spent: float) -> timedelta:
    return timedelta(**spent)
