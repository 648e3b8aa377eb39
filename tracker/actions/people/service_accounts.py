"""Accounts of schedulers and CI, which have keys and cannot sign in."""

from __future__ import annotations

import secrets
from collections.abc import Sequence

from django.db import transaction

from tracker.actions.people.audit import Action
from tracker.actions.people.audit_context import AuditContext
from tracker.errors import InvalidInput
from tracker.models import Member, Project, ProjectMember, Role, User, Workspace
from tracker.texts import storable_part

NAME_LENGTH = 150
ROLES = (Role.MEMBER, Role.VIEWER)


def create_service_account(
    workspace: Workspace,
    name: str,
    role: Role,
    audit: AuditContext,
    *,
    projects: Sequence[Project] | None = None,
) -> Member:
    """Return the membership of a new account; with projects, it sees only these."""
    name = " ".join(storable_part(name).split())
    if not 1 <= len(name) <= NAME_LENGTH:
        raise InvalidInput("name", f"must have 1 to {NAME_LENGTH} characters")
    service_role_named(role)
    if projects is not None and not projects:
        raise InvalidInput("projects", "must be at least one")
    with transaction.atomic():
        user = User(username=f"service-{secrets.token_hex(8)}", name=name)
        user.is_service = True
        user.set_unusable_password()
        user.save()
        member = Member.objects.create(
            workspace=workspace,
            user=user,
            role=role if projects is None else Role.GUEST,
        )
        ProjectMember.objects.bulk_create(
            ProjectMember(project=project, member=member, role=role)
            for project in projects or ()
        )
        audit.note(
            Action.SERVICE_ACCOUNT_CREATED,
            name,
            workspace,
            role=role.value,
            projects=None if projects is None else [each.slug for each in projects],
        )
    return member


def service_role_named(text: str) -> Role:
    for role in ROLES:
        if role.value == text:
            return role
    raise InvalidInput("role", "must be member or viewer")


def delete_service_account(member: Member, audit: AuditContext) -> None:
    """End the account and its keys. Its runs keep its name."""
    with transaction.atomic():
        User.objects.filter(id=member.user_id).update(is_active=False)
        audit.note(
            Action.SERVICE_ACCOUNT_DELETED,
            member.user.display_name,
            member.workspace,
            keys=member.tokens.filter(revoked_at=None).count(),
        )
        member.delete()
