"""Runs against their values: axes of parallel coordinates, and points of a scatter."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any
from uuid import UUID

from django.http import HttpResponse
from django.urls import reverse
from django.views.decorators.http import require_safe

from tracker.disclosure import seen_by
from tracker.queries.compare.values import (
    OTHERS_AT_MOST,
    Column,
    Dimensions,
    dimensions_of,
    newest_others,
    read_columns,
)
from tracker.queries.run.run import may_go_on
from tracker.queries.runs.filter.filters import InvalidQuery
from web.figures.scatter import Dimension, ScatterRun, scatter_figure
from web.pages.charts.figures import figure_response
from web.pages.compare.frame import ComparedRun, Comparison, named_in, read_comparison
from web.pages.compare.parallel import parallel_axis
from web.session import PageRequest, signed_in
from web.templatetags.format import number


@dataclass(frozen=True, slots=True)
class Pictured:
    """The runs of a chart: the chosen ones, and optionally all others of the project."""

    chosen: list[ComparedRun]
    others: list[Any]  # rows of the runs table; pages do not import tables
    others_in: str = (
        ""  # name of the others' project, if the runs are of several projects
    )
    mistake: str = ""

    @property
    def runs(self) -> list[Any]:
        return [*self.others, *(each.run for each in self.chosen)]

    @property
    def names(self) -> list[str]:
        others = [named_in(self.others_in, run.name) for run in self.others]
        return [*others, *(each.name for each in self.chosen)]

    @property
    def slots(self) -> list[int | None]:
        return [*(None for _ in self.others), *(each.slot for each in self.chosen)]


@dataclass(frozen=True, slots=True)
class ValueRow:
    """A run in the table below a chart, for readers without a pointer."""

    run: ComparedRun
    texts: list[str]


def pictured_runs(comparison: Comparison) -> Pictured:
    state = comparison.state
    if not state.among:
        return Pictured(comparison.shown, [])
    ids = [each.run.id for each in comparison.everyone]
    try:
        others = newest_others(comparison.project.id, state.query, without=ids)
    except InvalidQuery as mistake:
        return Pictured(comparison.shown, [], mistake=str(mistake))
    others_in = comparison.project.name if comparison.is_across else ""
    return Pictured(comparison.shown, others, others_in)


def parallel_context(comparison: Comparison) -> dict[str, Any]:
    state, pictured = comparison.state, pictured_runs(comparison)
    seen = seen_by(comparison.actor)
    known = dimensions_of([run.id for run in pictured.runs], seen)
    shown = list(state.dimensions or known.suggested)
    dimensions = [*shown, *filter(None, [state.colour])]
    columns = read_columns(pictured.runs, dimensions, seen)
    axes = [_axis(column) for column in columns[: len(shown)]]
    colour = _axis(columns[-1]) if state.colour else None
    brushes = {brush.path: [brush.low, brush.high] for brush in state.brushes}
    return {
        **_values_context(comparison, pictured, known, "dimension", "colour"),
        "values_address": f"{state.having(dimensions=tuple(shown))}&part=values",
        "axes": [
            (path, state.having(dimensions=tuple(p for p in shown if p != path)))
            for path in shown
        ],
        "dimensions": shown,
        "parallel": {
            "runs": [
                _described(run, name, slot)
                for run, name, slot in zip(
                    pictured.runs, pictured.names, pictured.slots, strict=True
                )
            ],
            "axes": [asdict(axis) for axis in axes],
            "colour": colour and asdict(colour),
            # A list, so that no path becomes a key.
            "brushes": [brushes.get(axis.path) for axis in axes],
        },
        "rows": _value_rows(pictured, columns[: len(shown)]),
    }


def scatter_context(comparison: Comparison) -> dict[str, Any]:
    pictured, seen = pictured_runs(comparison), seen_by(comparison.actor)
    known = dimensions_of([run.id for run in pictured.runs], seen)
    x, y = _chosen_axes(comparison, known)
    state = comparison.state
    dimensions = list(dict.fromkeys(filter(None, [x, y, state.size, state.colour])))
    runs = [each.run for each in pictured.chosen]
    columns = read_columns(runs, dimensions, seen)
    return {
        **_values_context(
            comparison, pictured, known, "x", "y", "size", "colour", "log_x", "log_y"
        ),
        "values_address": f"{state.having(x=x, y=y)}&part=values",
        "x": x,
        "y": y,
        "dimensions": [column.label for column in columns],
        "figure_query": state.having(x=x, y=y),
        "runs_at": _runs_at(),
        "address_swapped": state.having(x=y, y=x, log_x=state.log_y, log_y=state.log_x),
        "rows": _value_rows(Pictured(pictured.chosen, []), columns),
    }


@require_safe
@signed_in
def compare_scatter(request: PageRequest, workspace: str, project: str) -> HttpResponse:
    """Draw a point for each run."""
    comparison = read_comparison(request, workspace, project)
    state, pictured = comparison.state, pictured_runs(comparison)
    seen = seen_by(comparison.actor)
    if not (state.x and state.y):
        known = dimensions_of([run.id for run in pictured.runs], seen)
        x, y = _chosen_axes(comparison, known)
    else:
        x, y = state.x, state.y
    chosen = (x, y, state.size, state.colour)
    dimensions = list(dict.fromkeys(filter(None, chosen)))
    read = read_columns(pictured.runs, dimensions, seen)
    columns = {column.dimension: column for column in read}
    nothing = Column("", [None] * len(pictured.runs))
    values = [columns.get(dimension, nothing) for dimension in chosen]
    points = [
        ScatterRun(str(run.id), name, slot, *row)
        for run, name, slot, row in zip(
            pictured.runs,
            pictured.names,
            pictured.slots,
            zip(*(column.values for column in values), strict=True),
            strict=True,
        )
    ]
    labels = [column.label for column in values]
    figure = scatter_figure(
        points,
        x=Dimension(labels[0], is_log=state.log_x),
        y=Dimension(labels[1], is_log=state.log_y),
        size=Dimension(labels[2]),
        colour=Dimension(labels[3]),
    )
    is_live = any(may_go_on(run) for run in pictured.runs)
    return figure_response(request, figure, is_live=is_live)


def _runs_at() -> str:
    """Return the prefix of a run's page address."""
    any_run = UUID(int=0)
    return reverse("run", args=[any_run]).removesuffix(f"{any_run}/")


def _chosen_axes(comparison: Comparison, known: Dimensions) -> tuple[str, str]:
    """Take a varying parameter and the most important metric."""
    suggested = known.suggested
    metrics = [name for name in suggested if name not in known.parameters]
    x = comparison.state.x or suggested[0]
    y = comparison.state.y or (metrics or suggested[-1:])[0]
    return x, y


def _values_context(
    comparison: Comparison, pictured: Pictured, known: Dimensions, *fields: str
) -> dict[str, Any]:
    return {
        "known": known.names,
        "among_count": len(pictured.others),
        "among_at_most": OTHERS_AT_MOST,
        "mistake": pictured.mistake,
        "values_live": any(may_go_on(run) for run in pictured.runs),
        "hidden_fields": fields_but(comparison, "among", "query", *fields),
    }


def fields_but(comparison: Comparison, *names: str) -> list[tuple[str, str]]:
    """Return the address's other fields, which a form must repeat."""
    return [pair for pair in comparison.state.parameters if pair[0] not in names]


def _axis(column: Column) -> Any:
    return parallel_axis(column.dimension, column.label, column.values)


# Any: a row of the runs table.
def _described(run: Any, name: str, slot: int | None) -> dict[str, Any]:
    return {
        "id": str(run.id),
        "name": name,
        "slot": slot,
        "url": reverse("run", args=[run.id]),
    }


def _value_rows(pictured: Pictured, columns: Sequence[Column]) -> list[ValueRow]:
    first = len(pictured.others)
    return [
        ValueRow(run, [_text(column.values[first + index]) for column in columns])
        for index, run in enumerate(pictured.chosen)
    ]


def _text(value: float | str | None) -> str:
    return value if isinstance(value, str) else number(value)
