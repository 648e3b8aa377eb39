"""API keys and service accounts of a workspace."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any

from django.http import HttpResponse
from django.utils import timezone
from ninja import Field, Router, Schema

from tracker.access.people import managed_workspace, may_manage, own_member
from tracker.access.workspaces import (
    key_in_reach,
    key_owner,
    projects_among,
    service_account,
)
from tracker.actions.people.keys import KeyRequest, create_key, revoke_key
from tracker.actions.people.service_accounts import (
    create_service_account,
    delete_service_account,
    service_role_named,
)
from tracker.actor import Scope
from tracker.api.answers import json_response
from tracker.api.auth import ApiRequest, ReaderAuth, WriterAuth
from tracker.api.v1.people.members import Json, RoleName, audit_context
from tracker.errors import InvalidInput
from tracker.queries.people.keys import (
    KeySummary,
    ServiceAccount,
    keys_of_workspace,
    own_keys,
    service_accounts,
)

router = Router(tags=["keys"], auth=ReaderAuth())

MAX_LIFETIME_DAYS = 3_650


class KeyOut(Schema):
    id: int
    name: str
    prefix: str = Field(description="The first characters of the key.")
    scope: Scope
    owner: str = Field(description="Username of the member or service account.")
    is_service: bool
    projects: list[str] | None = Field(description="null: all its owner sees.")
    created_at: datetime
    last_used_at: datetime | None
    expires_at: datetime | None
    is_expired: bool


class KeysOut(Schema):
    keys: list[KeyOut]


class KeyIn(Schema):
    name: str
    scope: Scope = Scope.LOG
    expires_days: int | None = Field(
        365,
        description="null: never.",
        json_schema_extra={"minimum": 1, "maximum": MAX_LIFETIME_DAYS},
    )
    projects: list[str] | None = Field(
        None, description="Slugs; null: all that the key's owner sees."
    )
    service_account: int | None = Field(
        None, description="Make the key for this account; null: for the caller."
    )


class NewKeyOut(Schema):
    id: int
    key: str = Field(description="The secret, shown only now.")


class RevokedKeyOut(Schema):
    id: int
    is_revoked: bool


class ServiceAccountOut(Schema):
    id: int
    username: str
    name: str
    role: RoleName
    projects: list[str] | None = Field(description="null: all open to the role.")
    key_count: int


class ServiceAccountsOut(Schema):
    service_accounts: list[ServiceAccountOut]


class ServiceAccountIn(Schema):
    name: str
    role: RoleName = Field("member", description="member or viewer.")
    projects: list[str] | None = Field(
        None, description="Slugs of the only projects it sees; null: all."
    )


class NewServiceAccountOut(Schema):
    id: int
    username: str
    name: str


class DeletedServiceAccountOut(Schema):
    id: int
    is_deleted: bool


@router.get("/workspaces/{slug:workspace}/keys", response=KeysOut)
def read_keys(request: ApiRequest, workspace: str) -> HttpResponse:
    """The caller's keys in a workspace; for its owners and admins, all keys."""
    found = own_member(request.auth, workspace).workspace
    if may_manage(request.auth, found):
        keys = keys_of_workspace(found)
    else:
        keys = own_keys(request.auth, found)
    return json_response({"keys": [_key(each) for each in keys]})


@router.post("/workspaces/{slug:workspace}/keys", response=NewKeyOut, auth=WriterAuth())
def write_key(request: ApiRequest, workspace: str, body: KeyIn) -> HttpResponse:
    """Create a key for the caller or, as an owner or admin, for a service account.

    A key that is limited to projects cannot create keys.
    """
    member = key_owner(request.auth, workspace, body.service_account)
    key = KeyRequest(
        name=body.name.strip(),
        scope=body.scope,
        expires_at=_expiry(body.expires_days),
        projects=None if body.projects is None else tuple(body.projects),
    )
    made = create_key(member, key, audit_context(request))
    return json_response({"id": made.id, "key": made.secret})


@router.delete(
    "/workspaces/{slug:workspace}/keys/{int:key_id}",
    response=RevokedKeyOut,
    auth=WriterAuth(),
)
def delete_key(request: ApiRequest, workspace: str, key_id: int) -> HttpResponse:
    """Revoke one of the caller's keys; owners and admins may revoke any."""
    revoke_key(key_in_reach(request.auth, workspace, key_id), audit_context(request))
    return json_response({"id": key_id, "is_revoked": True})


@router.get(
    "/workspaces/{slug:workspace}/service-accounts", response=ServiceAccountsOut
)
def read_service_accounts(request: ApiRequest, workspace: str) -> HttpResponse:
    """The service accounts of a workspace; for owners and admins."""
    found = managed_workspace(request.auth, workspace, to="manage service accounts")
    accounts = [_account(each) for each in service_accounts(found)]
    return json_response({"service_accounts": accounts})


@router.post(
    "/workspaces/{slug:workspace}/service-accounts",
    response=NewServiceAccountOut,
    auth=WriterAuth(),
)
def write_service_account(
    request: ApiRequest, workspace: str, body: ServiceAccountIn
) -> HttpResponse:
    """Create an account that has keys and cannot sign in."""
    found = managed_workspace(request.auth, workspace, to="manage service accounts")
    slugs = body.projects
    member = create_service_account(
        found,
        body.name,
        service_role_named(body.role),
        audit_context(request),
        projects=None if slugs is None else projects_among(found, slugs),
    )
    user = member.user
    return json_response(
        {"id": member.id, "username": user.username, "name": user.display_name}
    )


@router.delete(
    "/workspaces/{slug:workspace}/service-accounts/{int:account_id}",
    response=DeletedServiceAccountOut,
    auth=WriterAuth(),
)
def remove_service_account(
    request: ApiRequest, workspace: str, account_id: int
) -> HttpResponse:
    """End the account and revoke its keys; its runs stay.

    To pause it instead, set `is_active` of the member with this id.
    """
    member = service_account(request.auth, workspace, account_id)
    delete_service_account(member, audit_context(request))
    return json_response({"id": account_id, "is_deleted": True})


def _expiry(days: int | None) -> datetime | None:
    if days is None:
        return None
    if not 1 <= days <= MAX_LIFETIME_DAYS:
        raise InvalidInput("expires_days", f"must be from 1 to {MAX_LIFETIME_DAYS:,}")
    return timezone.now() + timedelta(days=days)


# Any: rows of the projects table, which endpoints do not import.
def _slugs(projects: Sequence[Any] | None) -> list[str] | None:
    return None if projects is None else [each.slug for each in projects]


def _key(key: KeySummary) -> Json:
    return {
        "id": key.id,
        "name": key.name,
        "prefix": key.prefix,
        "scope": key.scope,
        "owner": key.owner.username,
        "is_service": key.owner.is_service,
        "projects": _slugs(key.projects),
        "created_at": key.created_at,
        "last_used_at": key.last_used_at,
        "expires_at": key.expires_at,
        "is_expired": key.is_expired,
    }


def _account(account: ServiceAccount) -> Json:
    return {
        "id": account.id,
        "username": account.user.username,
        "name": account.user.display_name,
        "role": account.role,
        "projects": _slugs(account.projects),
        "key_count": account.key_count,
    }
