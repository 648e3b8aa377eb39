"""The commands on the pages about members run as printed."""

from __future__ import annotations

import io
import json
import re
import shlex
from pathlib import Path

import pytest
from django.core.management import call_command
from django.test import Client

from tests.builders import make_project, make_run
from tracker.actions.access import found_installation, make_token
from tracker.actions.people.audit_context import COMMAND
from tracker.actions.people.service_accounts import create_service_account
from tracker.actor import Scope
from tracker.models import Member, Role, State, Token, User, Workspace

pytestmark = [pytest.mark.django_db, pytest.mark.database]

FOLDER = Path(__file__).resolve().parents[2] / "docs/how-to"
PAGES = ("members", "projects", "single-sign-on", "notifications")
PRINTED = re.compile(r"^ *((?:curl|python3 manage\.py|pass show) .*)$", re.M)
CURL_OPTIONS = {"-H", "-d", "-X"}


@pytest.fixture
def names(monkeypatch: pytest.MonkeyPatch) -> dict[str, str]:
    """Create the objects that the pages name; return replacements for their ids."""
    monkeypatch.setattr("sys.stdin", io.StringIO("long enough and rare\n"))
    owner = found_installation()
    workspace = owner.workspace
    add(workspace, "ada", "ada@example.com", pending_email="ada@new.example")
    add(workspace, "ada-org", "ada@example.org")
    leaver = add(workspace, "leaver", "leaver@example.com")
    account = create_service_account(workspace, "CI", Role.MEMBER, COMMAND)
    for name in ("old", "older"):
        make_token(account, name, Scope.LOG)
    old, older = Token.objects.order_by("id")
    run = make_run(make_project(owner, "vision"), "run", State.FINISHED)
    key = make_token(owner, "script", Scope.MANAGE)
    return {
        "members/7": f"members/{leaver.id}",
        '"transfer_to": 1': f'"transfer_to": {owner.id}',
        '"service_account": 8': f'"service_account": {account.id}',
        "keys/3": f"keys/{old.id}",
        "key revoke 1": f"key revoke {older.id}",
        "$SEAMARK_TOKEN": key,
        "$SEAMARK_URL": "",
        "$RUN_ID": str(run.id),
        "projects/home/speech": "projects/home/vision",
    }


def add(workspace: Workspace, username: str, email: str, **fields: str) -> Member:
    user = User.objects.create(username=username, email=email, **fields)
    return Member.objects.create(workspace=workspace, user=user, role=Role.ADMIN)


def printed(page: str) -> list[str]:
    text = (FOLDER / f"{page}.md").read_text("utf-8").replace("\\\n", " ")
    return PRINTED.findall(text)


def status_of(printed_words: list[str]) -> int:
    """Send the request of a curl command; return the response status."""
    options: list[tuple[str, str]] = []
    url = ""
    words = iter(printed_words)
    for word in words:
        if word in CURL_OPTIONS:
            options.append((word, next(words)))
        else:
            url = word
    given = {name: value for name, value in options if name != "-H"}
    headers = dict(value.split(": ", 1) for name, value in options if name == "-H")
    content = headers.pop("Content-Type", "application/json")
    method = given.get("-X", "POST" if "-d" in given else "GET")
    if "-d" in given:
        json.loads(given["-d"])
    answer = Client().generic(
        method, url, given.get("-d", ""), content_type=content, headers=headers
    )
    return int(answer.status_code)


@pytest.mark.parametrize("page", PAGES)
def test_what_a_page_prints_works(page: str, names: dict[str, str]) -> None:
    for line in printed(page):
        for name, value in names.items():
            line = line.replace(name, value)  # noqa: PLW2901 - as a shell does
        words = shlex.split(line.rpartition(" | ")[2], comments=True)
        if words[0] == "curl":
            assert status_of(words[1:]) == 200, line
        else:
            # Raises CommandError on failure.
            call_command(*words[2:], stdout=io.StringIO(), stderr=io.StringIO())


def test_the_pages_print_commands() -> None:
    assert sum(len(printed(page)) for page in PAGES) > 20
