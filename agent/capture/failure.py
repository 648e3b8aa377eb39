"""Captures the exception that failed a run, as text without local variables."""

from __future__ import annotations

import traceback
from types import TracebackType

from seamark.capture.facts import Facts

_LONGEST_TRACEBACK = 60_000  # characters
_MAX_FRAMES = 200


def facts(
    kind: type[BaseException] | None,
    error: BaseException | None,
    trace: TracebackType | None,
) -> Facts:
    """Return type, message and traceback of an exception."""
    if kind is None:
        return {}
    name = kind.__qualname__
    if kind.__module__ not in ("builtins", "__main__"):
        name = f"{kind.__module__}.{name}"
    return {
        "type": name[:200],
        "message": _message(error),
        "traceback": _traceback(kind, error, trace),
    }


def _message(error: BaseException | None) -> str:
    try:
        return str(error)
    except Exception as reason:  # noqa: BLE001 - the exception's own code
        return f"(its message is unavailable: {type(reason).__name__})"


def _traceback(
    kind: type[BaseException],
    error: BaseException | None,
    trace: TracebackType | None,
) -> str:
    # For infinite recursion the last frames are enough.
    lines = traceback.format_exception(kind, error, trace, limit=-_MAX_FRAMES)
    text = "".join(lines).rstrip()
    if len(text) <= _LONGEST_TRACEBACK:
        return text
    # Cut at the front, because the last lines name the error, and between lines,
    # because part of a secret would not be recognized.
    end = text[-_LONGEST_TRACEBACK:]
    end = end.partition("\n")[2] or end
    missing = len(text) - len(end)
    return f"… {missing:,} earlier characters are not stored\n{end}"
