"""What a run's machines did: one row per kind of measurement."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import groupby

import numpy as np

from web.figures.rows import Reading, Row
from web.figures.series import Line

BYTES, BYTES_PER_SECOND, SECONDS = "B", "B/s", "s"
SIZES = ("B", "KiB", "MiB", "GiB", "TiB")
# A limit far above what was used would press the line to the floor of its row.
LIMIT_SHOWN_FROM = 0.3
HEADROOM = 1.06
GPU = re.compile(r"^gpu/(\d{1,4})/")
NO_GPU = "No GPU was visible to this run."
NO_STEPS = (
    "Step times were not measured. The line that measures them:"
    " for batch in run.loader(loader):"
)


@dataclass(frozen=True, slots=True)
class Kind:
    """A row: its measures by path below the stage, and what its absence means."""

    title: str
    unit: str
    measures: Mapping[str, str]
    absent: str = ""
    limit: str = ""  # the fact that bounds the readings
    top: float | None = None


KINDS = (
    Kind(
        "GPU utilization",
        "%",
        {"gpu/<i>/utilization_percent": "GPU <i>"},
        absent=NO_GPU,
        top=100.0,
    ),
    Kind(
        "CPU cores in use",
        "cores",
        {
            "job/cpu_cores": "all processes",
            "job/main_cpu_cores": "main process",
            "job/worker_cpu_cores": "mean worker",
        },
        absent="CPU use was not measured.",
        limit="facts/effective_cores",
    ),
    Kind(
        "Step time",
        SECONDS,
        {"step/seconds": "step", "step/data_wait_seconds": "waiting for data"},
        absent=NO_STEPS,
    ),
    Kind(
        "GPU memory",
        BYTES,
        {"gpu/<i>/memory_used_bytes": "GPU <i>"},
        limit="facts/gpu/0/memory_total_bytes",
    ),
    Kind("GPU power", "W", {"gpu/<i>/power_watts": "GPU <i>"}),
    Kind(
        "Memory",
        BYTES,
        {
            "job/memory_bytes": "all processes",
            "cgroup/memory_used_bytes": "container",
            "host/memory_used_bytes": "whole host",
        },
        absent="Memory was not measured.",
        limit="facts/memory_limit_bytes",
    ),
    Kind(
        "Disk",
        BYTES_PER_SECOND,
        {
            "job/read_bytes_per_second": "job read",
            "host/disk_read_bytes_per_second": "host read",
            "host/disk_write_bytes_per_second": "host write",
        },
        absent="Disk traffic was not measured.",
    ),
    Kind(
        "Network",
        BYTES_PER_SECOND,
        {
            "host/network_receive_bytes_per_second": "received",
            "host/network_send_bytes_per_second": "sent",
        },
        absent="Network traffic was not measured.",
    ),
)
MEASURES = frozenset(measure for kind in KINDS for measure in kind.measures)


@dataclass(frozen=True, slots=True)
class Measurement:
    """One line of one process of one stage."""

    measure: str  # "gpu/1/utilization_percent"
    rank: int
    line: Line


@dataclass(frozen=True, slots=True)
class Hardware:
    rows: Sequence[Row]
    absent: Sequence[str] = field(default=())


def is_drawn(measure: str) -> bool:
    return _pattern(measure) in MEASURES


def hardware_rows(
    measurements: Sequence[Measurement], facts: Mapping[str, float]
) -> Hardware:
    """Make a row of each kind that was measured, and name the kinds that were not."""
    rows, absent = [], []
    for kind in KINDS:
        readings = _readings(kind, measurements)
        if readings:
            rows.append(scaled_row(kind, readings, facts.get(kind.limit)))
        elif kind.absent:
            absent.append(kind.absent)
    return Hardware(rows, absent)


def scaled_row(kind: Kind, readings: Sequence[Reading], limit: float | None) -> Row:
    """Choose the unit by the largest reading; keep the limit where it can be seen."""
    largest = max((_largest(reading.lines) for reading in readings), default=0.0)
    scale, unit = scale_of(kind.unit, largest)
    is_near = limit is not None and largest >= LIMIT_SHOWN_FROM * limit
    return Row(
        title=kind.title,
        unit=unit,
        note="" if limit is None else f"(limit {limit * scale:.3g})",
        readings=[
            Reading(reading.name, reading.lines, scale=scale) for reading in readings
        ],
        limit=limit * scale if is_near and limit is not None else None,
        top=_top(kind, largest * scale, limit * scale if is_near and limit else None),
    )


def scale_of(unit: str, largest: float) -> tuple[float, str]:
    """Return the factor to multiply with, and the unit after it."""
    if unit in (BYTES, BYTES_PER_SECOND):
        power = 0
        while largest >= 1024 ** (power + 1) and power < len(SIZES) - 1:
            power += 1
        per_second = "/s" if unit == BYTES_PER_SECOND else ""
        return 1024.0**-power, SIZES[power] + per_second
    if unit == SECONDS and largest < 1:
        return 1000.0, "ms"
    return 1.0, unit


def _top(kind: Kind, largest: float, limit: float | None) -> float | None:
    if kind.top is not None:
        return kind.top * HEADROOM
    return max(largest, limit) * HEADROOM if limit is not None else None


def _readings(kind: Kind, measurements: Sequence[Measurement]) -> list[Reading]:
    order = list(kind.measures)
    fitting = [item for item in measurements if _pattern(item.measure) in order]
    fitting.sort(
        key=lambda item: (order.index(_pattern(item.measure)), *_identity(item))
    )
    several_ranks = len({item.rank for item in fitting}) > 1
    readings = []
    for (measure, rank), same in groupby(fitting, key=lambda i: (i.measure, i.rank)):
        name = kind.measures[_pattern(measure)].replace("<i>", _gpu(measure))
        if several_ranks:
            name = f"{name}, rank {rank}"
        readings.append(Reading(name, [item.line for item in same]))
    return readings


def _identity(item: Measurement) -> tuple[int, int]:
    gpu = _gpu(item.measure)
    return int(gpu) if gpu else 0, item.rank


def _gpu(measure: str) -> str:
    match = GPU.match(measure)
    return match[1] if match else ""


def _pattern(measure: str) -> str:
    return GPU.sub("gpu/<i>/", measure)


def _largest(lines: Sequence[Line]) -> float:
    peaks = [line.maximum[np.isfinite(line.maximum)] for line in lines]
    return max((float(peak.max()) for peak in peaks if peak.size), default=0.0)
