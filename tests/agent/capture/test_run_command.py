"""Output of programs without the SDK, into a file."""

from __future__ import annotations

import os
import subprocess
import sys

from tests.agent.conftest import REPOSITORY

OUT, ERR = "monitoring/train/stdout", "monitoring/train/stderr"


def run_program(tmp_path, *program, stderr="err.txt", **variables):
    names = ("out.txt", stderr)
    with (
        (tmp_path / names[0]).open("ab") as out,
        (tmp_path / names[1]).open("ab") as err,
    ):
        ended = subprocess.run(
            [
                sys.executable,
                "-m",
                "seamark",
                "run",
                "--stage",
                "train",
                "--",
                *program,
            ],
            env={**os.environ, "PYTHONPATH": str(REPOSITORY), **variables},
            cwd=tmp_path,
            stdout=out,
            stderr=err,
            timeout=60,
            check=False,
        )
    return ended.returncode, (tmp_path / "out.txt").read_text()


def test_what_any_program_writes_to_files_is_stored(tracker, tmp_path):
    (tmp_path / "out.txt").write_text("of an earlier job\n")

    code, written = run_program(
        tmp_path, "sh", "-c", "echo one; (echo child); echo bad >&2; exit 3"
    )

    assert (code, written) == (3, "of an earlier job\none\nchild\n")
    assert tracker.texts(OUT) == ["one", "child"]
    # Messages of `seamark run` are in that file too.
    assert tracker.texts(ERR)[0] == "bad"


def test_both_streams_in_one_file_are_stored_once(tracker, tmp_path):
    run_program(tmp_path, "sh", "-c", "echo one; echo two >&2", stderr="out.txt")

    assert tracker.texts(OUT) == ["one", "two"]
    assert tracker.texts(ERR) == []


def test_a_script_with_the_agent_is_not_stored_twice(tracker, tmp_path):
    script = "import agent; run = agent.init(); print('once')"

    run_program(tmp_path, sys.executable, "-c", script)

    assert tracker.texts(OUT) == ["once"]
    assert (
        sum(m["path"].endswith("packages/count") for m in tracker.of_kind("set")) == 1
    )


def test_the_command_line_is_stored_without_secrets(tracker, tmp_path):
    run_program(tmp_path, "true", "--api-key", "abcdefgh", "--lr", "1")

    attributes = tracker.attributes()
    assert attributes["monitoring/train/source/arguments"] == (
        "true --api-key '[redacted]' --lr 1"
    )


def test_nothing_is_followed_where_it_is_not_wanted(tracker, tmp_path):
    run_program(tmp_path, "echo", "one", SEAMARK_CAPTURE="no")

    assert tracker.texts(OUT) == []
    assert tracker.attributes() == {}
