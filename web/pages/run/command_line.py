"""Splits a command line into the script's arguments (pure)."""

from __future__ import annotations

import re
import shlex
from dataclasses import dataclass

# A number is no option, though it may begin with the same sign.
OPTION = re.compile(r"--?[^\d\s-][^=\s]*")
# More arguments are a list of files, which is not readable as a table.
MAX_ARGUMENTS = 200


@dataclass(frozen=True, slots=True)
class Argument:
    """An option with its value; the name of a positional argument is its number."""

    name: str
    value: str  # "" of a switch


def arguments_of(command: str) -> list[Argument]:
    """Return the arguments after the script; an invalid command line has none."""
    try:
        words = shlex.split(command)
    except ValueError:
        return []
    found: list[tuple[str, list[str]]] = []
    takes_values, positional = False, 0
    for word in words[_script_at(words) + 1 :][:MAX_ARGUMENTS]:
        if OPTION.match(word):
            name, equals, value = word.partition("=")
            found.append((name, [value] if equals else []))
            takes_values = not equals
        elif takes_values:
            found[-1][1].append(word)
        else:
            positional += 1
            found.append((str(positional), [word]))
    return [Argument(name, " ".join(values)) for name, values in found]


def short_command(command: str) -> str:
    """Return a command with the interpreter and the script by their names alone."""
    try:
        words = shlex.split(command)
    except ValueError:
        return command
    place = _script_at(words)
    for at in {0, place} if words else ():
        words[at] = re.split(r"[/\\]", words[at])[-1] or words[at]
    return shlex.join(words)


def _script_at(words: list[str]) -> int:
    """Return where the script stands: after `-m`, or the first word that is Python's."""
    for place, word in enumerate(words):
        if word == "-m" and place + 1 < len(words):
            return place + 1
        if word.endswith((".py", ".ipynb")):
            return place
    return 0
