"""Why a command stops before it has begun."""

from __future__ import annotations


class Refusal(Exception):
    """A reason to stop, as one line that says what to do."""
