"""Cuts long texts to the length of an attribute, with a mark (pure)."""

from __future__ import annotations

from collections.abc import Callable

from seamark.recording.values import LONGEST_TEXT

# Replaces a secret. Defined here, because the redaction expressions load slowly.
REDACTED = "[redacted]"

_MARK = "\n… {:,} more characters are not stored"
# Room for the mark with any number.
_ROOM = 80
# Longer than any secret. Part of a secret at the edge of the text is not recognized.
_EDGE = 16_384


def redacted_beginning(
    text: str, redact: Callable[[str], str], longest: int = LONGEST_TEXT
) -> str:
    """Return the text's beginning without secrets, and the number of missing
    characters.

    The rest is not searched, because expressions hold the GIL. Twice the kept length is
    searched, because redaction shortens the text.
    """
    head = text[: 2 * longest + _EDGE]
    shown = redact(head)
    missing = len(text) - len(head)
    if missing:
        missing += len(shown[-_EDGE:])
        shown = shown[:-_EDGE]
    return cut(shown, longest, missing=missing)


def redacted_end(text: str, redact: Callable[[str], str], longest: int) -> str:
    """Return the text's end without secrets."""
    tail = text[-2 * longest - _EDGE :]
    shown = redact(tail)
    if len(tail) < len(text):
        shown = shown[_EDGE:]
    return shown[-longest:]


def cut(text: str, longest: int = LONGEST_TEXT, *, missing: int = 0) -> str:
    """Return the text's beginning, with a mark of the number of missing characters.

    `missing` counts characters that were cut off before.
    """
    text = storable(text)
    if len(text) <= longest and not missing:
        return text
    shown = text[: longest - _ROOM]
    return shown + _MARK.format(len(text) - len(shown) + missing)


def storable(text: str) -> str:
    """Return the text without characters that the server rejects: NUL, lone surrogates."""
    if not text.isascii():
        text = text.encode("utf-8", "replace").decode()
    return text.replace("\0", "�")
