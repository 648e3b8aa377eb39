from __future__ import annotations

import json

import pytest

from agent.errors import InvalidSetting
from agent.settings import find_server, read_settings, spool_root


def read(run=None, environment=None, **arguments):
    wanted = {
        "project": None,
        "stage": None,
        "rank": None,
        "mode": None,
        "monitor": True,
        "strict": False,
        **arguments,
    }
    return read_settings(run, environment=environment or {}, **wanted)


def test_an_argument_comes_before_the_environment():
    environment = {"SEAMARK_PROJECT": "e", "SEAMARK_RUN": "e", "SEAMARK_STAGE": "e"}

    settings = read("a", environment, project="a", stage="a")

    assert (settings.run, settings.project, settings.stage) == ("a", "a", "a")


def test_the_environment_comes_before_defaults():
    environment = {"SEAMARK_PROJECT": "e", "SEAMARK_STAGE": "s", "RANK": "3"}

    settings = read("r", environment)

    assert (settings.project, settings.stage, settings.rank) == ("e", "s", 3)
    assert settings.namespace == "monitoring/s/rank-3"


@pytest.mark.parametrize(
    ("variables", "rank"),
    [
        ({"LOCAL_RANK": "1"}, 1),
        ({"LOCAL_RANK": "1", "NODE_RANK": "0"}, 1),
        # Of another node it says too little.
        ({"LOCAL_RANK": "1", "NODE_RANK": "2"}, 0),
        ({"LOCAL_RANK": "1", "RANK": "9"}, 9),
    ],
)
def test_a_local_rank_is_the_rank_on_the_first_node(variables, rank):
    assert read("r", variables).rank == rank


@pytest.mark.parametrize("value", ["", "-1", "many", "99999999999"])
def test_an_odd_rank_variable_is_rank_zero(value):
    assert read("r", {"RANK": value}).rank == 0


@pytest.mark.parametrize(
    ("arguments", "environment"),
    [
        ({"mode": "sometimes"}, {}),
        ({"stage": "a/b"}, {}),
        ({"project": "x" * 256}, {}),
        ({"project": "a\0b"}, {}),
        ({"project": "\ud800"}, {}),
        ({"rank": -1}, {}),
        ({}, {"SEAMARK_URL": "ftp://host"}),
        ({}, {"SEAMARK_URL": "http://user:secret@host"}),
        ({}, {"SEAMARK_URL": "http://host:port"}),
        ({}, {"SEAMARK_EXIT_SECONDS": "nan"}),
        ({}, {"SEAMARK_EXIT_SECONDS": "-1"}),
    ],
)
def test_what_cannot_be_meant_is_refused(arguments, environment):
    with pytest.raises(InvalidSetting):
        read("r", environment, **arguments)


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


def test_ranks_are_kept_apart_where_that_is_asked_for():
    environment = {"SEAMARK_SEPARATE_RANKS": "yes", "RANK": "3"}

    assert read("r", environment).own_prefix == "rank-3/"
    assert read("r", {**environment, "RANK": "0"}).own_prefix == ""
    assert read("r", {"RANK": "3"}).own_prefix == ""
    assert read("r", {"RANK": "3"}, separate_ranks=True).own_prefix == "rank-3/"
    assert read("r", environment, separate_ranks=False).own_prefix == ""
    with pytest.raises(InvalidSetting):
        read("r", {"SEAMARK_SEPARATE_RANKS": "perhaps"})


@pytest.mark.parametrize(
    ("text", "expected"),
    [(None, None), ("", None), ("4", 4 * 2**30), ("0.5", 2**29), ("0", 0)],
)
def test_how_much_of_points_may_wait_can_be_said(text, expected):
    environment = {} if text is None else {"SEAMARK_SPOOL_POINTS_GIB": text}

    assert read("r", environment).spool_points_bytes == expected


@pytest.mark.parametrize("text", ["-1", "much", "1e9", "0.12345", "\u0664"])
def test_another_amount_of_points_is_refused(text):
    with pytest.raises(InvalidSetting, match="SEAMARK_SPOOL_POINTS_GIB"):
        read("r", {"SEAMARK_SPOOL_POINTS_GIB": text})
