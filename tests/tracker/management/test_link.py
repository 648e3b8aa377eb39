from __future__ import annotations

import io

import pytest
from django.core.management import CommandError, call_command
from django.test import Client

from tracker.actions.people.accounts import create_account

pytestmark = [pytest.mark.django_db, pytest.mark.database]


def test_a_link_signs_any_account_in(settings):
    create_account("ada@example.org", "Ada")
    output = io.StringIO()

    call_command("link", user="ada@example.org", stdout=output)

    path = output.getvalue().strip().removeprefix(settings.PUBLIC_URL)
    visitor = Client()
    visitor.post(path)
    assert b"ada@example.org" in visitor.get("/account/").content


def test_a_link_for_no_account_is_refused():
    with pytest.raises(CommandError, match="No active user"):
        call_command("link", user="eve@example.org")
