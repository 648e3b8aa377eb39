"""Checked access to API keys and service accounts."""

from __future__ import annotations

from django.core.validators import slug_re

from tracker.access.people import managed_workspace, may_manage, own_member
from tracker.actor import Actor, Scope
from tracker.errors import NotAllowed, NotFound
from tracker.models import Member, Project, Role, Token, Workspace
from tracker.models.workspace import MANAGING, WRITING


def own_key(actor: Actor, key_id: int) -> Token:
    keys = Token.objects.filter(member__user_id=actor.user_id, id=key_id)
    return _key(keys.select_related("member__user", "member__workspace").first())


def key_of_workspace(actor: Actor, workspace: str, key_id: int) -> Token:
    """Return a key of any member of a workspace that the actor manages."""
    found = managed_workspace(actor, workspace, to="revoke API keys of other members")
    keys = Token.objects.filter(member__workspace=found, id=key_id)
    return _key(keys.select_related("member__user", "member__workspace").first())


def key_in_reach(actor: Actor, workspace: str, key_id: int) -> Token:
    """Return a key of the workspace that the actor may revoke."""
    member = own_member(actor, workspace)
    if may_manage(actor, member.workspace):
        return key_of_workspace(actor, workspace, key_id)
    _require_whole(actor)
    keys = Token.objects.filter(member=member, id=key_id)
    return _key(keys.select_related("member__user", "member__workspace").first())


def key_owner(actor: Actor, workspace: str, account_id: int | None = None) -> Member:
    """Return the member for whom the actor may create keys: themselves or an account."""
    if account_id is not None:
        return service_account(actor, workspace, account_id)
    _require_whole(actor)
    return own_member(actor, workspace)


def _require_whole(actor: Actor) -> None:
    if actor.scope is not Scope.MANAGE or actor.project_ids is not None:
        raise NotAllowed("manage API keys")


def service_account(actor: Actor, workspace: str, account_id: int) -> Member:
    """Return the membership of a service account that the actor manages."""
    found = managed_workspace(actor, workspace, to="manage service accounts")
    members = Member.objects.active().filter(workspace=found, user__is_service=True)
    member = members.select_related("user", "workspace").filter(id=account_id).first()
    if member is None:
        raise NotFound("service account")
    return member


def projects_among(workspace: Workspace, slugs: list[str]) -> list[Project]:
    """Return projects of a workspace by their slugs."""
    projects = Project.objects.filter(workspace=workspace, deleted_at=None)
    valid = {slug for slug in slugs if slug_re.fullmatch(slug)}
    found = list(projects.filter(slug__in=valid).order_by("slug"))
    if len(found) < len(set(slugs)):
        raise NotFound("project")
    return found


def _key(found: Token | None) -> Token:
    if found is None:
        raise NotFound("API key")
    return found


def project_making_workspace(actor: Actor, workspace: str) -> Workspace:
    """Return a workspace in which the actor may create projects."""
    found = own_member(actor, workspace).workspace
    if not may_make_projects(actor, found):
        raise NotAllowed("create projects")
    return found


def may_make_projects(actor: Actor, workspace: Workspace) -> bool:
    is_whole = actor.scope is Scope.MANAGE and actor.project_ids is None
    makers = Workspace.objects.of_user(actor.user_id, *WRITING)
    return is_whole and makers.filter(id=workspace.id).exists()


def require_workspace_maker(actor: Actor) -> None:
    """Require an owner or admin of a workspace."""
    is_whole = actor.scope is Scope.MANAGE and actor.project_ids is None
    makers = Workspace.objects.of_user(actor.user_id, *MANAGING)
    if actor.workspace_id is not None:
        makers = makers.filter(id=actor.workspace_id)
    if actor.grant is not None or not is_whole or not makers.exists():
        raise NotAllowed("create workspaces")


def owned_workspace(actor: Actor, workspace: str) -> Workspace:
    """Return a workspace that the actor may delete."""
    found = managed_workspace(actor, workspace, to="delete the workspace")
    owned = Workspace.objects.of_user(actor.user_id, Role.OWNER)
    if not owned.filter(id=found.id).exists():
        raise NotAllowed("delete the workspace")
    return found
