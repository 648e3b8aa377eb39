"""Hardware use of a run: one row per kind of measurement."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import groupby

import numpy as np

from web.figures.hardware_kinds import (
    BYTES,
    BYTES_PER_SECOND,
    COLOURS,
    OVERVIEW,
    SECONDS,
    SHARE,
    Group,
    Kind,
)
from web.figures.rows import Reading, Row
from web.figures.series import Line
from web.figures.texts import gettext, ngettext

SIZES = ("B", "KiB", "MiB", "GiB", "TiB")
# From here on, three digits would need an exponent.
LONG_FROM = 1000.0
# A limit far above the values would flatten the line.
LIMIT_SHOWN_FROM = 0.3
HEADROOM = 1.06
# More rows are too tall to scroll.
MAX_GPUS = 32
# Paths of a GPU or a MIG slice, and of the duration of a probe.
GPU = re.compile(r"^gpu/(\d{1,4})/(?:mig/(\d{1,4})/)?")
PROBE = re.compile(r"^agent/probes/(\w{1,40})_seconds$")


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


def is_drawn(measure: str, group: Group = OVERVIEW) -> bool:
    return _pattern(measure) in group.measures


def fits(measure: str, pattern: str) -> bool:
    """Return whether a measure matches a kind's pattern, for any GPU index."""
    return _pattern(measure) == pattern


def reading_name(kind: Kind, measure: str) -> str:
    """Return the name of a measure in a row; "" if the row does not show it."""
    words = kind.measures.get(_pattern(measure))
    return "" if words is None else _name(words, measure)


def hardware_rows(
    measurements: Sequence[Measurement],
    facts: Mapping[str, float],
    group: Group = OVERVIEW,
) -> Hardware:
    """Make a row of each kind that was measured, and name the kinds that were not."""
    rows, missing = [], []
    for kind in group.kinds:
        readings = _readings(kind, measurements)
        if readings:
            rows.append(scaled_row(kind, readings, facts.get(kind.limit)))
        elif kind.absent:
            missing.append(gettext(kind.absent))
    return Hardware(rows, missing)


def each_gpu_rows(
    measurements: Sequence[Measurement], kind: Kind, facts: Mapping[str, float]
) -> Hardware:
    """Make a row of each GPU of each rank, all of one height and one axis."""
    fitting = [item for item in measurements if _pattern(item.measure) in kind.measures]
    if not fitting:
        return Hardware([], [gettext(kind.absent)] if kind.absent else [])
    whole = scaled_row(kind, _readings(kind, fitting), facts.get(kind.limit))
    scale = whole.readings[0].scale
    largest = max(_largest(reading.lines) for reading in whole.readings)
    several_ranks = len({item.rank for item in fitting}) > 1
    by_gpu: dict[tuple[int, int], list[Measurement]] = {}
    for item in fitting:
        by_gpu.setdefault((item.rank, _gpu(item.measure)[0]), []).append(item)
    rows = [
        replace(
            whole,
            title=_gpu_title(gpu, rank if several_ranks else None),
            readings=[
                replace(reading, scale=scale) for reading in _readings(kind, items)
            ],
            top=whole.top or largest * scale * HEADROOM or None,
        )
        for (rank, gpu), items in sorted(by_gpu.items())
    ]
    hidden = len(rows) - MAX_GPUS
    notes = [_hidden_note(hidden)] if hidden > 0 else []
    return Hardware(rows[:MAX_GPUS], notes)


def _gpu_title(gpu: int, rank: int | None) -> str:
    if rank is None:
        return gettext("GPU %(gpu)s") % {"gpu": gpu}
    return gettext("GPU %(gpu)s, rank %(rank)s") % {"gpu": gpu, "rank": rank}


def _hidden_note(count: int) -> str:
    return ngettext(
        "%(count)s more GPU not shown. Select a stage to see it.",
        "%(count)s more GPUs not shown. Select a stage to see them.",
        count,
    ) % {"count": count}


def scaled_row(kind: Kind, readings: Sequence[Reading], limit: float | None) -> Row:
    """Choose the unit by the largest reading; keep the limit where it can be seen."""
    largest = max((_largest(reading.lines) for reading in readings), default=0.0)
    scale, unit = scale_of(kind.unit, largest)
    is_near = limit is not None and largest >= LIMIT_SHOWN_FROM * limit
    return Row(
        title=gettext(kind.title),
        unit=unit,
        note="" if limit is None else limit_note(limit * scale),
        readings=[replace(reading, scale=scale) for reading in readings],
        limit=limit * scale if is_near and limit is not None else None,
        top=_top(kind, largest * scale, limit * scale if is_near and limit else None),
    )


def limit_note(limit: float) -> str:
    # In the unit of the largest value, the limit may be a large number.
    short = f"{limit:.3g}"
    text = f"{limit:,.0f}" if float(short) >= LONG_FROM else short
    return gettext("(limit %(limit)s)") % {"limit": text}


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
    if unit == SHARE:
        return 100.0, "%"
    return 1.0, gettext(unit)


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
        name = _name(kind.measures[_pattern(measure)], measure)
        if several_ranks:
            name = gettext("%(name)s, rank %(rank)s") % {"name": name, "rank": rank}
        colour = COLOURS.get(measure, "") if not several_ranks else ""
        readings.append(Reading(name, [item.line for item in same], colour=colour))
    return readings


def _identity(item: Measurement) -> tuple[int, int, str, int]:
    gpu, part = _gpu(item.measure)
    return gpu, part, item.measure, item.rank


def _gpu(measure: str) -> tuple[int, int]:
    """Return the index of a GPU and of its MIG slice; -1 if there is none."""
    match = GPU.match(measure)
    if match is None:
        return -1, -1
    return int(match[1]), -1 if match[2] is None else int(match[2])


def _name(words: str, measure: str) -> str:
    pattern = gettext(words)
    if probe := PROBE.match(measure):
        return pattern.replace("<name>", probe[1].replace("_", " "))
    gpu, part = _gpu(measure)
    numbers = {"gpu": gpu, "slice": part}
    named = f"{gpu}" if part < 0 else gettext("%(gpu)s, slice %(slice)s") % numbers
    return pattern.replace("<i>", named)


def _pattern(measure: str) -> str:
    if PROBE.match(measure):
        return "agent/probes/<name>_seconds"
    return GPU.sub("gpu/<i>/", measure)


def _largest(lines: Sequence[Line]) -> float:
    peaks = [line.maximum[np.isfinite(line.maximum)] for line in lines]
    return max((float(peak.max()) for peak in peaks if peak.size), default=0.0)
