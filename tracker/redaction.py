"""Keeps secrets out of the logs, and each message on a line of its own.

Whoever writes there, and in whatever sentence: names in it are chosen by strangers.
"""

from __future__ import annotations

import logging
import re

# The address of a link that signs in or resets a password; an API key, a share link or an invitation anywhere.
SECRET = re.compile(r"(/sign-in/|/password/reset/\w+/|sm[ikl]_)[\w-]+")
# What ends a line somewhere, moves a terminal's cursor or turns the text after it.
STEERING = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069]")


class Formatter(logging.Formatter):
    def formatMessage(self, record: logging.LogRecord) -> str:  # noqa: N802 - logging's
        # Of a traceback, which comes after the message, the lines stay.
        record.message = on_one_line(record.message)
        return super().formatMessage(record)

    def format(self, record: logging.LogRecord) -> str:
        return redacted(super().format(record))


def redacted(text: str) -> str:
    return SECRET.sub(r"\1…", text)


def on_one_line(text: str) -> str:
    return STEERING.sub(lambda found: ascii(found[0])[1:-1], text)
