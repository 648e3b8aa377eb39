"""Metric rules: conditions on metrics of a project's runs that notify people."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime
from typing import Any

from django.db import transaction
from django.http import HttpResponse
from ninja import Field, Router, Schema

from tracker.access.objects import editable_rule
from tracker.access.projects import may_comment, may_edit, readable_project
from tracker.actions.metric_rules import (
    RuleRequest,
    change_rule,
    create_rule,
    delete_rule,
    pause_rule,
    resume_rule,
    stored_request,
)
from tracker.api.answers import json_response
from tracker.api.auth import ApiRequest, ReaderAuth, WriterAuth
from tracker.api.params import Condition, Unit
from tracker.api.v1.people.members import Json, audit_context
from tracker.errors import InvalidInput, NotAllowed
from tracker.queries.projects.metric_rules import RuleRow, rules_of

router = Router(tags=["metric rules"], auth=ReaderAuth())

WHERE = "/projects/{slug:workspace}/{slug:project}/metric-rules"


class MetricRuleOut(Schema):
    id: int
    path: str
    condition: Condition
    limit: float | None
    duration: float
    unit: Unit
    run: str | None = Field(description="null: all runs of the project.")
    owner: str
    is_own: bool
    is_shared: bool
    is_paused: bool
    incident_count: int
    last_at: datetime | None
    firing_runs: list[str] = Field(description="Runs in which the condition holds.")


class MetricRulesOut(Schema):
    rules: list[MetricRuleOut]


class MetricRuleIn(Schema):
    path: str = Field(description="A metric; `*` stands for any characters.")
    condition: Condition
    limit: float | None = None
    duration: float = Field(0, description="For so long the condition must hold.")
    unit: Unit = Unit.MINUTES
    run: str | None = Field(None, description="The name of a run; null: all runs.")
    is_shared: bool = Field(False, description="true: notify the whole project.")


class MetricRuleChangeIn(Schema):
    """Fields that are left out stay as they are."""

    path: str = ""
    condition: Condition = Condition.NOT_FINITE
    limit: float | None = None
    duration: float = 0
    unit: Unit = Unit.MINUTES
    run: str | None = None
    is_shared: bool = False
    is_paused: bool = False


class DeletedMetricRuleOut(Schema):
    id: int
    is_deleted: bool


@router.get(WHERE, response=MetricRulesOut)
def read_rules(request: ApiRequest, workspace: str, project: str) -> HttpResponse:
    """The caller's rules and the shared ones, newest first."""
    found = readable_project(request.auth, workspace, project)
    return json_response(
        {"rules": [_rule(row) for row in rules_of(found, request.auth)]}
    )


@router.post(WHERE, response=MetricRuleOut, auth=WriterAuth())
def write_rule(
    request: ApiRequest, workspace: str, project: str, body: MetricRuleIn
) -> HttpResponse:
    """Create a rule that notifies the caller or, if shared, the project."""
    found = readable_project(request.auth, workspace, project)
    if not may_comment(request.auth):
        raise NotAllowed("create rules")
    rule = _request(body.model_dump())
    _expect_may_share(request, found, rule)
    made = create_rule(
        found, rule, user_id=request.auth.user_id, audit=audit_context(request)
    )
    return _one(request, found, made.id)


@router.patch(
    WHERE + "/{int:rule_id}",
    response=MetricRuleOut,
    auth=WriterAuth(),
)
def write_change(
    request: ApiRequest,
    workspace: str,
    project: str,
    rule_id: int,
    body: MetricRuleChangeIn,
) -> HttpResponse:
    """Change a rule, which closes its open alerts, or pause or resume it."""
    found = readable_project(request.auth, workspace, project)
    rule = editable_rule(request.auth, found, rule_id)
    given = body.model_dump(exclude_unset=True)
    is_paused = given.pop("is_paused", None)
    if not given and is_paused is None:
        raise InvalidInput("The body", "must name at least one field to change")
    with transaction.atomic():
        if given:
            changed = _request(given, stored_request(rule))
            _expect_may_share(request, found, changed)
            change_rule(rule, changed, audit_context(request))
        if is_paused is not None:
            (pause_rule if is_paused else resume_rule)(rule, audit_context(request))
    return _one(request, found, rule_id)


@router.delete(
    WHERE + "/{int:rule_id}",
    response=DeletedMetricRuleOut,
    auth=WriterAuth(),
)
def delete(
    request: ApiRequest, workspace: str, project: str, rule_id: int
) -> HttpResponse:
    """Delete a rule with its alerts."""
    found = readable_project(request.auth, workspace, project)
    delete_rule(editable_rule(request.auth, found, rule_id), audit_context(request))
    return json_response({"id": rule_id, "is_deleted": True})


# Any: a row of the projects table, which endpoints do not import.
def _expect_may_share(request: ApiRequest, project: Any, rule: RuleRequest) -> None:
    if rule.is_shared and not may_edit(request.auth, project):
        raise NotAllowed("create rules for the whole project")


# Any: JSON.
def _request(given: dict[str, Any], base: RuleRequest | None = None) -> RuleRequest:
    """Return the rule in the format of forms: numbers as strings, null as empty."""
    texts: dict[str, Any] = {
        name: value
        if isinstance(value, (bool, str))
        else ""
        if value is None
        else f"{value!r}"
        for name, value in given.items()
    }
    return RuleRequest(**texts) if base is None else replace(base, **texts)


# Any: a row of the projects table, which endpoints do not import.
def _one(request: ApiRequest, project: Any, rule_id: int) -> HttpResponse:
    rows = rules_of(project, request.auth)
    return json_response(_rule(next(row for row in rows if row.id == rule_id)))


def _rule(row: RuleRow) -> Json:
    return {
        "id": row.id,
        "path": row.path,
        "condition": row.condition,
        "limit": row.limit,
        "duration": row.duration,
        "unit": row.unit,
        "run": row.run_name or None,
        "owner": row.owner,
        "is_own": row.is_own,
        "is_shared": row.is_shared,
        "is_paused": row.is_paused,
        "incident_count": row.incident_count,
        "last_at": row.last_at,
        "firing_runs": [name for _, name in row.firing],
    }
