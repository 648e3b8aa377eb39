"""Stores each user's chart arrangement for a project's runs."""

from __future__ import annotations

from typing import Any

from django.utils import timezone

from tracker.actor import Actor
from tracker.models import ChartArrangement, Project


# Any: validated JSON.
def keep_arrangement(project: Project, actor: Actor, body: dict[str, Any]) -> None:
    ChartArrangement.objects.update_or_create(
        project=project,
        user_id=actor.user_id,
        defaults={"body": body, "changed_at": timezone.now()},
    )
