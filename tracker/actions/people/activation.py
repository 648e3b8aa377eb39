"""Deactivates and reactivates whole accounts, for all workspaces."""

from __future__ import annotations

from django.db import transaction

from tracker.actions.people.audit import Action, note
from tracker.actions.people.audit_context import AuditContext
from tracker.actions.people.members import require_another_owner
from tracker.actions.people.sessions import end_sessions
from tracker.models import Member, User, Workspace


def deactivate_account(user: User, audit: AuditContext) -> None:
    """End the user's sessions; keys and share links stop working in all workspaces."""
    with transaction.atomic():
        workspaces = Workspace.objects.filter(member__user=user).order_by("id")
        list(workspaces.select_for_update(of=("self",)))
        for member in Member.objects.filter(user=user).select_related("user"):
            require_another_owner(member)
        _set_active(user, audit, is_active=False)
        end_sessions(user.id)


def reactivate_account(user: User, audit: AuditContext) -> None:
    with transaction.atomic():
        _set_active(user, audit, is_active=True)


def _set_active(user: User, audit: AuditContext, *, is_active: bool) -> None:
    if (
        User.objects.filter(id=user.id)
        .exclude(is_active=is_active)
        .update(is_active=is_active)
    ):
        note(
            Action.ACCOUNT_CHANGED,
            user,
            by=audit.user_id,
            address=audit.address,
            is_active=is_active,
        )
