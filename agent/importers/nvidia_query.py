"""Logs of `nvidia-smi --query-gpu=… --format=csv`, with and without head and units (pure)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import tzinfo

from agent.importers.moments import to_moment
from agent.importers.noted import Noted
from agent.importers.nvidia_fields import (
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
from agent.importers.reading import Reading, Stated, to_number

_MICROSECONDS = 1_000_000
_MOST_GPUS = 1_024
_SHOWN = 60  # characters of a line
NO_TIME = "it has no time"
NO_COLUMNS = "its columns are not known: give them by --columns"


@dataclass
class Clock:
    """When readings were taken; of logs without times, from a start at an interval."""

    zone: tzinfo | None = None
    start: int | None = None  # microseconds since 1970
    interval: int = _MICROSECONDS  # microseconds

    def at(self, tick: int) -> int | None:
        """Return the time of a tick, by counting."""
        return None if self.start is None else self.start + tick * self.interval


@dataclass
class _Table:
    """How the lines that come are to be read."""

    names: list[str] = field(default_factory=list)
    units: list[str] = field(default_factory=list)
    separator: str = ", "


def read_query(
    lines: Iterable[tuple[int, str]],
    noted: Noted,
    stated: Stated,
    *,
    clock: Clock,
    columns: Sequence[str] = (),
) -> Iterator[Reading]:
    """Yield what each line says of its GPU; what is not understood is noted."""
    reader = _Reader(noted, stated, clock, columns)
    for number, line in lines:
        reading = reader.read(number, line)
        if reading is not None:
            yield reading


class _Reader:
    def __init__(
        self, noted: Noted, stated: Stated, clock: Clock, columns: Sequence[str]
    ) -> None:
        self._noted = noted
        self._stated = stated
        self._clock = clock
        self._table = _table(", ".join(columns)) if columns else _Table()
        self._gpus: dict[str, int] = {}
        self._tick = -1
        self._seen: set[int] = set()
        self._last: int | None = None

    def read(self, number: int, line: str) -> Reading | None:
        """Return what a line says, or None."""
        if not line.strip():
            return None
        head = _table(line)
        if head.names:
            self._table = head
            self._note_unknown(number)
            return None
        table = self._table
        if not table.names:
            self._noted.add(NO_COLUMNS, number)
            return None
        cells = _cells(line, table)
        if cells is None:
            # The last one, often: whoever wrote it was stopped.
            self._noted.add(f"it has not {len(table.names)} values", number)
            return None
        return self._reading(number, dict(zip(table.names, cells, strict=True)))

    def _note_unknown(self, number: int) -> None:
        for name in self._table.names:
            if name not in FIELDS and name not in KNOWN:
                self._noted.add(f"the column {name[:_SHOWN]!a} is not known", number)

    def _reading(self, number: int, row: dict[str, str]) -> Reading | None:
        moment = None
        if TIME in row:
            moment = to_moment(row[TIME], self._clock.zone)
            if moment is None:
                self._noted.add("its time is not understood", number)
                return None
        gpu = self._gpu(row, moment)
        if gpu is None:
            self._noted.add("there are too many GPUs", number)
            return None
        if moment is None:
            moment = self._clock.at(self._tick)
        if moment is None:
            self._noted.add(NO_TIME, number)
            return None
        if "driver_version" in row and not is_absent(row["driver_version"]):
            self._stated.add("gpu_driver", row["driver_version"][:_SHOWN])
        values = self._values(number, gpu, row)
        return Reading(moment, values) if values else None

    def _gpu(self, row: dict[str, str], moment: int | None) -> int | None:
        """Return which GPU a line is about; each comes once in a tick."""
        gpu = self._named(row)
        is_new = moment != self._last if moment is not None else gpu in self._seen
        if gpu is None:
            # Told apart by place alone: those of one time stand one after the other.
            is_same = moment is not None and moment == self._last
            gpu = len(self._seen) if is_same else 0
            is_new = not is_same
        if is_new or self._tick < 0:
            self._tick += 1
            self._seen = set()
        self._last = moment
        self._seen.add(gpu)
        return gpu if gpu < _MOST_GPUS else None

    def _named(self, row: dict[str, str]) -> int | None:
        index = to_number(row.get(INDEX, ""))
        if index is not None and index >= 0 and index == int(index):
            return int(index)
        for name in IDENTITIES:
            cell = row.get(name)
            if cell and not is_absent(cell):
                if cell not in self._gpus and len(self._gpus) > _MOST_GPUS:
                    return _MOST_GPUS
                return self._gpus.setdefault(cell, len(self._gpus))
        return None

    def _values(self, number: int, gpu: int, row: dict[str, str]) -> dict[str, float]:
        values: dict[str, float] = {}
        units = dict(zip(self._table.names, self._table.units, strict=True))
        for name, cell in row.items():
            known = FIELDS.get(name)
            if known is None or is_absent(cell):
                continue
            value = cell_value(cell, known, units[name])
            if value is None:
                self._noted.add(f"a value of {name} is not understood", number)
            elif known.is_fact:
                self._stated.add(f"gpu/{gpu}/{known.path}", _fact(value, known))
            elif isinstance(value, float):
                values[f"gpu/{gpu}/{known.path}"] = value
        return values


def _fact(value: object, known: Field) -> object:
    is_whole = isinstance(value, float) and not known.path.endswith("_watts")
    return int(value) if is_whole and isinstance(value, float) else value


def _table(line: str) -> _Table:
    """Return how to read what follows a head; without names if the line is none."""
    for separator in (";", "\t", ","):
        heads = [field_name(head) for head in line.split(separator)]
        names = [name for name, _ in heads]
        known = sum(name in FIELDS or name in KNOWN for name in names)
        # Cells are never named as columns are; some columns may be unknown here.
        if known and known * 2 >= len(names) and len(set(names)) == len(names):
            # With decimal commas, only the space tells values apart.
            spaced = ", " if ", " in line else ","
            units = [unit for _, unit in heads]
            return _Table(names, units, spaced if separator == "," else separator)
    return _Table()


def _cells(line: str, table: _Table) -> list[str] | None:
    """Return as many cells as there are names, or None."""
    # Files that went through an editor may have lost or gained spaces.
    for separator in dict.fromkeys((table.separator, ", ", ",", ";", "\t")):
        cells = [cell.strip().strip('"') for cell in line.split(separator)]
        if len(cells) == len(table.names):
            return cells
    return None
