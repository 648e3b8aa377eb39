"""Which texts can be stored: both databases, and every encoding, hold them (pure)."""

from __future__ import annotations

import re

# PostgreSQL refuses NUL, and no encoding holds half a surrogate pair.
UNSTORABLE = re.compile("[\0\ud800-\udfff]")


def is_storable(text: str) -> bool:
    return UNSTORABLE.search(text) is None


def storable_part(text: str) -> str:
    """Return the text without what cannot be stored."""
    return UNSTORABLE.sub("", text)
