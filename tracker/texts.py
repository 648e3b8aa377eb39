"""Which texts both databases and all encodings can store (pure)."""

from __future__ import annotations

import re

# PostgreSQL rejects NUL, and no encoding accepts half a surrogate pair.
UNSTORABLE = re.compile("[\0\ud800-\udfff]")


def is_storable(text: str) -> bool:
    return UNSTORABLE.search(text) is None


def storable_part(text: str) -> str:
    """Return the text without characters that cannot be stored."""
    return UNSTORABLE.sub("", text)
