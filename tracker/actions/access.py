"""The installation's owner account, sign-in links and API tokens.

A secret is shown once; only its SHA-256 digest is stored.
"""

from __future__ import annotations

import hashlib
import secrets
import zlib
from collections.abc import Sequence
from datetime import datetime, timedelta

from django.contrib.sessions.models import Session
from django.db import transaction
from django.utils import timezone

from tracker.actions.people.sessions import delete_ended_sessions
from tracker.actor import Actor, Scope
from tracker.errors import InvalidInput
from tracker.models import (
    CacheEntry,
    Member,
    Project,
    Role,
    SignInLink,
    Token,
    User,
    Workspace,
)
from tracker.server.statements import moment, one_row

OWNER_NAME = "owner"
WORKSPACE_NAME = "Home"
WORKSPACE_SLUG = "home"

SECRET_BYTES = 32
TOKEN_MARK = "smk_"
CHECKSUM_LENGTH = 8
# The prefix and four characters, enough to recognize one's own tokens.
SHOWN_LENGTH = 8
NAME_MAX_LENGTH = 200

LINK_LIFETIME = timedelta(hours=1)
# How often a token's last use is written, so that ingestion does not double its writes.
LAST_USE_RESOLUTION = timedelta(minutes=1)

# Every batch of every process runs this query; built by the ORM, it took longer than
# the rest of the request.
VALID_TOKEN = """
SELECT token.id, token.scope, member.user_id, member.workspace_id,
  COALESCE(token.last_used_at >= %s, FALSE), token.is_limited
FROM tracker_token AS token
JOIN tracker_member AS member ON member.id = token.member_id
JOIN tracker_user AS person ON person.id = member.user_id
WHERE token.digest = %s AND token.revoked_at IS NULL
  AND member.is_active AND person.is_active
  AND (token.expires_at IS NULL OR token.expires_at > %s)
"""


def found_installation() -> Member:
    """Return the owner, creating the account and its workspace on the first start.

    The account has no password: the owner signs in with a link that the server prints.
    """
    with transaction.atomic():
        user, is_new = User.objects.get_or_create(
            username=OWNER_NAME, defaults={"is_staff": True, "is_superuser": True}
        )
        if is_new:
            user.set_unusable_password()
            user.save(update_fields=["password"])
        workspace, _ = Workspace.objects.get_or_create(
            slug=WORKSPACE_SLUG, defaults={"name": WORKSPACE_NAME}
        )
        member, _ = Member.objects.get_or_create(
            user=user, workspace=workspace, defaults={"role": Role.OWNER}
        )
    return member


def make_sign_in_link(user: User) -> str:
    """Return a secret that signs the user in once, within an hour."""
    secret = secrets.token_urlsafe(SECRET_BYTES)
    SignInLink.objects.create(
        user=user, digest=digest(secret), expires_at=timezone.now() + LINK_LIFETIME
    )
    return secret


def use_sign_in_link(secret: str) -> User | None:
    """Return the user of the link; None if it is invalid or used."""
    now = timezone.now()
    links = SignInLink.objects.filter(digest=digest(secret))
    # The conditional update decides between two requests with the same link.
    usable = links.filter(used_at=None, expires_at__gt=now, user__is_active=True)
    if not usable.filter(user__is_service=False).update(used_at=now):
        return None
    return links.select_related("user").get().user


def delete_expired_access(now: datetime | None = None) -> None:
    """Delete expired sessions and counters, and links past their grace period."""
    now = now or timezone.now()
    Session.objects.filter(expire_date__lt=now).delete()
    delete_ended_sessions(now)
    CacheEntry.objects.filter(expires__lt=now).delete()
    # Used links are kept until then too: a request may still be signing in with one.
    SignInLink.objects.filter(expires_at__lt=now - LINK_LIFETIME).delete()


def make_token(
    member: Member,
    name: str,
    scope: Scope,
    expires_at: datetime | None = None,
    *,
    projects: Sequence[Project] | None = None,
) -> str:
    """Return the secret of a new key, limited to `projects` if given."""
    if not name or len(name) > NAME_MAX_LENGTH or "\0" in name:
        raise InvalidInput("name", f"must have 1 to {NAME_MAX_LENGTH} characters")

    random = TOKEN_MARK + secrets.token_urlsafe(SECRET_BYTES)
    secret = random + checksum(random)
    token = Token.objects.create(
        member=member,
        name=name,
        scope=scope.value,
        digest=digest(secret),
        is_limited=projects is not None,
        prefix=secret[:SHOWN_LENGTH],
        expires_at=expires_at,
    )
    if projects is not None:
        token.projects.set(projects)
    return secret


def authenticate(secret: str) -> Actor | None:
    """Return the token's actor, or None if the secret is invalid."""
    if not is_well_formed(secret):
        return None

    now = timezone.now()
    row = one_row(
        # Looked up by digest, so that the response time reveals nothing about the
        # secret.
        VALID_TOKEN,
        [moment(now - LAST_USE_RESOLUTION), digest(secret), moment(now)],
    )
    if row is None:
        return None
    token_id, scope, user_id, workspace_id, is_use_recorded, is_limited = row
    if not is_use_recorded:
        Token.objects.filter(id=token_id).update(last_used_at=now)
    project_ids = _projects_of_key(token_id) if is_limited else None
    return Actor(user_id, workspace_id, Scope(scope), token_id, project_ids)


def _projects_of_key(token_id: int) -> frozenset[int]:
    projects = Token.projects.through.objects.filter(token_id=token_id)
    return frozenset(projects.values_list("project_id", flat=True))


def digest(secret: str) -> str:
    return hashlib.sha256(secret.encode("utf-8", "surrogatepass")).hexdigest()


def checksum(random: str) -> str:
    """Return a checksum that lets secret scanners, and us, recognize tokens."""
    return f"{zlib.crc32(random.encode()):0{CHECKSUM_LENGTH}x}"


def is_well_formed(secret: str) -> bool:
    random, end = secret[:-CHECKSUM_LENGTH], secret[-CHECKSUM_LENGTH:]
    return (
        secret.isascii() and secret.startswith(TOKEN_MARK) and end == checksum(random)
    )
