"""Charts of a run's series: one, or all that a page shows in one answer."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any
from uuid import UUID

import numpy as np
from django.http import HttpResponse, QueryDict
from django.views.decorators.http import require_safe

from tracker.access.runs import readable_run
from tracker.actor import Actor
from tracker.disclosure import seen_annotations, seen_notes
from tracker.errors import InvalidInput
from tracker.queries.run.annotations import AnnotationRow, annotations_of
from tracker.queries.run.namespaces import MONITORING
from tracker.queries.run.notes import Note, notes_of
from tracker.queries.run.run import may_go_on
from tracker.queries.series.chart_lines import ChartLines, read_chart_lines
from tracker.queries.series.series import Axis
from tracker.queries.series.versions import version_of
from tracker.queries.series.writers import read_writers
from tracker.server.etags import fresh_answer
from web.figures.chart import Mark, chart_figure
from web.figures.series import NamedLine
from web.figures.traces import Figure
from web.figures.writers import shared_note
from web.pages.charts.arrangement import MAX_LINES, chart_key
from web.pages.charts.chart_options import ChartOptions, read_options
from web.pages.charts.figure_bundles import (
    AskedChart,
    bundle_answer,
    check_count,
    versioned,
)
from web.pages.charts.figures import drawn_by, sent_figure
from web.pages.run.stage_bars import milliseconds
from web.session import PageRequest, signed_in

MAX_BUCKETS = 500


@dataclass(frozen=True, slots=True)
class Wanted:
    """A requested chart; `since` is the state that the browser has."""

    paths: tuple[str, ...]
    log: bool = False
    since: str = ""


@require_safe
@signed_in
def series(request: PageRequest, run_id: UUID) -> HttpResponse:
    """Draw series in one chart; those that do not exist are lines without points."""
    wanted = _wanted(request.GET)
    run = readable_run(request.actor, run_id)
    is_live = may_go_on(run)
    options = read_options(request.GET)
    charts = Charts(run, options, [wanted], reader=request.actor, is_live=is_live)

    def draw() -> HttpResponse:
        return sent_figure(request, charts.draw([wanted])[0], is_live=is_live)

    return fresh_answer(request, charts.version(wanted), draw)


@require_safe
@signed_in
def charts(request: PageRequest, run_id: UUID) -> HttpResponse:
    """Draw many charts with few queries; each `chart` parameter is a query string.

    Charts whose versions the client has cached are empty.
    """
    asked = [_wanted(QueryDict(text)) for text in request.GET.getlist("chart")]
    check_count("chart", len(asked), sum(len(each.paths) for each in asked))
    run = readable_run(request.actor, run_id)
    is_live = may_go_on(run)
    options = read_options(request.GET)
    of_run = Charts(run, options, asked, reader=request.actor, is_live=is_live)

    return bundle_answer(
        request,
        [
            AskedChart(chart_key(each.paths), of_run.version(each), each.since)
            for each in asked
        ],
        lambda places: of_run.draw([asked[place] for place in places]),
        is_live=is_live,
    )


# Any: rows of the runs table, which pages do not import.
class Charts:
    """Charts of one run, drawn in one way."""

    def __init__(
        self,
        run: Any,
        options: ChartOptions,
        wanted: Sequence[Wanted],
        *,
        reader: Actor,
        is_live: bool,
    ) -> None:
        self.run = run
        self.options = options
        self.is_live = is_live
        # Read before the points, so that these are never older than the version.
        self.base = version_of([run], drawn_by(), options.query, is_live)
        paths = {path for each in wanted for path in each.paths}
        self.annotations = seen_annotations(reader, annotations_of(run, paths))
        self.notes = seen_notes(reader, notes_of(run))
        self.writers = read_writers([run.id], paths)

    def version(self, wanted: Wanted) -> str:
        written = [*self._annotations(wanted), *self._notes(wanted)]
        shared = self._shared(wanted)
        return versioned((self.base, wanted.paths, wanted.log, written, shared))

    def draw(self, wanted: Sequence[Wanted]) -> list[Figure]:
        paths = list(dict.fromkeys(path for each in wanted for path in each.paths))
        found = read_chart_lines(
            [(self.run, path) for path in paths],
            self.options.across,
            buckets=MAX_BUCKETS,
        )
        places = {path: place for place, path in enumerate(paths)}
        figures = []
        for each in wanted:
            look = self.options.look
            drawn = [places[path] for path in each.paths]
            figures.append(
                chart_figure(
                    [
                        NamedLine(found.lines[place], paths[place], position)
                        for position, place in enumerate(drawn)
                    ],
                    replace(look, log=look.log != each.log),
                    marks=[
                        *(self._mark(one, found) for one in self._annotations(each)),
                        *(self._mark_of(note, found) for note in self._notes(each)),
                    ],
                    outside=[found.outside[place] for place in drawn],
                    notes=[*filter(None, [shared_note(self._shared(each))])],
                )
            )
        return figures

    def _annotations(self, wanted: Wanted) -> list[AnnotationRow]:
        return [one for path in wanted.paths for one in self.annotations[path]]

    def _shared(self, wanted: Wanted) -> dict[str, list[int]]:
        """Return the ranks of concurrent writers, by path of the series."""
        return {
            path: [writer.rank for writer in self.writers[self.run.id, path]]
            for path in wanted.paths
            if (self.run.id, path) in self.writers
        }

    def _notes(self, wanted: Wanted) -> list[Note]:
        """Return the script's notes; the agent's metrics count other steps."""
        is_measured = all(path.startswith(MONITORING) for path in wanted.paths)
        has_steps = self.options.over or self.options.axis == Axis.STEP
        return [] if is_measured and has_steps else self.notes

    def _mark_of(self, note: Note, lines: ChartLines) -> Mark:
        said = {
            "id": None,
            "path": note.path,
            "step": note.step,
            "text": note.text,
            "author": "",
            "written": milliseconds(note.time),
            "edited": None,
        }
        return Mark(self._place_of(note, lines), note.text, said)

    def _mark(self, annotation: AnnotationRow, lines: ChartLines) -> Mark:
        edited = annotation.edited_at
        return Mark(
            self._place_of(annotation, lines),
            annotation.text,
            {
                "id": annotation.id,
                "path": annotation.path,
                "step": annotation.step,
                "text": annotation.text,
                "author": annotation.author,
                "written": milliseconds(annotation.written_at),
                "edited": None if edited is None else milliseconds(edited),
            },
        )

    def _place_of(self, annotation: AnnotationRow | Note, lines: ChartLines) -> float:
        """Return where on the axis a text belongs; NaN if nowhere."""
        if self.options.over:
            steps, places = lines.over[self.run.id].x, lines.over[self.run.id].mean
            if not len(steps) or not steps[0] <= annotation.step <= steps[-1]:
                return math.nan
            return float(np.interp(annotation.step, steps, places))
        if self.options.axis == Axis.TIME:
            return milliseconds(annotation.time)
        if self.options.axis == Axis.RELATIVE:
            began = self.run.started_at
            return (annotation.time - began).total_seconds() if began else math.nan
        return annotation.step


def _wanted(parameters: QueryDict) -> Wanted:
    paths = tuple(dict.fromkeys(parameters.getlist("path")))
    if not 1 <= len(paths) <= MAX_LINES or not all(map(_is_path, paths)):
        raise InvalidInput("path", f"must name 1 to {MAX_LINES} series")
    return Wanted(
        paths, log=parameters.get("own") == "log", since=parameters.get("since", "")
    )


def _is_path(path: str) -> bool:
    return bool(path) and "\0" not in path
