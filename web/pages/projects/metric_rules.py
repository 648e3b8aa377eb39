"""Metric rules: form, test on past runs, and changes."""

from __future__ import annotations

from typing import Any

from django.http import HttpResponse, HttpResponseRedirect
from django.shortcuts import render
from django.urls import reverse
from django.utils.translation import gettext
from django.views.decorators.http import require_http_methods, require_POST

from tracker.access.objects import editable_rule
from tracker.access.projects import may_comment, may_edit, readable_project
from tracker.actions import metric_rules
from tracker.actions.metric_rules import RuleRequest
from tracker.errors import InvalidInput, NotAllowed, NotFound
from tracker.queries.projects.metric_rules import tested_on_past_runs
from web.pages.projects.metric_rule_texts import CONDITIONS, UNITS
from web.request_actor import audit_context
from web.session import PageRequest, signed_in
from web.toasts import tell

# Initial values of the form for a new rule.
USUAL = RuleRequest(path="", condition="not-finite", unit="steps")
# One click fills the form.
EXAMPLES = (
    RuleRequest("val/loss", "not-finite", unit="steps"),
    RuleRequest("train/loss", "above", "10", "100", "steps"),
    RuleRequest("train/loss", "no-point", "", "10"),
    RuleRequest("monitoring/*/gpu/*/utilization_percent", "mean-below", "20", "15"),
)


@require_http_methods(["GET", "HEAD", "POST"])
@signed_in
def new_rule(request: PageRequest, workspace: str, project: str) -> HttpResponse:
    found = readable_project(request.actor, workspace, project)
    if not may_comment(request.actor):
        raise NotAllowed("create rules")
    if request.method != "POST":
        return _page(request, found, typed=_from_query(request))
    fields = _typed(request)
    try:
        if "test" in request.POST:
            return _tested(request, found, fields)
        _expect_may_share(request, found, fields)
        metric_rules.create_rule(
            found, fields, user_id=request.actor.user_id, audit=audit_context(request)
        )
    except InvalidInput as error:
        return _page(request, found, typed=fields, error=str(error))
    tell(request, gettext("Rule created."))
    return _back(workspace, project)


@require_http_methods(["GET", "HEAD", "POST"])
@signed_in
def rule(
    request: PageRequest, workspace: str, project: str, rule_id: int
) -> HttpResponse:
    found = readable_project(request.actor, workspace, project)
    stored = editable_rule(request.actor, found, rule_id)
    if request.method != "POST":
        return _page(
            request, found, typed=metric_rules.stored_request(stored), rule=stored
        )
    fields = _typed(request)
    try:
        if "test" in request.POST:
            return _tested(request, found, fields, rule=stored)
        _expect_may_share(request, found, fields)
        metric_rules.change_rule(stored, fields, audit_context(request))
    except InvalidInput as error:
        return _page(request, found, typed=fields, rule=stored, error=str(error))
    tell(request, gettext("Rule saved."))
    return _back(workspace, project)


@require_POST
@signed_in
def change_rule(
    request: PageRequest, workspace: str, project: str, rule_id: int, change: str
) -> HttpResponse:
    """Pause, resume or delete a rule."""
    found = readable_project(request.actor, workspace, project)
    stored = editable_rule(request.actor, found, rule_id)
    if change == "pause":
        metric_rules.pause_rule(stored, audit_context(request))
        tell(request, gettext("Rule paused."))
    elif change == "resume":
        metric_rules.resume_rule(stored, audit_context(request))
        tell(request, gettext("Rule resumed."))
    elif change == "delete":
        metric_rules.delete_rule(stored, audit_context(request))
        tell(request, gettext("Rule deleted."))
    else:
        raise NotFound("page")
    return _back(workspace, project)


def _back(workspace: str, project: str) -> HttpResponse:
    address = reverse("alerts", args=[workspace, project])
    return HttpResponseRedirect(f"{address}#rules")


# Any: a row of the projects table, which pages do not import.
def _expect_may_share(request: PageRequest, project: Any, fields: RuleRequest) -> None:
    if fields.is_shared and not may_edit(request.actor, project):
        raise NotAllowed("create rules for the whole project")


def _typed(request: PageRequest) -> RuleRequest:
    return _read(request.POST)


def _from_query(request: PageRequest) -> RuleRequest:
    """Return the form's values from the address, such as a metric from a run's page."""
    return _read(request.GET) if request.GET else USUAL


# Any: a QueryDict of either method.
def _read(given: Any) -> RuleRequest:
    return RuleRequest(
        path=given.get("path", ""),
        condition=given.get("condition", USUAL.condition),
        limit=given.get("limit", ""),
        duration=given.get("duration", ""),
        unit=given.get("unit", USUAL.unit),
        run=given.get("run", ""),
        is_shared="shared" in given,
    )


def _tested(
    request: PageRequest, project: Any, fields: RuleRequest, *, rule: Any = None
) -> HttpResponse:
    checked = metric_rules.checked_rule(project, fields)
    rows = tested_on_past_runs(checked)
    return _page(request, project, typed=fields, rule=rule, tested=rows)


def _page(
    request: PageRequest,
    project: Any,
    *,
    typed: RuleRequest,
    rule: Any = None,
    error: str = "",
    tested: Any = None,
) -> HttpResponse:
    context = {
        "project": project,
        "tab": "alerts",
        "rule": rule,
        "typed": typed,
        "conditions": CONDITIONS.items(),
        "units": UNITS.items(),
        "examples": [] if rule else EXAMPLES,
        "may_share": may_edit(request.actor, project),
        "error": error,
        "tested": tested,
        "paths_url": reverse(
            "api-v1:read_attribute_paths", args=[project.workspace.slug, project.slug]
        ),
    }
    status = 400 if error else 200
    return render(request, "alerts/rule.html", context, status=status)
