"""Dismisses findings with a reason, and restores them."""

from __future__ import annotations

from django.db import transaction
from django.utils import timezone

from tracker.actions.runs.run_summaries import FINDINGS, gather
from tracker.actor import Actor
from tracker.errors import InvalidInput, NotFound
from tracker.models import Finding, Run
from tracker.texts import storable_part

LONGEST_REASON = 500


def dismiss(run: Run, finding_id: int, actor: Actor, reason: str) -> None:
    """Collapse a finding; dismissing it again replaces the reason."""
    reason = " ".join(storable_part(reason).split())
    if not reason:
        raise InvalidInput("reason", "is required")
    if len(reason) > LONGEST_REASON:
        raise InvalidInput("reason", f"may have at most {LONGEST_REASON} characters")
    _change(
        run,
        finding_id,
        dismissed_at=timezone.now(),
        dismissed_by_id=actor.user_id,
        dismissed_reason=reason,
    )


def bring_back(run: Run, finding_id: int) -> None:
    _change(
        run, finding_id, dismissed_at=None, dismissed_by_id=None, dismissed_reason=""
    )


def _change(run: Run, finding_id: int, **fields: object) -> None:
    with transaction.atomic():
        if not Finding.objects.filter(run=run, id=finding_id).update(**fields):
            raise NotFound("finding")
        gather([run.id], FINDINGS)
