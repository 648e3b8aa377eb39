"""Transfers a leaving member's belongings to another member, and ends their access."""

from __future__ import annotations

from django.db.models import QuerySet
from django.utils import timezone

from tracker.actions.people.audit_context import AuditContext
from tracker.actions.people.sessions import end_sessions
from tracker.actions.saved_views import NAME_LENGTH
from tracker.errors import InvalidInput
from tracker.models import (
    Invitation,
    Member,
    Project,
    SavedView,
    ShareLink,
    SignInLink,
    Token,
)
from tracker.models.workspace import WRITING


def hand_over(
    member: Member, successor: Member | None, *, with_links: bool = True
) -> dict[str, int | str]:
    """Transfer projects, saved views and share links to the heir; return the counts.

    Without an heir, projects lose their owner, and private views stay hidden.
    """
    if successor is not None:
        _require_able(successor, member)
    projects = Project.objects.filter(workspace=member.workspace_id)
    owned = projects.filter(owner=member.user_id)
    given: dict[str, int | str] = {
        "projects": owned.update(owner=successor.user_id if successor else None)
    }
    if successor is None:
        return given
    given["heir"] = successor.user.display_name
    given["views"] = _give_views(member, successor)
    if with_links:
        given["links"] = _live_links(member).update(made_by=successor.user_id)
    return given


def end_access(member: Member, audit: AuditContext) -> dict[str, int]:
    """End keys, share links, invitations and sessions permanently; return the counts."""
    now = timezone.now()
    keys = Token.objects.filter(member=member, revoked_at=None)
    invitations = Invitation.objects.filter(
        workspace=member.workspace_id, created_by=member.user_id, revoked_at=None
    )
    SignInLink.objects.filter(user=member.user_id, used_at=None).delete()
    return {
        "ended_keys": keys.update(revoked_at=now),
        "ended_links": _live_links(member).update(
            ended_at=now, ended_by_id=audit.user_id
        ),
        "ended_invitations": invitations.update(revoked_at=now),
        "ended_sessions": end_sessions(member.user_id),
    }


def _require_able(successor: Member, member: Member) -> None:
    is_able = (
        successor.is_active and successor.user.is_active and successor.role in WRITING
    )
    if (
        successor.id == member.id
        or successor.workspace_id != member.workspace_id
        or not is_able
    ):
        raise InvalidInput("the new owner", "must be another active member")


def _live_links(member: Member) -> QuerySet[ShareLink]:
    return ShareLink.objects.filter(
        project__workspace=member.workspace_id, made_by=member.user_id, ended_at=None
    )


def _give_views(member: Member, successor: Member) -> int:
    """Transfer the member's saved views to the heir; rename those with taken names."""
    in_workspace = SavedView.objects.filter(project__workspace=member.workspace_id)
    taken = set(
        in_workspace.filter(owner=successor.user_id).values_list("project_id", "name")
    )
    views = list(in_workspace.filter(owner=member.user_id).order_by("created_at"))
    for view in views:
        view.name = _free_name(view.name, view.project_id, taken, member)
        view.owner_id = successor.user_id
        taken.add((view.project_id, view.name))
    SavedView.objects.bulk_update(views, ["name", "owner"])
    return len(views)


def _free_name(
    name: str, project_id: int, taken: set[tuple[int, str]], member: Member
) -> str:
    number, found = 0, name
    while (project_id, found) in taken:
        number += 1
        end = f" ({member.user.username[:40]} {number})"
        found = name[: NAME_LENGTH - len(end)] + end
    return found
