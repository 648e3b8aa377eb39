"""Output fits the terminal and contains no control characters."""

from __future__ import annotations

import fcntl
import os
import pty
import struct
import subprocess
import sys
import termios

import pytest
from hypothesis import given
from hypothesis import strategies as st

from seamark.commands.output import (
    clean,
    cut,
    fitted,
    no_formula,
    print_csv,
    print_table,
    tell,
    width_of,
)
from tests.agent.conftest import REPOSITORY


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("naïve 数 ok", "naïve 数 ok"),
        ("\x1b[31mred", "\\x1b[31mred"),
        ("a\nb\tc\0", "a\\nb\\tc\\x00"),
        ("\u202eevil", "\\u202eevil"),
        ("\ud800", "\\ud800"),
    ],
)
def test_what_a_terminal_would_obey_is_shown_as_what_it_is(text, shown):
    assert clean(text) == shown


@given(st.text())
def test_anything_clean_can_be_printed(text):
    assert clean(text).isprintable()


@given(st.text(), st.integers(1, 30))
def test_what_is_cut_fits(text, width):
    assert width_of(cut(clean(text), width)) <= max(width, 1)


def test_wide_characters_take_two_columns():
    assert width_of("数a") == 3
    assert cut("数数数", 4) == "数…"


@given(st.lists(st.integers(0, 200), min_size=1, max_size=12), st.integers(20, 200))
def test_a_table_is_made_to_fit_as_long_as_columns_can_be_read(widths, room):
    found = fitted(widths, room)

    gaps = 2 * (len(widths) - 1)
    assert all(new <= old for new, old in zip(found, widths, strict=True))
    assert all(new == old or new >= 6 for new, old in zip(found, widths, strict=True))
    assert sum(found) + gaps <= room or max(found) <= 6


def test_no_spreadsheet_computes_a_name():
    assert [no_formula(cell) for cell in ("=1+1", "-x", "@a", "-1.5", "a", "")] == [
        *("'=1+1", "'-x", "'@a", "-1.5", "a", "")
    ]


@pytest.mark.parametrize(("no_color", "is_coloured"), [("", True), ("1", False)])
def test_colours_are_for_terminals_that_want_them(tmp_path, no_color, is_coloured):
    output = on_a_terminal(tmp_path, columns=40, NO_COLOR=no_color)

    assert (b"\x1b[" in output) is is_coloured


def test_elsewhere_there_are_none(perform):
    assert "\x1b" not in perform()[1]


def test_a_narrow_terminal_is_wide_enough(tmp_path):
    output = on_a_terminal(tmp_path, columns=40, NO_COLOR="1").decode()

    # A command that can be copied stays in one piece.
    words = [line for line in output.splitlines() if "seamark run" not in line]
    assert max(map(len, words)) <= 62


def on_a_terminal(folder, *, columns, **variables):
    leader, follower = pty.openpty()
    fcntl.ioctl(follower, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
    environment = {k: v for k, v in os.environ.items() if k not in ("COLUMNS", "LINES")}
    with subprocess.Popen(
        [sys.executable, "-m", "seamark"],
        cwd=folder,
        env={
            **environment,
            "PYTHONPATH": str(REPOSITORY),
            "TERM": "xterm",
            **variables,
        },
        stdout=follower,
        stderr=follower,
    ) as process:
        os.close(follower)
        said = b""
        try:
            while read := os.read(leader, 10_000):
                said += read
        except OSError:
            pass  # EIO: the terminal has no writers left
        process.wait(60)
    os.close(leader)
    return said


@pytest.mark.parametrize("is_terminal", [True, False])
def test_a_table_for_programs_does_nothing_to_a_terminal(
    is_terminal, capsys, monkeypatch
):
    monkeypatch.setattr("sys.stdout.isatty", lambda: is_terminal)

    print_csv(["name\x1b"], [["a\x1b[2J"]])

    assert ("\x1b" in capsys.readouterr().out) is not is_terminal


def test_what_a_server_says_does_nothing_to_a_terminal(capsys):
    tell("no such run: \x1b]0;owned\x07")

    assert capsys.readouterr().err == "seamark: no such run: \\x1b]0;owned\\x07\n"


def test_one_long_text_pads_no_other_line_where_there_is_no_terminal(capsys):
    text = "x" * 50_000

    print_table(["path", "value", "count"], [["notes", text, "2"], ["lr", "数", "1"]])

    head, long, short = capsys.readouterr().out.splitlines()
    assert long == f"notes  {text}  2"
    assert short == f"lr     数{' ' * 38}  1"
    assert head == f"path   {'value':<40}  count"


def test_a_long_name_pushes_aside_what_follows_it(capsys):
    name = "n" * 300

    print_table(["path", "value"], [[name, "1"], ["lr", "0.1"]])

    head, long, short = capsys.readouterr().out.splitlines()
    assert (long, short) == (f"{name}  1", f"{'lr':<40}  0.1")
    assert len(head) < 50
