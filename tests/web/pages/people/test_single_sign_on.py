"""Against a real provider process, over HTTP."""

from __future__ import annotations

from urllib.parse import parse_qs, urlsplit

import pytest
import requests
from django.test import Client

from tests.builders import make_member
from tests.services import IdentityProvider
from tracker.actions.people.accounts import create_account
from tracker.actions.people.audit_context import AuditContext
from tracker.actions.people.invitations import InvitationRequest, invite
from tracker.models import AuditEntry, Member, Role, User, Workspace

pytestmark = [pytest.mark.django_db, pytest.mark.database, pytest.mark.processes]


def person(sub, email=None, *, verified=True, **claims):
    address = {"email": email, "email_verified": verified} if email else {}
    return {"sub": sub, "name": sub.title(), **address, **claims}


PEOPLE = [
    person("ada", "ada@corp.example", groups=["ml", "leads"]),
    person("bob", "bob@corp.example", groups=["ml"]),
    person("eve", "bob@corp.example", verified=False, groups=["ml"]),
    # Some providers send the claim as text.
    person("oscar", "bob@corp.example", verified="false", groups=["ml"]),
    person("mallory", "mallory@elsewhere.example"),
    person("nobody"),
]


@pytest.fixture(scope="module")
def provider():
    with IdentityProvider(PEOPLE) as server:
        yield server


@pytest.fixture(autouse=True)
def sign_on(provider, settings, db):
    settings.PUBLIC_URL = "http://testserver"
    settings.OIDC_ISSUER = provider.url
    settings.OIDC_NAME = "Corp"
    settings.OIDC_DOMAINS = ["corp.example"]
    settings.OIDC_GROUPS = []
    settings.OIDC_WORKSPACE = "home"
    settings.SOCIALACCOUNT_PROVIDERS = provider.providers()
    Workspace.objects.create(name="Home", slug="home")


def sign_in(sub: str, visitor: Client | None = None, query: str = ""):
    """Go to the provider and back; return the browser and the last answer."""
    visitor = visitor or Client()
    leave = visitor.get(f"/account/oidc/sign-in{query}")["Location"]
    back = requests.post(leave, data={"sub": sub}, allow_redirects=False, timeout=10)
    return visitor, visitor.get(back.headers["Location"])


def is_signed_in(visitor: Client) -> bool:
    return visitor.get("/account/").status_code == 200


def role_of(sub: str) -> str:
    return Member.objects.get(user__email=f"{sub}@corp.example").role


def test_the_first_sign_in_makes_an_account_and_the_next_finds_it():
    visitor, answer = sign_in("ada", query="?next=/account/sessions")
    again, _ = sign_in("ada")

    assert answer["Location"] == "/account/sessions"
    assert is_signed_in(visitor)
    assert is_signed_in(again)
    user = User.objects.get()
    assert (user.email, user.name) == ("ada@corp.example", "Ada")
    assert not user.has_usable_password()
    assert role_of("ada") == Role.MEMBER
    assert AuditEntry.objects.filter(action="sign-in.succeeded").count() == 2


def test_a_session_planted_before_is_worthless(settings):
    visitor, thief = Client(), Client()
    session = visitor.session
    session["planted"] = True
    session.save()
    for browser in (visitor, thief):
        browser.cookies[settings.SESSION_COOKIE_NAME] = session.session_key

    sign_in("ada", visitor)

    assert is_signed_in(visitor)
    assert not is_signed_in(thief)


def test_the_request_carries_pkce_and_the_public_callback_address():
    leave = Client().get("/account/oidc/sign-in")["Location"]

    query = parse_qs(urlsplit(leave).query)
    assert query["code_challenge_method"] == ["S256"]
    assert query["redirect_uri"] == ["http://testserver/account/oidc/callback"]


def test_a_foreign_host_header_is_sent_to_the_public_address():
    answer = Client().get("/account/oidc/sign-in", headers={"host": "localhost"})

    assert answer["Location"] == "http://testserver/account/oidc/sign-in"


def test_the_page_offers_the_provider():
    assert b"Sign in with Corp" in Client().get("/sign-in").content


def test_an_address_of_another_domain_is_refused():
    visitor, answer = sign_in("mallory")

    assert answer.status_code == 403
    assert b"domain is not allowed to sign in" in answer.content
    assert not is_signed_in(visitor)
    assert not User.objects.exists()
    assert AuditEntry.objects.get().details["reason"] == "domain"


def test_without_domains_and_groups_nobody_gets_a_new_account(settings):
    settings.OIDC_DOMAINS = []

    _, answer = sign_in("ada")

    assert (
        b"Ask an owner or admin for an invitation"
        in " ".join(answer.content.decode().split()).encode()
    )
    assert not User.objects.exists()


def test_an_invitation_lets_a_new_person_in_with_the_provider(settings):
    settings.OIDC_DOMAINS = []
    owner = make_member("olga")
    invitation_request = InvitationRequest(Role.VIEWER, email="ada@corp.example")
    secret = invite(owner.workspace, invitation_request, AuditContext(owner.user_id))
    query = f"?next=/join/{secret}"

    _, refused = sign_in("bob", query=query)
    visitor, answer = sign_in("ada", query=query)

    assert refused.status_code == 403
    assert answer["Location"] == f"/join/{secret}"
    visitor.post(answer["Location"])
    assert role_of("ada") == Role.VIEWER


@pytest.mark.parametrize("sub", ["eve", "oscar"])
@pytest.mark.parametrize("domains", [[], ["corp.example"]])
def test_an_unverified_address_never_opens_an_existing_account(settings, domains, sub):
    settings.OIDC_DOMAINS = domains
    create_account("bob@corp.example", "Bob", email_is_verified=True)

    visitor, answer = sign_in(sub)

    assert answer.status_code == 403
    assert not is_signed_in(visitor)
    assert User.objects.count() == 1


def test_a_verified_address_opens_only_an_account_that_verified_it():
    unverified = create_account("bob@corp.example", "Bob")
    visitor, answer = sign_in("bob")

    assert answer.status_code == 403
    assert not is_signed_in(visitor)

    unverified.delete()
    create_account("bob@corp.example", "Bob", email_is_verified=True)
    visitor, _ = sign_in("bob")

    assert is_signed_in(visitor)
    assert User.objects.count() == 1


def test_groups_give_the_role_at_each_sign_in(settings):
    settings.OIDC_GROUPS = [("ml", "viewer"), ("leads", "admin")]
    sign_in("ada")
    sign_in("bob")

    assert (role_of("ada"), role_of("bob")) == (Role.ADMIN, Role.VIEWER)

    settings.OIDC_GROUPS = [("ml", "member")]
    sign_in("ada")

    assert role_of("ada") == Role.MEMBER


def test_losing_all_groups_ends_the_membership(settings):
    settings.OIDC_GROUPS = [("ml", "member")]
    sign_in("bob")

    settings.OIDC_GROUPS = [("others", "member")]
    visitor, answer = sign_in("bob")

    assert b"None of your groups gives access" in answer.content
    assert not is_signed_in(visitor)
    assert not Member.objects.get().is_active


def test_the_last_owner_keeps_the_role(settings):
    home = Workspace.objects.get(slug="home")
    user = create_account("ada@corp.example", "Ada", email_is_verified=True)
    Member.objects.create(workspace=home, user=user, role=Role.OWNER)
    settings.OIDC_GROUPS = [("ml", "viewer")]

    sign_in("ada")

    assert role_of("ada") == Role.OWNER


def test_a_deactivated_account_is_refused():
    sign_in("ada")
    User.objects.update(is_active=False)

    visitor, answer = sign_in("ada")

    assert answer["Location"] == "/account/deactivated"
    assert not is_signed_in(visitor)


def test_an_answer_without_the_browsers_own_state_is_refused():
    leave = Client().get("/account/oidc/sign-in")["Location"]
    back = requests.post(leave, data={"sub": "ada"}, allow_redirects=False, timeout=10)

    visitor = Client()
    answer = visitor.get(back.headers["Location"])

    assert answer.status_code == 403
    assert not is_signed_in(visitor)


def test_a_signed_in_user_connects_the_provider(client_of):
    member = make_member("ada")
    member.user.set_unusable_password()
    member.user.save()
    visitor = client_of(member)

    _, answer = sign_in("ada", visitor, "?process=connect")
    later, _ = sign_in("ada")

    assert answer["Location"] == "/account/security"
    assert is_signed_in(later)
    assert User.objects.count() == 1
