"""Captures the script's path, arguments and text."""

from __future__ import annotations

import shlex
import sys

from seamark.capture.facts import Facts
from seamark.capture.script import Script
from seamark.redaction import redacted_arguments

# Size of a script before secrets are removed and it is cut to the stored length.
_LARGEST_SCRIPT = 256 * 1024  # bytes
_LONGEST_ARGUMENT = 4_096  # characters


def facts(script: Script) -> Facts:
    """Return facts about the program; missing ones are omitted."""
    found: Facts = {
        "arguments": shlex.join(redacted_arguments(_arguments())),
        "executable": sys.executable,
        "python": sys.version.split()[0],
    }
    for name in ("folder", "module", "notebook"):
        value = getattr(script, name)
        if value is not None:
            found[name] = str(value)
    if script.path is None:
        found["absent"] = (
            "A notebook's cells are not captured."
            if script.notebook
            else "There is no script: Python reads commands from another source."
        )
        return found
    found["script"] = str(script.path)
    try:
        with script.path.open("rb") as file:
            found["text"] = file.read(_LARGEST_SCRIPT).decode("utf-8", "replace")
    except OSError as error:
        found["absent"] = f"The script cannot be read: {error.strerror}."
    return found


def _arguments() -> list[str]:
    # Unlike sys.argv, this includes the interpreter's own options.
    arguments = [*getattr(sys, "orig_argv", sys.argv)]
    # `python -c PROGRAM`: the program is text, not an argument.
    return [
        a if len(a) <= _LONGEST_ARGUMENT else f"{_words(a[:_LONGEST_ARGUMENT])}…"
        for a in arguments
    ]


def _words(text: str) -> str:
    """Return all but the last word, which may be part of a secret; one word unchanged."""
    return (text.rsplit(None, 1) or [text])[0]
