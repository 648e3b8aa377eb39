"""The figures of a run, as JSON for the browser to draw."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any
from uuid import UUID

import orjson
from django.http import HttpRequest, HttpResponse
from django.utils.translation import get_language, gettext
from django.views.decorators.http import require_safe

from tracker.access.runs import readable_run
from tracker.diagnosis.engine.finding import Severity
from tracker.disclosure import seen_diagnoses
from tracker.errors import NotFound
from tracker.queries.diagnoses.diagnoses import (
    FindingView,
    StageDiagnosis,
    diagnoses_of,
    every_finding,
)
from tracker.queries.diagnoses.logged_intervals import read_logged_intervals
from tracker.queries.hardware.hardware import measured_lines, stage_lines
from tracker.queries.run.attributes import AttributeRow
from tracker.queries.run.namespaces import monitoring_path
from tracker.queries.run.run import RunOverview, StageRow, may_go_on, run_overview
from tracker.queries.series.histograms import read_histograms
from tracker.queries.series.series import Line
from tracker.queries.series.versions import version_of
from tracker.queries.series.writers import read_writers
from tracker.server.etags import fresh_answer, is_held, marked, not_modified
from web.figures.evidence import (
    NOTHING_TO_DRAW,
    STEP,
    evidence_rows,
)
from web.figures.hardware import (
    Measurement,
    each_gpu_rows,
    hardware_rows,
    is_drawn,
)
from web.figures.hardware_kinds import EACH_GPU, GROUPS, Group, Kind
from web.figures.histogram import HistogramRow, histogram_rows
from web.figures.intervals import interval_row
from web.figures.ridges import MAX_RIDGES, ridge_figure
from web.figures.rows import (
    LOW_ROW_HEIGHT,
    ROW_HEIGHT,
    Frame,
    Row,
    TimeSpan,
    rows_figure,
)
from web.figures.stages import stages_figure
from web.figures.traces import Figure
from web.figures.writers import shared_note
from web.pages.charts.chart_options import named_path, read_number, read_options
from web.pages.charts.cited_signals import cited_paths, cited_signals, share_limit
from web.pages.charts.figure_columns import CONTENT_TYPE, packed
from web.pages.run.stage_bars import milliseconds, stage_bars
from web.session import PageRequest, signed_in

# Columns of a map, which few charts are wide enough for.
MAX_HISTOGRAMS = 300
MILLISECONDS = 1_000
SEVERITIES = list(Severity)


def figure_response(
    request: HttpRequest, figure: Figure, *, is_live: bool
) -> HttpResponse:
    """Send a figure, the parts that the client lacks, or 304."""
    described = orjson.dumps([figure, is_live])
    version = hashlib.blake2b(described, digest_size=12).hexdigest()
    if is_held(request, version):
        return not_modified(version)
    return marked(sent_figure(request, figure, is_live=is_live), version)


def sent_figure(request: HttpRequest, figure: Figure, *, is_live: bool) -> HttpResponse:
    """Send a figure, or the parts that the browser lacks."""
    figure = {**figure, "live": is_live}
    if CONTENT_TYPE not in request.headers.get("Accept", ""):
        return HttpResponse(orjson.dumps(figure), content_type="application/json")
    body = packed(figure, request.GET.get("since", ""))
    return HttpResponse(body, content_type=CONTENT_TYPE)


# Any: rows of the runs table, which pages do not import.
def figure_version(
    request: HttpRequest,
    runs: Sequence[Any],
    *,
    is_live: bool,
) -> str:
    """Return a version that depends only on points, their runs and the address."""
    asked = sorted(item for item in request.GET.lists() if item[0] != "since")
    names = [run.name for run in runs]
    return version_of(runs, drawn_by(), request.path, asked, names, is_live)


def drawing_sources() -> list[Path]:
    """Return the source files that affect figures."""
    root = Path(__file__).resolve().parents[3]
    parts = ("web", "tracker/queries", "tracker/series")
    code = (file for part in parts for file in root.glob(f"{part}/**/*.py"))
    texts = root.glob("web/locale/*/LC_MESSAGES/*.mo")
    return sorted([*code, *texts])


def _sources() -> str:
    """Return a digest of the drawing code, so that an upgrade takes effect at once."""
    digest = hashlib.blake2b(digest_size=12)
    for source in drawing_sources():
        digest.update(source.read_bytes())
    return digest.hexdigest()


DRAWN_BY = _sources()


def drawn_by() -> tuple[str, str]:
    """Return the other inputs of a figure: our code and the language."""
    return DRAWN_BY, get_language()


@require_safe
@signed_in
def histograms(request: PageRequest, run_id: UUID) -> HttpResponse:
    """Draw the histograms of one series; of very many, evenly chosen ones."""
    path = named_path(request.GET)
    options = read_options(request.GET)

    run = readable_run(request.actor, run_id)
    is_live = may_go_on(run)
    version = figure_version(request, [run], is_live=is_live)

    def draw() -> HttpResponse:
        found = read_histograms(
            run,
            path,
            most=MAX_RIDGES if options.ridges else MAX_HISTOGRAMS,
            axis=options.axis,
            low=options.low,
            high=options.high,
        )
        row = HistogramRow(run.name, 0, found.x, found.histograms, found.count)
        figure = (
            ridge_figure([row], axis=options.axis)
            if options.ridges
            else histogram_rows(
                [row], axis=options.axis, low=options.low, high=options.high
            )
        )
        shared = read_writers([run.id], [path])
        ranks = {of: [each.rank for each in them] for (_, of), them in shared.items()}
        figure["notes"] += filter(None, [shared_note(ranks)])
        return sent_figure(request, figure, is_live=is_live)

    return fresh_answer(request, version, draw)


@require_safe
@signed_in
def stages(request: PageRequest, run_id: UUID) -> HttpResponse:
    overview = run_overview(readable_run(request.actor, run_id))
    figure = stages_figure(stage_bars(overview.stages))
    return figure_response(request, figure, is_live=overview.may_go_on)


@require_safe
@signed_in
def hardware(request: PageRequest, run_id: UUID) -> HttpResponse:
    low, high = read_number(request.GET, "low"), read_number(request.GET, "high")
    run = readable_run(request.actor, run_id)
    overview = run_overview(run)
    shown = chosen_stages(overview, request.GET.get("stage", ""))
    group = chosen_group(request.GET.get("group", ""))
    each = chosen_each(request.GET.get("each", ""))
    if each is not None:
        group = Group("", each.title, (each,))
    measured = measured_lines(
        run,
        [stage.name for stage in shown],
        lambda measure: is_drawn(measure, group),
        low=low,
        high=high,
    )
    readings = [Measurement(m.measure, m.rank, m.line) for m in measured]
    facts = numeric_facts(overview, shown)
    drawn = (
        hardware_rows(readings, facts, group)
        if each is None
        else each_gpu_rows(readings, each, facts)
    )
    frame = Frame(
        spans=stage_spans(shown),
        window=_main_window(diagnoses_of(run), {stage.name for stage in shown}),
        low=low,
        high=high,
        notes=drawn.absent,
        is_narrow=is_narrow(request),
        row_height=ROW_HEIGHT if each is None else LOW_ROW_HEIGHT,
    )
    return figure_response(
        request, rows_figure(drawn.rows, frame), is_live=overview.may_go_on
    )


@require_safe
@signed_in
def evidence(request: PageRequest, run_id: UUID) -> HttpResponse:
    """Draw the evidence of a finding over its whole stage, with the evaluated window."""
    low, high = read_number(request.GET, "low"), read_number(request.GET, "high")
    run = readable_run(request.actor, run_id)
    overview = run_overview(run)
    (stage, *_) = chosen_stages(overview, request.GET.get("stage") or "-")
    finding = _finding(
        seen_diagnoses(request.actor, diagnoses_of(run)),
        stage.name,
        request.GET.get("rule", ""),
        request.GET.get("scope", ""),
    )
    lines = stage_lines(
        run,
        stage.name,
        cited_paths(finding.evidence, finding.scope),
        low=low,
        high=high,
    )
    rows = evidence_rows(
        cited_signals(finding.evidence, lines),
        share_limit=share_limit(finding.evidence),
        first=_interval_rows(run, stage.name, finding, lines, low=low, high=high),
    )
    if request.GET.get("first") == "1":
        rows = rows[:1]
    frame = Frame(
        window=_window(finding),
        low=low,
        high=high,
        notes=() if rows else (gettext(NOTHING_TO_DRAW),),
        is_narrow=is_narrow(request),
    )
    return figure_response(request, rows_figure(rows, frame), is_live=stage.is_live)


# Any: a row of the runs table, which pages do not import.
def _interval_rows(
    run: Any,
    stage: str,
    finding: FindingView,
    lines: Mapping[str, Line],
    *,
    low: float | None,
    high: float | None,
) -> list[Row]:
    """Return the intervals between logged points if no steps were timed."""
    is_of_steps = any(cited.signal == STEP for cited in finding.evidence)
    if STEP in lines or not is_of_steps:
        return []
    found = read_logged_intervals(run, stage, low=low, high=high)
    if found is None:
        return []
    return [interval_row(found.every, found.slow, steps=found.steps)]


def is_narrow(request: HttpRequest) -> bool:
    return request.GET.get("narrow") == "1"


def chosen_stages(overview: RunOverview, name: str) -> list[StageRow]:
    """Return the stage of this name, or all stages without a name."""
    stages = [stage for stage in overview.stages if name in ("", stage.name)]
    if name and not stages:
        raise NotFound("stage")
    return stages


def chosen_group(name: str) -> Group:
    """Return the group of rows of this name; without a name, the overview."""
    for group in GROUPS:
        if group.name == name:
            return group
    raise NotFound("group")


def chosen_each(name: str) -> Kind | None:
    """Return the kind to show per GPU; None: all GPUs share their rows."""
    if not name:
        return None
    if name not in EACH_GPU:
        raise NotFound("reading")
    return EACH_GPU[name]


def stage_spans(stages: list[StageRow]) -> list[TimeSpan]:
    return [
        TimeSpan(
            stage.name, milliseconds(stage.started_at), milliseconds(stage.last_known)
        )
        for stage in stages
        if stage.started_at is not None and stage.last_known is not None
    ]


def numeric_facts(overview: RunOverview, stages: list[StageRow]) -> dict[str, float]:
    """Return the facts that bound readings; where stages differ, the largest."""
    facts: dict[str, float] = {}
    for stage in stages:
        prefix = monitoring_path(stage.name)
        for path, row in overview.facts.items():
            value = _number(row)
            if path.startswith(prefix) and value is not None:
                name = path.removeprefix(prefix)
                facts[name] = max(value, facts.get(name, value))
    return facts


def _finding(
    diagnoses: Sequence[StageDiagnosis], stage: str, rule: str, scope: str
) -> FindingView:
    for diagnosis in diagnoses:
        if diagnosis.stage != stage:
            continue
        for finding in every_finding([*diagnosis.findings, *diagnosis.cleared]):
            if (finding.rule, finding.scope) == (rule, scope):
                return finding
    raise NotFound("finding")


def _main_window(
    diagnoses: Sequence[StageDiagnosis], stages: set[str]
) -> TimeSpan | None:
    """Return the signals of the stages' main finding."""
    mains = [
        finding
        for diagnosis in diagnoses
        if diagnosis.stage in stages
        for finding in diagnosis.findings
        if finding.is_primary
    ]
    if not mains:
        return None
    return _window(
        max(mains, key=lambda f: (SEVERITIES.index(Severity(f.severity)), f.confidence))
    )


def _window(finding: FindingView) -> TimeSpan:
    start, end = finding.window.start, finding.window.end
    return TimeSpan(gettext("not analyzed"), start / MILLISECONDS, end / MILLISECONDS)


def _number(row: AttributeRow) -> float | None:
    value = row.value
    if row.count or isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return float(value)
