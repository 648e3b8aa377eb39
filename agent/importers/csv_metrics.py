"""Reads metrics from CSV files: a row per step, a column per metric (pure).

Such files are written by Lightning's and Keras' CSV loggers, exported by W&B and
TensorBoard, or made by hand.
"""

from __future__ import annotations

import csv
import math
from collections.abc import Iterable, Iterator, Sequence
from datetime import tzinfo
from itertools import chain
from typing import NamedTuple

from seamark.importers.log_times import to_moment
from seamark.importers.problems import Problems
from seamark.importers.reading import Reading, to_number

_STEPS = ("step", "_step", "global_step", "trainer/global_step", "iteration", "epoch")
_TIMES = ("time", "timestamp", "_timestamp", "wall_time", "wall time", "datetime")
_SEPARATORS = ",;\t"
# TensorBoard's export of one scalar has a column of this name.
_VALUE = "value"
_SHOWN = 60  # characters


class MissingColumn(Exception):
    """The file has no column of a requested name."""


class Columns(NamedTuple):
    """The requested columns and the values for rows without them."""

    step: str | None
    time: str | None
    zone: tzinfo | None
    # The time of rows without one, in microseconds since 1970.
    moment: int
    # The name of a metric whose column is called Value.
    name: str


def read_metrics(
    lines: Iterable[str], problems: Problems, columns: Columns
) -> Iterator[Reading]:
    """Yield the numbers of each row; raises MissingColumn."""
    lines = iter(lines)
    head = next(lines, "")
    separator = max(_SEPARATORS, key=head.count)
    rows = csv.reader(chain([head], lines), delimiter=separator)
    names = [name.strip() for name in next(rows, [])]
    step_at = _position(names, columns.step, _STEPS)
    time_at = _position(names, columns.time, _TIMES)
    metrics = {
        place: name
        for place, name in enumerate(names)
        if name and place not in (step_at, time_at)
    }
    if [name.lower() for name in metrics.values()] == [_VALUE]:
        metrics = dict.fromkeys(metrics, columns.name)
    for index, row in enumerate(_rows(rows, problems)):
        number = index + 2
        cells = [cell.strip() for cell in row]
        values: dict[str, float] = {}
        for place, name in metrics.items():
            cell = cells[place] if place < len(cells) else ""
            amount = _amount(cell)
            if amount is not None:
                values[name] = amount
            elif cell:
                problems.add(f"{name[:_SHOWN]!a} is no number", number)
        if not values:
            continue
        step: float | None = index
        if step_at is not None:
            step = _amount(cells[step_at]) if step_at < len(cells) else None
        if step is None or not math.isfinite(step):
            problems.add("it has no step", number)
            continue
        moment: int | None = columns.moment
        if time_at is not None:
            text = cells[time_at] if time_at < len(cells) else ""
            moment = to_moment(text, columns.zone)
        if moment is None:
            problems.add("it has no time", number)
            continue
        yield Reading(moment, values, step, is_users=True)


def _rows(rows: Iterator[list[str]], problems: Problems) -> Iterator[list[str]]:
    try:
        yield from rows
    except csv.Error as error:
        problems.add(f"the rest is not CSV: {error}", 1)


def _position(
    names: Sequence[str], requested: str | None, usual: Sequence[str]
) -> int | None:
    if requested is not None:
        if requested not in names:
            raise MissingColumn(requested)
        return names.index(requested)
    lower = [name.lower() for name in names]
    return next((lower.index(name) for name in usual if name in lower), None)


def _amount(text: str) -> float | None:
    """Return a number, also NaN, an infinity, or one with a decimal comma."""
    if "_" in text:
        return None
    try:
        return float(text)
    except ValueError:
        return to_number(text)
