"""Switches rules of a project off and on, and gives them other limits."""

from __future__ import annotations

from collections.abc import Mapping

from django.db import transaction

from tracker.diagnosis.limits import (
    BY_NAME,
    InvalidLimit,
    RuleSettings,
    changed_limits,
)
from tracker.errors import InvalidInput, NotFound
from tracker.models import Project


def set_rule(
    project: Project, rule: str, *, is_off: bool, limits: Mapping[str, float]
) -> None:
    """Have a rule asked under these limits in a project; those unnamed are its own."""
    known = BY_NAME.get(rule)
    if known is None:
        raise NotFound("rule")
    try:
        changed = changed_limits(known, limits)
    except InvalidLimit as refusal:
        raise InvalidInput(refusal.limit, str(refusal)) from refusal
    _store(project, rule, RuleSettings(is_off, changed))


def reset_rule(project: Project, rule: str) -> None:
    """Have a rule asked as it is by itself; also one that is gone."""
    _store(project, rule, RuleSettings())


def _store(project: Project, rule: str, settings: RuleSettings) -> None:
    with transaction.atomic():
        # Two people may change two rules at once.
        row = Project.objects.select_for_update(no_key=True).get(id=project.id)
        stored = {
            name: kept for name, kept in row.rule_settings.items() if name != rule
        }
        if settings.is_changed:
            stored[rule] = {"off": settings.is_off, "limits": dict(settings.limits)}
        row.rule_settings = stored
        row.save(update_fields=["rule_settings"])
    project.rule_settings = stored
