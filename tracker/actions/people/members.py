"""Changes roles of members, and removes members.

Each function locks the workspace, so that two owners cannot remove each other at once.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from django.db import transaction

from tracker.actions.people.audit import Action
from tracker.actions.people.audit_context import AuditContext
from tracker.actions.people.handover import end_access, hand_over
from tracker.actions.people.mail import queue_mail
from tracker.errors import InvalidInput, NotFound
from tracker.models import Member, Role, User, Workspace

LAST_OWNER = "is the last owner; make another member an owner first"


def add_member(
    workspace: Workspace, user: User, role: Role, audit: AuditContext
) -> Member:
    """Make an account a member of a workspace."""
    with transaction.atomic():
        member, is_new = Member.objects.get_or_create(
            workspace=workspace, user=user, defaults={"role": role}
        )
        if is_new:
            audit.note(Action.MEMBER_ADDED, user, workspace, role=role.value)
    return member


def change_role(member: Member, role: Role, audit: AuditContext) -> None:
    with _locked(member) as found:
        before = found.role
        if before == role:
            return
        if role != Role.OWNER:
            require_another_owner(found)
        if found.user.is_service and role not in (Role.MEMBER, Role.VIEWER):
            raise InvalidInput("role", "of a service account is member or viewer")
        found.role = role
        found.save(update_fields=["role"])
        audit.note(
            Action.ROLE_CHANGED,
            found.user,
            found.workspace,
            before=before,
            after=role.value,
        )
        _mail_role(found, role, audit)


def deactivate(member: Member, audit: AuditContext) -> None:
    """Close the workspace to a member; their keys and share links stop working."""
    with _locked(member) as found:
        if not found.is_active:
            return
        require_another_owner(found)
        found.is_active = False
        found.save(update_fields=["is_active"])
        audit.note(Action.MEMBER_DEACTIVATED, found.user, found.workspace)


def reactivate(member: Member, audit: AuditContext) -> None:
    """Reopen the workspace to a member with their former role.

    An account without another workspace is activated, too.
    """
    with _locked(member) as found:
        is_elsewhere = found.user.memberships.exclude(id=found.id).exists()
        if not found.user.is_active and not is_elsewhere:
            found.user.is_active = True
            found.user.save(update_fields=["is_active"])
        elif found.is_active:
            return
        found.is_active = True
        found.save(update_fields=["is_active"])
        audit.note(Action.MEMBER_REACTIVATED, found.user, found.workspace)


def remove(
    member: Member, audit: AuditContext, successor: Member | None = None
) -> None:
    """Delete a membership with its keys; the heir gets the member's belongings.

    Without an heir, projects have no owner and share links end.
    """
    with _locked(member) as found:
        require_another_owner(found)
        given = hand_over(found, successor)
        ended = end_access(found, audit)
        audit.note(
            Action.MEMBER_REMOVED,
            found.user,
            found.workspace,
            role=found.role,
            **given,
            **ended,
        )
        found.delete()


def offboard(
    member: Member, audit: AuditContext, successor: Member | None = None
) -> None:
    """End a member's access permanently; they stay the owner of their runs.

    The membership stays, deactivated, so that an old invitation cannot renew it. An
    account without another workspace is deactivated, too.
    """
    with _locked(member) as found:
        require_another_owner(found)
        given = hand_over(found, successor, with_links=False)
        ended = end_access(found, audit)
        found.is_active = False
        found.save(update_fields=["is_active"])
        is_elsewhere = found.user.memberships.filter(is_active=True).exists()
        if not is_elsewhere:
            found.user.is_active = False
            found.user.save(update_fields=["is_active"])
        audit.note(
            Action.MEMBER_DEACTIVATED,
            found.user,
            found.workspace,
            offboarded=True,
            account_deactivated=not is_elsewhere,
            **given,
            **ended,
        )


def owners_besides(member: Member) -> int:
    """Return how many other people can act as owners of the member's workspace."""
    owners = Member.objects.active().filter(
        workspace=member.workspace_id, role=Role.OWNER, user__is_service=False
    )
    return owners.exclude(id=member.id).count()


@contextmanager
def _locked(member: Member) -> Iterator[Member]:
    """Lock the workspace, and yield the member's current row."""
    with transaction.atomic():
        # SQLite's transactions are exclusive already.
        Workspace.objects.select_for_update().get(id=member.workspace_id)
        members = Member.objects.select_related("user", "workspace")
        found = members.filter(id=member.id).first()
        if found is None:
            raise NotFound("member")
        yield found


def require_another_owner(member: Member) -> None:
    is_owner = member.role == Role.OWNER and member.is_active
    if is_owner and member.user.is_active and not owners_besides(member):
        raise InvalidInput(member.user.display_name, LAST_OWNER)


def _mail_role(member: Member, role: Role, audit: AuditContext) -> None:
    if not member.user.email:
        return
    queue_mail(
        member.user.email,
        "role_changed",
        {
            "name": member.user.display_name,
            "workspace": member.workspace,
            "role": role.value,
            "by": audit.name,
        },
    )
