"""manage.py as people call it."""

from __future__ import annotations

import ast
import os
import subprocess
import sys
from pathlib import Path

import pytest
from django.core.management import get_commands, load_command_class

import manage

ROOT = Path(__file__).resolve().parents[1]
SOURCE = (ROOT / "manage.py").read_text()


def run(*arguments, **environment):
    return subprocess.run(
        [sys.executable, "manage.py", *arguments],
        cwd=ROOT,
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


def test_it_can_be_read_by_a_python_that_is_too_old():
    ast.parse(SOURCE, feature_version=(3, 6))


def test_a_python_that_is_too_old_says_so_in_one_line(monkeypatch, capsys):
    monkeypatch.setattr(manage.sys, "version_info", (3, 9, 18, "final", 0))

    assert manage.main(["up"]) == 1

    line = "Seamark needs Python 3.11 or later; this is 3.9.\n"
    assert capsys.readouterr() == ("", line)


@pytest.mark.parametrize("arguments", [(), ("help",), ("--help",)])
def test_help_lists_our_commands_with_a_sentence_each(arguments, capsys):
    assert manage.main(list(arguments)) == 0

    output = capsys.readouterr().out
    for name, sentence in manage.COMMANDS:
        assert f"  {name} " in output
        assert sentence in output
        assert sentence.endswith(".")


def test_every_command_of_ours_is_listed_and_exists():
    ours = {name for name, app in get_commands().items() if app == "tracker"}
    listed = {name for name, _sentence in manage.COMMANDS}

    assert listed - ours == {"docs", "help", "screenshots", "test", "texts"}
    assert {
        name for name in ours if not load_command_class("tracker", name).help
    } == set()


@pytest.mark.parametrize(
    ("arguments", "settings"),
    [
        (["up"], {}),
        (["up", "--port", "9000"], {"SEAMARK_PORT": "9000"}),
        (
            ["up", "--port=9000", "--bind=::"],
            {"SEAMARK_PORT": "9000", "SEAMARK_BIND": "::"},
        ),
        (["up", "--data", "/a b"], {"SEAMARK_DATA": "/a b"}),
        (["up", "--data"], {}),
        (["up", "--portable", "1"], {}),
    ],
)
def test_options_become_settings(arguments, settings):
    assert manage.settings_from(arguments) == settings


@pytest.mark.processes
@pytest.mark.parametrize(
    ("environment", "said"),
    [
        ({"SEAMARK_PORT": "many"}, "SEAMARK_PORT must be a whole number"),
        ({"SEAMARK_PROT": "80"}, "Unknown setting: SEAMARK_PROT"),
        ({"SEAMARK_DATA": "/dev/null/data"}, "cannot be written"),
        ({"SEAMARK_BEHIND_PROXY": "perhaps"}, "must be yes or no"),
    ],
    ids=["number", "unknown", "folder", "boolean"],
)
def test_a_setting_that_cannot_be_meant_stops_it_in_one_line(environment, said):
    result = run("up", **environment)

    assert result.returncode == 1
    assert said in result.stderr
    assert result.stderr.count("\n") == 1


@pytest.mark.processes
def test_djangos_own_commands_work():
    result = run("version")

    assert result.returncode == 0
    assert result.stdout.startswith("5.2")
