"""Enables and disables rules of a project, and sets their limits."""

from __future__ import annotations

from collections.abc import Mapping

from django.db import transaction

from tracker.actions.people.audit_context import AuditContext
from tracker.actions.people.project_notes import note_change
from tracker.diagnosis.engine.limits import (
    BY_NAME,
    InvalidLimit,
    RuleSettings,
    changed_limits,
)
from tracker.errors import InvalidInput, NotFound
from tracker.models import Project


def set_rule(
    project: Project,
    rule: str,
    audit: AuditContext | None = None,
    *,
    is_off: bool,
    limits: Mapping[str, float],
) -> None:
    """Set a rule's limits in a project; limits not named keep their defaults."""
    known = BY_NAME.get(rule)
    if known is None:
        raise NotFound("rule")
    try:
        changed = changed_limits(known, limits)
    except InvalidLimit as refusal:
        raise InvalidInput(refusal.limit, str(refusal)) from refusal
    _store(project, rule, RuleSettings(is_off, changed), audit)


def reset_rule(project: Project, rule: str, audit: AuditContext | None = None) -> None:
    """Reset a rule to its defaults, even one that no longer exists."""
    _store(project, rule, RuleSettings(), audit)


def _store(
    project: Project, rule: str, settings: RuleSettings, audit: AuditContext | None
) -> None:
    with transaction.atomic():
        # Two rules may be changed concurrently.
        row = Project.objects.select_for_update(no_key=True).get(id=project.id)
        stored = {
            name: kept for name, kept in row.rule_settings.items() if name != rule
        }
        if settings.is_changed:
            stored[rule] = {"off": settings.is_off, "limits": dict(settings.limits)}
        row.rule_settings = stored
        row.save(update_fields=["rule_settings"])
        note_change(project, audit, rule=rule, settings=stored.get(rule, "default"))
    project.rule_settings = stored
