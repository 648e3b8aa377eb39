"""Records of a series: by position, step or time, or by a text they contain."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np

from tracker.errors import NotFound
from tracker.models import Attribute, Kind, Run
from tracker.queries.run.attributes import storable
from tracker.records.record import Records, one_after_the_other
from tracker.records.search import places_of
from tracker.records.store import Part, Room, read_parts, read_rooms
from tracker.records.stored_file import read_stored_file
from tracker.series.points import Integers
from tracker.series.writers import Writer

RECORD_KINDS = (
    Kind.TEXT_SERIES,
    Kind.HISTOGRAM_SERIES,
    Kind.IMAGE_SERIES,
    Kind.FILE_SERIES,
)
# Maximum size of the values in one response, unless a single one is larger.
MAX_BYTES = 4 * 1024 * 1024
# Maximum size searched per request; takes about a second.
SEARCHED_BYTES = 256 * 1024 * 1024

RecordAxis: TypeAlias = Literal["step", "time"]


@dataclass(frozen=True, slots=True)
class RecordSeries:
    """A series of records, with the summary from its row."""

    id: int
    run: Run
    path: str
    kind: Kind
    count: int
    last: str | None
    first_step: float | None
    last_step: float | None
    first_time: int | None
    last_time: int | None
    # Processes that logged to it at the same time; empty for one after the other.
    writers: tuple[Writer, ...]


@dataclass(frozen=True, slots=True)
class Place:
    """A range of steps, or of times in milliseconds since 1970; both ends included."""

    axis: RecordAxis = "step"
    low: float | None = None
    high: float | None = None

    @property
    def is_everywhere(self) -> bool:
        return self.low is None and self.high is None


@dataclass(frozen=True, slots=True, eq=False)
class Page:
    """Records and their positions; `end` is the next position to read."""

    positions: Integers
    records: Records
    end: int


@dataclass(frozen=True, slots=True, eq=False)
class Found:
    """Positions of records with a text; all records before `end` were searched."""

    positions: Integers
    end: int


def record_series(run: Run, path: str) -> RecordSeries:
    """Return the record series at a path; raise NotFound if there is none."""
    rows = Attribute.objects.filter(
        run_id=run.id, path__in=storable([path]), kind__in=RECORD_KINDS
    )
    row = rows.first()
    if row is None:
        raise NotFound("series")
    return _series(run, row)


def list_texts(run: Run) -> list[RecordSeries]:
    """Return the run's text series that are not empty, by path."""
    rows = Attribute.objects.filter(run_id=run.id, kind=Kind.TEXT_SERIES, count__gt=0)
    return sorted((_series(run, row) for row in rows), key=lambda found: found.path)


def picture_steps(run: Run, path: str, most: int) -> list[tuple[float, str]]:
    """Return steps and digests of the last images of a series, in order of arrival."""
    try:
        series = record_series(run, path)
    except NotFound:
        return []
    if series.kind != Kind.IMAGE_SERIES:
        return []
    records = read_page(series, max(0, series.count - most), most).records
    files = map(read_stored_file, records.listed())
    pairs = zip(records.steps.tolist(), files, strict=True)
    return [(step, file.digest) for step, file in pairs if not file.is_mask]


def read_page(
    series: RecordSeries, first: int, limit: int, place: Place | None = None
) -> Page:
    """Read up to `limit` records from a position on, or only those in a range."""
    place = place or Place()
    positions: list[Integers] = []
    kept: list[Records] = []
    room, left, end = MAX_BYTES, limit, min(first, series.count)
    for part in _parts(series, first, place):
        mask = _mask(part.records, place)
        chosen = np.flatnonzero(mask)
        sizes = np.cumsum(part.records.sizes[chosen])
        fitting = int(np.searchsorted(sizes, room, side="right"))
        if not kept:
            fitting = max(fitting, 1)
        some = chosen[: min(fitting, left)]
        if len(some):
            positions.append(some + part.first)
            kept.append(_those(part.records, some))
            room -= len(kept[-1].values)
            left -= len(some)
        if len(some) < len(chosen):
            end = part.first + int(chosen[len(some)])
            break
        end = part.first + len(part.records)
        if not left:
            break
    else:
        end = max(end, series.count)
    whole = np.concatenate(positions) if positions else np.empty(0, np.int64)
    return Page(whole, one_after_the_other(kept), end)


def find_text(series: RecordSeries, text: str, first: int, limit: int) -> Found:
    """Find records that contain a text, ignoring case."""
    positions: list[Integers] = []
    found, end, searched = 0, first, 0
    for part in read_parts(series.run.id, series.id, first, series.count):
        places = places_of(part.records, text)
        end = part.first + len(part.records)
        if found + len(places) > limit:
            places = places[: limit - found]
            # The record after the last match may match, too.
            end = part.first + (int(places[-1]) + 1 if len(places) else 0)
        positions.append(places + part.first)
        found += len(places)
        searched += len(part.records.values)
        if found >= limit or searched >= SEARCHED_BYTES:
            break
    else:
        end = max(end, series.count)
    whole = np.concatenate(positions) if positions else np.empty(0, np.int64)
    return Found(whole, end)


def read_sample(series: RecordSeries, most: int, place: Place) -> tuple[Page, int]:
    """Read at most `most` evenly spaced records in a range, including the last one.

    Also return the number of records in the range.
    """
    found = _positions_in(series, place)
    count = len(found)
    if count > most:
        found = found[np.linspace(0, count - 1, most).round().astype(np.int64)]
    positions: list[Integers] = [np.empty(0, np.int64)]
    kept: list[Records] = []
    while len(found):
        part = next(_chunks_from(series, int(found[0])), None)
        if part is None:
            break
        # Records of a damaged chunk are skipped.
        low, high = np.searchsorted(found, [part.first, part.first + len(part.records)])
        if low < high:
            positions.append(found[low:high])
            kept.append(_those(part.records, positions[-1] - part.first))
        found = found[high:]
    whole = np.concatenate(positions)
    return Page(whole, one_after_the_other(kept), series.count), count


def _positions_in(series: RecordSeries, place: Place) -> Integers:
    if place.is_everywhere:
        return np.arange(series.count)
    found = [np.empty(0, np.int64)]
    for room in read_rooms(series.run.id, series.id, 0, series.count):
        end = room.first + room.count
        if _is_inside(room, place):
            found.append(np.arange(room.first, end))
        elif _may_hold(room, place):
            found += [
                part.first + np.flatnonzero(_mask(part.records, place))
                for part in read_parts(series.run.id, series.id, room.first, end)
            ]
    return np.concatenate(found)


def _chunks_from(series: RecordSeries, position: int) -> Iterator[Part]:
    return read_parts(series.run.id, series.id, position, series.count, at_once=1)


def _parts(series: RecordSeries, first: int, place: Place) -> Iterator[Part]:
    run_id, series_id = series.run.id, series.id
    if place.is_everywhere:
        # The first chunk is often enough.
        yield from read_parts(run_id, series_id, first, series.count, at_once=2)
        return
    for room in read_rooms(run_id, series_id, first, series.count):
        if _may_hold(room, place):
            low, high = max(first, room.first), room.first + room.count
            yield from read_parts(run_id, series_id, low, high)


def _may_hold(room: Room, place: Place) -> bool:
    first, last = _ends(room, place)
    is_above = place.low is None or last >= place.low
    return is_above and (place.high is None or first <= place.high)


def _is_inside(room: Room, place: Place) -> bool:
    first, last = _ends(room, place)
    is_above = place.low is None or first >= place.low
    return is_above and (place.high is None or last <= place.high)


def _ends(room: Room, place: Place) -> tuple[float, float]:
    if place.axis == "step":
        return room.first_step, room.last_step
    return room.first_time / 1_000, room.last_time / 1_000


def _mask(records: Records, place: Place) -> np.ndarray:
    mask = np.ones(len(records), np.bool_)
    at = records.steps if place.axis == "step" else records.times / 1_000
    if place.low is not None:
        mask &= at >= place.low
    if place.high is not None:
        mask &= at <= place.high
    return mask


def _those(records: Records, places: Integers) -> Records:
    first, last = int(places[0]), int(places[-1])
    if last - first + 1 == len(places):
        return records[first : last + 1]
    mask = np.zeros(len(records), np.bool_)
    mask[places] = True
    return records.those(mask)


def _series(run: Run, row: Attribute) -> RecordSeries:
    return RecordSeries(
        *(row.pk, run, row.path, Kind(row.kind), row.count, row.text),
        *(row.first_step, row.last_step, row.first_time, row.last_time),
        tuple(Writer(*writer) for writer in row.writers or ()),
    )
