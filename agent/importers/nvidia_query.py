"""Logs of `nvidia-smi --query-gpu=… --format=csv`, with and without head and units (pure)."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import tzinfo
from itertools import chain, islice

from seamark.importers.log_times import LogTimes
from seamark.importers.nvidia_fields import (
    FIELDS,
    IDENTITIES,
    INDEX,
    KNOWN,
    TIME,
    Field,
    cell_value,
    field_name,
    is_absent,
)
from seamark.importers.nvidia_pace import Pace, pace_of
from seamark.importers.problems import Problems
from seamark.importers.reading import FileFacts, Reading, to_number

_MICROSECONDS = 1_000_000
_MAX_GPUS = 1_024
_SHOWN = 60  # characters of a line
_LOOKED_AT = 256  # lines
# Before the number of a GPU: "card0" of rocm-smi, "GPU 0".
_GPU_WORD = re.compile(r"^(?:card|gpu)\s*", re.IGNORECASE)
NO_TIME = "it has no time"
NO_COLUMNS = "its columns are unknown: pass them with --columns"
BY_PLACE = "GPUs are numbered by the order of lines; log `index` to be sure"
UNSURE = "all lines are attributed to one GPU; log `index` to be sure"


@dataclass
class Clock:
    """The times of samples; for logs without times, from a start and an interval."""

    zone: tzinfo | None = None
    start: int | None = None  # microseconds since 1970
    interval: int = _MICROSECONDS  # microseconds

    def at(self, tick: int) -> int | None:
        """Return the time of a sample by its number."""
        return None if self.start is None else self.start + tick * self.interval


@dataclass
class _Table:
    """The format of the following lines."""

    names: list[str] = field(default_factory=list)
    units: list[str] = field(default_factory=list)
    separator: str = ", "


def read_query(
    lines: Iterable[tuple[int, str]],
    problems: Problems,
    file_facts: FileFacts,
    *,
    clock: Clock,
    columns: Sequence[str] = (),
) -> Iterator[Reading]:
    """Yield a sample for each line; lines that cannot be parsed are reported."""
    lines = iter(lines)
    first = list(islice(lines, _LOOKED_AT))
    pace = pace_of(list(_moments_without_name(first, clock, columns)))
    reader = _Reader(problems, file_facts, clock, columns, pace)
    for number, line in chain(first, lines):
        reading = reader.read(number, line)
        if reading is not None:
            yield reading


def _moments_without_name(
    lines: Iterable[tuple[int, str]], clock: Clock, columns: Sequence[str]
) -> Iterator[int]:
    """Yield the times of lines without a GPU index."""
    rows, times = _Rows(Problems(), columns), LogTimes(clock.zone, Problems())
    for number, line in lines:
        row = rows.read(number, line)
        if row is not None and not _is_named(row):
            moment = times.read(row.get(TIME, ""), number)
            if moment is not None:
                yield moment


class _Rows:
    """Parses lines into rows, using the last head."""

    def __init__(self, problems: Problems, columns: Sequence[str]) -> None:
        self._problems = problems
        self._columns = columns
        self.table = _table(", ".join(columns)) if columns else _Table()

    def read(self, number: int, line: str) -> dict[str, str] | None:
        """Return the cells of a line by column; None if it cannot be parsed."""
        if not line.strip():
            return None
        head = _table(line)
        if head.names:
            # Columns that the user names replace those of the head.
            if not self._columns:
                self.table = head
                self._note_unknown(number)
            return None
        table = self.table
        if not table.names:
            self._problems.add(NO_COLUMNS, number)
            return None
        cells = _cells(line, table)
        if cells is None:
            # Often the last line, if the writer was killed.
            self._problems.add(f"it does not have {len(table.names)} values", number)
            return None
        return dict(zip(table.names, cells, strict=True))

    def _note_unknown(self, number: int) -> None:
        for name in self.table.names:
            if name not in FIELDS and name not in KNOWN:
                self._problems.add(f"unknown column {name[:_SHOWN]!a}", number)


class _Reader:
    def __init__(
        self,
        problems: Problems,
        file_facts: FileFacts,
        clock: Clock,
        columns: Sequence[str],
        pace: Pace,
    ) -> None:
        self._problems = problems
        self._file_facts = file_facts
        self._clock = clock
        self._pace = pace
        self._times = LogTimes(clock.zone, problems)
        self._rows = _Rows(problems, columns)
        self._gpus: dict[str, int] = {}
        self._tick = -1
        self._seen: set[int] = set()
        self._last: int | None = None
        self._is_place_reported = False

    def read(self, number: int, line: str) -> Reading | None:
        """Return the sample in a line, or None."""
        row = self._rows.read(number, line)
        return None if row is None else self._reading(number, row)

    def _reading(self, number: int, row: dict[str, str]) -> Reading | None:
        moment = None
        if TIME in row:
            moment = self._times.read(row[TIME], number)
            if moment is None:
                self._problems.add("its time cannot be parsed", number)
                return None
        gpu = self._gpu(row, moment)
        if gpu is None:
            self._problems.add("there are too many GPUs", number)
            return None
        if moment is None:
            moment = self._clock.at(self._tick)
        if moment is None:
            self._problems.add(NO_TIME, number)
            return None
        if not self._is_place_reported and not _is_named(row):
            self._report_place(number, has_time=TIME in row)
        if "driver_version" in row and not is_absent(row["driver_version"]):
            self._file_facts.add("gpu_driver", row["driver_version"][:_SHOWN])
        values = self._values(number, gpu, row)
        return Reading(moment, values) if values else None

    def _gpu(self, row: dict[str, str], moment: int | None) -> int | None:
        """Return the GPU index of a line; each GPU occurs once per sample."""
        gpu = self._named(row)
        is_new = moment != self._last if moment is not None else gpu in self._seen
        if gpu is None:
            is_new = not self._is_of_same_query(moment)
            gpu = 0 if is_new else len(self._seen)
        if is_new or self._tick < 0:
            self._tick += 1
            self._seen = set()
        self._last = moment
        self._seen.add(gpu)
        return gpu if gpu < _MAX_GPUS else None

    def _is_of_same_query(self, moment: int | None) -> bool:
        """Return whether a line without an index belongs to the same query as the
        previous one.
        """
        if moment is None or self._last is None or len(self._seen) >= self._pace.gpus:
            return False
        return 0 <= moment - self._last <= self._pace.longest_within

    def _report_place(self, number: int, *, has_time: bool) -> None:
        self._is_place_reported = True
        if self._pace.gpus > 1:
            self._problems.add(BY_PLACE, number)
        elif not has_time or not self._pace.is_sure:
            self._problems.add(UNSURE, number)

    def _named(self, row: dict[str, str]) -> int | None:
        index = _index(row)
        if index is not None:
            return index
        cell = _identity(row)
        if cell is None:
            return None
        if cell not in self._gpus and len(self._gpus) > _MAX_GPUS:
            return _MAX_GPUS
        return self._gpus.setdefault(cell, len(self._gpus))

    def _values(self, number: int, gpu: int, row: dict[str, str]) -> dict[str, float]:
        values: dict[str, float] = {}
        units = dict(zip(self._rows.table.names, self._rows.table.units, strict=True))
        for name, cell in row.items():
            known = FIELDS.get(name)
            if known is None or is_absent(cell):
                continue
            value = cell_value(cell, known, units[name])
            if value is None:
                self._problems.add(f"a value of {name} cannot be parsed", number)
            elif known.is_fact:
                self._file_facts.add(f"gpu/{gpu}/{known.path}", _fact(value, known))
            elif isinstance(value, float):
                values[f"gpu/{gpu}/{known.path}"] = value
        return values


def _is_named(row: dict[str, str]) -> bool:
    return _index(row) is not None or _identity(row) is not None


def _index(row: dict[str, str]) -> int | None:
    index = to_number(_GPU_WORD.sub("", row.get(INDEX, "")))
    is_whole = index is not None and index >= 0 and index == int(index)
    return int(index) if is_whole and index is not None else None


def _identity(row: dict[str, str]) -> str | None:
    """Return the best identity of a GPU without an index."""
    cells = (row.get(name, "") for name in IDENTITIES)
    return next((cell for cell in cells if not is_absent(cell)), None)


def _fact(value: object, known: Field) -> object:
    is_whole = isinstance(value, float) and not known.path.endswith("_watts")
    return int(value) if is_whole and isinstance(value, float) else value


def _table(line: str) -> _Table:
    """Return the format after a head; without names if the line is not a head."""
    for separator in (";", "\t", ","):
        heads = [field_name(head) for head in line.split(separator)]
        names = [name for name, _ in heads]
        known = sum(name in FIELDS or name in KNOWN for name in names)
        # Cells are never named as columns are; some columns may be unknown here.
        if known and known * 2 >= len(names) and len(set(names)) == len(names):
            # With decimal commas, only a following space marks a separator.
            spaced = ", " if ", " in line else ","
            units = [unit for _, unit in heads]
            return _Table(names, units, spaced if separator == "," else separator)
    return _Table()


def _cells(line: str, table: _Table) -> list[str] | None:
    """Return the cells of a line; None if their number differs from the head's."""
    # Files that went through an editor may have lost or gained spaces.
    for separator in dict.fromkeys((table.separator, ", ", ",", ";", "\t")):
        cells = [cell.strip().strip('"') for cell in line.split(separator)]
        if len(cells) == len(table.names):
            return cells
    return None
