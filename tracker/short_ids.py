"""UUIDs in 22 characters, for addresses with many of them (pure)."""

from __future__ import annotations

import base64
import binascii
from uuid import UUID

LENGTH = 22
# 16 bytes are 22 base64 characters and two of padding.
PADDING = "=="


def shortened(an_id: UUID) -> str:
    return base64.urlsafe_b64encode(an_id.bytes).decode().rstrip("=")


def read_id(text: str) -> UUID | None:
    """Parse an id in its usual or short form; return None if it is neither."""
    try:
        if len(text) == LENGTH:
            return UUID(bytes=base64.b64decode(text + PADDING, b"-_", validate=True))
        return UUID(text)
    except (ValueError, binascii.Error):
        return None
