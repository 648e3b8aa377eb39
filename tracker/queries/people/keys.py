"""The API keys of a user, of a service account or of a whole workspace."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime

from django.db.models import QuerySet
from django.utils import timezone

from tracker.actor import Actor
from tracker.models import Member, Project, Token, User, Workspace
from tracker.models.workspace import READING


@dataclass(frozen=True, slots=True)
class KeySummary:
    id: int
    name: str
    prefix: str
    scope: str
    workspace_name: str
    # None: all that its owner may see.
    projects: tuple[Project, ...] | None
    owner: User
    created_at: datetime
    last_used_at: datetime | None
    expires_at: datetime | None
    is_expired: bool


@dataclass(frozen=True, slots=True)
class ServiceAccount:
    id: int
    user: User
    role: str
    # None: all projects that are open to its role.
    projects: tuple[Project, ...] | None
    key_count: int


def own_keys(actor: Actor, workspace: Workspace | None = None) -> list[KeySummary]:
    """Return the actor's own keys that are not revoked, the newest first."""
    keys = Token.objects.filter(member__user_id=actor.user_id)
    return _summaries(
        keys if workspace is None else keys.filter(member__workspace=workspace)
    )


def keys_of_workspace(workspace: Workspace) -> list[KeySummary]:
    return _summaries(Token.objects.filter(member__workspace=workspace))


def keys_of_member(member: Member) -> list[KeySummary]:
    return _summaries(Token.objects.filter(member=member))


def projects_for_keys(member: Member) -> list[Project]:
    """Return the projects to which a key of the member can be bound, by name."""
    projects = Project.objects.of_member_as(member.user_id, *READING)
    return list(projects.filter(workspace=member.workspace_id).order_by("name", "id"))


def service_accounts(workspace: Workspace) -> list[ServiceAccount]:
    """Return the service accounts of a workspace, by name."""
    members = (
        Member.objects.active()
        .filter(workspace=workspace, user__is_service=True)
        .select_related("user")
        .prefetch_related("tokens", "projects__project")
        .order_by("user__name", "id")
    )
    return [_service_account(member) for member in members]


def _service_account(member: Member) -> ServiceAccount:
    given = member.projects.all()
    is_bound = member.role not in READING
    return ServiceAccount(
        id=member.id,
        user=member.user,
        role=given[0].role if is_bound and given else member.role,
        projects=_by_name(each.project for each in given) if is_bound else None,
        key_count=sum(key.revoked_at is None for key in member.tokens.all()),
    )


def _by_name(projects: Iterable[Project]) -> tuple[Project, ...]:
    return tuple(sorted(projects, key=lambda project: project.name))


def _summaries(keys: QuerySet[Token]) -> list[KeySummary]:
    now = timezone.now()
    keys = keys.filter(revoked_at=None).select_related(
        "member__user", "member__workspace"
    )
    keys = keys.prefetch_related("projects").order_by("-created_at", "-id")
    return [_summary(key, now) for key in keys]


def _summary(key: Token, now: datetime) -> KeySummary:
    return KeySummary(
        id=key.id,
        name=key.name,
        prefix=key.prefix,
        scope=key.scope,
        workspace_name=key.member.workspace.name,
        projects=_by_name(key.projects.all()) if key.is_limited else None,
        owner=key.member.user,
        created_at=key.created_at,
        last_used_at=key.last_used_at,
        expires_at=key.expires_at,
        is_expired=key.expires_at is not None and key.expires_at <= now,
    )
