from __future__ import annotations

import logging

import pytest
from django.conf import settings

from tracker.redaction import Formatter, redacted

TOKEN = "smk_qRKBW-x_" + "a" * 40


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        ("Forbidden: /sign-in/UrndM-CX_o", "Forbidden: /sign-in/…"),
        (f"Not Found: /nowhere/{TOKEN}", "Not Found: /nowhere/smk_…"),
        (f"/me?token={TOKEN}&x=1", "/me?token=smk_…&x=1"),
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
