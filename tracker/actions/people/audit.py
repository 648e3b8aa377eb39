"""Adds audit log entries. Call it in the transaction of the recorded change."""

from __future__ import annotations

from datetime import datetime, timedelta
from enum import StrEnum
from typing import Any

from django.conf import settings
from django.utils import timezone

from tracker.models import AuditEntry, User, Workspace

COMMAND = "command on the server"
LONGEST_TARGET = 400
LONGEST_ACTOR = 200


class Action(StrEnum):
    """Audited actions; the value is used in the API and CSV."""

    SIGNED_IN = "sign-in.succeeded"
    SIGN_IN_FAILED = "sign-in.failed"
    SIGNED_OUT = "sign-in.ended"
    SESSIONS_ENDED = "sessions.ended"
    RESET_LINK_MADE = "password.reset-link-made"
    PASSWORD_CHANGED = "password.changed"
    SECOND_FACTOR_CHANGED = "second-factor.changed"
    ACCOUNT_CREATED = "account.created"
    ACCOUNT_CHANGED = "account.changed"
    INVITED = "invitation.created"
    INVITATION_REVOKED = "invitation.revoked"
    INVITATION_ACCEPTED = "invitation.accepted"
    ROLE_CHANGED = "member.role-changed"
    MEMBER_ADDED = "member.added"
    MEMBER_DEACTIVATED = "member.deactivated"
    MEMBER_REACTIVATED = "member.reactivated"
    MEMBER_REMOVED = "member.removed"
    KEY_CREATED = "key.created"
    KEY_REVOKED = "key.revoked"
    SERVICE_ACCOUNT_CREATED = "service-account.created"
    SERVICE_ACCOUNT_DELETED = "service-account.deleted"
    SHARED = "share.created"
    SHARE_REVOKED = "share.revoked"
    EXPORTED = "data.exported"
    RUN_DELETED = "run.deleted"
    RUN_REOPENED = "run.reopened"
    RUNS_MOVED = "run.moved"
    PROJECT_CREATED = "project.created"
    PROJECT_CHANGED = "project.changed"
    PROJECT_ARCHIVED = "project.archived"
    PROJECT_RESTORED = "project.restored"
    PROJECT_DELETED = "project.deleted"
    CHANNEL_ADDED = "channel.added"
    CHANNEL_REMOVED = "channel.removed"
    METRIC_RULE_CREATED = "metric-rule.created"
    METRIC_RULE_CHANGED = "metric-rule.changed"
    METRIC_RULE_DELETED = "metric-rule.deleted"
    WORKSPACE_CREATED = "workspace.created"
    WORKSPACE_CHANGED = "workspace.changed"
    WORKSPACE_DELETED = "workspace.deleted"


def delete_old_entries(now: datetime | None = None) -> None:
    """Delete entries past the retention; 0 days keep them forever."""
    if settings.AUDIT_DAYS:
        before = (now or timezone.now()) - timedelta(days=settings.AUDIT_DAYS)
        AuditEntry.objects.filter(at__lt=before).delete()


def note(
    action: Action,
    target: object = "",
    *,
    workspace: Workspace | int | None = None,
    by: User | int | None = None,
    actor: str = "",
    address: str = "",
    **details: Any,
) -> None:
    """Add an entry: `by` is the user, `actor` a name where no user is signed in.

    `address` is the client's; `details` must be JSON and never contain a secret.
    """
    user = User.objects.filter(id=by).first() if isinstance(by, int) else by
    known = str(user.display_name) if user is not None else actor or COMMAND
    workspace_id = workspace.id if isinstance(workspace, Workspace) else workspace
    AuditEntry.objects.create(
        workspace_id=workspace_id,
        user=user,
        actor=known[:LONGEST_ACTOR],
        address=address[:64],
        action=action.value,
        target=str(target)[:LONGEST_TARGET],
        details=details,
    )
