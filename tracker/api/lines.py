"""Series lines as a response: JSON, binary columns or a table."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import zip_longest
from typing import Any

import numpy as np
from django.http import HttpResponse
from numpy.typing import NDArray

from tracker.api.answers import json_response, numbers
from tracker.api.tables import CSV, download, new_table
from tracker.queries.series.series import Axis, Line
from tracker.series.tables import Cells
from tracker.series.wire import (
    Columns,
    Held,
    held,
    may_keep,
    narrow_exactly,
    narrow_places,
    narrow_summaries,
    pack_held,
    read_held,
)

BINARY = "application/vnd.seamark.points"
MICROSECONDS_IN_MILLISECOND = 1_000

Array = NDArray[Any]


@dataclass(frozen=True, slots=True, eq=False)
class Sent:
    """A line as the arrays to send, and the number of items that the client keeps."""

    line: Line
    arrays: tuple[Array, ...]
    keep: int

    @property
    def held(self) -> Held:
        """The items that a client will keep; the last bucket may still change."""
        length = len(self.line.x)
        return held(self.arrays, length if self.line.exact else max(0, length - 1))

    @property
    def new(self) -> list[Array]:
        """Return x and mean, and for buckets minimum and maximum, after the kept items."""
        return [array[self.keep :] for array in self.arrays]

    @property
    def described(self) -> dict[str, Any]:
        return {
            "run": str(self.line.run_id),
            "path": self.line.path,
            "exact": self.line.exact,
            "count": self.line.count,
            "keep": self.keep,
        }


def json_lines(
    lines: Sequence[Line], head: Mapping[str, Any], since: str | None
) -> HttpResponse:
    sent = _sent([_whole(line) for line in lines], lines, since)
    series = []
    for each in sent:
        columns = [numbers(array) for array in each.new]
        names = ("x", "mean", "minimum", "maximum")
        series.append(each.described | dict(zip_longest(names, columns)))
    return json_response({**head, "since": _token(sent, since), "series": series})


def binary_lines(
    lines: Sequence[Line], head: Mapping[str, Any], since: str | None
) -> HttpResponse:
    """Return columns in the format of docs/formats/points.md."""
    sent = _sent([_narrowed(line) for line in lines], lines, since)
    columns = Columns()
    series = []
    for each in sent:
        # An exact line uses the mean column for minimum and maximum.
        x, mean, *ends = [columns.add(array) for array in each.new]
        minimum, maximum = ends or (mean, mean)
        places = {"x": x, "mean": mean, "minimum": minimum, "maximum": maximum}
        series.append(each.described | places)
    body = columns.pack({**head, "since": _token(sent, since), "series": series})
    return HttpResponse(body, content_type=BINARY)


def table_of_lines(
    lines: Sequence[Line], axis: Axis, kind: str, *, has_runs: bool
) -> HttpResponse:
    is_moment = axis == Axis.TIME and kind != CSV
    columns: dict[str, type[Any]] = {"run": str} if has_runs else {}
    columns |= {"path": str, axis.value: np.datetime64 if is_moment else float}
    columns |= {"mean": float, "minimum": float, "maximum": float}
    table = new_table(kind, columns)
    body = b""
    for line in lines:
        cells: dict[str, Cells] = {
            "run": str(line.run_id),
            "path": line.path,
            axis.value: _moments(line) if is_moment else line.x,
            "mean": line.mean,
            "minimum": line.minimum,
            "maximum": line.maximum,
        }
        body += table.add({name: cells[name] for name in columns})
    body += table.end(is_complete=True)
    return download(HttpResponse(body), kind, "series")


def _sent(
    arrays: Sequence[tuple[Array, ...]], lines: Sequence[Line], since: str | None
) -> list[Sent]:
    known = read_held(since or "")
    if len(known) != len(lines):
        known = []
    return [
        Sent(line, each, then.first if then and may_keep(each, then) else 0)
        for line, each, then in zip_longest(lines, arrays, known)
    ]


def _token(sent: Sequence[Sent], since: str | None) -> str | None:
    return None if since is None else pack_held([each.held for each in sent])


def _whole(line: Line) -> tuple[Array, ...]:
    if line.exact:
        return line.x, line.mean
    return line.x, line.mean, line.minimum, line.maximum


def _narrowed(line: Line) -> tuple[Array, ...]:
    x = narrow_places(line.x)
    if line.exact:
        return x, narrow_exactly(line.mean)
    return x, *narrow_summaries(line.mean, line.minimum, line.maximum)


def _moments(line: Line) -> Array:
    return np.rint(line.x * MICROSECONDS_IN_MILLISECOND).astype("<M8[us]")
