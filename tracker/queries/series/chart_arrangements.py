"""A user's arrangement of the charts of a project's runs."""

from __future__ import annotations

from typing import Any

from tracker.actor import Actor
from tracker.models import ChartArrangement, Project


# Any: JSON for the code that renders the page.
def arrangement_of(project: Project, actor: Actor) -> dict[str, Any]:
    """Return the stored arrangement; empty if there is none."""
    kept = ChartArrangement.objects.filter(project=project, user_id=actor.user_id)
    body = kept.values_list("body", flat=True).first()
    return body if isinstance(body, dict) else {}
