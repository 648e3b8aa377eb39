"""Groups of a chart's runs: those with the same value are drawn as one line."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from tracker.disclosure import seen_by
from tracker.queries.compare.values import OF_SERIES, read_columns
from web.figures.board import Group
from web.pages.compare.divided_runs import (
    LegendEntry,
    colours_of,
    divided,
    legend_of,
)
from web.pages.dashboards.widget_kind import Scene


@dataclass(frozen=True, slots=True)
class RunGroups:
    """The name of the value, the group of each run by its place, and the legend."""

    label: str
    of_runs: Sequence[Group]
    legend: Sequence[LegendEntry]


# Any: rows of the runs table, which pages do not import.
def run_groups(scene: Scene, runs: Sequence[Any], dimension: str) -> RunGroups | None:
    """Group runs by a value; None without one, or if the reader may not see it."""
    if not dimension:
        return None
    seen = seen_by(scene.actor)
    (column,) = read_columns(runs, [dimension], seen)
    if seen is not None and not column.is_known:
        return None
    division = divided(column.label, column.values)
    looks = colours_of(division)
    groups = [
        Group(part.label, look.drawn, place)
        for place, (part, look) in enumerate(zip(division.parts, looks, strict=True))
    ]
    return RunGroups(
        column.label.removeprefix("params/"),
        [groups[part] for part in division.part_of],
        legend_of(division, looks),
    )


def group_path(dimension: str) -> str:
    """Return the attribute of a dimension, such as a for min(a)."""
    match = OF_SERIES.match(dimension)
    return match[2] if match else dimension
