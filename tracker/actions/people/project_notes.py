"""Records changed project settings in the audit log."""

from __future__ import annotations

from typing import Any

from tracker.actions.people.audit import Action
from tracker.actions.people.doer import Doer
from tracker.models import Project


# Any: JSON.
def note_change(project: Project, doer: Doer | None, **changed: Any) -> None:
    """Record the new values; tests and migrations pass no doer."""
    if doer is not None:
        doer.note(Action.PROJECT_CHANGED, project, project.workspace, **changed)
