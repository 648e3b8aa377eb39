"""The charts of a comparison: overlaid series and hardware use."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from django.http import HttpResponse, QueryDict
from django.views.decorators.http import require_safe

from tracker.errors import InvalidInput
from tracker.queries.compare.hardware import compared_lines
from tracker.queries.compare.source import chosen_stage, stages_of
from tracker.queries.series.chart_lines import ChartLines, read_chart_lines
from tracker.queries.series.series import Axis
from tracker.queries.series.versions import version_of
from tracker.queries.series.writers import read_writers
from tracker.server.etags import fresh_answer
from web.figures.chart import give_axes
from web.figures.compared_hardware import MeasuredRun, compared_hardware_figure
from web.figures.comparison import (
    lacking_note,
    left_out_note,
    overlay_figure,
    with_common_range,
    writers_note,
)
from web.figures.hardware import Measurement, is_drawn
from web.figures.series import Line, NamedLine
from web.figures.text import of_run
from web.figures.together import lines_together
from web.figures.traces import Figure, series_dash
from web.numbers import whole_number
from web.pages.charts.arrangement import MAX_LINES, Key, chart_key
from web.pages.charts.chart_options import ChartOptions, read_number
from web.pages.charts.figure_bundles import (
    MAX_LINES_AT_ONCE,
    AskedChart,
    bundle_answer,
    check_count,
    versioned,
)
from web.pages.charts.figures import (
    chosen_group,
    drawn_by,
    figure_response,
    is_narrow,
    sent_figure,
)
from web.pages.compare.divisions import LineLook, divisions_of, line_labels, run_looks
from web.pages.compare.frame import Comparison, read_comparison
from web.pages.compare.state import CompareState
from web.session import PageRequest, signed_in

# About the width of a chart in pixels; with many lines each has fewer until zoomed.
BUCKETS, FEWEST_BUCKETS, BUCKETS_TOGETHER = 500, 200, 20_000


@dataclass(frozen=True, slots=True)
class DrawnRun:
    """A run as a chart draws it."""

    run: Any  # a row of the runs table; pages do not import tables
    name: str
    label: str
    slot: int
    line: int  # gives the color: its slot, or the index of its group
    look: LineLook

    def named(self, line: Line, series: int | None = None) -> NamedLine:
        """Name its line; of a chart of several series, `series` is which it is of."""
        name, dash = self.label, self.look.dash
        if series is not None:
            name = of_run(name, line.path)
            dash = series_dash(series, self.line) if series or not dash else dash
        return NamedLine(
            line,
            name,
            self.line,
            (self.slot,),
            colour=self.look.colour,
            dash=dash,
            run="" if series is None else self.label,
        )


@dataclass(frozen=True, slots=True)
class ChartRequest:
    """One requested chart; `part` is its index if runs are divided into charts."""

    paths: Key
    part: int
    log: bool = False
    since: str = ""

    def drawn(self, run_count: int) -> Key:
        """Return the series that one chart holds, of so many runs."""
        return self.paths[: max(1, MAX_LINES_AT_ONCE // max(1, run_count))]


@require_safe
@signed_in
def compare_figure(request: PageRequest, workspace: str, project: str) -> HttpResponse:
    """Answer the chart of one series path, a line for each run that has it."""
    comparison = read_comparison(request, workspace, project)
    chart = _requested_chart(request.GET)
    charts = Charts(request, comparison, [chart])

    def draw() -> HttpResponse:
        [figure] = charts.draw([chart])
        return sent_figure(request, figure, is_live=comparison.is_live)

    return fresh_answer(request, charts.version(chart), draw)


@require_safe
@signed_in
def compare_figures(request: PageRequest, workspace: str, project: str) -> HttpResponse:
    """Return many charts at once; each `figure` is a separate query."""
    comparison = read_comparison(request, workspace, project)
    requests = [
        _requested_chart(QueryDict(text)) for text in request.GET.getlist("figure")
    ]
    lines = sum(len(each.paths) for each in requests) * len(comparison.runs)
    check_count("figure", len(requests), lines)
    charts = Charts(request, comparison, requests)
    return bundle_answer(
        request,
        [
            AskedChart(
                f"{each.part} {chart_key(each.paths)}",
                charts.version(each),
                each.since,
            )
            for each in requests
        ],
        lambda places: charts.draw([requests[place] for place in places]),
        is_live=comparison.is_live,
    )


def _requested_chart(parameters: QueryDict) -> ChartRequest:
    paths = tuple(dict.fromkeys(parameters.getlist("path") or [""]))
    if len(paths) > MAX_LINES:
        raise InvalidInput("path", f"must name 1 to {MAX_LINES} series")
    return ChartRequest(
        paths,
        whole_number(parameters.get("part", "0"), "part"),
        log=parameters.get("own") == "log",
        since=parameters.get("since", ""),
    )


class Charts:
    """Charts of one comparison, drawn in one way."""

    def __init__(
        self,
        request: PageRequest,
        comparison: Comparison,
        requests: Sequence[ChartRequest],
    ) -> None:
        runs = comparison.runs
        self.options = _options(request, comparison.state)
        self.divisions = divisions_of(comparison)
        together = self.divisions.together
        self.is_together = together is not None
        labels = line_labels(comparison, together)
        looks = run_looks(self.divisions, len(runs))
        names, slots = comparison.names, comparison.slots
        places = together.part_of if together else slots
        drawn = zip(runs, names, labels, slots, places, looks, strict=True)
        self.drawn = [DrawnRun(*each) for each in drawn]
        facts = [
            (each.name, each.label, each.slot, each.line, str(each.look))
            for each in self.drawn
        ]
        is_live = comparison.is_live
        # Read before the points, so that these are never older than the version.
        self.base = version_of(
            runs, drawn_by(), self.options.query, facts, self.is_together, is_live
        )
        paths = {path for each in requests for path in each.paths}
        self.writers = read_writers([run.id for run in runs], paths)

    def version(self, chart: ChartRequest) -> str:
        shown = self._shown_in(chart)
        shared = self._shared(chart, shown)
        parameters = (chart.paths, chart.log, str(shown), shared)
        return versioned((self.base, *parameters))

    def draw(self, requests: Sequence[ChartRequest]) -> list[Figure]:
        """Read the lines of all that are as fine with a handful of statements."""
        alike: dict[int, list[int]] = defaultdict(list)
        for place, each in enumerate(requests):
            lines = len(each.drawn(len(self.drawn))) * len(self.drawn)
            alike[_buckets(lines)].append(place)
        figures: dict[int, Figure] = {}
        for buckets, places in alike.items():
            some = [requests[place] for place in places]
            figures |= zip(places, self._drawn(some, buckets), strict=True)
        return [figures[place] for place in range(len(requests))]

    def _drawn(self, requests: Sequence[ChartRequest], buckets: int) -> list[Figure]:
        count = len(self.drawn)
        paths = list(
            dict.fromkeys(path for each in requests for path in each.drawn(count))
        )
        found = read_chart_lines(
            [(each.run, path) for path in paths for each in self.drawn],
            self.options.across,
            buckets=buckets,
        )
        first = {path: place * count for place, path in enumerate(paths)}
        figures = []
        for each in requests:
            drawn = each.drawn(count)
            members = [first[path] + place for path in drawn for place in range(count)]
            lines = replace(
                found,
                lines=[found.lines[member] for member in members],
                outside=[found.outside[member] for member in members],
            )
            figure = self._overlaid(lines, each)
            if left_out := each.paths[len(drawn) :]:
                note = left_out_note(left_out, MAX_LINES_AT_ONCE)
                figure["notes"].append(note)
            if shared := self._shared(each, self._shown_in(each)):
                figure["notes"].append(writers_note(shared))
            figures.append(figure)
        return figures

    def _shared(
        self, chart: ChartRequest, shown: Sequence[int]
    ) -> list[tuple[str, list[int]]]:
        """Return the runs in which several logged to it at once, and their ranks."""
        found = []
        for each in map(self.drawn.__getitem__, shown):
            shared = [
                self.writers[each.run.id, path]
                for path in chart.paths
                if (each.run.id, path) in self.writers
            ]
            if shared:
                found.append((each.name, [writer.rank for writer in shared[0]]))
        return found

    def _shown_in(self, chart: ChartRequest) -> Sequence[int]:
        """Return the positions of the runs in a chart of divided runs."""
        return self.divisions.shown_in(chart.part, len(self.drawn))

    def _overlaid(self, found: ChartLines, chart: ChartRequest) -> Figure:
        """Draw the runs of this chart, with the same range as the other charts."""
        options, shown = self.options, self._shown_in(chart)
        log = options.log != chart.log
        here: list[NamedLine] = []
        everything: list[NamedLine] = []
        without_axis: dict[str, None] = {}
        outside: list[int] = []
        for member, line in enumerate(found.lines):
            series, place = divmod(member, len(self.drawn))
            each = self.drawn[place]
            if line.count and line.run_id not in found.lacking:
                named = each.named(line, series if len(chart.paths) > 1 else None)
                everything.append(named)
                if place in shown:
                    here.append(named)
                    outside.append(found.outside[member])
            elif line.count and place in shown:
                without_axis[each.name] = None
        if self.is_together:
            here, everything = lines_together(here), lines_together(everything)
        figure = overlay_figure(
            here,
            axis=options.axis_name,
            log=log,
            smoothing=options.look.smoothing,
            low=options.low,
            high=options.high,
            legend=self.is_together,
        )
        if len(shown) < len(self.drawn):
            figure = with_common_range(figure, everything, log=log)
        look = replace(options.look, log=log)
        give_axes(figure, here, look, outside=outside, compared=everything)
        if without_axis:
            figure["notes"].append(lacking_note(list(without_axis), options.over))
        return figure


def _options(request: PageRequest, state: CompareState) -> ChartOptions:
    return ChartOptions(
        axis=Axis(state.axis),
        over=state.over,
        log=state.log,
        log_x=state.logx,
        clips=state.clip,
        smoothing=state.smoothing,
        smoother=state.smoother,
        low=read_number(request.GET, "low"),
        high=read_number(request.GET, "high"),
    )


def _buckets(line_count: int) -> int:
    together = BUCKETS_TOGETHER // max(1, line_count)
    return max(FEWEST_BUCKETS, min(BUCKETS, together))


@require_safe
@signed_in
def compare_hardware(
    request: PageRequest, workspace: str, project: str
) -> HttpResponse:
    """Draw hardware metrics of the runs, one row per kind."""
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
