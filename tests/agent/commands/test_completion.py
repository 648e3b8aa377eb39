"""Shell completion."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys

import pytest

from seamark.commands.completion import SCRIPTS, completions
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


@pytest.fixture
def shell(tmp_path):
    """Return the output of a shell that has the command, in an empty folder."""
    folder = tmp_path / "bin"
    folder.mkdir()
    command = folder / "seamark"
    command.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m seamark "$@"\n')
    command.chmod(0o755)
    (tmp_path / "empty").mkdir()

    def run(name, *arguments):
        if shutil.which(name) is None:
            pytest.skip(f"there is no {name}")
        done = subprocess.run(
            [name, *arguments],
            env={
                **os.environ,
                "PATH": f"{folder}:{os.environ['PATH']}",
                "PYTHONPATH": str(REPOSITORY),
                "LC_ALL": "C.UTF-8",
            },
            cwd=tmp_path / "empty",
            capture_output=True,
            text=True,
            timeout=60,
            check=True,
        )
        assert not (tmp_path / "empty" / "owned").exists()
        return done.stdout

    return run


def test_bash_completes_with_it(known, shell):
    script = (
        'eval "$(seamark completion bash)"; '
        "COMP_WORDS=(seamark export --project digits ''); COMP_CWORD=4; _seamark; "
        'printf "%s\n" "${COMPREPLY[@]}"'
    )

    assert shell("bash", "-c", script).split() == ["ok-1", "数.2"]


# An interactive shell, which completion requires; Ctrl-T completes and prints the
# result.
ZSH = """
zmodload zsh/zpty
zpty typed zsh -f -i
zpty -w typed 'autoload -U compinit; compinit -u -D; eval "$(seamark completion zsh)"'
zpty -w typed 'show() { zle complete-word; print -r -- "$BUFFER" > ../typed }'
zpty -w typed 'zle -N show; bindkey "^T" show; print -r -- ready''-'
zpty -r -m typed said '*ready-*'
zpty -n -w typed "$1"$'\x14'
for turn in {1..200}; do [[ -s ../typed ]] && break; sleep 0.1; done
cat ../typed
"""


@pytest.mark.parametrize(
    ("typed", "found"),
    [
        ("seamark stat", "seamark status"),
        ("seamark ls --form", "seamark ls --format"),
        ("seamark export --project dig", "seamark export --project digits"),
        ("seamark export --project digits o", "seamark export --project digits ok-1"),
        ("seamark export --project digits '$(", "seamark export --project digits '$("),
    ],
)
def test_zsh_completes_with_it(known, shell, typed, found):
    assert shell("zsh", "-f", "-c", ZSH, "zsh", typed).strip() == found


@pytest.mark.parametrize(
    ("typed", "found"),
    [
        ("seamark stat", ["status"]),
        ("seamark log", ["login", "logout"]),
        ("seamark ls --format ", ["csv", "json", "table"]),
        ("seamark export --project dig", ["digits"]),
        ("seamark export --project digits ", ["ok-1", "数.2"]),
    ],
)
def test_fish_completes_with_it(known, shell, typed, found):
    script = 'seamark completion fish | source; complete -C "$argv[1]"'

    output = shell("fish", "--no-config", "-c", script, typed)

    # File names come last; there are none here.
    assert [line.split("\t")[0] for line in output.splitlines()] == found
