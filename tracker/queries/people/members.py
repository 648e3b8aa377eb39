"""The members of a workspace and of a project, and their belongings."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from django.contrib.auth import SESSION_KEY
from django.contrib.sessions.models import Session
from django.db.models import Max, Prefetch
from django.utils import timezone

from tracker.models import (
    Invitation,
    Member,
    Project,
    ProjectMember,
    Role,
    Run,
    SavedView,
    ShareLink,
    Token,
    User,
    Workspace,
)
from tracker.models.workspace import MANAGING


@dataclass(frozen=True, slots=True)
class Person:
    """An account, as lists and avatars show it."""

    id: int
    name: str
    initials: str
    email: str
    username: str
    is_service: bool

    @classmethod
    def of(cls, user: User) -> Person:
        return cls(
            user.id,
            user.display_name,
            user.initials,
            user.email,
            user.username,
            user.is_service,
        )


@dataclass(frozen=True, slots=True)
class ProjectRole:
    project: str
    slug: str
    role: str


@dataclass(frozen=True, slots=True)
class MemberRow:
    id: int
    person: Person
    role: str
    is_active: bool
    joined_at: datetime
    # The last sign-in or use of a key.
    last_active_at: datetime | None
    # Roles that projects give them.
    projects: tuple[ProjectRole, ...]


@dataclass(frozen=True, slots=True)
class ProjectMemberRow:
    member_id: int
    person: Person
    role: str
    # True: the project gives the role; False: it comes from the workspace.
    is_given: bool


@dataclass(frozen=True, slots=True)
class Leaving:
    """The number of things that a member has in a workspace."""

    sessions: int
    keys: int
    share_links: int
    invitations: int
    projects: int
    views: int
    runs: int
    is_only_workspace: bool


def workspace_members(workspace: Workspace) -> list[MemberRow]:
    """Return all members, the active ones first, by role and name."""
    roles = ProjectMember.objects.select_related("project").order_by("project__name")
    members = (
        Member.objects.filter(workspace=workspace)
        .select_related("user")
        .prefetch_related(Prefetch("projects", roles))
    )
    keys = Token.objects.filter(member__workspace=workspace).values("member_id")
    used = dict(keys.annotate(at=Max("last_used_at")).values_list("member_id", "at"))
    rows = [_row(member, used.get(member.id)) for member in members]
    order = [role.value for role in Role]
    return sorted(
        rows,
        key=lambda row: (
            not row.is_active,
            order.index(row.role),
            row.person.name.lower(),
        ),
    )


def project_members(project: Project) -> list[ProjectMemberRow]:
    """Return all users with access to the project, those with a project role first."""
    given = ProjectMember.objects.filter(project=project)
    roles = dict(given.values_list("member_id", "role"))
    members = Member.objects.active().filter(workspace=project.workspace_id)
    rows = []
    for member in members.select_related("user"):
        is_given = member.id in roles and member.role not in MANAGING
        is_there = member.role in MANAGING or (
            project.is_open and member.role != Role.GUEST
        )
        if is_given or is_there:
            role = roles[member.id] if is_given else member.role
            rows.append(
                ProjectMemberRow(member.id, Person.of(member.user), role, is_given)
            )
    return sorted(rows, key=lambda row: (not row.is_given, row.person.name.lower()))


def addable_members(project: Project) -> list[Person]:
    """Return members to whom the project gives no role yet and can give one."""
    members = Member.objects.active().filter(workspace=project.workspace_id)
    others = members.exclude(role__in=MANAGING).exclude(projects__project=project)
    return [Person.of(member.user) for member in others.select_related("user")]


def possible_successors(member: Member) -> list[tuple[int, Person]]:
    """Return the members who can be the new owner of things, by name."""
    others = Member.objects.active().filter(
        workspace=member.workspace_id,
        role__in=(Role.OWNER, Role.ADMIN, Role.MEMBER),
        user__is_service=False,
    )
    found = others.exclude(id=member.id).select_related("user")
    heirs = [(each.id, Person.of(each.user)) for each in found]
    return sorted(heirs, key=lambda entry: entry[1].name.lower())


def leaving(member: Member) -> Leaving:
    """Count the things that end or stay when the member leaves the workspace."""
    user, now = member.user_id, timezone.now()
    in_workspace = {"project__workspace": member.workspace_id}
    elsewhere = Member.objects.filter(user=user, is_active=True).exclude(id=member.id)
    return Leaving(
        sessions=_session_count(user, now),
        keys=Token.objects.filter(member=member, revoked_at=None).count(),
        share_links=ShareLink.objects.filter(
            **in_workspace, made_by=user, ended_at=None
        ).count(),
        invitations=Invitation.objects.filter(
            workspace=member.workspace_id,
            created_by=user,
            revoked_at=None,
            expires_at__gt=now,
        ).count(),
        projects=Project.objects.filter(
            workspace=member.workspace_id, owner=user
        ).count(),
        views=SavedView.objects.filter(**in_workspace, owner=user).count(),
        runs=Run.objects.filter(**in_workspace, made_by=user).count(),
        is_only_workspace=not elsewhere.exists(),
    )


def _row(member: Member, key_used_at: datetime | None) -> MemberRow:
    seen = [each for each in (member.user.last_login, key_used_at) if each]
    return MemberRow(
        id=member.id,
        person=Person.of(member.user),
        role=member.role,
        is_active=member.is_active and member.user.is_active,
        joined_at=member.joined_at,
        last_active_at=max(seen, default=None),
        projects=tuple(
            ProjectRole(each.project.name, each.project.slug, each.role)
            for each in member.projects.all()
        ),
    )


def _session_count(user_id: int, now: datetime) -> int:
    live = Session.objects.filter(expire_date__gt=now)
    users = [session.get_decoded().get(SESSION_KEY) for session in live.iterator()]
    return users.count(str(user_id))
