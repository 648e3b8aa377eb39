"""Numbers and texts of many runs by name, for charts that compare runs."""

from __future__ import annotations

import math
import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from uuid import UUID

from django.db.models import Q

from tracker.models import Attribute, Kind, Run
from tracker.queries.run.attributes import (
    IS_PARAMETER,
    AttributeRow,
    Seen,
    attribute_values,
)
from tracker.queries.run.namespaces import MONITORING, PARAMS
from tracker.queries.runs.filter.fields import FIELDS, MADE_BY, field_values
from tracker.queries.runs.filter.filters import Found, RunFilter, read_query
from tracker.queries.series.metrics import importance, quality_rank

# Maximum number of other runs shown next to the chosen ones, the newest first.
OTHERS_AT_MOST = 500
PATHS_AT_MOST = 1_000
SUGGESTED_PARAMS, SUGGESTED_METRICS = 4, 2

NUMBERS = (Kind.FLOAT_SERIES, Kind.FLOAT, Kind.INTEGER, Kind.BOOLEAN)
# Texts only if they are parameters: sources, diffs and package lists of many runs are long.
COMPARABLE = Q(kind__in=NUMBERS) | Q(IS_PARAMETER, kind=Kind.STRING)
# Fields of a run that are not attributes. No path begins with a parenthesis.
DURATION, STARTED, PROJECT = "(duration)", "(started)", "(project)"
BESIDE = "(%s)"
CREATOR_PATH = BESIDE % MADE_BY
OWN_DIMENSIONS = {
    DURATION: "duration in seconds",
    BESIDE % "wall_time": "wall time in seconds",
    STARTED: "start time, in hours before the latest run",
    PROJECT: "project",
    BESIDE % "gpu": "GPU (run), in percent",
    BESIDE % "cpu": "CPU (run), in percent",
    BESIDE % "gpu_idle": "GPU idle, in percent",
    BESIDE % "gpu_hours": "GPU hours",
    BESIDE % "energy": "energy in kWh",
    BESIDE % "finding": "main finding",
    CREATOR_PATH: "created by",
}
OF_FIELDS = {BESIDE % field: field for field in FIELDS}
HOUR = 3_600
OF_SERIES = re.compile(r"^(min|max|mean)\((.+)\)$")


@dataclass(frozen=True, slots=True)
class Column:
    """One dimension of every run; NaN, infinities and missing values are None."""

    dimension: str
    values: list[float | str | None]

    @property
    def label(self) -> str:
        return OWN_DIMENSIONS.get(self.dimension, self.dimension)

    @property
    def is_categorical(self) -> bool:
        return any(isinstance(value, str) for value in self.values)

    @property
    def is_known(self) -> bool:
        """Return whether any run has a value."""
        return any(value is not None for value in self.values)


@dataclass(frozen=True, slots=True)
class Dimensions:
    """Possible axes; `suggested` are those that differ most between the runs."""

    names: list[str]
    suggested: list[str]
    parameters: frozenset[str] = frozenset()


def newest_others(
    project_id: int, query: str, *, without: Collection[UUID]
) -> list[Run]:
    """Return the newest other runs that match a query."""
    found = Found(project_id, RunFilter(query=read_query(query)))
    runs = found.runs().exclude(id__in=list(without))
    runs = runs.select_related("project").order_by("-created_at", "id")
    return list(runs[:OTHERS_AT_MOST])


def dimensions_of(run_ids: Sequence[UUID], seen: Seen | None = None) -> Dimensions:
    """Return the comparable dimensions, parameters first and agent metrics last."""
    rows = (
        Attribute.objects.filter(COMPARABLE, run_id__in=list(run_ids))
        .order_by()
        .values_list("path", "kind", "number", "text", "is_nan", "is_parameter")
    )
    values: dict[str, set[object]] = {}
    series: set[str] = set()
    parameters: set[str] = set()
    for path, kind, value, text, is_nan, is_parameter in rows.iterator():
        if seen is not None and not seen(kind, path, is_parameter):
            continue
        if is_parameter or path.startswith(PARAMS):
            parameters.add(path)
        if kind == Kind.FLOAT_SERIES:
            series.add(path)
        values.setdefault(path, set()).add(
            "nan" if is_nan else value if text is None else text
        )

    params = sorted(parameters)
    measured = sorted(path for path in values if path.startswith(MONITORING))
    metrics = sorted(values.keys() - set(params) - set(measured), key=importance)
    of_series = [
        f"{part}({path})"
        for path in metrics
        if path in series
        for part in ("min", "max")
    ]
    means = [f"mean({path})" if path in series else path for path in measured]
    differing = [path for path in params if len(values[path]) > 1]
    telling = sorted(
        metrics, key=lambda path: (quality_rank(path) is None, importance(path))
    )
    own = [name for name in OWN_DIMENSIONS if seen is None or name != CREATOR_PATH]
    return Dimensions(
        [*params, *metrics, *own, *of_series, *means][:PATHS_AT_MOST],
        [*(differing or params)[:SUGGESTED_PARAMS], *telling[:SUGGESTED_METRICS]]
        or [STARTED, DURATION],
        frozenset(parameters),
    )


def read_columns(
    runs: Sequence[Run], dimensions: Sequence[str], seen: Seen | None = None
) -> list[Column]:
    """Read each dimension of each run, those of attributes in one query.

    The author of a run is included only for readers who see everything.
    """
    fields = {OF_FIELDS[name] for name in dimensions if name in OF_FIELDS}
    if seen is not None:
        fields.discard(MADE_BY)
    known = field_values(runs, fields)
    paths = {dimension: _path(dimension) for dimension in dimensions}
    values = attribute_values([run.id for run in runs], set(paths.values()))
    last_start = max((run.started_at for run in runs if run.started_at), default=None)
    columns = []
    found: list[float | str | None]
    for dimension in dimensions:
        if dimension in OF_FIELDS:
            found = known.get(OF_FIELDS[dimension], [None] * len(runs))
        elif dimension == PROJECT:
            found = [run.project.name for run in runs]
        elif dimension == STARTED:
            found = [
                (run.started_at - last_start).total_seconds() / HOUR
                if run.started_at and last_start
                else None
                for run in runs
            ]
        else:
            path, part = paths[dimension], _part(dimension)
            rows = [_seen(values[run.id].get(path), seen) for run in runs]
            found = [_value(row, part) for row in rows]
        columns.append(Column(dimension, found))
    return columns


def _seen(row: AttributeRow | None, seen: Seen | None) -> AttributeRow | None:
    return (
        row
        if row and (seen is None or seen(row.kind, row.path, row.is_parameter))
        else None
    )


def _path(dimension: str) -> str:
    match = OF_SERIES.match(dimension)
    return match[2] if match else dimension


def _part(dimension: str) -> str:
    match = OF_SERIES.match(dimension)
    return match[1] if match else ""


def _value(row: AttributeRow | None, part: str) -> float | str | None:
    if row is None:
        return None
    value = {"min": row.minimum, "max": row.maximum, "mean": row.mean}.get(
        part, row.value
    )
    match value:
        case str():
            return value
        case bool():
            return "true" if value else "false"
        case int() | float():
            return _finite(value)
    return None


def _finite(value: int | float) -> float | None:
    try:
        number = float(value)
    except OverflowError:
        return None
    return number if math.isfinite(number) else None
