"""The order of roles."""

from __future__ import annotations

from tracker.errors import InvalidInput
from tracker.models import Role

# From least to most permissions.
ORDER = (Role.GUEST, Role.VIEWER, Role.MEMBER, Role.ADMIN, Role.OWNER)
IN_PROJECT = (Role.VIEWER, Role.MEMBER, Role.ADMIN)


def reaches(role: str, required: str) -> bool:
    """Return whether a role includes all permissions of another one."""
    return ORDER.index(Role(role)) >= ORDER.index(Role(required))


def role_named(text: str) -> Role:
    try:
        return Role(text)
    except ValueError as error:
        names = ", ".join(role.value for role in reversed(ORDER))
        raise InvalidInput("role", f"must be one of {names}") from error
