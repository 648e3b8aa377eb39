"""The audit log of a workspace, the newest entries first."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime

from django.db.models import Q, QuerySet

from tracker.models import AuditEntry, Member, User, Workspace

PAGE_ENTRIES = 100
CSV_ENTRIES_AT_ONCE = 2_000


@dataclass(frozen=True, slots=True)
class AuditFilter:
    user_id: int | None = None
    action: str = ""
    since: datetime | None = None
    until: datetime | None = None


@dataclass(frozen=True, slots=True)
class AuditPage:
    entries: list[AuditEntry]
    # Ask for entries before this one; None: these are the oldest.
    before: int | None


def audit_page(
    workspace: Workspace,
    filters: AuditFilter,
    *,
    before: int | None = None,
    limit: int = PAGE_ENTRIES,
) -> AuditPage:
    entries = _entries(workspace, filters)
    if before is not None:
        entries = entries.filter(id__lt=before)
    found = list(entries[: limit + 1])
    is_more = len(found) > limit
    return AuditPage(found[:limit], found[limit - 1].id if is_more else None)


def every_entry(workspace: Workspace, filters: AuditFilter) -> Iterator[AuditEntry]:
    """Yield all entries, in pages, so that a long log needs little memory."""
    before: int | None = None
    while True:
        page = audit_page(workspace, filters, before=before, limit=CSV_ENTRIES_AT_ONCE)
        yield from page.entries
        if page.before is None:
            return
        before = page.before


def people_of(workspace: Workspace) -> list[User]:
    """Return everyone with a membership, by name: the choices of the filter."""
    users = User.objects.filter(memberships__workspace=workspace)
    return sorted(users, key=lambda user: user.display_name.casefold())


def _entries(workspace: Workspace, filters: AuditFilter) -> QuerySet[AuditEntry]:
    entries = AuditEntry.objects.filter(_is_of(workspace)).select_related("user")
    if filters.user_id is not None:
        entries = entries.filter(user_id=filters.user_id)
    if filters.action:
        entries = entries.filter(action=filters.action)
    if filters.since is not None:
        entries = entries.filter(at__gte=filters.since)
    if filters.until is not None:
        entries = entries.filter(at__lt=filters.until)
    return entries.order_by("-id")


def _is_of(workspace: Workspace) -> Q:
    """Match entries of the workspace, and of its members' accounts, as sign-ins.

    Failed sign-ins have no account; with a single workspace, they belong to it.
    """
    members = Member.objects.filter(workspace=workspace).values("user")
    of_members = Q(workspace=None, user__in=members)
    if not Workspace.objects.exclude(id=workspace.id).exists():
        of_members |= Q(workspace=None, user=None)
    return Q(workspace=workspace) | of_members
