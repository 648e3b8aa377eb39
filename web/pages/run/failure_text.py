"""Extracts the error from a failure's text (pure)."""

from __future__ import annotations

FRAME = '  File "'
MAX_LINES, MAX_CHARACTERS = 3, 400


def raised_at(failure: str) -> str:
    """Return the line that raised, as "train.py, line 12: loss.backward()"; or ""."""
    lines = failure.splitlines()
    frames = [number for number, line in enumerate(lines) if line.startswith(FRAME)]
    if not frames:
        return ""
    path, _, rest = lines[frames[-1]].removeprefix(FRAME).partition('"')
    line = rest.removeprefix(", ").partition(",")[0]
    place = f"{path}, {line}" if line else path
    code = next(iter(lines[frames[-1] + 1 :]), "")
    return f"{place}: {code.strip()}" if code.startswith("    ") else place


def frames_of(failure: str) -> str:
    """Return the failure without the exception at its end, which is shown above it."""
    message, text = raised(failure), failure.rstrip()
    if not message or not text.endswith(f"\n{message}"):
        return text
    return text.removesuffix(message).rstrip()


def error_line(failure: str) -> str:
    """Return the first line of the exception, or the last line of another failure."""
    text = raised(failure) or failure.strip().rpartition("\n")[2]
    return text.partition("\n")[0].strip()[:MAX_CHARACTERS]


def raised(failure: str) -> str:
    """Return the exception that a traceback ends with; "" without a stack.

    It starts at the first line after the last frame that is not indented. If the
    message quotes another process's traceback, this is the exception that was raised
    first.
    """
    lines = failure.splitlines()
    frames = [number for number, line in enumerate(lines) if line.startswith(FRAME)]
    if not frames:
        return ""
    below = lines[frames[-1] + 1 :]
    start = next((n for n, line in enumerate(below) if line[:1].strip()), len(below))
    message_lines = [line for line in below[start:] if line.strip()]
    text = "\n".join(message_lines[:MAX_LINES])
    if len(message_lines) <= MAX_LINES and len(text) <= MAX_CHARACTERS:
        return text
    return text[:MAX_CHARACTERS].rstrip() + " …"
