"""Long texts: cut to what an attribute holds, with a mark that says so (pure)."""

from __future__ import annotations

from collections.abc import Callable

from seamark.recording.values import LONGEST_TEXT

# What stands in place of a secret. Here, because expressions that find them load slowly.
REDACTED = "[redacted]"

_MARK = "\n… {:,} more characters are not stored"
# Room for the mark with any number in it.
_ROOM = 80
# Secrets are shorter. Half of one at the edge of what is looked at is not recognised.
_EDGE = 16_384


def redacted_beginning(
    text: str, redact: Callable[[str], str], longest: int = LONGEST_TEXT
) -> str:
    """Return the text's beginning without secrets, and how much is missing.

    The rest is not looked at: expressions hold the interpreter while they search. Twice
    of what is kept is, because it is less without secrets.
    """
    head = text[: 2 * longest + _EDGE]
    shown = redact(head)
    missing = len(text) - len(head)
    if missing:
        missing += len(shown[-_EDGE:])
        shown = shown[:-_EDGE]
    return cut(shown, longest, missing=missing)


def redacted_end(text: str, redact: Callable[[str], str], longest: int) -> str:
    """Return the text's end without secrets; likewise."""
    tail = text[-2 * longest - _EDGE :]
    shown = redact(tail)
    if len(tail) < len(text):
        shown = shown[_EDGE:]
    return shown[-longest:]


def cut(text: str, longest: int = LONGEST_TEXT, *, missing: int = 0) -> str:
    """Return the text's beginning, and how much is missing, also behind the text.

    Every long text on its way out passes here, so this is where one that is too long
    could become a file instead.
    """
    text = storable(text)
    if len(text) <= longest and not missing:
        return text
    shown = text[: longest - _ROOM]
    return shown + _MARK.format(len(text) - len(shown) + missing)


def storable(text: str) -> str:
    """Return the text without what the tracker refuses: NUL, halves of surrogates."""
    if not text.isascii():
        text = text.encode("utf-8", "replace").decode()
    return text.replace("\0", "�")
