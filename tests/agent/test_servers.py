from __future__ import annotations

import json

import pytest

from seamark.servers import find_server, spool_root


@pytest.fixture
def stored(tmp_path):
    def write(content):
        file = tmp_path / "agent.json"
        file.write_text(content if isinstance(content, str) else json.dumps(content))
        return {"SEAMARK_CONFIG": str(file)}

    return write


def test_the_file_of_the_local_server_is_enough(stored):
    server = find_server(stored({"url": "http://127.0.0.1:8713/", "token": "t"}))

    assert (server.url, server.token) == ("http://127.0.0.1:8713", "t")
    assert "'t'" not in repr(server)


def test_a_stored_token_is_not_sent_to_another_server(stored):
    environment = stored({"url": "http://127.0.0.1:8713", "token": "t"})

    assert find_server({**environment, "SEAMARK_URL": "http://evil.test"}) is None


@pytest.mark.parametrize("content", ["", "[]", "{", '{"url": 1, "token": []}'])
def test_a_broken_file_is_no_server(stored, content):
    assert find_server(stored(content)) is None


@pytest.mark.parametrize("token", ["smk_\udce9", "smk_a\nb", "smk_a\0b", "\n", "smk_é"])
def test_what_cannot_be_a_token_is_none(stored, token):
    environment = stored({"url": "http://127.0.0.1:8713", "token": token})
    assert find_server(environment) is None

    environment = stored({"url": "http://127.0.0.1:8713", "token": "stored"})
    assert find_server({**environment, "SEAMARK_TOKEN": token}).token == "stored"


def test_a_token_loses_the_line_end_behind_it(stored):
    environment = {"SEAMARK_URL": "http://127.0.0.1:8713", "SEAMARK_TOKEN": "smk_a\n"}

    assert find_server(environment).token == "smk_a"


def test_no_home_is_no_error():
    assert spool_root({}).is_absolute()
    assert spool_root({"XDG_STATE_HOME": "/s"}).as_posix() == "/s/seamark/spool"
    assert spool_root({"SEAMARK_SPOOL": "/x"}).as_posix() == "/x"


def test_a_user_whom_the_machine_does_not_know_is_no_error(monkeypatch):
    def unknown(number):
        raise KeyError(number)

    monkeypatch.setattr("pwd.getpwuid", unknown)
    monkeypatch.delenv("HOME")

    assert spool_root({}).is_absolute()
    assert find_server({}) is None


def test_a_token_in_a_file_is_read_whenever_it_is_asked_for(stored, tmp_path):
    file = tmp_path / "token"
    environment = stored({"url": "http://127.0.0.1:8713", "token": "stored"})
    environment["SEAMARK_TOKEN_FILE"] = str(file)
    # Not there, it is as none.
    assert find_server(environment).token == "stored"

    for content, token in (
        (b"one\n", "one"),
        (b"two", "two"),
        (b"\n", "stored"),
        (b"\xff", "stored"),
    ):
        file.write_bytes(content)
        assert find_server(environment).token == token

    file.write_text("in the file")
    environment["SEAMARK_TOKEN"] = "in the environment"
    assert find_server(environment).token == "in the environment"
