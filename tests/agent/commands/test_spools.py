"""What waits, what is delivered, and what programs are told of it."""

from __future__ import annotations

import json

import pytest

from agent.commands import main

LOG = "import agent; run = agent.init('r\\x1b[2J', monitor=False); run['a'].append(1.0)"


@pytest.fixture
def left(run_script):
    """Leave a spool behind."""
    run_script(LOG, SEAMARK_MODE="offline")


def said(capsys):
    return json.loads(capsys.readouterr().out)


def test_what_waits_is_told_to_programs(left, spool_root, capsys):
    assert main(["status", "--json"]) == 0

    found = said(capsys)
    (spool,) = found["spools"]
    assert found["folder"] == str(spool_root)
    assert (spool["run"], spool["is_in_use"]) == ("r\x1b[2J", False)
    assert spool["pending_bytes"] > 0
    assert spool["seconds_since_written"] >= 0


def test_a_name_does_nothing_to_the_terminal(left, capsys):
    main(["status"])

    assert "run 'r\\x1b[2J'" in capsys.readouterr().out


def test_it_is_said_at_once_that_something_waits(left, capsys):
    main([])

    assert "to be delivered: 1 spool of processes" in capsys.readouterr().out


def test_what_is_delivered_is_told_to_programs(left, tracker, capsys):
    assert main(["sync", "--json"]) == 0

    assert said(capsys)["left"] == []
    assert tracker.values("a") == [1.0]


def test_what_is_not_delivered_is_told_with_the_reason(left, tracker, capsys):
    tracker.token = "smk_another"

    assert main(["sync", "--json"]) == 1

    (spool,) = said(capsys)["left"]
    assert "seamark doctor" in spool["reason"]


def test_without_a_server_nothing_can_be_delivered(left, capsys):
    assert main(["sync", "--json"]) == 1

    assert said(capsys)["error"]["code"] == "no_server"
