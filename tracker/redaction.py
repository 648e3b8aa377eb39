"""Keeps secrets out of the logs, whoever writes there and in whatever sentence."""

from __future__ import annotations

import logging
import re

# A sign-in link's address; a token or a share link however it came into an address.
SECRET = re.compile(r"(/sign-in/|sm[kl]_)[\w-]+")


class Formatter(logging.Formatter):
    def format(self, record: logging.LogRecord) -> str:
        return redacted(super().format(record))


def redacted(text: str) -> str:
    return SECRET.sub(r"\1…", text)
