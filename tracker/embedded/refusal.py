"""The exception that stops a command at its start."""

from __future__ import annotations


class Refusal(Exception):
    """The reason to stop, as one line with advice."""
