"""The shell completes what there is."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys

import pytest

from agent.commands.completion import SCRIPTS, completions
from tests.agent.commands.site import TOKEN, as_json
from tests.agent.conftest import REPOSITORY

HOSTILE = ["$(touch owned)", "`id`", "a b", "-rf", "x;y", "ok-1", "数.2"]


@pytest.fixture
def known(site, monkeypatch):
    """A server with a project, whose runs have names of all kinds."""
    monkeypatch.setenv("SEAMARK_URL", site.url)
    monkeypatch.setenv("SEAMARK_TOKEN", TOKEN)
    project = {"workspace": "home", "slug": "digits", "name": "Digits"}
    site.answers["/api/v1/projects"] = as_json({"projects": [project]})
    site.answers["/api/v1/projects/home/digits/runs"] = as_json(
        {"runs": [{"name": name} for name in HOSTILE]}
    )
    return site


@pytest.mark.parametrize(
    ("words", "found"),
    [
        (["st"], ["status"]),
        (["log"], ["login", "logout"]),
        (["--v"], ["--version"]),
        (["ls", "--so"], ["--sort"]),
        (["ls", "--format", ""], ["csv", "json", "table"]),
        (["ls", "a"], ["attributes"]),
        (["completion", ""], ["bash", "fish", "zsh"]),
        (["nonsense", ""], []),
        (["run", "--", ""], []),
        (["ls", "--project", ""], []),
    ],
)
def test_commands_options_and_choices_are_offered(words, found):
    assert completions(words) == found


def test_projects_and_runs_come_from_the_server(known):
    assert completions(["ls", "--project", "d"]) == ["digits"]
    assert completions(["export", "--project", "digits", "o"]) == ["ok-1"]
    assert completions(["ls", "attributes", "--project", "Digits", ""]) == [
        *("ok-1", "数.2")
    ]


def test_a_name_that_could_run_something_is_not_offered(known):
    offered = completions(["export", "--project", "digits", ""])

    assert offered == ["ok-1", "数.2"]


def test_a_server_that_is_away_costs_a_second_and_no_word(perform, monkeypatch):
    monkeypatch.setenv("SEAMARK_URL", "http://127.0.0.1:9")
    monkeypatch.setenv("SEAMARK_TOKEN", TOKEN)

    assert perform("completion", "words", "--", "export", "") == (0, "", "")


@pytest.mark.parametrize("shell", SCRIPTS)
def test_the_script_is_one_that_the_shell_can_read(shell, perform):
    if shutil.which(shell) is None:
        pytest.skip(f"there is no {shell}")
    code, script, _ = perform("completion", shell)

    assert code == 0
    subprocess.run([shell, "-n", "-c", script], check=True, timeout=30)


def test_bash_completes_with_it(known, tmp_path):
    command = tmp_path / "seamark"
    command.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m agent "$@"\n')
    command.chmod(0o755)
    script = (
        'eval "$(seamark completion bash)"; '
        "COMP_WORDS=(seamark export --project digits ''); COMP_CWORD=4; _seamark; "
        'printf "%s\\n" "${COMPREPLY[@]}"'
    )

    done = subprocess.run(
        ["bash", "-c", script],
        env={
            **os.environ,
            "PATH": f"{tmp_path}:{os.environ['PATH']}",
            "PYTHONPATH": str(REPOSITORY),
        },
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )

    assert done.stdout.split() == ["ok-1", "数.2"]
    assert not (tmp_path / "owned").exists()
