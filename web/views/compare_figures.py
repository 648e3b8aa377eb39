"""The charts of a comparison: series laid over each other, and what machines did."""

from __future__ import annotations

from collections import defaultdict

from django.http import HttpResponse
from django.views.decorators.http import require_safe

from tracker.disclosure import seen_by
from tracker.freshness import fresh_answer
from tracker.queries.compared_hardware import compared_lines
from tracker.queries.compared_source import chosen_stage, stages_of
from tracker.queries.compared_values import read_columns
from tracker.queries.series import Axis, read_lines
from web.cells import value_text
from web.figures.compared_hardware import MeasuredRun, compared_hardware_figure
from web.figures.comparison import overlay_figure, with_common_range
from web.figures.hardware import Measurement, is_drawn
from web.figures.series import NamedLine
from web.figures.together import lines_together
from web.numbers import whole_number
from web.session import PageRequest, signed_in
from web.views.chart_options import read_number
from web.views.compare_divisions import divisions_of, run_looks
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
    drawn = {slots[place] for place in shown}
    said = [*labels, *map(str, looks), str(shown)]
    version = figure_version(request, runs, is_live=is_live, labels=said)
    low, high = read_number(request.GET, "low"), read_number(request.GET, "high")

    def draw() -> HttpResponse:
        lines = read_lines(
            [(run, path) for run in runs],
            axis=Axis(state.axis),
            low=low,
            high=high,
            buckets=_buckets(len(runs)),
            steady=True,
        )
        everything = [
            NamedLine(line, label, slot, (slot,), colour=look.colour, dash=look.dash)
            for label, slot, line, look in zip(labels, slots, lines, looks, strict=True)
            if line.count
        ]
        named = [line for line in everything if line.position in drawn]
        if state.together:
            everything, named = lines_together(everything), lines_together(named)
        figure = overlay_figure(
            named,
            axis=state.axis,
            log=state.log,
            smoothing=state.smoothing,
            low=low,
            high=high,
            legend=bool(state.together),
        )
        if len(drawn) < len(runs):
            figure = with_common_range(figure, everything, log=state.log)
        return sent_figure(request, figure, is_live=is_live)

    return fresh_answer(request, version, draw)


def _buckets(run_count: int) -> int:
    together = BUCKETS_TOGETHER // max(1, run_count)
    return max(FEWEST_BUCKETS, min(BUCKETS, together))


def _labels(comparison: Comparison) -> list[str]:
    """Return each run's name, or what it shares with those that it is drawn with."""
    runs, together = comparison.runs, comparison.state.together
    if not together:
        return [run.name for run in runs]
    seen = seen_by(comparison.actor)
    [column] = read_columns(runs, [together], seen)
    if seen is not None and not column.is_known:
        return [run.name for run in runs]
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
        MeasuredRun(run.name, slot, of_run[position])
        for position, (run, slot) in enumerate(zip(runs, comparison.slots, strict=True))
    ]
    figure = compared_hardware_figure(
        measured, group, align=state.align, is_narrow=is_narrow(request)
    )
    return figure_response(request, figure, is_live=comparison.is_live)
