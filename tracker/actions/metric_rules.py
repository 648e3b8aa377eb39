"""Creates, changes, pauses and deletes metric rules."""

from __future__ import annotations

import math
from dataclasses import dataclass

from django.db import transaction
from django.utils import timezone

from tracker.actions.names import expect_room
from tracker.actions.people.audit import Action
from tracker.actions.people.audit_context import AuditContext
from tracker.errors import InvalidInput
from tracker.models import MetricRule, Project, RuleCondition, RuleUnit, Run
from tracker.texts import is_storable

MAX_RULES = 100
MAX_PATH = 1_024
MAX_STARS = 5
MAX_DURATION = {RuleUnit.STEPS: 1e12, RuleUnit.MINUTES: 60.0 * 24 * 30}
WITHOUT_LIMIT = (RuleCondition.NOT_FINITE, RuleCondition.NO_POINT)
# Conditions that need a duration above zero.
LASTING = (RuleCondition.MEAN_ABOVE, RuleCondition.MEAN_BELOW, RuleCondition.NO_POINT)


@dataclass(frozen=True, slots=True)
class RuleRequest:
    """A rule as submitted by forms; `run` is a name, empty for all runs."""

    path: str
    condition: str
    limit: str = ""
    duration: str = ""
    unit: str = RuleUnit.MINUTES
    run: str = ""
    is_shared: bool = False


def stored_request(rule: MetricRule) -> RuleRequest:
    """Return a stored rule in the format of forms."""
    return RuleRequest(
        path=rule.path,
        condition=rule.condition,
        limit="" if rule.limit is None else f"{rule.limit:.10g}",
        duration=f"{rule.duration:.10g}" if rule.duration else "",
        unit=rule.unit,
        run=rule.run.name if rule.run else "",
        is_shared=rule.is_shared,
    )


def create_rule(
    project: Project,
    fields: RuleRequest,
    *,
    user_id: int,
    audit: AuditContext | None = None,
) -> MetricRule:
    rule = checked_rule(project, fields)
    rule.owner_id = user_id
    with transaction.atomic():
        expect_room(project, MetricRule.objects.filter(project=project), MAX_RULES)
        rule.save()
        _note(Action.METRIC_RULE_CREATED, rule, audit)
    return rule


def change_rule(
    rule: MetricRule, fields: RuleRequest, audit: AuditContext | None = None
) -> None:
    """Change a rule and delete its incidents, which belong to the old condition."""
    changed = checked_rule(rule.project, fields)
    with transaction.atomic():
        rule.incidents.all().delete()
        MetricRule.objects.filter(id=rule.id).update(
            path=changed.path,
            condition=changed.condition,
            limit=changed.limit,
            duration=changed.duration,
            unit=changed.unit,
            run=changed.run,
            is_shared=changed.is_shared,
        )
        changed.is_shared |= rule.is_shared
        _note(Action.METRIC_RULE_CHANGED, changed, audit)


def pause_rule(rule: MetricRule, audit: AuditContext | None = None) -> None:
    with transaction.atomic():
        MetricRule.objects.filter(id=rule.id).update(paused_at=timezone.now())
        rule.incidents.filter(ended_at=None).delete()
        _note(Action.METRIC_RULE_CHANGED, rule, audit, is_paused=True)


def resume_rule(rule: MetricRule, audit: AuditContext | None = None) -> None:
    with transaction.atomic():
        MetricRule.objects.filter(id=rule.id).update(paused_at=None)
        _note(Action.METRIC_RULE_CHANGED, rule, audit, is_paused=False)


def delete_rule(rule: MetricRule, audit: AuditContext | None = None) -> None:
    with transaction.atomic():
        _note(Action.METRIC_RULE_DELETED, rule, audit)
        MetricRule.objects.filter(id=rule.id).delete()


def _note(
    action: Action, rule: MetricRule, audit: AuditContext | None, **details: object
) -> None:
    """Record shared rules in the audit log; others notify only their owner."""
    if audit is None or not rule.is_shared:
        return
    project = rule.project
    audit.note(
        action,
        rule.path,
        project.workspace,
        project=project.name,
        condition=rule.condition,
        limit=rule.limit,
        **details,
    )


def checked_rule(project: Project, fields: RuleRequest) -> MetricRule:
    """Return the unsaved rule; raise InvalidInput if it cannot work."""
    path = fields.path.strip()
    if not 1 <= len(path) <= MAX_PATH or not is_storable(path):
        raise InvalidInput("metric", f"must be a path of 1 to {MAX_PATH:,} characters")
    if path.count("*") > MAX_STARS:
        raise InvalidInput("metric", f"may have at most {MAX_STARS} asterisks")
    if fields.condition not in RuleCondition.values:
        raise InvalidInput("condition", "is not a known condition")
    condition = RuleCondition(fields.condition)
    return MetricRule(
        project=project,
        run=_run_named(project, fields.run.strip()),
        path=path,
        condition=condition,
        limit=None if condition in WITHOUT_LIMIT else _number("limit", fields.limit),
        **_lasting(condition, fields),
        is_shared=fields.is_shared,
    )


def _lasting(condition: RuleCondition, fields: RuleRequest) -> dict[str, float | str]:
    if condition == RuleCondition.NOT_FINITE:
        return {"duration": 0.0, "unit": RuleUnit.MINUTES}
    is_gap = condition == RuleCondition.NO_POINT
    if fields.unit not in RuleUnit.values:
        raise InvalidInput("unit", "is not a known unit")
    unit = RuleUnit.MINUTES if is_gap else RuleUnit(fields.unit)
    duration = _number("duration", fields.duration or "0")
    if not 0 <= duration <= MAX_DURATION[unit]:
        most = MAX_DURATION[unit]
        raise InvalidInput("duration", f"must be from 0 to {most:,.0f} {unit.value}")
    if duration == 0 and condition in LASTING:
        raise InvalidInput("duration", "must be more than 0")
    return {"duration": duration, "unit": unit}


def _number(field: str, text: str) -> float:
    try:
        number = float(text.strip())
    except ValueError:
        number = math.nan
    if not math.isfinite(number):
        raise InvalidInput(field, "must be a number")
    return number


def _run_named(project: Project, name: str) -> Run | None:
    if not name:
        return None
    runs = Run.objects.filter(project=project).not_in_trash()
    found = runs.filter(name=name).first() if is_storable(name) else None
    if found is None:
        raise InvalidInput("run", "must be the name of a run of this project, or empty")
    return found
