"""The charts of a comparison: series laid over each other, and what machines did."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from django.http import HttpResponse
from django.views.decorators.http import require_safe

from tracker.disclosure import seen_by
from tracker.freshness import fresh_answer
from tracker.queries.chart_lines import read_chart_lines
from tracker.queries.compared_hardware import compared_lines
from tracker.queries.compared_source import chosen_stage, stages_of
from tracker.queries.compared_values import read_columns
from tracker.queries.series import Axis
from web.cells import value_text
from web.compare_state import CompareState
from web.figures.chart import give_axes
from web.figures.compared_hardware import MeasuredRun, compared_hardware_figure
from web.figures.comparison import (
    lacking_note,
    overlay_figure,
    with_common_range,
)
from web.figures.hardware import Measurement, is_drawn
from web.figures.series import Line, NamedLine
from web.figures.together import lines_together
from web.figures.traces import Figure
from web.numbers import whole_number
from web.session import PageRequest, signed_in
from web.views.chart_options import ChartOptions, read_number
from web.views.compare_divisions import LineLook, divisions_of, run_looks
from web.views.compare_frame import Comparison, read_comparison
from web.views.figures import (
    chosen_group,
    figure_response,
    figure_version,
    is_narrow,
    sent_figure,
)

# A chart is as wide; of many runs each has fewer, until somebody zooms.
BUCKETS, FEWEST_BUCKETS, BUCKETS_TOGETHER = 500, 200, 20_000


@dataclass(frozen=True, slots=True)
class DrawnRun:
    """A run as a chart draws it; `is_here` tells it from those of charts beside it."""

    run: Any  # a row of the runs table; pages do not import tables
    name: str
    label: str
    slot: int
    look: LineLook
    is_here: bool

    def named(self, line: Line) -> NamedLine:
        return NamedLine(
            line,
            self.label,
            self.slot,
            (self.slot,),
            colour=self.look.colour,
            dash=self.look.dash,
        )


@require_safe
@signed_in
def compare_figure(request: PageRequest, workspace: str, project: str) -> HttpResponse:
    """Answer the chart of one series path, a line for each run that has it."""
    comparison = read_comparison(request, workspace, project)
    runs, slots = comparison.runs, comparison.slots
    is_live = comparison.is_live
    path = request.GET.get("path", "")
    state = comparison.state
    labels = _labels(comparison)
    divisions = divisions_of(comparison)
    looks = run_looks(divisions, len(runs))
    part = whole_number(request.GET.get("part", "0"), "part")
    # The places of the runs in this chart, if others have charts of their own.
    shown = divisions.shown_in(part, len(runs))
    said = [*labels, *map(str, looks), str(shown)]
    version = figure_version(request, runs, is_live=is_live, labels=said)
    options = _options(request, state)
    drawn = [
        DrawnRun(run, name, label, slot, look, is_here=place in shown)
        for place, (run, name, label, slot, look) in enumerate(
            zip(runs, comparison.names, labels, slots, looks, strict=True)
        )
    ]

    def draw() -> HttpResponse:
        figure = _overlaid(drawn, path, options, is_together=bool(state.together))
        return sent_figure(request, figure, is_live=is_live)

    return fresh_answer(request, version, draw)


def _overlaid(
    drawn: Sequence[DrawnRun], path: str, options: ChartOptions, *, is_together: bool
) -> Figure:
    """Draw the runs that are in this chart, as high as those of the others."""
    found = read_chart_lines(
        [(each.run, path) for each in drawn],
        options.across,
        buckets=_buckets(len(drawn)),
    )
    here: list[NamedLine] = []
    everything: list[NamedLine] = []
    lacking: list[str] = []
    outside: list[int] = []
    for each, line, out in zip(drawn, found.lines, found.outside, strict=True):
        if line.count and line.run_id not in found.lacking:
            everything.append(each.named(line))
            if each.is_here:
                here.append(everything[-1])
                outside.append(out)
        elif line.count and each.is_here:
            lacking.append(each.name)
    if is_together:
        here, everything = lines_together(here), lines_together(everything)
    figure = overlay_figure(
        here,
        axis=options.axis_name,
        log=options.log,
        smoothing=options.smoothing,
        low=options.low,
        high=options.high,
        legend=is_together,
    )
    if not all(each.is_here for each in drawn):
        figure = with_common_range(figure, everything, log=options.log)
    give_axes(figure, here, options.look, outside=outside, compared=everything)
    if lacking:
        figure["notes"].append(lacking_note(lacking, options.over))
    return figure


def _options(request: PageRequest, state: CompareState) -> ChartOptions:
    return ChartOptions(
        axis=Axis(state.axis),
        over=state.over,
        log=state.log,
        log_x=state.logx,
        clips=state.clip,
        smoothing=state.smoothing,
        low=read_number(request.GET, "low"),
        high=read_number(request.GET, "high"),
    )


def _buckets(run_count: int) -> int:
    together = BUCKETS_TOGETHER // max(1, run_count)
    return max(FEWEST_BUCKETS, min(BUCKETS, together))


def _labels(comparison: Comparison) -> list[str]:
    """Return each run's name, or what it shares with those that it is drawn with."""
    runs, together = comparison.runs, comparison.state.together
    if not together:
        return comparison.names
    seen = seen_by(comparison.actor)
    [column] = read_columns(runs, [together], seen)
    if seen is not None and not column.is_known:
        return comparison.names
    without = f"without {together}"
    return [without if value is None else value_text(value) for value in column.values]


@require_safe
@signed_in
def compare_hardware(
    request: PageRequest, workspace: str, project: str
) -> HttpResponse:
    """Draw what the machines of the runs did, one row for each kind of measurement."""
    comparison = read_comparison(request, workspace, project)
    state, runs = comparison.state, comparison.runs
    group = chosen_group(state.group)
    stage = chosen_stage(stages_of([run.id for run in runs]), state.stage)
    lines = compared_lines(
        runs,
        lambda measure: is_drawn(measure, group),
        align=state.align,
        stage=stage,
    )
    of_run: dict[int, list[Measurement]] = defaultdict(list)
    for found in lines:
        each = found.measured
        of_run[found.position].append(Measurement(each.measure, each.rank, each.line))
    measured = [
        MeasuredRun(name, slot, of_run[position])
        for position, (name, slot) in enumerate(
            zip(comparison.names, comparison.slots, strict=True)
        )
    ]
    figure = compared_hardware_figure(
        measured, group, align=state.align, is_narrow=is_narrow(request)
    )
    return figure_response(request, figure, is_live=comparison.is_live)
