"""Gives API keys and service accounts to those who may manage them."""

from __future__ import annotations

from django.core.validators import slug_re

from tracker.actor import Actor
from tracker.errors import NotFound
from tracker.models import Member, Project, Token, Workspace
from tracker.people_access import managed_workspace


def own_key(actor: Actor, key_id: int) -> Token:
    keys = Token.objects.filter(member__user_id=actor.user_id, id=key_id)
    return _key(keys.select_related("member__user", "member__workspace").first())


def key_of_workspace(actor: Actor, workspace: str, key_id: int) -> Token:
    """Return a key of any member of a workspace that the actor manages."""
    found = managed_workspace(actor, workspace, to="revoke API keys of other members")
    keys = Token.objects.filter(member__workspace=found, id=key_id)
    return _key(keys.select_related("member__user", "member__workspace").first())


def service_account(actor: Actor, workspace: str, account_id: int) -> Member:
    """Return the membership of a service account that the actor manages."""
    found = managed_workspace(actor, workspace, to="manage service accounts")
    members = Member.objects.active().filter(workspace=found, user__is_service=True)
    member = members.select_related("user", "workspace").filter(id=account_id).first()
    if member is None:
        raise NotFound("service account")
    return member


def projects_among(workspace: Workspace, slugs: list[str]) -> list[Project]:
    """Return projects of a workspace by their addresses."""
    projects = Project.objects.filter(workspace=workspace)
    wanted = {slug for slug in slugs if slug_re.fullmatch(slug)}
    found = list(projects.filter(slug__in=wanted).order_by("slug"))
    if len(found) < len(set(slugs)):
        raise NotFound("project")
    return found


def _key(found: Token | None) -> Token:
    if found is None:
        raise NotFound("API key")
    return found
