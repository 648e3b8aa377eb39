from __future__ import annotations

from datetime import timedelta

import pytest
from django.contrib.sessions.models import Session
from django.core.management import call_command
from django.utils import timezone

from tracker.actions import access
from tracker.actor import Actor, Scope
from tracker.errors import InvalidInput
from tracker.models import Member, Role, SignInLink, Token, User, Workspace

pytestmark = [pytest.mark.django_db, pytest.mark.database]


@pytest.fixture
def owner():
    return access.found_installation()


def test_founding_makes_one_owner_without_a_password(owner):
    again = access.found_installation()

    assert again == owner
    assert owner.role == Role.OWNER
    assert owner.workspace.slug == "home"
    assert not owner.user.has_usable_password()
    assert (User.objects.count(), Workspace.objects.count()) == (1, 1)
    assert Member.objects.count() == 1


def test_a_sign_in_link_works_once(owner):
    secret = access.make_sign_in_link(owner.user)

    assert access.use_sign_in_link(secret) == owner.user
    assert access.use_sign_in_link(secret) is None


def test_a_sign_in_link_expires_after_an_hour(owner):
    secret = access.make_sign_in_link(owner.user)
    SignInLink.objects.update(expires_at=timezone.now() - timedelta(seconds=1))

    assert access.use_sign_in_link(secret) is None


def test_a_sign_in_link_of_a_locked_account_is_refused(owner):
    secret = access.make_sign_in_link(owner.user)
    User.objects.update(is_active=False)

    assert access.use_sign_in_link(secret) is None


def test_expired_sessions_and_links_are_deleted_and_others_are_not(owner):
    now = timezone.now()
    for key, hours in (("old", -1), ("new", 1)):
        expires_at = now + timedelta(hours=hours)
        Session.objects.create(session_key=key, expire_date=expires_at)
        secret = access.make_sign_in_link(owner.user)
        SignInLink.objects.filter(digest=access.digest(secret)).update(
            expires_at=now + timedelta(hours=2 * hours), used_at=now
        )

    for _ in range(2):
        access.delete_expired_access()

    assert [session.session_key for session in Session.objects.all()] == ["new"]
    assert SignInLink.objects.get().expires_at > now


@pytest.mark.parametrize("secret", ["", "wrong", "\0", "\ud800", "ф" * 5_000])
def test_a_made_up_secret_opens_nothing(owner, secret):
    assert access.use_sign_in_link(secret) is None
    assert access.authenticate(secret) is None


def test_a_token_speaks_for_its_member_in_its_workspace(owner):
    secret = access.make_token(owner, "laptop", Scope.LOG)

    assert access.authenticate(secret) == Actor(
        user_id=owner.user_id,
        workspace_id=owner.workspace_id,
        scope=Scope.LOG,
        token_id=Token.objects.get().id,
    )


def test_a_token_carries_256_random_bits_a_mark_and_a_checksum(owner):
    secret = access.make_token(owner, "laptop", Scope.READ)

    assert secret.startswith("smk_")
    assert len(secret) == len("smk_") + 43 + access.CHECKSUM_LENGTH
    assert access.is_well_formed(secret)
    assert not access.is_well_formed(secret[:-1] + ("0" if secret[-1] != "0" else "1"))


def test_no_secret_is_stored(owner, tmp_path):
    token = access.make_token(owner, "laptop", Scope.READ)
    link = access.make_sign_in_link(owner.user)
    dump = tmp_path / "dump.json"

    call_command("dumpdata", output=str(dump))

    assert token not in dump.read_text()
    assert link not in dump.read_text()


@pytest.mark.parametrize(
    "change",
    [
        pytest.param({"revoked_at": timezone.now()}, id="revoked"),
        pytest.param({"expires_at": timezone.now() - timedelta(hours=1)}, id="expired"),
    ],
)
def test_a_token_that_is_no_longer_valid_opens_nothing(owner, change):
    secret = access.make_token(owner, "laptop", Scope.READ)
    Token.objects.update(**change)

    assert access.authenticate(secret) is None


def test_a_token_of_a_locked_account_opens_nothing(owner):
    secret = access.make_token(owner, "laptop", Scope.READ)
    User.objects.update(is_active=False)

    assert access.authenticate(secret) is None


def test_a_token_that_expires_later_is_valid_until_then(owner):
    tomorrow = timezone.now() + timedelta(days=1)

    secret = access.make_token(owner, "laptop", Scope.READ, expires_at=tomorrow)

    assert access.authenticate(secret) is not None


def test_the_last_use_is_noted_at_most_once_a_minute(owner, django_assert_num_queries):
    secret = access.make_token(owner, "laptop", Scope.READ)

    access.authenticate(secret)
    first = Token.objects.get().last_used_at
    with django_assert_num_queries(1):  # finds the token
        access.authenticate(secret)

    assert first is not None
    assert Token.objects.get().last_used_at == first


@pytest.mark.parametrize("name", ["", "a" * 201, "a\0b"])
def test_a_token_needs_a_name_people_can_read(owner, name):
    with pytest.raises(InvalidInput):
        access.make_token(owner, name, Scope.READ)
