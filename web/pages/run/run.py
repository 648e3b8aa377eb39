"""A run's overview page: findings and advice first, then the stages."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta
from typing import Any
from uuid import UUID

from django.http import HttpResponse
from django.shortcuts import render
from django.template.loader import render_to_string
from django.views.decorators.http import require_safe

from tracker.access.runs import readable_run
from tracker.actor import Part
from tracker.diagnosis.rules import RULES
from tracker.disclosure import (
    seen_diagnoses,
    seen_ledger,
    seen_values,
)
from tracker.queries.diagnoses.between_stages import Span, seconds_between
from tracker.queries.diagnoses.diagnoses import RuleLabel, StageDiagnosis, diagnoses_of
from tracker.queries.diagnoses.rule_settings import settings_of
from tracker.queries.diagnoses.rules_version import rules_version
from tracker.queries.diagnoses.time_breakdowns import LedgerView, run_ledger
from tracker.queries.run.comments import counts_of_findings
from tracker.queries.run.family import children_of
from tracker.queries.run.files import latest_pictures
from tracker.queries.run.key_values import KeyValues, key_values
from tracker.queries.run.namespaces import PARAMS
from tracker.queries.run.run import RunOverview
from web.pages.run.about_run import about_run, paths_about
from web.pages.run.busiest_code import busiest_code
from web.pages.run.frame import run_frame
from web.pages.run.stage_sections import (
    anchors,
    check_counts,
    main_stage,
    open_sections,
    sections,
    shows_stages,
)
from web.pages.run.trace_timelines import trace_timelines
from web.polling import poll_answer
from web.session import PageRequest, signed_in

MAX_CHARTS, MAX_PICTURES = 6, 4


@require_safe
@signed_in
def overview(request: PageRequest, run_id: UUID) -> HttpResponse:
    run = readable_run(request.actor, run_id)
    frame = run_frame(request, run, "overview")
    project = frame["project"]
    diagnoses = seen_diagnoses(request.actor, diagnoses_of(run))
    version = rules_version(project)
    shown = sections(frame["overview"].stages, diagnoses)
    named = anchors(shown)
    stage, neighbors = main_stage(shown), frame["neighbors"]
    # Other runs that happened to run before are no baseline.
    baseline = neighbors.compared if neighbors.ladder else None
    values = seen_values(
        request.actor,
        key_values(
            run,
            pinned=project.key_metrics,
            before=baseline.id if baseline else None,
            others=paths_about(stage),
        ),
    )
    context = {
        **frame,
        "children": children_of(run, request.actor),
        "sections": shown,
        "is_quiet": all(section.is_quiet for section in shown),
        "checks": check_counts(shown),
        "shows_stages": shows_stages(shown),
        "baseline": baseline,
        "pictures": latest_pictures(run, limit=MAX_PICTURES),
        "open_stages": open_sections(shown),
        "timelines": trace_timelines(run, shown),
        "anchors": named,
        "busiest_code": busiest_code(run, list(frame["profile_places"]), shown)
        if request.actor.sees(Part.ENVIRONMENT)
        else {},
        "finding_comments": counts_of_findings(run.id),
        "index": [f for section in shown for f in section.sure if f.id in named],
        "is_outdated": any(
            each.is_final and each.rules_version != version for each in diagnoses
        ),
        "rules_off": rules_off(project),
        "ledger": seen_ledger(
            request.actor, _ledger(frame["overview"], diagnoses, project)
        ),
        "about": about_run(
            frame["overview"],
            stage,
            values.others,
        ),
        **_values(values),
    }
    template = "run/overview_body.html" if request.htmx else "run/overview.html"
    return render(request, template, context)


@require_safe
@signed_in
def header(request: PageRequest, run_id: UUID) -> HttpResponse:
    """Return the header alone, for pages of a live run to keep it true."""
    run = readable_run(request.actor, run_id)
    frame = {**run_frame(request, run, ""), "is_poll": True}

    def drawn(**changes: object) -> str:
        return render_to_string("run/header.html", frame | changes, request)

    # Scripts on the page count the duration and the time since the last data.
    silence = frame["silence"] and timedelta()
    since = run.last_seen_at if frame["silence"] else ""
    alike = f"{drawn(lasted=None, silence=silence)}{since}"
    return poll_answer(
        request, drawn(), alike=alike if frame["overview"].is_live else ""
    )


# Any: a row of the projects table, which pages do not import.
def rules_off(project: Any) -> list[RuleLabel]:
    """Return the rules that this project disabled."""
    off = {name for name, each in settings_of(project).items() if each.is_off}
    return [RuleLabel(rule.name, rule.title) for rule in RULES if rule.name in off]


# Any: a row of the projects table, which pages do not import.
def _ledger(
    overview: RunOverview, diagnoses: Sequence[StageDiagnosis], project: Any
) -> LedgerView | None:
    ledgers = [each.ledger for each in diagnoses]
    whole = Span(overview.started_at, None if overview.is_live else overview.last_known)
    stages = [
        Span(stage.started_at, None if stage.is_live else stage.last_known)
        for stage in overview.stages
    ]
    between = seconds_between(whole, stages, ledgers)
    found = run_ledger(ledgers, project, between=between)
    return found if found is not None and found.unknown_share < 1 else None


def _values(values: KeyValues) -> dict[str, object]:
    shown = {metric.path for metric in values.metrics}
    series = [metric for metric in values.metrics if metric.row.count]
    return {
        "charted": series[:MAX_CHARTS],
        "metrics": values.metrics,
        "more_metrics": len(set(values.metric_paths) - shown),
        "metric_paths": [path for path in values.metric_paths if path not in shown],
        "params": [(row.path.removeprefix(PARAMS), row) for row in values.params],
        "more_params": values.param_count - len(values.params),
    }
