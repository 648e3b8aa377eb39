from __future__ import annotations

import logging

import pytest
from django.conf import settings

from tracker.redaction import Formatter, on_one_line, redacted

TOKEN = "smk_qRKBW-x_" + "a" * 40


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        ("Forbidden: /sign-in/UrndM-CX_o", "Forbidden: /sign-in/…"),
        (f"Not Found: /nowhere/{TOKEN}", "Not Found: /nowhere/smk_…"),
        (f"/me?token={TOKEN}&x=1", "/me?token=smk_…&x=1"),
        ("/sign-in?next=/join/smi_ab-c_d", "/sign-in?next=/join/smi_…"),
        (
            "Forbidden: /account/password/reset/1a/dir4bp-9bad86a7",
            "Forbidden: /account/password/reset/1a/…",
        ),
        ("GET /sign-in and /sign-in/", "GET /sign-in and /sign-in/"),
    ],
)
def test_secrets_are_left_out(text, kept):
    assert redacted(text) == kept


def test_a_traceback_tells_no_secret_either():
    try:
        int(TOKEN)
    except ValueError as error:
        info = (type(error), error, error.__traceback__)
    record = logging.LogRecord("x", logging.ERROR, "x", 1, "%s", (TOKEN,), info)

    line = Formatter().format(record)

    assert "smk_…" in line
    assert TOKEN not in line


def test_every_handler_leaves_them_out():
    formatters = settings.LOGGING["formatters"]

    for handler in settings.LOGGING["handlers"].values():
        formatter = formatters[handler["formatter"]]
        assert formatter["()"] == "tracker.redaction.Formatter"


@pytest.mark.parametrize(
    ("name", "logged"),
    [
        ("a\r\n2026 ERROR root: forged", "a\\r\\n2026 ERROR root: forged"),
        ("\x1b[2Jgone", "\\x1b[2Jgone"),
        ("a\u2028b\x85c", "a\\u2028b\\x85c"),
        ("\u202egnihton", "\\u202egnihton"),
        ("Zürich\t☃", "Zürich\\t☃"),
    ],
)
def test_a_name_forges_no_line_of_the_log(name, logged):
    record = logging.LogRecord(
        "x", logging.ERROR, "x", 1, "run %s is gone", (name,), None
    )

    line = Formatter("%(levelname)s %(message)s").format(record)

    assert line == f"ERROR run {logged} is gone"
    assert len(line.splitlines()) == 1
    assert on_one_line("plain") == "plain"


def test_a_traceback_keeps_its_lines():
    try:
        int("x")
    except ValueError as error:
        info = (type(error), error, error.__traceback__)
    record = logging.LogRecord("x", logging.ERROR, "x", 1, "a\nb", (), info)

    head, *lines = Formatter().format(record).splitlines()

    assert head == "a\\nb"
    assert len(lines) > 2
