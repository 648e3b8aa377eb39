"""How lines of a comparison are divided: by color, by dash and by chart."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import orjson

from tracker.disclosure import seen_by
from tracker.queries.compare.values import read_columns
from web.pages.compare.divided_runs import (
    CHARTS_AT_MOST,
    Division,
    colours_of,
    dashes_of,
    divided,
    legend_of,
)
from web.pages.compare.frame import ComparedRun, Comparison


@dataclass(frozen=True, slots=True)
class Divisions:
    """Groups of the shown runs; None without a choice."""

    colour: Division | None
    dash: Division | None
    chart: Division | None
    together: Division | None

    def shown_in(self, part: int, run_count: int) -> Sequence[int]:
        """Return the places of the runs in one of the charts; of no such chart: none."""
        if self.chart is None:
            return range(run_count)
        parts = self.chart.parts[:CHARTS_AT_MOST]
        return parts[part].runs if part < len(parts) else ()


@dataclass(frozen=True, slots=True)
class LineLook:
    """The style of a run's line; "": the style of its position."""

    colour: str = ""
    dash: str = ""


def divisions_of(comparison: Comparison) -> Divisions:
    """Return the values by which runs are divided, in one query."""
    state = comparison.state
    chosen = (state.colour, state.dash, state.chart, state.together)
    paths = list(dict.fromkeys(filter(None, chosen)))
    seen = seen_by(comparison.actor)
    columns = read_columns(comparison.runs, paths, seen) if paths else []
    found = {
        column.dimension: divided(column.label, column.values)
        for column in columns
        # A value that is set but not shared must not appear as "Not set".
        if seen is None or column.is_known
    }
    return Divisions(*(found.get(path) for path in chosen))


def run_looks(divisions: Divisions, run_count: int) -> list[LineLook]:
    colours, dashes = [""] * run_count, [""] * run_count
    if divisions.colour:
        looks = divisions.colour.looks(colours_of(divisions.colour))
        colours = [look.drawn for look in looks]
    if divisions.dash:
        looks = divisions.dash.looks(dashes_of(divisions.dash))
        dashes = [look.drawn for look in looks]
    return [LineLook(*pair) for pair in zip(colours, dashes, strict=True)]


def line_labels(comparison: Comparison, together: Division | None) -> list[str]:
    """Return the name of each run's line: its own, or the value that its group shares."""
    if together is None:
        return comparison.names
    path = comparison.state.together
    labels = [
        part.label if part.is_set else f"without {path}" for part in together.parts
    ]
    return [labels[at] for at in together.part_of]


def divisions_context(comparison: Comparison) -> dict[str, Any]:
    """Return the legends, the charts of each path, and the runs as their swatches show them."""
    divisions = divisions_of(comparison)
    legends = []
    everyone = comparison.everyone
    if divisions.together:
        everyone = _grouped(comparison, divisions.together.part_of)
    if divisions.colour:
        colours = colours_of(divisions.colour)
        legends.append(
            ("colour", divisions.colour, legend_of(divisions.colour, colours))
        )
        everyone = _coloured(
            comparison, [look.name for look in divisions.colour.looks(colours)]
        )
    if divisions.dash:
        dashes = dashes_of(divisions.dash)
        legends.append(("dash", divisions.dash, legend_of(divisions.dash, dashes)))
    parts = divisions.chart.parts if divisions.chart else ()
    return {
        "everyone": everyone,
        "groups_json": _groups_json(everyone),
        "legends": legends,
        "parts": parts[:CHARTS_AT_MOST],
        "parts_left_out": len(parts[CHARTS_AT_MOST:]),
        "runs_left_out": sum(len(part.runs) for part in parts[CHARTS_AT_MOST:]),
        "parts_json": orjson.dumps(
            [[part.label, len(part.runs)] for part in parts[:CHARTS_AT_MOST]]
        ).decode(),
    }


def _groups_json(everyone: Sequence[ComparedRun]) -> str:
    """Return the index of each run's group by its slot; "" where each has its line."""
    groups = {str(each.slot): each.group for each in everyone if each.group is not None}
    return orjson.dumps(groups).decode() if groups else ""


def _grouped(comparison: Comparison, groups: Sequence[int]) -> list[ComparedRun]:
    """Give the swatches of the runs that are shown the colors of their groups' lines."""
    group_of = dict(zip(comparison.slots, groups, strict=True))
    return [
        replace(each, group=group_of[each.slot])
        if each.slot in group_of
        else replace(each, look="other")
        for each in comparison.everyone
    ]


def _coloured(comparison: Comparison, looks: Sequence[str]) -> list[ComparedRun]:
    """Give the swatches of the runs that are shown the colors of their lines."""
    names = dict(zip(comparison.slots, looks, strict=True))
    return [
        replace(each, look=names.get(each.slot, "other"))
        for each in comparison.everyone
    ]
