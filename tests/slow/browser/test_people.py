"""A team in the browser alone: the owner invites three people, and each does their part."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.builders import make_project, make_run
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
    """A browser of their own for each person."""
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
    """Invite somebody by a link, and return it."""
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

    # The viewer of one project sees that one and changes nothing.
    vera.goto("/")
    expect(vera.get_by_role("link", name="vision").first).to_be_visible()
    expect(vera.get_by_text("speech")).to_have_count(0)
    assert status_of(vera, f"/runs/{run.id}/") == 200
    assert status_of(vera, f"/runs/{other.id}/") == 404
    assert status_of(vera, f"/w/{workspace}/speech/") == 404
    assert status_of(vera, members_url) == 403
    expect(vera.get_by_role("heading")).to_be_visible()

    # The member sees all open projects, and manages nobody.
    assert status_of(max_, f"/runs/{other.id}/") == 200
    assert status_of(max_, members_url) == 200
    expect(max_.get_by_role("button", name="Invite")).to_have_count(0)

    # The admin invites others, but makes nobody an owner.
    ines.goto(members_url)
    expect(ines.get_by_role("button", name="Invite")).to_be_visible()
    offered = ines.get_by_label("Role", exact=True).locator("option").all_inner_texts()
    assert "owner" not in [text.lower() for text in offered]


def test_somebody_signs_in_with_their_password_in_another_browser(ada, person):
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
