from __future__ import annotations

import json

import pytest

from tracker.actions.access import authenticate, found_installation
from tracker.actor import Scope
from tracker.embedded.first_start import give_agent_a_token, prepare
from tracker.models import Token, User

pytestmark = [pytest.mark.django_db, pytest.mark.database]

URL = "http://127.0.0.1:8713"


@pytest.fixture
def file(tmp_path):
    return tmp_path / "config/seamark/agent.json"


@pytest.fixture
def owner():
    return found_installation()


def read(file):
    return json.loads(file.read_text())


def test_the_first_start_leaves_address_and_token_to_the_user_alone(file):
    assert prepare(URL, file) == []

    assert read(file)["url"] == URL
    actor = authenticate(read(file)["token"])
    assert actor is not None
    assert actor.scope == Scope.MANAGE
    assert file.stat().st_mode & 0o777 == 0o600
    assert list(file.parent.iterdir()) == [file]


def test_the_second_start_finds_everything_as_it_was(file):
    prepare(URL, file)
    before = file.read_bytes()

    assert prepare(URL, file) == []

    assert file.read_bytes() == before
    assert (Token.objects.count(), User.objects.count()) == (1, 1)


def test_a_token_that_is_no_longer_valid_is_replaced(file, owner):
    give_agent_a_token(owner, URL, file)
    Token.objects.all().delete()

    give_agent_a_token(owner, URL, file)

    assert authenticate(read(file)["token"]) is not None


def test_a_server_that_moved_keeps_its_token(file, owner):
    give_agent_a_token(owner, URL, file)
    token = read(file)["token"]

    give_agent_a_token(owner, "http://127.0.0.1:9000", file)

    assert read(file) == {"url": "http://127.0.0.1:9000", "token": token}


def test_a_file_for_another_server_is_left_alone_and_said(file, owner):
    file.parent.mkdir(parents=True)
    file.write_text('{"url": "https://team.example", "token": "smk_theirs"}')
    before = file.read_bytes()

    (line,) = give_agent_a_token(owner, URL, file)

    assert "https://team.example" in line
    assert f"seamark login --url {URL}" in line
    assert "\n" not in line
    assert file.read_bytes() == before
    assert not Token.objects.exists()


@pytest.mark.parametrize("text", ["", "{", "[]", '{"url": 3, "token": "x"}', '"text"'])
def test_a_file_that_cannot_be_read_is_left_alone_and_said(file, owner, text):
    file.parent.mkdir(parents=True)
    file.write_text(text)

    (line,) = give_agent_a_token(owner, URL, file)

    assert str(file) in line
    assert file.read_text() == text
