"""Records changed project settings in the audit log."""

from __future__ import annotations

from typing import Any

from tracker.actions.people.audit import Action
from tracker.actions.people.audit_context import AuditContext
from tracker.models import Project


# Any: JSON.
def note_change(project: Project, audit: AuditContext | None, **changed: Any) -> None:
    """Record the new values; tests and migrations pass no audit context."""
    if audit is not None:
        audit.note(Action.PROJECT_CHANGED, project, project.workspace, **changed)
