"""Checked access to workspaces, members and invitations."""

from __future__ import annotations

from django.core.validators import slug_re
from django.db.models import QuerySet

from tracker.access.projects import may_own, readable_project
from tracker.actions.people.roles import ORDER, reaches
from tracker.actor import Actor, Scope
from tracker.errors import NotAllowed, NotFound
from tracker.models import Invitation, Member, Project, Role, User, Workspace
from tracker.models.workspace import MANAGING

NO_WORKSPACE = "workspace"


def own_member(actor: Actor, workspace: str) -> Member:
    """Return the actor's active membership in a workspace."""
    is_possible = slug_re.fullmatch(workspace) and actor.grant is None
    if not is_possible or not actor.may_read:
        raise NotFound(NO_WORKSPACE)
    members = Member.objects.active().filter(user_id=actor.user_id)
    if actor.workspace_id is not None:
        members = members.filter(workspace_id=actor.workspace_id)
    found = members.filter(workspace__slug=workspace).select_related("workspace")
    member = found.first()
    if member is None:
        raise NotFound(NO_WORKSPACE)
    return member


def readable_members(actor: Actor, workspace: str) -> Workspace:
    """Return a workspace whose members the actor may see; guests may not."""
    found = own_member(actor, workspace).workspace
    if not sees_members(actor, found):
        raise NotAllowed("view the members of a workspace")
    return found


def sees_members(actor: Actor, workspace: Workspace) -> bool:
    members = Member.objects.active().filter(workspace=workspace, user=actor.user_id)
    is_bound = actor.grant is not None or actor.project_ids is not None
    return not is_bound and members.exclude(role=Role.GUEST).exists()


def may_manage(actor: Actor, workspace: Workspace) -> bool:
    return _managing_role(actor, workspace) is not None


def managed_workspace(
    actor: Actor, workspace: str, *, to: str = "manage members"
) -> Workspace:
    """Return a workspace that the actor manages; `to` completes the error message."""
    found = own_member(actor, workspace).workspace
    if not may_manage(actor, found):
        raise NotAllowed(to)
    return found


def managed_member(actor: Actor, workspace: str, member_id: int) -> Member:
    """Return a member whom the actor may change; only owners change owners."""
    found = managed_workspace(actor, workspace)
    members = Member.objects.filter(workspace=found, id=member_id)
    member = members.select_related("user", "workspace").first()
    if member is None:
        raise NotFound("member")
    if member.role not in grantable_roles(actor, found):
        raise NotAllowed("change owners")
    return member


def may_reset_account(actor: Actor, user: User) -> bool:
    """Return whether the actor may give the user a new password.

    That opens all workspaces of the user, so the actor must manage each of them.
    """
    if user.is_service or (user.is_superuser and user.id != actor.user_id):
        return False
    members = Member.objects.filter(user=user).select_related("workspace")
    return all(
        member.role in grantable_roles(actor, member.workspace) for member in members
    )


def manages_account(actor: Actor, user: User) -> bool:
    """Return whether the actor manages all workspaces of the user, at least one."""
    is_member = Member.objects.filter(user=user).exists()
    return is_member and may_reset_account(actor, user)


def resettable_member(actor: Actor, workspace: str, member_id: int) -> Member:
    """Return a member whose password and second factors the actor may reset."""
    member = managed_member(actor, workspace, member_id)
    if not may_reset_account(actor, member.user):
        raise NotAllowed("reset this account")
    return member


def grantable_roles(actor: Actor, workspace: Workspace) -> tuple[Role, ...]:
    """Return the roles that the actor may grant, lowest first, up to their own."""
    role = _managing_role(actor, workspace)
    return () if role is None else tuple(each for each in ORDER if reaches(role, each))


def require_grantable(actor: Actor, workspace: Workspace, role: Role) -> None:
    if role not in grantable_roles(actor, workspace):
        raise NotAllowed(f"give the role {role.value}")


def managed_invitation(actor: Actor, workspace: str, invitation_id: int) -> Invitation:
    found = managed_workspace(actor, workspace)
    invitations = Invitation.objects.filter(workspace=found, id=invitation_id)
    invitation = invitations.select_related("workspace", "project").first()
    if invitation is None:
        raise NotFound("invitation")
    require_grantable(actor, found, Role(invitation.role))
    return invitation


def shared_project(actor: Actor, workspace: str, project: str) -> Project:
    """Return a project whose members the actor may choose."""
    found = readable_project(actor, workspace, project)
    if not may_own(actor, found):
        raise NotAllowed("choose the members of a project")
    return found


def successor_of(member: Member, heir_id: str) -> Member | None:
    """Return the member chosen as the new owner of the projects; None if not chosen."""
    if not heir_id:
        return None
    others = Member.objects.filter(workspace=member.workspace_id)
    found = others.filter(id=int(heir_id)).first() if heir_id.isdecimal() else None
    if found is None:
        raise NotFound("member")
    return found


def member_of_project(project: Project, member_id: int) -> Member:
    """Return a member with a role in the project."""
    members = Member.objects.filter(projects__project=project, id=member_id)
    found = members.select_related("user", "workspace").first()
    if found is None:
        raise NotFound("member")
    return found


def member_to_add(project: Project, name: str) -> Member:
    """Return the member of the project's workspace with this email or username."""
    members = Member.objects.active().filter(workspace=project.workspace_id)
    return member_named(members, name)


def member_named(members: QuerySet[Member], name: str) -> Member:
    """Return the member with this email address or username."""
    named = members.select_related("user", "workspace")
    name = _possible_name(name)
    found = named.filter(user__email__iexact=name).first()
    found = found or named.filter(user__username=name).first()
    if found is None:
        raise NotFound("member")
    return found


def user_named(name: str) -> User:
    """Return the account with this email address or username."""
    name = _possible_name(name)
    found = User.objects.filter(email__iexact=name).first()
    found = found or User.objects.filter(username=name).first()
    if found is None:
        raise NotFound("account")
    return found


def _possible_name(name: str) -> str:
    # Return the stripped name; raise NotFound for an empty one or one with NUL.
    #
    # PostgreSQL rejects NUL, and several accounts have no email address.
    name = name.strip()
    if not name or "\0" in name:
        raise NotFound("member")
    return name


def _managing_role(actor: Actor, workspace: Workspace) -> str | None:
    """Return the actor's role if it lets them manage the workspace."""
    is_bound = actor.project_ids is not None or (
        actor.workspace_id is not None and actor.workspace_id != workspace.id
    )
    if actor.grant is not None or actor.scope is not Scope.MANAGE or is_bound:
        return None
    members = Member.objects.active().filter(
        workspace=workspace, user_id=actor.user_id, role__in=MANAGING
    )
    return members.values_list("role", flat=True).first()
