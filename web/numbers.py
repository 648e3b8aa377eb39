"""Whole numbers as people and pages write them (pure)."""

from __future__ import annotations

from tracker.errors import InvalidInput

# Every database can hold so many, and Python reads no text of thousands.
MAX_DIGITS = 9


def whole_number(
    text: str, field: str, requirement: str = "must be a whole number"
) -> int:
    """Return a number of at least 0, or raise InvalidInput for the field."""
    if not (text.isascii() and text.isdigit() and len(text) <= MAX_DIGITS):
        raise InvalidInput(field, requirement)
    return int(text)
