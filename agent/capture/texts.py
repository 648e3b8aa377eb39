"""Long texts: cut to what an attribute holds, with a mark that says so (pure)."""

from __future__ import annotations

from agent.values import LONGEST_TEXT

# What stands in place of a secret. Here, because expressions that find them load slowly.
REDACTED = "[redacted]"

_MARK = "\n… {:,} more characters are not stored"
# Room for the mark with any number in it.
_ROOM = 80


def cut(text: str, longest: int = LONGEST_TEXT) -> str:
    """Return the text's beginning, and how much is missing.

    Every long text on its way out passes here, so this is where one that is too long
    could become a file instead.
    """
    text = storable(text)
    if len(text) <= longest:
        return text
    kept = longest - _ROOM
    return text[:kept] + _MARK.format(len(text) - kept)


def storable(text: str) -> str:
    """Return the text without what the tracker refuses: NUL, halves of surrogates."""
    if not text.isascii():
        text = text.encode("utf-8", "replace").decode()
    return text.replace("\0", "�")
