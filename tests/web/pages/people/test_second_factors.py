from __future__ import annotations

import base64
import hmac
import re
import struct
import time

import pytest
from allauth.mfa.models import Authenticator
from django.test import Client

from tracker.actions.people.accounts import create_account
from tracker.models import AuditEntry, Mail

pytestmark = [pytest.mark.django_db, pytest.mark.database]

PASSWORD = "correct horse battery"


@pytest.fixture
def ada(db):
    return create_account("ada@example.org", "Ada Lovelace", PASSWORD)


def sign_in(visitor: Client):
    return visitor.post("/sign-in", {"login": "ada", "password": PASSWORD})


def is_signed_in(visitor: Client) -> bool:
    return visitor.get("/account/").status_code == 200


def code_of(key: str, *, later: int = 0) -> str:
    """Compute the app's current code by RFC 6238."""
    counter = struct.pack(">Q", int(time.time()) // 30 + later)
    digest = hmac.digest(base64.b32decode(key), counter, "sha1")
    start = digest[-1] & 0x0F
    number = struct.unpack(">I", digest[start : start + 4])[0] & 0x7FFFFFFF
    return f"{number % 10**6:06}"


def add_app(visitor: Client) -> str:
    """Add an authenticator app, and return its key."""
    visitor.post("/account/confirm", {"password": PASSWORD})
    page = visitor.get("/account/app").content.decode()
    key = re.search(r'id="app-key">(\w+)<', page)[1]
    answer = visitor.post("/account/app", {"code": code_of(key)})
    assert answer["Location"] == "/account/recovery-codes"
    return key


@pytest.fixture
def with_app(ada):
    visitor = Client()
    sign_in(visitor)
    return visitor, add_app(visitor)


@pytest.mark.parametrize("is_verified", [False, True])
def test_adding_an_app_asks_for_the_password_first(is_verified):
    create_account("ada@example.org", "Ada", PASSWORD, email_is_verified=is_verified)
    visitor = Client()
    sign_in(visitor)

    answer = visitor.get("/account/app")

    assert answer["Location"].startswith("/account/confirm?next=")


def test_sign_in_asks_for_a_code_of_the_app(with_app):
    visitor = Client()

    assert sign_in(visitor)["Location"] == "/account/second-factor"
    assert not is_signed_in(visitor)
    wrong = visitor.post("/account/second-factor", {"code": "000000"})
    assert b"Wrong or expired code." in wrong.content

    code = code_of(with_app[1], later=1)
    visitor.post("/account/second-factor", {"code": code})
    assert is_signed_in(visitor)
    # The same code does not work twice.
    second = Client()
    sign_in(second)
    second.post("/account/second-factor", {"code": code})
    assert not is_signed_in(second)


def test_a_recovery_code_signs_in_once(with_app):
    page = with_app[0].get("/account/recovery-codes").content.decode()
    code = re.search(r'id="codes">(\d+)', page)[1]

    for expected in (True, False):
        visitor = Client()
        sign_in(visitor)
        visitor.post("/account/second-factor", {"code": code})
        assert is_signed_in(visitor) == expected


def test_codes_cannot_be_guessed(with_app):
    visitor = Client()
    sign_in(visitor)
    for number in range(5):
        visitor.post("/account/second-factor", {"code": f"{number:06}"})

    code = code_of(with_app[1], later=1)
    page = visitor.post("/account/second-factor", {"code": code})

    assert b"Too many attempts" in page.content
    assert not is_signed_in(visitor)


def test_cancelling_ends_the_half_finished_sign_in(with_app):
    visitor = Client()
    sign_in(visitor)

    visitor.post("/sign-out")

    assert visitor.get("/account/second-factor")["Location"] == "/sign-in"


def test_the_key_of_an_app_is_stored_encrypted(with_app):
    data = Authenticator.objects.get(type="totp").data

    assert with_app[1] not in str(data)


def test_after_a_change_of_the_secret_key_no_code_matches(with_app, settings):
    settings.SECRET_KEY = "another secret key of this installation, long enough"
    visitor = Client()
    sign_in(visitor)

    empty = base64.b32encode(b"").decode()
    for code in (code_of(with_app[1], later=1), code_of(empty)):
        visitor.post("/account/second-factor", {"code": code})

    assert not is_signed_in(visitor)


def test_changes_are_recorded_and_mailed(
    ada, settings, django_capture_on_commit_callbacks
):
    settings.SMTP_URL = "smtp://127.0.0.1:25"
    visitor = Client()
    sign_in(visitor)
    with django_capture_on_commit_callbacks(execute=True):
        add_app(visitor)

    visitor.post("/account/app/remove")

    entries = AuditEntry.objects.filter(action="second-factor.changed")
    changes = {(each.details["kind"], each.details["change"]) for each in entries}
    assert changes == {
        ("totp", "added"),
        ("recovery_codes", "added"),
        ("totp", "removed"),
        ("recovery_codes", "removed"),
    }
    subjects = set(Mail.objects.values_list("subject", flat=True))
    assert subjects == {
        "An authenticator app was added to your account",
        "The authenticator app was removed from your account",
    }
    assert not Authenticator.objects.exists()


def test_a_user_without_a_password_is_not_asked_for_one(ada):
    ada.set_unusable_password()
    ada.save()
    visitor = Client()
    visitor.force_login(ada)

    assert visitor.get("/account/app").status_code == 200
    assert visitor.get("/account/passkeys/new").status_code == 200
