"""Ids in fewer characters, where very many of them stand in one address (pure)."""

from __future__ import annotations

import base64
import binascii
from uuid import UUID

LENGTH = 22
# Sixteen bytes fill 22 characters of six bits, and leave two of padding.
PADDING = "=="


def shortened(an_id: UUID) -> str:
    return base64.urlsafe_b64encode(an_id.bytes).decode().rstrip("=")


def read_id(text: str) -> UUID | None:
    """Read an id as it is usually written, or shortened; None: it is neither."""
    try:
        if len(text) == LENGTH:
            return UUID(bytes=base64.b64decode(text + PADDING, b"-_", validate=True))
        return UUID(text)
    except (ValueError, binascii.Error):
        return None
