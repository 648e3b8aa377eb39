"""A team in the browser alone: the owner invites three people, and each does their part."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

import pytest
import requests
from playwright.sync_api import Browser, Page, expect

from tests.builders import make_project, make_run
from tests.services import IdentityProvider
from tests.slow.browser.conftest import sign_in
from tracker.models import Member, ProjectMember, Role

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

PASSWORD = "lighthouse keeper 1907"
PEOPLE = {
    "vera": ("viewer", "vision"),
    "max": ("member", ""),
    "ines": ("admin", ""),
}


@pytest.fixture
def person(
    browser: Browser, browser_context_args, live_server
) -> Iterator[Callable[..., Page]]:
    """A separate browser for each user."""
    contexts = []

    def open_browser(member: Member | None = None) -> Page:
        context = browser.new_context(
            **{**browser_context_args, "base_url": live_server.url}
        )
        contexts.append(context)
        if member is not None:
            sign_in(context, live_server.url, member)
        return context.new_page()

    yield open_browser
    for context in contexts:
        context.close()


def invite(page: Page, members_url: str, role: str, project: str) -> str:
    """Create an invitation link and return its path."""
    page.goto(members_url)
    page.get_by_label("Role", exact=True).select_option(role)
    if project:
        page.get_by_label("Where", exact=True).select_option(project)
    page.get_by_role("button", name="Invite").click()
    link = page.get_by_text(re.compile(r"/join/smi_")).first
    expect(link).to_be_visible()
    return re.search(r"/join/\S+", link.inner_text())[0]


def join(page: Page, path: str, name: str) -> None:
    page.goto(path)
    page.get_by_label("Email").fill(f"{name}@example.com")
    page.get_by_label("Name").fill(name.title())
    page.get_by_label("Choose a password").fill(PASSWORD)
    page.get_by_role("button", name="Create account and join").click()
    expect(page.get_by_role("button", name="Account:")).to_be_visible()


def status_of(page: Page, path: str) -> int:
    answer = page.goto(path)
    assert answer is not None
    return answer.status


def test_three_people_join_and_each_does_what_their_role_allows(ada, person):
    vision, speech = make_project(ada), make_project(ada, "speech")
    run, other = make_run(vision, "baseline", "finished"), make_run(speech, "asr")
    workspace = ada.workspace.slug
    members_url = f"/w/{workspace}/members"
    owner = person(ada)

    pages = {}
    for name, (role, project) in PEOPLE.items():
        path = invite(owner, members_url, role, project)
        pages[name] = person()
        join(pages[name], path, name)
        # A link for one person works once.
        assert status_of(person(), path) in (404, 410)

    vera, max_, ines = (pages[name] for name in PEOPLE)
    roles = {member.user.email: member.role for member in Member.objects.all()}
    assert roles["vera@example.com"] == Role.GUEST
    assert roles["max@example.com"] == Role.MEMBER
    assert roles["ines@example.com"] == Role.ADMIN
    assert ProjectMember.objects.get().role == Role.VIEWER

    # The viewer of one project sees only that project, read-only.
    vera.goto("/")
    expect(vera.get_by_role("link", name="vision").first).to_be_visible()
    expect(vera.get_by_text("speech")).to_have_count(0)
    assert status_of(vera, f"/runs/{run.id}/") == 200
    assert status_of(vera, f"/runs/{other.id}/") == 404
    assert status_of(vera, f"/w/{workspace}/speech/") == 404
    assert status_of(vera, members_url) == 403
    expect(vera.get_by_role("heading")).to_be_visible()

    # The member sees all open projects, and no members to manage.
    assert status_of(max_, f"/runs/{other.id}/") == 200
    assert status_of(max_, members_url) == 200
    expect(max_.get_by_role("button", name="Invite")).to_have_count(0)

    # The admin invites members, but no owners.
    ines.goto(members_url)
    expect(ines.get_by_role("button", name="Invite")).to_be_visible()
    offered = ines.get_by_label("Role", exact=True).locator("option").all_inner_texts()
    assert "owner" not in [text.lower() for text in offered]


def test_a_member_signs_in_with_the_password_in_another_browser(ada, person):
    members_url = f"/w/{ada.workspace.slug}/members"
    make_project(ada)
    owner = person(ada)
    join(person(), invite(owner, members_url, "member", ""), "max")

    page = person()
    page.goto("/sign-in")
    page.get_by_label("Email address").fill("MAX@example.com")
    page.get_by_label("Password").fill(PASSWORD)
    page.get_by_role("button", name="Sign in", exact=True).click()

    expect(page.get_by_role("heading", name="Projects")).to_be_visible()


def test_who_is_offboarded_is_out_at_once(ada, person):
    members_url = f"/w/{ada.workspace.slug}/members"
    run = make_run(make_project(ada), "baseline", "finished")
    owner = person(ada)
    leaving = person()
    join(leaving, invite(owner, members_url, "member", ""), "max")
    assert status_of(leaving, f"/runs/{run.id}/") == 200

    owner.goto(members_url)
    owner.get_by_role("link", name="Max").click()
    owner.get_by_role("button", name=re.compile("Offboard")).first.click()
    dialog = owner.get_by_role("dialog")
    if dialog.is_visible():
        dialog.get_by_role("button", name=re.compile("Offboard")).click()
    expect(owner.get_by_text("deactivated").first).to_be_visible()

    leaving.goto(f"/runs/{run.id}/")
    expect(leaving.get_by_role("heading", name="Sign in")).to_be_visible()


# The subject at the identity provider, and the groups there.
GROUPS = {"ines": ["ml-leads", "ml"], "max": ["ml"], "vera": ["interns"]}


@pytest.fixture
def provider(settings, live_server, ada) -> Iterator[IdentityProvider]:
    people = [claims_of(name, groups) for name, groups in GROUPS.items()]
    with IdentityProvider([*people, claims_of("eve", [])]) as server:
        settings.PUBLIC_URL = live_server.url
        settings.OIDC_ISSUER, settings.OIDC_NAME = server.url, "Corp"
        settings.OIDC_WORKSPACE = ada.workspace.slug
        settings.OIDC_GROUPS = [
            ("ml-leads", "admin"),
            ("ml", "member"),
            ("interns", "viewer"),
        ]
        settings.SOCIALACCOUNT_PROVIDERS = server.providers()
        yield server


def claims_of(name: str, groups: list[str]) -> dict[str, object]:
    address = {"email": f"{name}@corp.example", "email_verified": True}
    return {"sub": name, "name": name.title(), "groups": groups, **address}


def sign_in_with_provider(page: Page, name: str, path: str = "/sign-in") -> None:
    # The mock's style sheet is on the internet.
    page.route(re.compile("jsdelivr"), lambda route: route.abort())
    page.goto(path)
    page.get_by_role("link", name="Sign in with Corp").click()
    page.get_by_role("button", name=name, exact=True).click()


def test_three_people_sign_in_with_a_provider_and_get_the_role_of_their_groups(
    ada, person, provider
):
    run = make_run(make_project(ada), "baseline", "finished")
    members_url = f"/w/{ada.workspace.slug}/members"

    pages = {name: person() for name in (*GROUPS, "eve")}
    for name, page in pages.items():
        sign_in_with_provider(page, name, f"/sign-in?next=/runs/{run.id}/")
    ines, max_, vera, eve = pages.values()

    # The first sign-in creates the account and opens the requested page.
    for page in (ines, max_, vera):
        expect(page.get_by_role("heading", name="baseline")).to_be_visible()
    expect(eve.get_by_text("None of your groups gives access")).to_be_visible()
    expect(eve.get_by_role("link", name="Back to sign-in")).to_be_visible()
    roles = dict(Member.objects.values_list("user__email", "role"))
    assert roles.pop("") == Role.OWNER
    assert roles == {
        "ines@corp.example": Role.ADMIN,
        "max@corp.example": Role.MEMBER,
        "vera@corp.example": Role.VIEWER,
    }

    # Each user can do what the role allows, and sees an error page for the rest.
    max_.locator("#run-actions .drop > summary").click()
    expect(max_.get_by_role("button", name="Move to trash")).to_be_visible()
    expect(vera.get_by_role("button", name="Move to trash")).to_have_count(0)
    ines.goto(members_url)
    expect(ines.get_by_role("button", name="Invite")).to_be_visible()
    max_.goto(members_url)
    expect(max_.get_by_role("button", name="Invite")).to_have_count(0)
    for page in (max_, vera):
        assert status_of(page, f"/w/{ada.workspace.slug}/audit") == 403
        expect(page.get_by_role("heading", name="Not allowed")).to_be_visible()

    # Roles follow the groups at the next sign-in.
    claims = claims_of("max", ["interns"])
    requests.put(
        f"{provider.url}/users/max", json=claims, timeout=10
    ).raise_for_status()
    again = person()
    sign_in_with_provider(again, "max", f"/sign-in?next=/runs/{run.id}/")
    expect(again.get_by_role("heading", name="baseline")).to_be_visible()
    expect(again.get_by_role("button", name="Move to trash")).to_have_count(0)
