"""Accounts and roles of users of an identity provider or a proxy."""

from __future__ import annotations

import logging
from collections.abc import Iterable

from django.conf import settings
from django.db import transaction

from tracker.actions.people.accounts import create_account, valid_name
from tracker.actions.people.audit_context import AuditContext
from tracker.actions.people.members import (
    add_member,
    change_role,
    deactivate,
    reactivate,
)
from tracker.actions.people.roles import ORDER
from tracker.errors import InvalidInput
from tracker.models import Member, Role, User, Workspace

logger = logging.getLogger(__name__)

EVERYBODY = "*"
# The role of new accounts if no groups are configured.
USUAL_ROLE = Role.MEMBER


def role_of_groups(groups: Iterable[str]) -> Role | None:
    """Return the highest role of the groups."""
    mine = {EVERYBODY, *groups}
    roles = [Role(role) for group, role in settings.OIDC_GROUPS if group in mine]
    return max(roles, key=ORDER.index, default=None)


def create_from_claims(
    email: str, name: str, *, is_verified: bool, role: Role | None, address: str = ""
) -> User:
    """Create an account and make it a member of the provider's workspace."""
    with transaction.atomic():
        user = create_account(
            email, _usable_name(name), email_is_verified=is_verified, address=address
        )
        if settings.OIDC_DOMAINS or settings.OIDC_GROUPS:
            take_role(user, role or USUAL_ROLE, address=address)
        # Otherwise an invitation creates the membership.
    return user


def take_role(user: User, role: Role | None, *, address: str = "") -> None:
    """Give the user the role of their groups; None ends their membership.

    The last owner stays: a mistake at the provider must not lock everyone out.
    """
    workspace = Workspace.objects.filter(slug=settings.OIDC_WORKSPACE).first()
    if workspace is None:
        logger.warning("there is no workspace %s", settings.OIDC_WORKSPACE)
        return
    audit = AuditContext(user.id, address)
    member = Member.objects.filter(workspace=workspace, user=user).first()
    try:
        if member is None and role is not None:
            add_member(workspace, user, role, audit)
        elif member is not None and role is None:
            deactivate(member, audit)
        elif member is not None and role is not None:
            change_role(member, role, audit)
            if settings.OIDC_GROUPS and not member.is_active:
                reactivate(member, audit)
    except InvalidInput as error:
        logger.warning("the role of %s stays: %s", user.username, error)


def _usable_name(name: str) -> str:
    try:
        return valid_name(name[:150])
    except InvalidInput:
        return "User"
