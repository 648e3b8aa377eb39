"""Log formatter that removes secrets and keeps each message on one line.

It covers all loggers, because messages contain names chosen by users.
"""

from __future__ import annotations

import logging
import re

# Sign-in and password-reset links, API keys, share links and invitations.
SECRET = re.compile(r"(/sign-in/|/password/reset/\w+/|sm[ikl]_)[\w-]+")
# Line separators, terminal control characters and text-direction marks.
STEERING = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069]")


class Formatter(logging.Formatter):
    def formatMessage(self, record: logging.LogRecord) -> str:  # noqa: N802 - logging's name
        # Only the message: a traceback follows it and keeps its lines.
        record.message = on_one_line(record.message)
        return super().formatMessage(record)

    def format(self, record: logging.LogRecord) -> str:
        return redacted(super().format(record))


def redacted(text: str) -> str:
    return SECRET.sub(r"\1…", text)


def on_one_line(text: str) -> str:
    return STEERING.sub(lambda found: ascii(found[0])[1:-1], text)
