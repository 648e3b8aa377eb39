"""Logs with a row per sample and a column per GPU and metric (pure).

Scripts write them instead of a row per GPU: `time,gpu0_util,gpu0_mem_used_mb,gpu1_util`,
`GPU 0 NVIDIA A100 utilization`, `gpu_util_0`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from seamark.importers.log_times import LogTimes
from seamark.importers.nvidia_fields import (
    FIELDS,
    INDEX,
    KNOWN,
    TIME,
    Field,
    cell_value,
    field_name,
    is_absent,
)
from seamark.importers.nvidia_query import NO_TIME, Clock
from seamark.importers.problems import Problems
from seamark.importers.reading import FileFacts, Reading

_SEPARATORS = (";", "\t", ",")
_SHOWN = 60  # characters of a column
# "gpu0_util", "GPU 0: utilization", "card1.temp" and "gpu_util_0".
_BEFORE = re.compile(
    r"(?:gpu|card|device)[\s._-]*(\d{1,3})[\s._:/-]+(.+)", re.IGNORECASE
)
_AFTER = re.compile(r"(.+?)[\s._-](?:gpu)?(\d{1,3})", re.IGNORECASE)
_MAKERS = frozenset({"nvidia", "amd", "tesla", "geforce", "quadro", "radeon"})


@dataclass(frozen=True, slots=True)
class _Column:
    """A metric of one GPU."""

    gpu: int
    field: Field
    unit: str


@dataclass(frozen=True, slots=True)
class _Table:
    """The columns of the following lines; those without a meaning are None."""

    separator: str
    columns: list[_Column | None]
    time: int | None


def is_wide_head(line: str) -> bool:
    """Return whether a line names a column for each GPU and metric."""
    return _table(line) is not None


def read_wide(
    lines: Iterable[tuple[int, str]],
    problems: Problems,
    file_facts: FileFacts,
    *,
    clock: Clock,
) -> Iterator[Reading]:
    """Yield a sample of all GPUs for each line after a head."""
    table: _Table | None = None
    times = LogTimes(clock.zone, problems)
    tick = -1
    for number, line in lines:
        head = _table(line)
        if head is not None:
            table = head
            _note_unknown(line, head, problems, number)
        if head is not None or table is None or not line.strip():
            continue
        cells = [cell.strip().strip('"') for cell in line.split(table.separator)]
        if len(cells) != len(table.columns):
            problems.add(f"it does not have {len(table.columns)} values", number)
            continue
        tick += 1
        if table.time is None:
            moment, problem = clock.at(tick), NO_TIME
        else:
            moment = times.read(cells[table.time], number)
            problem = "its time cannot be parsed"
        if moment is None:
            problems.add(problem, number)
            continue
        values = _values(cells, table, file_facts, problems, number)
        if values:
            yield Reading(moment, values)


def _table(line: str) -> _Table | None:
    for separator in _SEPARATORS:
        heads = [head.strip().strip('"') for head in line.split(separator)]
        names = [field_name(head)[0] for head in heads]
        if INDEX in names or any(name in FIELDS for name in names):
            # A row per GPU.
            return None
        columns = [_column(head) for head in heads]
        if any(columns):
            time = names.index(TIME) if TIME in names else None
            return _Table(separator, columns, time)
    return None


def _column(head: str) -> _Column | None:
    before, after = _BEFORE.fullmatch(head), _AFTER.fullmatch(head)
    if before:
        gpu, text = int(before[1]), before[2]
    elif after:
        gpu, text = int(after[2]), after[1]
    else:
        return None
    words = text.split()
    # The model of a GPU has any number of words.
    starts = range(len(words)) if words[0].casefold() in _MAKERS else range(1)
    for start in starts:
        name, unit = field_name(" ".join(words[start:]))
        if name in FIELDS:
            return _Column(gpu, FIELDS[name], unit)
    return None


def _note_unknown(line: str, table: _Table, problems: Problems, number: int) -> None:
    for head, column in zip(line.split(table.separator), table.columns, strict=True):
        name = field_name(head)[0]
        if column is None and name not in KNOWN:
            problems.add(f"unknown column {name[:_SHOWN]!a}", number)


def _values(
    cells: list[str],
    table: _Table,
    file_facts: FileFacts,
    problems: Problems,
    number: int,
) -> dict[str, float]:
    values: dict[str, float] = {}
    for cell, column in zip(cells, table.columns, strict=True):
        if column is None or is_absent(cell):
            continue
        path = f"gpu/{column.gpu}/{column.field.path}"
        value = cell_value(cell, column.field, column.unit)
        if value is None:
            problems.add(f"a value of {column.field.path} cannot be parsed", number)
        elif column.field.is_fact:
            file_facts.add(path, int(value) if isinstance(value, float) else value)
        elif isinstance(value, float):
            values.setdefault(path, value)
    return values
