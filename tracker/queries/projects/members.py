"""The workspaces and roles of a user."""

from __future__ import annotations

from dataclasses import dataclass

from tracker.actor import Actor
from tracker.models import Member


@dataclass(frozen=True, slots=True)
class Membership:
    user: str
    workspace: str
    slug: str
    role: str


def memberships(actor: Actor) -> list[Membership]:
    """Return the actor's memberships, by workspace; a token has one."""
    members = Member.objects.active().filter(user_id=actor.user_id)
    if actor.workspace_id is not None:
        members = members.filter(workspace_id=actor.workspace_id)
    return [
        Membership(
            user=member.user.username,
            workspace=member.workspace.name,
            slug=member.workspace.slug,
            role=member.role,
        )
        for member in members.select_related("user", "workspace").order_by(
            "workspace__slug"
        )
    ]
