"""All commands with arbitrary arguments."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from seamark.commands import COMMANDS, main
from tests.agent.conftest import REPOSITORY, wait_until


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_explains_itself_with_an_example(name, capsys):
    with pytest.raises(SystemExit) as ended:
        main([name, "--help"])

    assert ended.value.code == 0
    output = capsys.readouterr().out
    assert f"examples:\n  {COMMANDS[name].EXAMPLES[0]}" in output
    assert "--json" in output


@pytest.mark.parametrize(
    ("words", "hint"),
    [
        (["stauts"], "did you mean status?"),
        (["--verison"], "did you mean --version?"),
        (["ls", "--projct", "x"], "did you mean --project?"),
        (["ls", "--proj", "x"], "did you mean --project?"),
        (["ls", "rnus"], "did you mean runs?"),
        (["ls", "--format", "jsn"], "did you mean json?"),
        (["run", "--rum", "x", "--", "true"], "did you mean --run?"),
        (["status", "x"], "unexpected argument"),
        (["watch"], "--pid"),
        (["ls", "runs", "x"], "needs a run name"),
        (["export", "--to", "x"], "--where"),
    ],
)
def test_what_was_probably_meant_is_named(words, hint, capsys):
    assert main(words) == 2

    captured = capsys.readouterr()
    assert hint in captured.err
    assert captured.out == ""


def test_options_behind_the_program_are_its_own(perform):
    code, output, _ = perform(
        "run",
        sys.executable,
        "-c",
        "import sys; print(sys.argv[1:])",
        "--rum",
        "--json",
    )

    assert (code, output) == (0, "['--rum', '--json']\n")


def test_a_refusal_is_json_where_json_is_asked_for(capsys):
    assert main(["ls", "--jsn", "--json"]) == 2

    printed = json.loads(capsys.readouterr().out)
    assert printed["error"]["code"] == "invalid_usage"


def test_help_is_a_command_too(capsys):
    with pytest.raises(SystemExit):
        main(["help", "ls"])
    assert "seamark ls" in capsys.readouterr().out
    assert main(["help"]) == 0


def test_without_a_command_programs_get_json(capsys):
    assert main(["--json"]) == 0

    printed = json.loads(capsys.readouterr().out)
    assert printed["commands"] == list(COMMANDS)
    assert (printed["server"], printed["has_token"], printed["spools"]) == (
        None,
        False,
        0,
    )


def test_ctrl_c_ends_quietly(start, tracker):
    # Held up by a server that never answers.
    following = start("sync", "--follow")
    wait_until(lambda: is_at_rest(following.pid))
    following.send_signal(signal.SIGINT)

    output, errors = following.communicate(timeout=60)

    assert following.returncode == 130
    assert (output, errors) == ("", "")


def is_at_rest(pid):
    """Return whether the process handles Ctrl-C already and only waits."""
    import psutil

    status = Path(f"/proc/{pid}/status").read_text()
    caught = int(re.search(r"SigCgt:\s*(\w+)", status)[1], 16)
    before = psutil.Process(pid).cpu_times()
    time.sleep(0.3)
    return bool(caught & 1 << signal.SIGINT - 1) and (
        psutil.Process(pid).cpu_times() == before
    )


def in_bash(line, folder):
    return subprocess.run(
        ["bash", "-c", line],
        env={**os.environ, "PYTHONPATH": str(REPOSITORY)},
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


def test_a_reader_that_leaves_is_no_error(tmp_path):
    line = (
        f"{sys.executable} -m seamark completion bash | true; echo ${{PIPESTATUS[0]}}"
    )

    done = in_bash(line, tmp_path)

    assert done.stdout.strip() in ("0", "141")
    assert done.stderr == ""


def test_what_should_not_happen_is_one_line(monkeypatch, capsys):
    def fail(chosen):
        raise ZeroDivisionError("odd")

    monkeypatch.setattr("seamark.commands.status.perform", fail)

    assert main(["status"]) == 1

    errors = capsys.readouterr().err
    assert "ZeroDivisionError: odd" in errors
    assert errors.count("\n") == 1


@pytest.mark.parametrize(
    ("line", "code"),
    [
        ("completion bash > /dev/full", 1),
        ("status --json > /dev/full", 1),
        ("status >&-", 0),
        ("status >&- 2>&- <&-", 0),
        ("login --url http://127.0.0.1:1 <&-", 2),
        (r"ls --where $'caf\xe9' --to x", 2),
        (r"ls --where $'caf\xe9'", 1),
    ],
)
def test_whatever_it_is_nobody_is_shown_a_traceback(tracker, tmp_path, line, code):
    done = in_bash(f"{sys.executable} -m seamark {line}", tmp_path)

    assert done.returncode == code, done.stderr
    assert "Traceback" not in done.stderr
    assert "Unexpected error" not in done.stderr
    assert "Exception ignored" not in done.stderr


@pytest.mark.parametrize(
    "words", [["import", "--help"], ["import", "-h"], ["help", "import"]]
)
def test_the_help_of_import_lists_its_commands(words, capsys):
    with pytest.raises(SystemExit) as ended:
        main(words)

    assert ended.value.code == 0
    shown = capsys.readouterr().out
    assert "import tensorboard" in shown
    assert "import event files of TensorBoard" in shown
