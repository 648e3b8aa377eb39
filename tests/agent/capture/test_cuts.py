"""A cut in a long text leaves no part of a secret, which redaction could not find."""

from __future__ import annotations

import sys

import pytest

from seamark.capture import failure, source
from seamark.redaction import redacted

SECRET = "correct-horse-battery-staple"
LINE = f"db_password={SECRET}"


@pytest.mark.parametrize("more", range(0, len(LINE) + 1, 3))
def test_a_traceback_begins_with_a_whole_line(more):
    error = ValueError(f"{LINE}\n" * 2_000 + "x" * more)

    text = failure.facts(ValueError, error, None)["traceback"]

    mark, first, *_ = text.split("\n")
    assert mark.endswith("earlier characters are not stored")
    assert first == LINE
    assert "staple" not in redacted(text)


def test_a_message_is_whole_until_secrets_are_taken_out():
    message = "x" * 9_990 + f" {LINE}"

    text = failure.facts(ValueError, ValueError(message), None)["message"]

    assert text == message


@pytest.mark.parametrize("more", range(0, len(LINE) + 1, 3))
def test_an_argument_ends_with_a_whole_word(monkeypatch, more):
    program = "x" * more + f" {LINE}" * 200
    monkeypatch.setattr(sys, "orig_argv", ["python", "-c", program, "y" * 5_000])

    _, _, cut, other = source._arguments()

    assert cut.split()[1:-1] == [LINE] * (len(cut.split()) - 2)
    assert cut.endswith(f"{LINE}…")
    assert len(other) == 4_097
