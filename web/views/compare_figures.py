"""The charts of a comparison: series laid over each other, and what machines did."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from django.http import HttpResponse, QueryDict
from django.views.decorators.http import require_safe

from tracker.disclosure import seen_by
from tracker.freshness import fresh_answer
from tracker.queries.chart_lines import ChartLines, read_chart_lines
from tracker.queries.compared_hardware import compared_lines
from tracker.queries.compared_source import chosen_stage, stages_of
from tracker.queries.compared_values import read_columns
from tracker.queries.series import Axis
from tracker.queries.versions import version_of
from tracker.queries.writers import read_writers
from web.cells import value_text
from web.compare_state import CompareState
from web.figures.chart import give_axes
from web.figures.compared_hardware import MeasuredRun, compared_hardware_figure
from web.figures.comparison import (
    lacking_note,
    overlay_figure,
    with_common_range,
    writers_note,
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
from web.views.figure_bundles import (
    AskedChart,
    bundle_answer,
    check_count,
    versioned,
)
from web.views.figures import (
    chosen_group,
    drawn_by,
    figure_response,
    is_narrow,
    sent_figure,
)

# A chart is as wide; of many runs each has fewer, until somebody zooms.
BUCKETS, FEWEST_BUCKETS, BUCKETS_TOGETHER = 500, 200, 20_000


@dataclass(frozen=True, slots=True)
class DrawnRun:
    """A run as a chart draws it."""

    run: Any  # a row of the runs table; pages do not import tables
    name: str
    label: str
    slot: int
    look: LineLook

    def named(self, line: Line) -> NamedLine:
        return NamedLine(
            line,
            self.label,
            self.slot,
            (self.slot,),
            colour=self.look.colour,
            dash=self.look.dash,
        )


@dataclass(frozen=True, slots=True)
class Wanted:
    """One chart that was asked for; `part` is which, if each part has its own."""

    path: str
    part: int
    since: str = ""


@require_safe
@signed_in
def compare_figure(request: PageRequest, workspace: str, project: str) -> HttpResponse:
    """Answer the chart of one series path, a line for each run that has it."""
    comparison = read_comparison(request, workspace, project)
    wanted = _wanted(request.GET)
    charts = Charts(request, comparison, [wanted])

    def draw() -> HttpResponse:
        [figure] = charts.draw([wanted])
        return sent_figure(request, figure, is_live=comparison.is_live)

    return fresh_answer(request, charts.version(wanted), draw)


@require_safe
@signed_in
def compare_figures(request: PageRequest, workspace: str, project: str) -> HttpResponse:
    """Answer many charts at once; each `figure` is a query of its own."""
    comparison = read_comparison(request, workspace, project)
    asked = [_wanted(QueryDict(text)) for text in request.GET.getlist("figure")]
    check_count("figure", len(asked), len(asked) * len(comparison.runs))
    charts = Charts(request, comparison, asked)
    return bundle_answer(
        request,
        [
            AskedChart(f"{each.part} {each.path}", charts.version(each), each.since)
            for each in asked
        ],
        lambda places: charts.draw([asked[place] for place in places]),
        is_live=comparison.is_live,
    )


def _wanted(parameters: QueryDict) -> Wanted:
    return Wanted(
        parameters.get("path", ""),
        whole_number(parameters.get("part", "0"), "part"),
        parameters.get("since", ""),
    )


class Charts:
    """Charts of one comparison, drawn in one way."""

    def __init__(
        self, request: PageRequest, comparison: Comparison, wanted: Sequence[Wanted]
    ) -> None:
        runs = comparison.runs
        self.options = _options(request, comparison.state)
        self.is_together = bool(comparison.state.together)
        self.divisions = divisions_of(comparison)
        labels, looks = _labels(comparison), run_looks(self.divisions, len(runs))
        names, slots = comparison.names, comparison.slots
        drawn = zip(runs, names, labels, slots, looks, strict=True)
        self.drawn = [DrawnRun(*each) for each in drawn]
        said = [
            (each.name, each.label, each.slot, str(each.look)) for each in self.drawn
        ]
        is_live = comparison.is_live
        # Before the points are read: they are never older than this says.
        self.base = version_of(
            runs, drawn_by(), self.options.query, said, self.is_together, is_live
        )
        paths = {each.path for each in wanted}
        self.writers = read_writers([run.id for run in runs], paths)

    def version(self, wanted: Wanted) -> str:
        shown = self._shown_in(wanted)
        shared = self._shared(wanted.path, shown)
        return versioned((self.base, wanted.path, str(shown), shared))

    def draw(self, wanted: Sequence[Wanted]) -> list[Figure]:
        """Read the lines of all of them with a handful of statements."""
        paths = list(dict.fromkeys(each.path for each in wanted))
        count = len(self.drawn)
        found = read_chart_lines(
            [(each.run, path) for path in paths for each in self.drawn],
            self.options.across,
            buckets=_buckets(count),
        )
        first = {path: place * count for place, path in enumerate(paths)}
        figures = []
        for each in wanted:
            members = slice(first[each.path], first[each.path] + count)
            lines = replace(
                found, lines=found.lines[members], outside=found.outside[members]
            )
            figure = self._overlaid(lines, self._shown_in(each))
            if shared := self._shared(each.path, self._shown_in(each)):
                figure["notes"].append(writers_note(shared))
            figures.append(figure)
        return figures

    def _shared(self, path: str, shown: Sequence[int]) -> list[tuple[str, list[int]]]:
        """Return the runs in which several logged to it at once, and their ranks."""
        return [
            (each.name, [writer.rank for writer in self.writers[each.run.id, path]])
            for each in map(self.drawn.__getitem__, shown)
            if (each.run.id, path) in self.writers
        ]

    def _shown_in(self, wanted: Wanted) -> Sequence[int]:
        """Return the places of the runs in a chart, if others have charts of their own."""
        return self.divisions.shown_in(wanted.part, len(self.drawn))

    def _overlaid(self, found: ChartLines, shown: Sequence[int]) -> Figure:
        """Draw the runs that are in this chart, as high as those of the others."""
        options = self.options
        here: list[NamedLine] = []
        everything: list[NamedLine] = []
        lacking: list[str] = []
        outside: list[int] = []
        for place, (each, line) in enumerate(zip(self.drawn, found.lines, strict=True)):
            if line.count and line.run_id not in found.lacking:
                everything.append(each.named(line))
                if place in shown:
                    here.append(everything[-1])
                    outside.append(found.outside[place])
            elif line.count and place in shown:
                lacking.append(each.name)
        if self.is_together:
            here, everything = lines_together(here), lines_together(everything)
        figure = overlay_figure(
            here,
            axis=options.axis_name,
            log=options.log,
            smoothing=options.smoothing,
            low=options.low,
            high=options.high,
            legend=self.is_together,
        )
        if len(shown) < len(self.drawn):
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
