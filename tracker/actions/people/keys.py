"""Creates and revokes API keys."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from django.core.validators import slug_re
from django.db import transaction
from django.db.models import QuerySet
from django.utils import timezone

from tracker.actions.access import digest, make_token
from tracker.actions.people.audit import Action
from tracker.actions.people.audit_context import AuditContext
from tracker.actor import Scope
from tracker.errors import InvalidInput
from tracker.models import Member, Project, Role, Token
from tracker.models.workspace import READING, WRITING

# A key with more projects should be a key of the workspace.
MAX_PROJECTS = 100


@dataclass(frozen=True, slots=True)
class KeyRequest:
    name: str
    scope: Scope
    expires_at: datetime | None = None
    # Project slugs; None: all projects that the key's owner may see.
    projects: tuple[str, ...] | None = None


@dataclass(frozen=True, slots=True)
class NewKey:
    id: int
    secret: str


def create_key(member: Member, request: KeyRequest, audit: AuditContext) -> NewKey:
    """Return a new key of the member with its secret; only the digest is stored."""
    projects = _bound_projects(member, request.projects)
    if request.scope is not Scope.READ and not _may_log(member, projects):
        role = Role(member.role).value
        raise InvalidInput("scope", f"must be read for the role {role} there")
    with transaction.atomic():
        secret = make_token(
            member,
            request.name,
            request.scope,
            request.expires_at,
            projects=projects,
        )
        audit.note(
            Action.KEY_CREATED,
            request.name,
            member.workspace,
            owner=member.user.display_name,
            scope=request.scope.value,
            projects=None if projects is None else [each.slug for each in projects],
            expires_at=request.expires_at and request.expires_at.isoformat(),
        )
        key_id = Token.objects.values_list("id", flat=True).get(digest=digest(secret))
    return NewKey(key_id, secret)


def revoke_key(key: Token, audit: AuditContext) -> None:
    """End a key permanently; idempotent."""
    with transaction.atomic():
        keys = Token.objects.filter(id=key.id, revoked_at=None)
        if keys.update(revoked_at=timezone.now()):
            audit.note(
                Action.KEY_REVOKED,
                key.name,
                key.member.workspace,
                owner=key.member.user.display_name,
                prefix=key.prefix,
            )


def may_log_somewhere(member: Member) -> bool:
    """Return whether a key of the member can have a scope other than read."""
    return member.role in WRITING or _writable(member).exists()


def _bound_projects(
    member: Member, slugs: tuple[str, ...] | None
) -> list[Project] | None:
    if slugs is None:
        return None
    if not 1 <= len(slugs) <= MAX_PROJECTS:
        raise InvalidInput("projects", f"must be 1 to {MAX_PROJECTS} projects")
    possible = [slug for slug in slugs if slug_re.fullmatch(slug)]
    readable = Project.objects.of_member_as(member.user_id, *READING)
    projects = readable.filter(workspace=member.workspace_id, slug__in=possible)
    found = list(projects.order_by("slug"))
    if len(found) < len(set(slugs)):
        raise InvalidInput("projects", "must be projects that the key's owner sees")
    return found


def _may_log(member: Member, projects: list[Project] | None) -> bool:
    if projects is None:
        return may_log_somewhere(member)
    writable = set(_writable(member).values_list("id", flat=True))
    return all(project.id in writable for project in projects)


def _writable(member: Member) -> QuerySet[Project]:
    projects = Project.objects.of_member_as(member.user_id, *WRITING)
    return projects.filter(workspace=member.workspace_id)
