"""Notes that scripts logged with `run.note(...)`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from uuid import UUID

from tracker.models import Attribute, Kind, Run
from tracker.queries.run.attributes import beginning_with
from tracker.queries.series.drawing import EPOCH
from tracker.queries.series.records import read_page, record_series

# One text series per stage.
NOTES = "notes/"
MAX_STAGES = 20
# Maximum number per run.
MAX_OF_A_RUN = 200
LONGEST_TEXT = 1_000
# Maximum number of compared runs with notes.
MAX_RUNS_WITH_NOTES = 20


@dataclass(frozen=True, slots=True)
class Note:
    """A text at a step and a time."""

    path: str
    step: float
    time: datetime
    text: str


def notes_of(run: Run) -> list[Note]:
    """Return the run's notes in order of time, the newest if there are many."""
    rows = Attribute.objects.filter(
        beginning_with(NOTES), run_id=run.id, kind=Kind.TEXT_SERIES, count__gt=0
    )
    paths = rows.order_by("path").values_list("path", flat=True)[:MAX_STAGES]
    found = [note for path in paths for note in _notes_at(run, path)]
    return sorted(found, key=lambda note: (note.time, note.path))[-MAX_OF_A_RUN:]


def notes_of_runs(runs: Sequence[Run]) -> dict[UUID, list[Note]]:
    """Return the notes of several runs, of the first ones that have any.

    Each series of notes needs its own statements, so their number is limited.
    """
    of_run = {run.id: run for run in runs}
    notes = Attribute.objects.filter(
        beginning_with(NOTES), run__in=of_run, kind=Kind.TEXT_SERIES, count__gt=0
    )
    having = set(notes.values_list("run_id", flat=True).distinct())
    read = [run for run in runs if run.id in having][:MAX_RUNS_WITH_NOTES]
    return {run_id: [] for run_id in of_run} | {run.id: notes_of(run) for run in read}


def _notes_at(run: Run, path: str) -> list[Note]:
    series = record_series(run, path)
    first = max(0, series.count - MAX_OF_A_RUN)
    records = read_page(series, first, MAX_OF_A_RUN).records
    columns = records.steps.tolist(), records.times.tolist(), records.listed()
    return [
        Note(
            path,
            step,
            EPOCH + timedelta(microseconds=time),
            text.decode("utf-8", "replace")[:LONGEST_TEXT],
        )
        for step, time, text in zip(*columns, strict=True)
    ]
