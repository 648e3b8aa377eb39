"""Maintains a series' summary in its row: count, extremes, last value."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias
from uuid import UUID

import numpy as np
from django.db import connection
from django.utils import timezone

from tracker.series.downsample import LARGEST_TOTAL, bucket_starts, summarize_rows
from tracker.series.rows import stored
from tracker.series.table import Table
from tracker.server.statements import key, moment

# The new values of one series: its id and the values of NEW, in order.
Summary: TypeAlias = tuple[float | int | bool | None, ...]
ROWS_IN_A_STATEMENT = 1_000

# PostgreSQL needs the types for columns of NULL.
NEW = (
    ("count", "bigint"),
    ("finite_count", "bigint"),
    ("minimum", "double precision"),
    ("maximum", "double precision"),
    ("total", "double precision"),
    ("first_step", "double precision"),
    ("last_step", "double precision"),
    ("first_time", "bigint"),
    ("last_time", "bigint"),
    ("number", "double precision"),
    ("is_nan", "boolean"),
    ("time_of_last", "bigint"),
)
ROW = f"(CAST(%s AS bigint), {', '.join(f'CAST(%s AS {kind})' for _, kind in NEW)})"


def _is_better(column: str, comparison: str) -> str:
    """Return SQL for the lower or higher of the old and new values."""
    return (
        f"{column} = CASE WHEN old.{column} IS NULL"
        f" OR new.{column} {comparison} old.{column}"
        f" THEN new.{column} ELSE old.{column} END"
    )


IS_LAST = (
    "(old.last_step IS NULL OR new.last_step > old.last_step OR"
    " (new.last_step = old.last_step AND new.time_of_last >= old.last_time))"
)
# Totals stay below half of the largest float, so that the sum of two is finite.
TOTAL = (
    f"CASE WHEN old.total > {LARGEST_TOTAL!r} THEN {LARGEST_TOTAL!r}"
    f" WHEN old.total < -{LARGEST_TOTAL!r} THEN -{LARGEST_TOTAL!r}"
    " ELSE old.total END + new.total"
)
# One statement for many rows: the ORM would read them all first, or build a slow CASE
# for each row and column.
ADD = (
    "UPDATE tracker_attribute AS old SET updated_at = %s,"
    " count = old.count + new.count,"
    " finite_count = old.finite_count + new.finite_count,"
    f" total = {TOTAL},"
    f" {_is_better('minimum', '<')}, {_is_better('maximum', '>')},"
    f" {_is_better('first_step', '<')}, {_is_better('last_step', '>')},"
    f" {_is_better('first_time', '<')}, {_is_better('last_time', '>')},"
    f" number = CASE WHEN {IS_LAST} THEN new.number ELSE old.number END,"
    f" is_nan = CASE WHEN {IS_LAST} THEN new.is_nan ELSE old.is_nan END"
    f" FROM (WITH added (id, {', '.join(name for name, _ in NEW)})"
    " AS (VALUES {rows}) SELECT * FROM added) AS new"
    " WHERE old.run_id = %s AND old.id = new.id"
)


def summaries(table: Table) -> list[Summary]:
    """Return the increments for `add_to_summaries`, one per series."""
    table = table.sorted_by_step()
    whole = summarize_rows(table.values, bucket_starts(1))
    last = table.values[:, -1]
    ends = (
        table.steps[0].item() + 0.0,
        table.steps[-1].item() + 0.0,
        table.times.min().item(),
        table.times.max().item(),
    )
    time_of_last = table.times[-1].item()
    half = np.clip(whole["total"][:, 0], -LARGEST_TOTAL, LARGEST_TOTAL)
    return [
        (
            series_id,
            table.tick_count,
            whole["finite_count"][row, 0].item(),
            stored(whole["minimum"][row, 0]),
            stored(whole["maximum"][row, 0]),
            half[row].item() + 0.0,
            *ends,
            stored(last[row]),
            bool(np.isnan(last[row])),
            time_of_last,
        )
        for row, series_id in enumerate(table.series_ids.tolist())
    ]


def add_to_summaries(run_id: UUID, new: Sequence[Summary]) -> int:
    """Add to the rows of a run's series; return the number of existing rows."""
    # Passes over one run lock its journal, so nothing else changes these rows. In order
    # of id they are closer together.
    new = sorted(new)
    found = 0
    now, run = moment(timezone.now()), key(run_id)
    with connection.cursor() as cursor:
        for start in range(0, len(new), ROWS_IN_A_STATEMENT):
            some = new[start : start + ROWS_IN_A_STATEMENT]
            values = [value for summary in some for value in summary]
            cursor.execute(
                ADD.format(rows=", ".join([ROW] * len(some))), [now, *values, run]
            )
            found += cursor.rowcount
    return found
